"""Recognises embedded Kubernetes types: the well-known by their properties, any other by its whole schema.

A CRD holds no references, so a pod template is spelled out in it. Its author can't change what is inside; rules
about design leave it alone.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pyopscaffold.model.known import schema_of
from pyopscaffold.model.kubernetes import BASIC, entry, names_by_properties
from pyopscaffold.schema import to_mapping

_EXACTLY = {
    frozenset(names.split()): kind
    for kind, names in {
        "Affinity": "nodeAffinity podAffinity podAntiAffinity",
        "EnvFromSource": "configMapRef prefix secretRef",
        "EnvVar": "name value valueFrom",
        "HostAlias": "hostnames ip",
        "KeySelector": "key name optional",
        "LabelSelector": "matchExpressions matchLabels",
        "LocalObjectReference": "name",
        "ObjectReference": "apiVersion fieldPath kind name namespace resourceVersion uid",
        "PodDNSConfig": "nameservers options searches",
        "PodTemplateSpec": "metadata spec",
        "ProjectedVolumeSource": "defaultMode sources",
        "SecretReference": "name namespace",
        "Toleration": "effect key operator tolerationSeconds value",
        "TypedLocalObjectReference": "apiGroup kind name",
    }.items()
}
_AT_LEAST = {
    kind: frozenset(names.split())
    for kind, names in {
        "Condition": "lastTransitionTime message reason status type",
        "Container": "args command env image imagePullPolicy livenessProbe volumeMounts",
        "ContainerPort": "containerPort hostPort protocol",
        "JobSpec": "backoffLimit completions parallelism template",
        "Lifecycle": "postStart preStop",
        "NodeSelectorTerm": "matchExpressions matchFields",
        "PersistentVolumeClaimSpec": "accessModes resources storageClassName volumeMode",
        "PodSecurityContext": "fsGroup runAsUser supplementalGroups",
        "PodSpec": "containers initContainers nodeSelector serviceAccountName tolerations",
        "Probe": "failureThreshold initialDelaySeconds periodSeconds tcpSocket",
        "ResourceRequirements": "limits requests",
        "SecurityContext": "allowPrivilegeEscalation capabilities privileged",
        "ServicePort": "nodePort port targetPort",
        "TopologySpreadConstraint": "maxSkew topologyKey whenUnsatisfiable",
        "Volume": "configMap emptyDir hostPath persistentVolumeClaim secret",
        "VolumeMount": "mountPath name readOnly subPath",
    }.items()
}
_ATOMIC_ONLY = frozenset({"LocalObjectReference", "SecretReference", "TypedLocalObjectReference", "KeySelector"})


def core_type(schema: dict[str, Any]) -> str:
    """Name the Kubernetes type whose properties ``schema`` has, or give ""."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return ""
    names = properties.keys()
    exact = _EXACTLY.get(frozenset(names), "")
    if exact == "PodTemplateSpec":
        spec = properties["spec"]
        return exact if isinstance(spec, dict) and core_type(spec) == "PodSpec" else ""
    if exact and exact in _ATOMIC_ONLY and schema.get("x-kubernetes-map-type") != "atomic":
        return ""
    return exact or next((kind for kind, needed in _AT_LEAST.items() if needed <= names), "") or _published(schema)


def _published(schema: dict[str, Any]) -> str:
    """Name the type that the API server publishes with this very schema, or give ""."""
    candidates = names_by_properties().get(frozenset(schema["properties"]), ())
    given = schema["properties"]
    same = (name for name in candidates if _is_alike(given, name) and _is_same(given, _properties(name)))
    return next(same, "").rpartition(".")[2]


def _is_alike(given: dict[str, Any], name: str) -> bool:
    """Whether the fields have fields of the same names as those of a published type: cheap to tell, and seldom so."""
    for key, published in entry(name)["properties"].items():
        reference = published.get("$ref", "")
        if reference and reference not in BASIC and key != "metadata":
            inner = given[key].get("properties") if isinstance(given[key], dict) else None
            names = inner.keys() if isinstance(inner, dict) else set()
            if names != entry(reference).get("properties", {}).keys():
                return False
    return True


@cache
def _properties(name: str) -> dict[str, Any]:
    found: dict[str, Any] = to_mapping(schema_of(name))["properties"]
    return found


def _is_same(given: Any, published: Any) -> bool:
    """Whether two schemas agree but for descriptions, and for metadata, whose fields may be kept or not."""
    if not isinstance(given, dict) or not isinstance(published, dict):
        return bool(given == published)
    keys = (given.keys() | published.keys()) - {"description", "metadata"}
    return all(_is_same(given.get(key), published.get(key)) for key in keys)
