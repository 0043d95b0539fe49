// +groupName=mistakes.example.com
// +versionName=v1

// Package mistakes has markers where they can't be.
package mistakes

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A choice of what is below it.
// +kubebuilder:validation:ExactlyOneOf=near;far.away
type Nested struct {
	// +optional
	Near *string `json:"near,omitempty"`
}

// A choice that is none.
// +kubebuilder:validation:AtMostOneOf=first;second
type Settled struct {
	First string `json:"first"`
	// +optional
	Second *string `json:"second,omitempty"`
}

// What a muddle is to be.
type MuddleSpec struct {
	// +kubebuilder:validation:Maximum=3
	Text string `json:"text"`
	// +kubebuilder:validation:Minimum=1.5
	Whole int64 `json:"whole"`
	// +kubebuilder:validation:ExclusiveMaximum=true
	// +kubebuilder:validation:Maximum=2
	Word string `json:"word"`
	// +kubebuilder:validation:MultipleOf=2
	Flag bool `json:"flag"`
	// +kubebuilder:validation:MaxLength=2
	Number int64 `json:"number"`
	// +kubebuilder:validation:MinLength=2
	Switch bool `json:"switch"`
	// +kubebuilder:validation:Pattern=`^a`
	Count int32 `json:"count"`
	// +kubebuilder:validation:items:Pattern=`^a`
	Counts []int32 `json:"counts"`
	// +listType=set
	Single string `json:"single"`
	// +mapType=atomic
	Items []string `json:"items"`
	// +mapType=loose
	Labels map[string]string `json:"labels"`
	// +kubebuilder:title=5
	Titled string `json:"titled"`
	// +kubebuilder:validation:XValidation:rule="self > 1",reason=BecauseISaySo
	Ruled int64 `json:"ruled"`
	// +optional
	Nested *Nested `json:"nested,omitempty"`
	// +optional
	Settled *Settled `json:"settled,omitempty"`
	// +kubebuilder:validation:MinLength=1
	Right string `json:"right"`
}

// +kubebuilder:object:root=true

// A muddle.
type Muddle struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MuddleSpec `json:"spec"`
}
