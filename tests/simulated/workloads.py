"""Objects of the built-in kinds, and what their owners see of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.testing import RestClient

if TYPE_CHECKING:
    from collections.abc import Mapping

IMAGE = "example.com/app:1"


@dataclass(frozen=True)
class Namespace:
    """One namespace, seen by an all-powerful client; paths are by plural, such as ``pods``."""

    client: RestClient
    name: str

    def path(self, plural: str, name: str = "") -> str:
        """Path of a collection or of an object in it."""
        groups = {"deployments": "apps/v1", "statefulsets": "apps/v1", "jobs": "batch/v1"}
        root = f"/apis/{groups[plural]}" if plural in groups else "/api/v1"
        return f"{root}/namespaces/{self.name}/{plural}" + (f"/{name}" if name else "")

    def items(self, plural: str) -> list[dict[str, Any]]:
        """All objects of a collection."""
        found: list[dict[str, Any]] = self.client.get(self.path(plural))["items"]
        return found

    def status(self, plural: str, name: str) -> dict[str, Any]:
        """Status of an object."""
        found: dict[str, Any] = self.client.get(self.path(plural, name))["status"]
        return found

    def ready(self, plural: str, name: str = "app") -> int:
        """How many replicas of an object are ready."""
        return int(self.status(plural, name).get("readyReplicas", 0))


def pod(*, image: str = IMAGE, annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """Make a pod template."""
    metadata = {"labels": {"app": "app"}, "annotations": dict(annotations or {})}
    return {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": image}], **spec}}


def deployment(replicas: int, template: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Make a Deployment named ``app``."""
    selector = {"matchLabels": {"app": "app"}}
    spec = {"replicas": replicas, "selector": selector, "template": template or pod()}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app"}, "spec": spec}


def stateful_set(replicas: int, template: Mapping[str, Any] | None = None, *, storage: str = "") -> dict[str, Any]:
    """Make a StatefulSet named ``app``, with a volume for each pod if ``storage`` says of what size."""
    body = deployment(replicas, template)
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}},
    }
    claims = {"volumeClaimTemplates": [claim]} if storage else {}
    return {**body, "kind": "StatefulSet", "spec": {**body["spec"], "serviceName": "app", **claims}}


def job(template: Mapping[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """Make a Job named ``app``."""
    body = {"template": template or pod(restartPolicy="Never"), **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "app"}, "spec": body}


def condition(status: Mapping[str, Any], kind: str) -> str:
    """Give the status of a condition; empty without it."""
    return next((one["status"] for one in status.get("conditions", ()) if one["type"] == kind), "")
