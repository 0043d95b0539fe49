// +groupName=plural.example.com
// +versionName=v1

// Package plural has twins.
package plural

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What it is to be.
type QuotaSpec struct {
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// A kind.
type Quota struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec QuotaSpec `json:"spec"`
}

// What it is to be.
type ProxySpec struct {
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// A kind.
type Proxy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ProxySpec `json:"spec"`
}

// What it is to be.
type GatewaySpec struct {
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// A kind.
type Gateway struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GatewaySpec `json:"spec"`
}

// What it is to be.
type BusSpec struct {
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// A kind.
type Bus struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BusSpec `json:"spec"`
}

// What it is to be.
type BoxSpec struct {
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// A kind.
type Box struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BoxSpec `json:"spec"`
}

// What it is to be.
type DishSpec struct {
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// A kind.
type Dish struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec DishSpec `json:"spec"`
}
