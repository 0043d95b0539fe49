// +groupName=versions.example.com
// +versionName=v2

// Package v2 has twins.
package v2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What a tent is to be in v2.
type TentSpec struct {
	Colour string `json:"colour"`
	// +optional
	Size *int32 `json:"size,omitempty"`
}

// What a tent is.
type TentStatus struct {
	// +optional
	Dry bool `json:"dry,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:skipversion

// A tent.
type Tent struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TentSpec `json:"spec"`
	// +optional
	Status TentStatus `json:"status,omitempty"`
}
