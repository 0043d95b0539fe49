// +kubebuilder:skip
// +groupName=versions.example.com
// +versionName=v1

// Package hidden has twins.
package hidden

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What a hut is to be nowhere.
type HutSpec struct {
	Colour string `json:"colour"`
	// +optional
	Size *int32 `json:"size,omitempty"`
}

// What a hut is.
type HutStatus struct {
	// +optional
	Dry bool `json:"dry,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// A hut.
type Hut struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec HutSpec `json:"spec"`
	// +optional
	Status HutStatus `json:"status,omitempty"`
}
