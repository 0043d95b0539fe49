// +groupName=lists.example.com
// +versionName=v1

// Package lists has twins.
package lists

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A door.
type Door struct {
	Name string `json:"name"`
	// +kubebuilder:default=front
	// +optional
	Side  string `json:"side,omitempty"`
	Width int32  `json:"width"`
}

// Options that belong together.
// +structType=atomic
type Options struct {
	Heating bool `json:"heating"`
}

// What a house is to be.
type HouseSpec struct {
	// +listType=map
	// +listMapKey=name
	// +listMapKey=side
	// +optional
	Doors []Door `json:"doors,omitempty"`
	// +k8s:listType=map
	// +k8s:listMapKey=name
	// +optional
	Gates []Door `json:"gates,omitempty"`
	// +listType=set
	// +optional
	Owners []string `json:"owners,omitempty"`
	// +k8s:listType=atomic
	// +optional
	Steps []int32 `json:"steps,omitempty"`
	// +mapType=atomic
	// +optional
	Paint map[string]string `json:"paint,omitempty"`
	// +mapType=granular
	// +optional
	Notes map[string]string `json:"notes,omitempty"`
	// +structType=granular
	// +optional
	Door *Door `json:"door,omitempty"`
	// +structType=atomic
	// +optional
	Back *Door `json:"back,omitempty"`
	// +optional
	Options *Options `json:"options,omitempty"`
	// +structType=granular
	// +optional
	Loose *Options `json:"loose,omitempty"`
}

// +kubebuilder:object:root=true

// A house.
type House struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec HouseSpec `json:"spec"`
}
