// +groupName=constants.example.com
// +versionName=v1

// Package constants has twins.
package constants

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// How loud it is.
// +k8s:enum
type Level string

const (
	Debug   Level = "debug"
	Error   Level = "error"
	Warning Level = "warning"
)

// A grade from one to three.
// +kubebuilder:validation:Enum=1;2;3
type Grade int32

// A logger's wishes.
type LoggerSpec struct {
	Level Level `json:"level"`

	// The level at night.
	// +kubebuilder:default=error
	// +optional
	Night Level `json:"night,omitempty"`

	// +optional
	Levels []Level `json:"levels,omitempty"`

	// +optional
	ByName map[string]Level `json:"byName,omitempty"`

	// +kubebuilder:default=2
	// +optional
	Grade Grade `json:"grade,omitempty"`

	// +kubebuilder:validation:Enum=json;text
	Form string `json:"form"`

	// +kubebuilder:validation:Enum=1;4;9
	Square int64 `json:"square"`

	// +kubebuilder:validation:items:Enum=north;south
	// +optional
	Sides []string `json:"sides,omitempty"`
}

// +kubebuilder:object:root=true

// A logger.
type Logger struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec LoggerSpec `json:"spec"`
}
