// +groupName=example.com
// +versionName=v1beta1

// Package v1beta1 is what acme.api.v1beta1 says, in Go.
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Desired state of an old Gadget.
type GadgetSpec struct {
	// +optional
	Colour string `json:"colour,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=gd;gdt,categories=all;acme,path=gadgetry,singular=gadget
// +kubebuilder:unservedversion
// +kubebuilder:deprecatedversion:warning="use v1"

// A gadget as it was.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetSpec `json:"spec"`
}
