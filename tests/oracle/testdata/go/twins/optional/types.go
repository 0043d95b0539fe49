// +groupName=optional.example.com
// +versionName=v1
// +kubebuilder:validation:Optional

// Package optional has fields that are optional unless they say otherwise.
package optional

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What a wish is to be.
type WishSpec struct {
	Small *string `json:"small"`
	// +kubebuilder:validation:Required
	Big string `json:"big"`
	// +required
	Huge string `json:"huge"`
}

// +kubebuilder:object:root=true

// A wish.
type Wish struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec *WishSpec `json:"spec"`
}
