// Package v1 is the MyDatabase API, as examples/mydatabase has it in Python.
// +kubebuilder:object:generate=true
// +groupName=example.com
package v1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	// GroupVersion names the API.
	GroupVersion = schema.GroupVersion{Group: "example.com", Version: "v1"}

	// SchemeBuilder collects the types of the API.
	SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}
)
