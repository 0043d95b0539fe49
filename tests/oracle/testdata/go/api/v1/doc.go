// +groupName=example.com
// +versionName=v1

// Package v1 is what acme.api.v1 says, in Go.
package v1
