"""One round of garbage collection, by the rules of kube-controller-manager's collector.

Rules: https://kubernetes.io/docs/concepts/architecture/garbage-collection/
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pyopscaffold.errors import Conflict, NotFound
from pyopscaffold.testing.discovery import discover, list_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.testing.discovery import Resource
    from pyopscaffold.testing.rest import Json, RestClient

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_FOREGROUND = "foregroundDeletion"
_ORPHAN = "orphan"
_BUILT_IN = frozenset(
    {
        ("", "configmaps"),
        ("", "persistentvolumeclaims"),
        ("", "pods"),
        ("", "secrets"),
        ("", "serviceaccounts"),
        ("", "services"),
        ("apps", "deployments"),
        ("apps", "statefulsets"),
        ("batch", "jobs"),
        ("networking.k8s.io", "ingresses"),
        ("policy", "poddisruptionbudgets"),
    }
)
"""Resources that operators own; together with every custom resource they are what is collected."""


class GarbageCollector:
    """Collects by ``collect()``, one round a call; each round looks at the whole cluster anew."""

    def __init__(self, client: RestClient) -> None:
        self._client = client
        self._custom: frozenset[tuple[str, str]] = frozenset()
        self._seen_deleting: frozenset[str] = frozenset()
        self._resources: tuple[Resource, ...] = ()

    @property
    def resources(self) -> tuple[Resource, ...]:
        """Everything that the server served when it was last asked."""
        return self._resources

    def collect(self) -> None:
        """Delete what has no owner left, and let go what waits for its dependents."""
        self._refresh()
        wanted = _BUILT_IN | self._custom
        chosen = [resource for resource in self._resources if (resource.group, resource.plural) in wanted]
        objects = [
            (resource, item)
            for resource in chosen
            for item in list_metadata(self._client, resource.collection, resourceVersion="0")
        ]
        dependents: dict[str, list[tuple[Resource, Json]]] = defaultdict(list)
        for resource, item in objects:
            for reference in _owners(item):
                dependents[reference["uid"]].append((resource, item))
        alive = {item["metadata"]["uid"] for _, item in objects}
        for resource, item in objects:
            self._attempt(resource, item, alive, dependents[item["metadata"]["uid"]])
        # The lists are of different moments: a child made just before its owner's deletion may be in none of this
        # round's, but it is in the next round's. So an owner is let go in its second round at the earliest.
        self._seen_deleting = frozenset(
            item["metadata"]["uid"] for _, item in objects if "deletionTimestamp" in item["metadata"]
        )

    def _refresh(self) -> None:
        """Ask for the served resources again when the custom ones changed."""
        names = (item["metadata"]["name"] for item in list_metadata(self._client, _CRDS, resourceVersion="0"))
        self._custom = frozenset((group, plural) for plural, _, group in (name.partition(".") for name in names))
        known = {(resource.group, resource.plural) for resource in self._resources}
        if not known or not self._custom <= known:
            self._resources = discover(self._client)

    def _attempt(
        self, resource: Resource, item: Json, alive: set[str], dependents: list[tuple[Resource, Json]]
    ) -> None:
        """Do for one object what is due; somebody else may have done it meanwhile, and the next round sees."""
        metadata = item["metadata"]
        finalizers = metadata.get("finalizers", ())
        try:
            if "deletionTimestamp" not in metadata:
                self._drop_if_orphaned(resource, item, alive)
            elif metadata["uid"] not in self._seen_deleting:
                return
            elif _FOREGROUND in finalizers:
                self._delete_dependents(resource, item, dependents)
            elif _ORPHAN in finalizers:
                self._orphan_dependents(resource, item, dependents)
        except (NotFound, Conflict):
            return

    def _drop_if_orphaned(self, resource: Resource, item: Json, alive: set[str]) -> None:
        """Delete what has lost all its owners; one that was not listed is looked for live before it counts as gone."""
        owners = _owners(item)
        gone = [owner for owner in owners if owner["uid"] not in alive and not self._exists(owner, item)]
        if gone and len(gone) == len(owners):
            self._delete(resource, item)
        elif gone:
            self._forget({owner["uid"] for owner in gone}, resource, item)

    def _exists(self, owner: Json, dependent: Json) -> bool:
        group = owner["apiVersion"].rpartition("/")[0]
        for resource in self._resources:
            if (resource.group, resource.kind) == (group, owner["kind"]):
                named = {"name": owner["name"], "namespace": dependent["metadata"].get("namespace", "")}
                try:
                    found = self._client.get(resource.path_of({"metadata": named}))
                except NotFound:
                    return False
                return bool(found["metadata"]["uid"] == owner["uid"])
        return True  # a kind that is not served: the real collector waits too, as its CRD may only be late

    def _delete_dependents(self, resource: Resource, item: Json, dependents: Iterable[tuple[Resource, Json]]) -> None:
        """Foreground: the owner goes last, after those that block it and have no other owner."""
        uid = item["metadata"]["uid"]
        blocked = False
        for kind, dependent in dependents:
            if len(_owners(dependent)) > 1:
                self._forget({uid}, kind, dependent)
                continue
            blocks = bool(_owners(dependent)[0].get("blockOwnerDeletion"))
            blocked |= blocks
            if "deletionTimestamp" not in dependent["metadata"]:
                policy = "Foreground" if blocks else "Background"
                self._delete(kind, dependent, policy=policy)
        if not blocked:
            self._drop_finalizer(resource, item, _FOREGROUND)

    def _orphan_dependents(self, resource: Resource, item: Json, dependents: Iterable[tuple[Resource, Json]]) -> None:
        for kind, dependent in dependents:
            self._forget({item["metadata"]["uid"]}, kind, dependent)
        self._drop_finalizer(resource, item, _ORPHAN)

    def _forget(self, uids: set[str], kind: Resource, dependent: Json) -> None:
        """Take some owners off a dependent."""
        others = [one for one in _owners(dependent) if one["uid"] not in uids]
        version = dependent["metadata"]["resourceVersion"]
        patch = {"metadata": {"ownerReferences": others, "resourceVersion": version}}
        self._client.merge(kind.path_of(dependent), patch)

    def _delete(self, resource: Resource, item: Json, *, policy: str = "Background") -> None:
        """Delete what is as it was listed: it may have another owner by now, or another finalizer."""
        metadata = item["metadata"]
        path, version = resource.path_of(item), metadata["resourceVersion"]
        self._client.delete(path, uid=metadata["uid"], version=version, policy=policy)

    def _drop_finalizer(self, resource: Resource, item: Json, finalizer: str) -> None:
        metadata = item["metadata"]
        left = [one for one in metadata["finalizers"] if one != finalizer]
        patch = {"metadata": {"finalizers": left, "resourceVersion": metadata["resourceVersion"]}}
        self._client.merge(resource.path_of(item), patch)


def _owners(item: Json) -> list[Json]:
    owners: list[Json] = item["metadata"].get("ownerReferences", [])
    return owners
