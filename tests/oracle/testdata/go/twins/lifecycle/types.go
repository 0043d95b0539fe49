// +groupName=lifecycle.example.com
// +versionName=v1

// Package lifecycle has twins.
package lifecycle

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What a ship is to be.
type ShipSpec struct {
	Port string `json:"port"`
	// +optional
	Crew *int32 `json:"crew,omitempty"`
	// +optional
	Fast *bool `json:"fast,omitempty"`
	// +optional
	Cargo *Cargo `json:"cargo,omitempty"`
}

// What it carries.
type Cargo struct {
	Tons int64 `json:"tons"`
}

// What a ship is.
type ShipStatus struct {
	// +optional
	Crew int32 `json:"crew,omitempty"`
	// +optional
	Selector string `json:"selector,omitempty"`
	// +optional
	Seen *metav1.Time `json:"seen,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:path=vessels,singular=vessel,shortName=sh;shp,categories=all;sea,scope=Cluster
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.crew,statuspath=.status.crew,selectorpath=.status.selector
// +kubebuilder:selectablefield:JSONPath=`.spec.port`
// +kubebuilder:selectablefield:JSONPath=`.spec.fast`
// +kubebuilder:selectablefield:JSONPath=`.spec.cargo.tons`
// +kubebuilder:metadata:labels="sea=deep";"example.com/size=big"
// +kubebuilder:metadata:annotations="example.com/note=wide, deep = sea"
// +kubebuilder:printcolumn:name="Home port",type=string,JSONPath=`.spec.port`,description="Where it lies."
// +kubebuilder:printcolumn:name=Crew,type=integer,format=int32,JSONPath=`.spec.crew`,priority=1
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Why,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name=Seen,type=date,JSONPath=`.status.seen`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// A ship.
type Ship struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ShipSpec `json:"spec"`
	// +optional
	Status ShipStatus `json:"status,omitempty"`
}

// What a raft is to be.
type RaftSpec struct {
	Logs int64 `json:"logs"`
}

// What a raft is.
type RaftStatus struct {
	// +optional
	Logs int64 `json:"logs,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:scale:specpath=.spec.logs,statuspath=.status.logs

// A raft, whose status anybody may write.
type Raft struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RaftSpec `json:"spec"`
	// +optional
	Status RaftStatus `json:"status,omitempty"`
}
