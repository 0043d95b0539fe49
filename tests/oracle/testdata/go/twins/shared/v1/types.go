// +groupName=shared.example.com
// +versionName=v1

// Package v1 has twins.
package v1

import (
	"example.com/oracle/twins/shared/parts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a shop is to be.
type ShopSpec struct {
	parts.Common `json:",inline"`

	// Opening hours by day.
	Windows map[string][]parts.Window `json:"windows"`

	// +optional
	Break *parts.Window `json:"break,omitempty"`
}

// +kubebuilder:object:root=true

// A shop.
type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ShopSpec `json:"spec"`
}

// What a stall is to be.
type StallSpec struct {
	parts.Common `json:",inline"`

	// When it is open.
	Window parts.Window `json:"window"`
}

// +kubebuilder:object:root=true

// A stall.
type Stall struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec StallSpec `json:"spec"`
}
