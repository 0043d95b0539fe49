package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Colours a gadget can have.
// +kubebuilder:validation:Enum=red;green
type Colour string

// +kubebuilder:validation:MaxLength=3
type Cell string

// One port.
// +kubebuilder:validation:XValidation:rule="self.number > 0",message="ports start at 1",fieldPath=".number"
// +kubebuilder:validation:XValidation:rule="self.protocol == oldSelf.protocol",reason=FieldValueForbidden
type Port struct {
	// Name of the port.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// Its protocol; TCP if unset.
	// +kubebuilder:default=TCP
	// +kubebuilder:validation:Enum=TCP;UDP
	// +optional
	Protocol string `json:"protocol,omitempty"`
	Number   int32  `json:"number"`
}

// When to try again.
type Retry struct {
	// +kubebuilder:default=3
	// +optional
	Limit int32 `json:"limit,omitempty"`
	// +kubebuilder:default="5m0s"
	// +optional
	Delay metav1.Duration `json:"delay,omitempty"`
}

// Desired state of a Gadget.
// +kubebuilder:validation:XValidation:rule="!self.verbose || self.enabled",messageExpression="'a ' + self.size + ' one is silent while it is off'"
type GadgetSpec struct {
	// Over several
	// lines.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:ExclusiveMaximum=true
	// +kubebuilder:validation:MultipleOf=5
	Percent int64 `json:"percent"`

	// +optional
	Ratio *float64 `json:"ratio,omitempty"`

	// +kubebuilder:default=true
	// +optional
	Enabled bool `json:"enabled,omitempty"`

	// +kubebuilder:default=false
	// +optional
	Verbose bool `json:"verbose,omitempty"`

	// +kubebuilder:validation:Format=ipv4
	// +kubebuilder:validation:MinLength=7
	// +k8s:immutable
	// +optional
	ClusterIP *string `json:"clusterIP,omitempty"`

	// +kubebuilder:validation:Enum=small;large
	// +k8s:immutable
	Size string `json:"size"`

	// +kubebuilder:validation:Enum=1;2;4
	// +kubebuilder:validation:XValidation:rule="!oldSelf.hasValue() || self >= oldSelf.value()",message="cores only grow",reason=FieldValueInvalid,optionalOldSelf=true
	// +optional
	Cores *int64 `json:"cores,omitempty"`

	// +kubebuilder:default=red
	// +optional
	Colour Colour `json:"colour,omitempty"`

	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`
	// +optional
	Start *metav1.Time `json:"start,omitempty"`
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// +optional
	Seed []byte `json:"seed,omitempty"`

	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=2
	// +listType=set
	// +optional
	Tags []string `json:"tags,omitempty"`

	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=8
	// +kubebuilder:validation:items:XValidation:rule="self != 'no'",message="no is no word"
	// +listType=atomic
	// +optional
	Words []string `json:"words,omitempty"`

	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxItems=2
	// +optional
	Grid [][]Cell `json:"grid,omitempty"`

	// +listType=map
	// +listMapKey=name
	// +listMapKey=protocol
	// +optional
	Ports []Port `json:"ports,omitempty"`

	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=4
	// +mapType=atomic
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// +optional
	ByName map[string]Port `json:"byName,omitempty"`

	// +kubebuilder:default={}
	// +optional
	Retry Retry `json:"retry,omitempty"`

	// +kubebuilder:default={limit:9}
	// +optional
	SlowRetry Retry `json:"slowRetry,omitempty"`

	// How to retry in an emergency.
	// +kubebuilder:validation:XValidation:rule="self.limit < 100"
	// +structType=atomic
	// +optional
	OtherRetry *Retry `json:"otherRetry,omitempty"`

	// +optional
	Template metav1.ObjectMeta `json:"template,omitempty"`

	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	Anything runtime.RawExtension `json:"anything,omitempty"`

	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	OpenRetry *Retry `json:"openRetry,omitempty"`

	// +kubebuilder:title=Nickname
	// +kubebuilder:example=Bob
	// +nullable
	// +optional
	Nick *string `json:"nick,omitempty"`

	// +kubebuilder:default=server
	// +k8s:immutable
	// +optional
	Chosen string `json:"chosen,omitempty"`

	// +optional
	Quiet string `json:"quiet,omitempty"`

	From string `json:"from"`
}

// What was tried.
type Attempt struct {
	At metav1.Time `json:"at"`
	// +optional
	Limit int32 `json:"limit,omitempty"`
}

// Observed state of a Gadget.
type GadgetStatus struct {
	// What it does.
	Phase string `json:"phase"`
	// +optional
	Last *Attempt `json:"last,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=gd;gdt,categories=all;acme,path=gadgetry,singular=gadget
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Size,type=string,JSONPath=`.spec.size`,description="How large it is.",priority=1
// +kubebuilder:printcolumn:name=Cores,type=integer,format=int64,JSONPath=`.spec.cores`

// A gadget.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetSpec `json:"spec"`
	// +optional
	Status GadgetStatus `json:"status,omitempty"`
}
