"""What an API server serves, and the work on "everything in a namespace" that needs to know it.

Format: https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyopscaffold.errors import ApiError, MethodNotAllowed, NotFound
from pyopscaffold.testing.rest import METADATA_LIST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyopscaffold.testing.rest import Json, RestClient

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One served resource; ``group`` is empty for the core group."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def prefix(self) -> str:
        """Path of its group and version."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def collection(self) -> str:
        """Path that lists it in all namespaces."""
        return f"{self.prefix}/{self.plural}"

    def in_namespace(self, namespace: str) -> str:
        """Path that lists it in one namespace."""
        return f"{self.prefix}/namespaces/{namespace}/{self.plural}"

    def path_of(self, item: Json) -> str:
        """Path of one object, found by its metadata."""
        metadata = item["metadata"]
        base = self.in_namespace(metadata["namespace"]) if self.namespaced else self.collection
        return f"{base}/{metadata['name']}"


def discover(client: RestClient) -> tuple[Resource, ...]:
    """All resources that can be listed, each once, in the version that its group prefers."""
    found: dict[tuple[str, str], Resource] = {}
    for root in ("/api", "/apis"):
        for group in client.request("GET", root, accept=_AGGREGATED)["items"]:
            for resource in _resources_of(group):
                found.setdefault((resource.group, resource.plural), resource)
    return tuple(found.values())


def _resources_of(group: Json) -> Iterator[Resource]:
    for version in group["versions"]:
        for entry in version.get("resources") or ():
            if "list" in entry["verbs"]:
                yield Resource(
                    group=group["metadata"].get("name", ""),
                    version=version["version"],
                    kind=entry["responseKind"]["kind"],
                    plural=entry["resource"],
                    namespaced=entry["scope"] == "Namespaced",
                    verbs=frozenset(entry["verbs"]),
                )


def list_metadata(client: RestClient, collection: str, **query: str) -> list[Json]:
    """List objects without spec and status; nothing if the resource is not served any more."""
    try:
        listed = client.request("GET", collection, query=query, accept=METADATA_LIST)
    except (NotFound, MethodNotAllowed):
        return []
    return listed["items"] or []  # the server writes an empty list of this form as null


def create_namespace(client: RestClient, prefix: str = "test") -> str:
    """Make a namespace with a name that nobody has, and give that name."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": f"{prefix}-"}}
    name: str = client.create("/api/v1/namespaces", body)["metadata"]["name"]
    return name


def empty_namespace(client: RestClient, name: str, resources: Iterable[Resource]) -> list[tuple[Resource, Json]]:
    """Delete everything in the namespace; give what is still there because of its finalizers."""
    left = []
    for resource in resources:
        if not resource.namespaced or "deletecollection" not in resource.verbs:
            continue
        collection = resource.in_namespace(name)
        if list_metadata(client, collection):
            client.request("DELETE", collection, body={"propagationPolicy": "Background", "gracePeriodSeconds": 0})
            left += [(resource, item) for item in list_metadata(client, collection)]
    return left


def finalize_namespace(client: RestClient, name: str) -> None:
    """Let a namespace that is being deleted go, as kube-controller-manager does once it is empty."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {"finalizers": []}}
    client.request("PUT", f"/api/v1/namespaces/{name}/finalize", body=body)


def purge_namespace(client: RestClient, name: str) -> None:
    """Remove a namespace and all in it at once, finalizers or not: the end of a test, with no controller left."""
    try:
        client.delete(f"/api/v1/namespaces/{name}")
    except NotFound:
        return  # the test has removed it
    for resource, item in empty_namespace(client, name, discover(client)):
        try:
            client.merge(resource.path_of(item), {"metadata": {"finalizers": None}})
        except NotFound:
            continue
    try:
        finalize_namespace(client, name)
    except ApiError as error:
        if not isinstance(error, NotFound):
            raise
