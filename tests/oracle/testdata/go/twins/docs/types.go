// +groupName=docs.example.com
// +versionName=v1

// Package docs has twins.
package docs

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A book's cover.
//
// In one or
// two colours.
//
// The second paragraph says more:
//   - a list
//   - of two
//
// And the third ends it.
// +kubebuilder:externalDocs:url="https://example.com/cover",description="All about covers."
// +kubebuilder:title=Cover
type Cover struct {
	// +kubebuilder:externalDocs:url="https://example.com/colour"
	Colour string `json:"colour"`
}

// What a book is to be.
type BookSpec struct {
	// Its title, which may
	// span several lines.
	// +kubebuilder:title="Book title"
	// +kubebuilder:example="The Sea"
	// +kubebuilder:externalDocs:url="https://example.com/title",description="How to choose one"
	Title string `json:"title"`

	Cover Cover `json:"cover"`

	// The cover on its back.
	// +kubebuilder:title="Back cover"
	// +optional
	Back *Cover `json:"back,omitempty"`

	// +kubebuilder:example={1,2,3}
	// +optional
	Pages []int64 `json:"pages,omitempty"`

	// +kubebuilder:example={isbn: "1-2"}
	// +optional
	Codes map[string]string `json:"codes,omitempty"`
}

// +kubebuilder:object:root=true

// A book.
//
// Not a magazine.
type Book struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BookSpec `json:"spec"`
}
