// +groupName=aliases.example.com
// +versionName=v1

// Package aliases has twins.
package aliases

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A word in lower case.
// +kubebuilder:validation:Pattern=`^[a-z]+$`
// +kubebuilder:validation:MaxLength=9
type Word string

// Some of them.
// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:items:MinLength=2
// +listType=set
type Words []Word

// A shade.
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:ExclusiveMinimum=true
// +kubebuilder:validation:MultipleOf=2
type Shade int64

// A place with rules of its own.
// +structType=atomic
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=2
// +kubebuilder:validation:XValidation:rule="self.x + self.y > 0"
type Point struct {
	X int32 `json:"x"`
	Y int32 `json:"y"`
}

// Whatever there is.
// +kubebuilder:pruning:PreserveUnknownFields
type Open struct {
	Name string `json:"name"`
}

// An address.
type Address struct {
	Street string `json:"street"`
	Number int32  `json:"number"`
}

// Addresses by street and number.
// +listType=map
// +listMapKey=street
// +listMapKey=number
// +kubebuilder:validation:MaxItems=5
type Addresses []Address

// Colours by place.
// +mapType=atomic
// +kubebuilder:validation:MinProperties=1
type Colours map[string]string

// A name in the network.
// +kubebuilder:validation:Format=hostname
// +kubebuilder:validation:MinLength=1
type Host string

// Another name for a host.
type Server = Host

// A whole object.
// +kubebuilder:validation:XEmbeddedResource
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:title=Whole
type Whole struct{}

// Shared by several.
type Base struct {
	// From the base.
	// +kubebuilder:default=base
	// +optional
	Origin string `json:"origin,omitempty"`
}

// What a map is to be.
// +kubebuilder:validation:XValidation:rule="self.origin != 'x'"
type MapSpec struct {
	Base `json:",inline"`

	Word Word `json:"word"`

	// The second word.
	// +kubebuilder:validation:MinLength=3
	// +optional
	Second *Word `json:"second,omitempty"`

	// +optional
	Words Words `json:"words,omitempty"`

	// Words that are few.
	// +kubebuilder:validation:MaxItems=4
	// +optional
	Few Words `json:"few,omitempty"`

	// +kubebuilder:validation:Maximum=8
	// +optional
	Shade *Shade `json:"shade,omitempty"`

	// +optional
	Shades map[string]Shade `json:"shades,omitempty"`

	// +optional
	Points map[string][]Point `json:"points,omitempty"`

	// The middle.
	// +kubebuilder:validation:XValidation:rule="self.x == self.y",message="the middle is on the diagonal"
	// +optional
	Middle *Point `json:"middle,omitempty"`

	// +optional
	Open *Open `json:"open,omitempty"`

	// +optional
	Opens []Open `json:"opens,omitempty"`

	// +optional
	Deep map[string]map[string][]string `json:"deep,omitempty"`

	// +optional
	Addresses Addresses `json:"addresses,omitempty"`

	// +optional
	Colours Colours `json:"colours,omitempty"`

	// +optional
	Host Host `json:"host,omitempty"`

	// +optional
	Server *Server `json:"server,omitempty"`

	// +optional
	Hosts map[string]Host `json:"hosts,omitempty"`

	// +optional
	Whole *Whole `json:"whole,omitempty"`

	// +optional
	Pointers []*Point `json:"pointers,omitempty"`
}

// +kubebuilder:object:root=true

// A map.
type Map struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MapSpec `json:"spec"`
}
