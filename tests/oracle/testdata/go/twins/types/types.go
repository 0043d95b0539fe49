// +groupName=types.example.com
// +versionName=v1

// Package types has twins.
package types

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A custom number that reads numbers and texts.
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Pattern=`^[0-9]+u$`
type Unit struct {
	value int64
}

// MarshalJSON makes the type say how it is written.
func (u Unit) MarshalJSON() ([]byte, error) { return nil, nil }

// What a sample is to be.
type SampleSpec struct {
	Text     string             `json:"text"`
	Flag     bool               `json:"flag"`
	Long     int64              `json:"long"`
	Short    int32              `json:"short"`
	Unsigned uint32             `json:"unsigned"`
	Real     float64            `json:"real"`
	Seed     []byte             `json:"seed"`
	Time     metav1.Time        `json:"time"`
	Micro    metav1.MicroTime   `json:"micro"`
	Wait     metav1.Duration    `json:"wait"`
	Amount   resource.Quantity  `json:"amount"`
	Port     intstr.IntOrString `json:"port"`
	Unit     Unit               `json:"unit"`
	// +kubebuilder:validation:XIntOrString
	Either intstr.IntOrString `json:"either"`
	// +kubebuilder:validation:Pattern=`^[0-9]+%$`
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:XIntOrString
	Percent intstr.IntOrString           `json:"percent"`
	Limits  map[string]resource.Quantity `json:"limits"`
	Times   []metav1.Time                `json:"times"`
	JSONTag string                       `json:"json_tag"`
	// Of one of two kinds.
	// +kubebuilder:validation:Enum=1;"a"
	OneOrA intstr.IntOrString `json:"oneOrA"`
	Hidden string             `json:"-"`
}

// +kubebuilder:object:root=true

// A sample.
type Sample struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SampleSpec `json:"spec"`
}
