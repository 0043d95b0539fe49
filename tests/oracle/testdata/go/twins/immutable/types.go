// +groupName=immutable.example.com
// +versionName=v1

// Package immutable has twins.
package immutable

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Where a disk is.
// +kubebuilder:validation:XValidation:rule="self.rack >= 0"
type Place struct {
	// +k8s:immutable
	Room string `json:"room"`
	// +k8s:immutable
	// +optional
	Rack *int32 `json:"rack,omitempty"`
	// +k8s:immutable
	// +kubebuilder:validation:XValidation:rule="self != 'x'"
	// +optional
	Shelf *string `json:"shelf,omitempty"`
}

// A disk's wishes.
type DiskSpec struct {
	// Where it stands for good.
	// +k8s:immutable
	Place Place `json:"place"`
	// +k8s:immutable
	// +kubebuilder:validation:MaxItems=3
	// +optional
	Labels []string `json:"labels,omitempty"`
	// +k8s:immutable
	// +optional
	Former *Place `json:"former,omitempty"`
}

// +kubebuilder:object:root=true

// A disk.
type Disk struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec DiskSpec `json:"spec"`
}
