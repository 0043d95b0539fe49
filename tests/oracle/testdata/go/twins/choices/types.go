// +groupName=choices.example.com
// +versionName=v1

// Package choices has twins.
package choices

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Where a backup goes.
// +kubebuilder:validation:ExactlyOneOf=bucket;volume;hostPath
// +kubebuilder:validation:AtMostOneOf=fast;cheap
// +kubebuilder:validation:AtMostOneOf=keyFile;password
// +kubebuilder:validation:XValidation:rule="!has(self.fast) || !has(self.password)",message="fast ones take no password"
type Target struct {
	// +optional
	Bucket *string `json:"bucket,omitempty"`
	// +optional
	Volume *string `json:"volume,omitempty"`
	// +optional
	HostPath *string `json:"hostPath,omitempty"`
	// +optional
	Fast *bool `json:"fast,omitempty"`
	// +optional
	Cheap *bool `json:"cheap,omitempty"`
	// +optional
	KeyFile *string `json:"keyFile,omitempty"`
	// +optional
	Password *string `json:"password,omitempty"`
}

// What a backup is.
// +kubebuilder:validation:AtLeastOneOf=first;second
// +kubebuilder:validation:AtLeastOneOf=third;fourth
type BackupSpec struct {
	// +optional
	First *Target `json:"first,omitempty"`
	// +optional
	Second *Target `json:"second,omitempty"`
	// +optional
	Third []Target `json:"third,omitempty"`
	// +optional
	Fourth map[string]string `json:"fourth,omitempty"`
}

// +kubebuilder:object:root=true

// A backup.
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BackupSpec `json:"spec"`
}
