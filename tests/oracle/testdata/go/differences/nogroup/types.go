// +groupName=
// +versionName=v1

// Package nogroup has a kind of no group.
package nogroup

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What it is to be.
type GrouplessSpec struct {
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// A Groupless.
type Groupless struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GrouplessSpec `json:"spec"`
}
