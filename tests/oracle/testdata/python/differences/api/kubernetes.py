"""Types of Kubernetes itself in a kind."""

from __future__ import annotations

from dataclasses import dataclass

from pyopscaffold.api import Object, resource
from pyopscaffold.k8s.apps.v1 import DeploymentStrategy
from pyopscaffold.k8s.core.v1 import (
    PersistentVolumeClaimSpec,
    PodTemplateSpec,
    ResourceRequirements,
    SecretKeySelector,
    ServiceSpec,
    Toleration,
)
from pyopscaffold.k8s.meta.v1 import LabelSelector
from pyopscaffold.k8s.networking.v1 import IngressSpec, NetworkPolicyPeer


@dataclass(kw_only=True)
class PackSpec:
    """What a pack is to be."""

    template: PodTemplateSpec | None = None
    resources: ResourceRequirements | None = None
    tolerations: list[Toleration] | None = None
    secret: SecretKeySelector | None = None
    selector: LabelSelector | None = None
    strategy: DeploymentStrategy | None = None
    peers: list[NetworkPolicyPeer] | None = None
    volume: PersistentVolumeClaimSpec | None = None
    service: ServiceSpec | None = None
    ingress: IngressSpec | None = None


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Pack(Object):
    """A pack."""

    spec: PackSpec
