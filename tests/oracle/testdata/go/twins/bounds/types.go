// +groupName=bounds.example.com
// +versionName=v1

// Package bounds has twins.
package bounds

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Bounds of all kinds.
type MeasureSpec struct {
	// +kubebuilder:validation:Minimum=-3
	// +kubebuilder:validation:Maximum=12
	Small int32 `json:"small"`
	// +k8s:minimum=1
	// +k8s:maximum=9
	Digit int64 `json:"digit"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:Maximum=1
	// +kubebuilder:validation:ExclusiveMaximum=true
	// +optional
	Share *float64 `json:"share,omitempty"`
	// +kubebuilder:validation:MultipleOf=0.5
	// +optional
	Halves *float64 `json:"halves,omitempty"`
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=6
	// +kubebuilder:validation:MinItems=2
	// +k8s:maxItems=5
	// +optional
	Dice []int32 `json:"dice,omitempty"`
	// +kubebuilder:validation:items:ExclusiveMaximum=true
	// +kubebuilder:validation:items:Maximum=10
	// +kubebuilder:validation:items:MultipleOf=3
	// +optional
	Threes []int64 `json:"threes,omitempty"`
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:ExclusiveMinimum=true
	// +optional
	Positive []int64 `json:"positive,omitempty"`
	// +kubebuilder:validation:items:Pattern=`^x`
	// +kubebuilder:validation:items:Format=hostname
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=9
	// +optional
	Hosts []string `json:"hosts,omitempty"`
	// +kubebuilder:validation:items:MinItems=1
	// +kubebuilder:validation:items:MaxItems=3
	// +optional
	Grid [][]string `json:"grid,omitempty"`
	// +kubebuilder:validation:items:MinProperties=1
	// +kubebuilder:validation:items:MaxProperties=3
	// +optional
	Maps []map[string]string `json:"maps,omitempty"`
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=3
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+(\.[a-z0-9]+)*$`
	// +kubebuilder:validation:Format=hostname
	Host string `json:"host"`
	// +kubebuilder:validation:Format=email
	// +nullable
	// +optional
	Mail *string `json:"mail,omitempty"`
	// +default="a"
	// +optional
	First string `json:"first,omitempty"`
	// +default="a"
	// +kubebuilder:default=b
	// +optional
	Second string `json:"second,omitempty"`
	// +kubebuilder:default={"a","b"}
	// +optional
	Letters []string `json:"letters,omitempty"`
	// +kubebuilder:default={one:1}
	// +optional
	Numbers map[string]int64 `json:"numbers,omitempty"`
	// +required
	Must string `json:"must"`
	// +k8s:required
	Too string `json:"too"`
	// +k8s:optional
	May *string `json:"may"`
	// +kubebuilder:validation:Optional
	Might *string `json:"might"`
	// +kubebuilder:validation:Required
	Shall string  `json:"shall,omitempty"`
	Omit  *string `json:"omit,omitempty"`
	Zero  *string `json:"zero,omitzero"`
}

// +kubebuilder:object:root=true

// A measure.
type Measure struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MeasureSpec `json:"spec"`
}
