// +groupName=differences.example.com
// +versionName=v1

// Package kubernetes has types of Kubernetes itself in a kind.
package kubernetes

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a pack is to be.
type PackSpec struct {
	// +optional
	Template *corev1.PodTemplateSpec `json:"template,omitempty"`
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// +optional
	Secret *corev1.SecretKeySelector `json:"secret,omitempty"`
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// +optional
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`
	// +optional
	Peers []networkingv1.NetworkPolicyPeer `json:"peers,omitempty"`
	// +optional
	Volume *corev1.PersistentVolumeClaimSpec `json:"volume,omitempty"`
	// +optional
	Service *corev1.ServiceSpec `json:"service,omitempty"`
	// +optional
	Ingress *networkingv1.IngressSpec `json:"ingress,omitempty"`
}

// +kubebuilder:object:root=true

// A pack.
type Pack struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PackSpec `json:"spec"`
}
