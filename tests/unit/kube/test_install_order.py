"""The waves of kinds, against the order that they are cut out of."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pyopscaffold.kube.install_order import wave

HELM = """
    PriorityClass Namespace NetworkPolicy ResourceQuota LimitRange PodDisruptionBudget ServiceAccount Secret ConfigMap
    StorageClass PersistentVolume PersistentVolumeClaim CustomResourceDefinition ClusterRole ClusterRoleBinding Role
    RoleBinding Service DaemonSet Pod ReplicationController ReplicaSet Deployment HorizontalPodAutoscaler StatefulSet
    Job CronJob IngressClass Ingress APIService MutatingWebhookConfiguration ValidatingWebhookConfiguration
"""


def test_waves_keep_helms_order() -> None:
    """Nothing is made before what Helm installs before it."""
    assert all(wave(first) <= wave(then) for first, then in pairwise(HELM.split()))


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("Namespace", "ServiceAccount"),
        ("ServiceAccount", "Secret"),
        ("LimitRange", "Deployment"),
        ("StorageClass", "PersistentVolumeClaim"),
        ("Role", "RoleBinding"),
        ("ClusterRole", "ClusterRoleBinding"),
        ("ClusterRole", "RoleBinding"),
        ("ConfigMap", "StatefulSet"),
        ("Service", "StatefulSet"),
        ("IngressClass", "Ingress"),
        ("CustomResourceDefinition", "Certificate"),
    ],
)
def test_what_is_needed_comes_in_an_earlier_wave(first: str, then: str) -> None:
    """What is made side by side does not need one another."""
    assert wave(first) < wave(then)
