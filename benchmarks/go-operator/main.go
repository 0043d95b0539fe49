// Command notes is the operator of the benchmark as one writes it with controller-runtime: each Note has a ConfigMap
// with its text, kept by server-side apply, and a status with a Ready condition.
//
// It is on the lean side of what is usual: no limit of requests, managedFields left out of the cache, and no apply
// where the cached ConfigMap has the text already.
package main

import (
	"context"
	"flag"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

var groupVersion = schema.GroupVersion{Group: "bench.example.com", Version: "v1"}

// NoteSpec is the desired state of a Note.
type NoteSpec struct {
	Text string `json:"text"`
}

// NoteStatus is the observed state of a Note; Started is when the last reconcile began, in microseconds.
type NoteStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Started            int64              `json:"started,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Note is a text, kept in a ConfigMap.
type Note struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NoteSpec   `json:"spec,omitempty"`
	Status NoteStatus `json:"status,omitempty"`
}

// DeepCopyObject is what controller-gen would write.
func (n *Note) DeepCopyObject() runtime.Object {
	out := *n
	n.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = make([]metav1.Condition, len(n.Status.Conditions))
	for i := range n.Status.Conditions {
		n.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
	}
	return &out
}

// NoteList is a list of Notes.
type NoteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Note `json:"items"`
}

// DeepCopyObject is what controller-gen would write.
func (l *NoteList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]Note, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Note)
	}
	return &out
}

// NoteReconciler keeps the ConfigMap of each Note.
type NoteReconciler struct {
	client.Client
	scheme *runtime.Scheme
}

// Reconcile applies the ConfigMap and reports.
func (r *NoteReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	started := time.Now().UnixMicro()
	var note Note
	if err := r.Get(ctx, request.NamespacedName, &note); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var child corev1.ConfigMap
	err := r.Get(ctx, request.NamespacedName, &child)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if err != nil || child.Data["text"] != note.Spec.Text || !metav1.IsControlledBy(&child, &note) {
		wanted := corev1ac.ConfigMap(note.Name, note.Namespace).
			WithOwnerReferences(ownerReference(&note)).
			WithData(map[string]string{"text": note.Spec.Text})
		if err := r.Apply(ctx, wanted, client.FieldOwner("note"), client.ForceOwnership); err != nil {
			return ctrl.Result{}, err
		}
	}
	before := note.DeepCopyObject().(*Note)
	changed := meta.SetStatusCondition(&note.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Applied",
		Message: "the text is in place", ObservedGeneration: note.Generation,
	})
	if !changed && note.Status.ObservedGeneration == note.Generation {
		return ctrl.Result{}, nil
	}
	note.Status.ObservedGeneration = note.Generation
	note.Status.Started = started
	return ctrl.Result{}, r.Status().Patch(ctx, &note, client.MergeFrom(before), client.FieldOwner("note"))
}

func ownerReference(note *Note) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(groupVersion.String()).WithKind("Note").
		WithName(note.Name).WithUID(note.UID).
		WithController(true).WithBlockOwnerDeletion(true)
}

func main() {
	namespace := flag.String("namespace", "", "namespace to watch")
	workers := flag.Int("workers", 16, "reconciles at once")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	scheme.AddKnownTypes(groupVersion, &Note{}, &NoteList{})
	metav1.AddToGroupVersion(scheme, groupVersion)

	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "127.0.0.1:0"},
		HealthProbeBindAddress: "127.0.0.1:0",
		Cache: cache.Options{
			DefaultTransform:  cache.TransformStripManagedFields(),
			DefaultNamespaces: map[string]cache.Config{*namespace: {}},
		},
	})
	if err != nil {
		fail(err)
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&Note{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: *workers}).
		Complete(&NoteReconciler{Client: manager.GetClient(), scheme: scheme})
	if err != nil {
		fail(err)
	}
	if err := manager.Start(ctrl.SetupSignalHandler()); err != nil {
		fail(err)
	}
}

func fail(err error) {
	ctrl.Log.Error(err, "the operator failed")
	os.Exit(1)
}
