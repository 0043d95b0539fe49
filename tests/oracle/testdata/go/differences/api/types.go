// +groupName=differences.example.com
// +versionName=v1

// Package api has types whose CRDs differ from their twins, on purpose.
package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What it is to be.
type ReservedSpec struct {
	// +k8s:immutable
	// +optional
	Namespace *string `json:"namespace,omitempty"`
}

// +kubebuilder:object:root=true

// A Reserved.
type Reserved struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ReservedSpec `json:"spec"`
}

// An order of its own.
// +k8s:enum
type Step string

const (
	Low    Step = "low"
	Middle Step = "middle"
	High   Step = "high"
)

// What it is to be.
type StairSpec struct {
	Step Step `json:"step"`
}

// +kubebuilder:object:root=true

// A Stair.
type Stair struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec StairSpec `json:"spec"`
}

// A word.
// +kubebuilder:validation:MaxLength=9
// +kubebuilder:validation:Pattern=`^[a-z]+$`
type Word string

// What it is to be.
type TightSpec struct {
	// +kubebuilder:validation:MaxLength=5
	Word Word `json:"word"`
}

// +kubebuilder:object:root=true

// A Tight.
type Tight struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TightSpec `json:"spec"`
}

// What it is to be.
type TwofoldSpec struct {
	// +kubebuilder:validation:Pattern=`^x`
	Word Word `json:"word"`
}

// +kubebuilder:object:root=true

// A Twofold.
type Twofold struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TwofoldSpec `json:"spec"`
}

// What it is to be.
type CountSpec struct {
	Number int `json:"number"`
}

// +kubebuilder:object:root=true

// A Count.
type Count struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec CountSpec `json:"spec"`
}

// What it is to be.
type ShownSpec struct {
	Name string `json:"name"`
}

// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name=Name,type=string,JSONPath=`.spec.name`
// A Shown.
type Shown struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ShownSpec `json:"spec"`
}

// What it is to be.
type StartSpec struct {
	Name string `json:"name"`
}

// What it is.
type StartStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// A Start.
type Start struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec StartSpec `json:"spec"`
	// +optional
	Status StartStatus `json:"status,omitempty"`
}

// What it is to be.
type SeenSpec struct {
	Name string `json:"name"`
}

// What was seen.
type SeenStatus struct {
	// +kubebuilder:default=nothing
	// +optional
	What string `json:"what,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// A Seen.
type Seen struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SeenSpec `json:"spec"`
	// +optional
	Status SeenStatus `json:"status,omitempty"`
}

// What it is to be.
type EmptySpec struct {
	// +kubebuilder:default={}
	// +optional
	Names []string `json:"names,omitempty"`
}

// +kubebuilder:object:root=true

// A Empty.
type Empty struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec EmptySpec `json:"spec"`
}

// What it is to be.
type BlockSpec struct {
	// A name, for example:
	//
	//	name: x
	//
	// and no more.
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// A Block.
type Block struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BlockSpec `json:"spec"`
}

// What it is to be.
type MustSpec struct {
	// +k8s:required
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// A Must.
type Must struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MustSpec `json:"spec"`
}

// What it is to be.
type PersonSpec struct {
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// A Person.
type Person struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PersonSpec `json:"spec"`
}

// What it is to be.
type UniqueSpec struct {
	// +kubebuilder:validation:UniqueItems=true
	// +optional
	Names []string `json:"names,omitempty"`
}

// +kubebuilder:object:root=true

// A Unique.
type Unique struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec UniqueSpec `json:"spec"`
}

// What it is to be.
type RealSpec struct {
	Number float64 `json:"number"`
}

// +kubebuilder:object:root=true

// A Real.
type Real struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RealSpec `json:"spec"`
}

// A word with a rule.
// +kubebuilder:validation:XValidation:rule="self != 'type'"
type Ruly string

// What it is to be.
type RuledSpec struct {
	// +kubebuilder:validation:XValidation:rule="self != 'field'"
	Both Ruly `json:"both"`
}

// +kubebuilder:object:root=true

// A Ruled.
type Ruled struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RuledSpec `json:"spec"`
}
