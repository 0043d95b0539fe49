// +groupName=versions.example.com
// +versionName=v1beta1

// Package v1beta1 has twins.
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What a tent is to be in v1beta1.
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
// +kubebuilder:subresource:status
// +kubebuilder:deprecatedversion:warning="write versions.example.com/v1"
// +kubebuilder:printcolumn:name=Size,type=integer,JSONPath=`.spec.size`

// A tent.
type Tent struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TentSpec `json:"spec"`
	// +optional
	Status TentStatus `json:"status,omitempty"`
}
