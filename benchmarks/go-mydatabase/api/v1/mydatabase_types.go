package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Desired state of a MyDatabase.
type MyDatabaseSpec struct {
	// PostgreSQL version to run; 14 if unset.
	// +kubebuilder:default="14"
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)?$`
	// +kubebuilder:validation:MaxLength=16
	// +optional
	Version string `json:"version,omitempty"`

	// Number of database pods, 1 to 10; 1 if unset.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// Size of each pod's volume; unset takes the storage class's own size.
	// +optional
	Storage *resource.Quantity `json:"storage,omitempty"`
}

// Observed state of a MyDatabase.
type MyDatabaseStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// +optional
	Selector string `json:"selector,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=db
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Replicas,type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// A PostgreSQL database run as a StatefulSet.
type MyDatabase struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MyDatabaseSpec `json:"spec"`
	// +kubebuilder:default={observedGeneration:-1}
	// +optional
	Status MyDatabaseStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// Several MyDatabases.
type MyDatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MyDatabase `json:"items"`
}

func init() {
	SchemeBuilder.Register(&MyDatabase{}, &MyDatabaseList{})
}
