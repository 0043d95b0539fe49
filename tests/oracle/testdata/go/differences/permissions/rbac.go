// Package permissions asks for more than we would.
package permissions

// +kubebuilder:rbac:groups="",namespace=infra,resources=leases,verbs=get
// +kubebuilder:rbac:groups=apps,resources=*,verbs=*
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=one,verbs=create
