// +groupName=options.example.com
// +versionName=v1

// Package embedded has metadata inside of objects, for the option generateEmbeddedObjectMeta.
package embedded

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A template.
type Template struct {
	// Its metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Name              string `json:"name"`
}

// What a form is to be.
type FormSpec struct {
	// +optional
	Template *Template `json:"template,omitempty"`
	// +optional
	Templates []Template `json:"templates,omitempty"`
	// +optional
	ByName map[string]Template `json:"byName,omitempty"`
	// Metadata alone.
	// +optional
	Meta *metav1.ObjectMeta `json:"meta,omitempty"`
}

// +kubebuilder:object:root=true

// A form.
type Form struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec FormSpec `json:"spec"`
}
