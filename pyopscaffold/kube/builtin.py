"""The built-in types that operators own or watch most, as values."""

from __future__ import annotations

from pyopscaffold.kube.gvk import GroupVersionKind

CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")
ENDPOINTS = GroupVersionKind("", "v1", "Endpoints", plural="endpoints")
NAMESPACE = GroupVersionKind("", "v1", "Namespace", namespaced=False)
NODE = GroupVersionKind("", "v1", "Node", namespaced=False)
PERSISTENT_VOLUME = GroupVersionKind("", "v1", "PersistentVolume", namespaced=False)
PERSISTENT_VOLUME_CLAIM = GroupVersionKind("", "v1", "PersistentVolumeClaim")
POD = GroupVersionKind("", "v1", "Pod")
SECRET = GroupVersionKind("", "v1", "Secret")
SERVICE = GroupVersionKind("", "v1", "Service")
SERVICE_ACCOUNT = GroupVersionKind("", "v1", "ServiceAccount")
DAEMON_SET = GroupVersionKind("apps", "v1", "DaemonSet")
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
REPLICA_SET = GroupVersionKind("apps", "v1", "ReplicaSet")
STATEFUL_SET = GroupVersionKind("apps", "v1", "StatefulSet")
CRON_JOB = GroupVersionKind("batch", "v1", "CronJob")
JOB = GroupVersionKind("batch", "v1", "Job")
HORIZONTAL_POD_AUTOSCALER = GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")
INGRESS = GroupVersionKind("networking.k8s.io", "v1", "Ingress")
NETWORK_POLICY = GroupVersionKind("networking.k8s.io", "v1", "NetworkPolicy")
POD_DISRUPTION_BUDGET = GroupVersionKind("policy", "v1", "PodDisruptionBudget")
LEASE = GroupVersionKind("coordination.k8s.io", "v1", "Lease")
TOKEN_REVIEW = GroupVersionKind("authentication.k8s.io", "v1", "TokenReview", namespaced=False)
SUBJECT_ACCESS_REVIEW = GroupVersionKind("authorization.k8s.io", "v1", "SubjectAccessReview", namespaced=False)
EVENT = GroupVersionKind("events.k8s.io", "v1", "Event")
CUSTOM_RESOURCE_DEFINITION = GroupVersionKind(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", namespaced=False
)
