"""In which order kinds are made, so that what one needs is there: waves of kinds that may be made side by side.

The waves cut Helm's order of installation (helm.sh/helm/v4, ``kind_sorter.go``) where something may need what stands
before it; like Helm they go by the kind's name alone, and what they don't name comes last. Deletion goes the other way.
"""

from __future__ import annotations

_WAVES = (
    "PriorityClass Namespace",
    "NetworkPolicy ResourceQuota LimitRange PodDisruptionBudget ServiceAccount",
    "Secret ConfigMap StorageClass PersistentVolume",
    "PersistentVolumeClaim CustomResourceDefinition ClusterRole",
    "ClusterRoleBinding Role",
    "RoleBinding",
    "Service",
    "DaemonSet Pod ReplicationController ReplicaSet Deployment HorizontalPodAutoscaler StatefulSet Job CronJob",
    "IngressClass",
)
_WAVE = {kind: wave for wave, kinds in enumerate(_WAVES) for kind in kinds.split()}


def wave(kind: str) -> int:
    """Return when a kind is made: after all of the lower numbers, beside those of the same."""
    return _WAVE.get(kind, len(_WAVES))
