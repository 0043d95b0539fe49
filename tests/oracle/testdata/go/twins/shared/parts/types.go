// Package parts has types that several kinds share, and no kind of its own.
package parts

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A name with bounds.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
type Name string

// Names by role.
// +kubebuilder:validation:MaxProperties=9
type Names map[string]Name

// When something is done.
type Window struct {
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=23
	Hour int32 `json:"hour"`
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}

// Common to all.
type Common struct {
	// Who cares for it.
	Owner Name `json:"owner"`
	// +optional
	Names Names `json:"names,omitempty"`
}
