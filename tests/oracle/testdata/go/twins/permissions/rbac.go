// Package permissions asks for what twins.controllers does.
package permissions

// What @controller implies:
// +kubebuilder:rbac:groups=lifecycle.example.com,resources=vessels,verbs=list;watch
// +kubebuilder:rbac:groups=lifecycle.example.com,resources=vessels/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// The same thing twice, in another order, and once more with another verb.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;get;get
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=watch

// Several resources with the same verbs come together, and several groups too.
// +kubebuilder:rbac:groups=apps,resources=statefulsets;daemonsets,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list
// +kubebuilder:rbac:groups=cron.example.com,resources=jobs,verbs=list;get
// +kubebuilder:rbac:groups=a.example.com;b.example.com,resources=things,verbs=delete
// +kubebuilder:rbac:groups=b.example.com;c.example.com,resources=things,verbs=delete
// +kubebuilder:rbac:groups=a.example.com;b.example.com,resources=things;others,verbs=get

// The core group by both its names.
// +kubebuilder:rbac:groups=core,resources=pods,verbs=get
// +kubebuilder:rbac:groups="",resources=pods;pods/log,verbs=list
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get

// Single objects stay apart from all.
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=one,verbs=update
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=two;one,verbs=update
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=one;two,verbs=patch
// +kubebuilder:rbac:groups="",resources=endpoints,resourceNames=one,verbs=update

// Paths are no resources.
// +kubebuilder:rbac:urls=/metrics,verbs=get
// +kubebuilder:rbac:urls=/healthz;/metrics,verbs=get
// +kubebuilder:rbac:urls=/readyz,verbs=post

// Single namespaces.
// +kubebuilder:rbac:groups="",namespace=infra,resources=leases,verbs=get;update
// +kubebuilder:rbac:groups="",namespace=infra,resources=leases,verbs=create
// +kubebuilder:rbac:groups=apps,namespace=infra,resources=deployments,verbs=get
// +kubebuilder:rbac:groups="",namespace=apps,resources=leases,verbs=get

// Roles of other names.
// +kubebuilder:rbac:groups="",roleName=reader,resources=events,verbs=get;list
// +kubebuilder:rbac:groups="",roleName=reader,resources=events,verbs=watch
// +kubebuilder:rbac:groups="",roleName=reader,namespace=infra,resources=events,verbs=get
// +kubebuilder:rbac:groups="",roleName=writer,namespace=infra,resources=events,verbs=create
// +kubebuilder:rbac:groups="",roleName=manager-role,resources=nodes,verbs=list
