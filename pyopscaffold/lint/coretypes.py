"""Recognises embedded Kubernetes types by their properties.

A CRD holds no references, so a pod template is spelled out in it. Its author can't change what is inside; rules
about design leave it alone.
"""

from __future__ import annotations

from typing import Any

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
    return exact or next((kind for kind, needed in _AT_LEAST.items() if needed <= names), "")
