// Package controllers asks for what acme.controllers does, in controller-gen's markers.
package controllers

// +kubebuilder:rbac:groups=example.com,resources=mydatabases,verbs=list;watch
// +kubebuilder:rbac:groups=example.com,resources=mydatabases,verbs=patch
// +kubebuilder:rbac:groups=example.com,resources=mydatabases/status,verbs=patch
// +kubebuilder:rbac:groups=example.com,resources=mydatabases/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=pods;persistentvolumeclaims,verbs=get;list
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=licence,verbs=get,namespace=default
// +kubebuilder:rbac:groups=example.com,resources=gadgetry,verbs=list;watch
// +kubebuilder:rbac:groups=example.com,resources=gadgetry/status,verbs=patch
