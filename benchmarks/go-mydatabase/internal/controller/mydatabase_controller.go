// Package controller reconciles MyDatabase: as much of it as controller-gen has to read.
package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/mydatabase/api/v1"
)

// MyDatabaseReconciler keeps the children of a MyDatabase in line with its spec.
type MyDatabaseReconciler struct {
	client.Client
}

// +kubebuilder:rbac:groups=example.com,resources=mydatabases,verbs=list;watch;patch
// +kubebuilder:rbac:groups=example.com,resources=mydatabases/status,verbs=patch
// +kubebuilder:rbac:groups=example.com,resources=mydatabases/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile reads the object.
func (r *MyDatabaseReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var database v1.MyDatabase
	return ctrl.Result{}, client.IgnoreNotFound(r.Get(ctx, request.NamespacedName, &database))
}

// SetupWithManager says what is watched.
func (r *MyDatabaseReconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		For(&v1.MyDatabase{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&corev1.Service{}).
		Complete(r)
}
