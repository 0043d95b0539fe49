// +groupName=open.example.com
// +versionName=v1

// Package open has twins.
package open

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A part that is known.
type Part struct {
	Name string `json:"name"`
}

// What a box is to hold.
type BoxSpec struct {
	// A raw object.
	// +optional
	Raw runtime.RawExtension `json:"raw,omitempty"`
	// +optional
	Raws []runtime.RawExtension `json:"raws,omitempty"`
	// Any JSON.
	// +optional
	Any *apiextensionsv1.JSON `json:"any,omitempty"`
	// +optional
	Anys map[string]apiextensionsv1.JSON `json:"anys,omitempty"`
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Part *Part `json:"part,omitempty"`
	// +kubebuilder:validation:XPreserveUnknownFields
	// +optional
	Other *Part `json:"other,omitempty"`
	// A whole object.
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Object *runtime.RawExtension `json:"object,omitempty"`
	// +kubebuilder:validation:XEmbeddedResource
	// +optional
	Thing runtime.RawExtension `json:"thing,omitempty"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Whatever *Part `json:"whatever,omitempty"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=5
	// +optional
	Text *Part `json:"text,omitempty"`
	// +kubebuilder:validation:items:XPreserveUnknownFields
	// +optional
	Parts []Part `json:"parts,omitempty"`
	// +kubebuilder:validation:items:XEmbeddedResource
	// +optional
	Things []runtime.RawExtension `json:"things,omitempty"`
	// +kubebuilder:validation:items:XIntOrString
	// +optional
	Ports []intstr.IntOrString `json:"ports,omitempty"`
	// +kubebuilder:validation:items:Type=string
	// +optional
	Texts []string `json:"texts,omitempty"`
	// +optional
	Meta *metav1.ObjectMeta `json:"meta,omitempty"`
}

// +kubebuilder:object:root=true

// A box.
type Box struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BoxSpec `json:"spec"`
}
