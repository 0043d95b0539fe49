"""The "restricted" Pod Security Standard, as far as a Pod of ours could offend against it.

https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOST_FIELDS = ("hostNetwork", "hostPID", "hostIPC")
VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}


def pods(manifests: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give kind/name and spec of every Pod among the manifests, or in a template of them."""
    for manifest in manifests:
        where = f"{manifest['kind']}/{manifest['metadata']['name']}"
        if manifest["kind"] == "Pod":
            yield where, manifest["spec"]
        elif "template" in manifest.get("spec", {}):
            yield where, manifest["spec"]["template"]["spec"]


def violations(spec: dict[str, Any]) -> list[str]:
    """Give what the standard forbids in a Pod's spec, and beyond it a writable root file system or root as user."""
    context = spec.get("securityContext", {})
    found = [field for field in HOST_FIELDS if spec.get(field)]
    found += [f"volume {volume['name']}" for volume in spec.get("volumes", []) if not VOLUMES & volume.keys()]
    if context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        found.append("seccompProfile")
    if context.get("runAsNonRoot") is not True or context.get("runAsUser") == 0:
        found.append("runAsNonRoot")
    for container in spec["containers"] + spec.get("initContainers", []):
        found += [f"{container['name']}: {what}" for what in _container(container)]
    return found


def _container(container: dict[str, Any]) -> Iterator[str]:
    context = container.get("securityContext", {})
    if context.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation"
    if context.get("privileged"):
        yield "privileged"
    if context.get("readOnlyRootFilesystem") is not True:
        yield "readOnlyRootFilesystem"
    capabilities = context.get("capabilities", {})
    if capabilities.get("drop") != ["ALL"] or capabilities.get("add"):
        yield "capabilities"
    if any("hostPort" in port for port in container.get("ports", [])):
        yield "hostPort"
    if "memory" not in container.get("resources", {}).get("limits", {}):
        yield "no memory limit"
