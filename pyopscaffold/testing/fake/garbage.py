"""What the controllers of a cluster do behind the API: garbage is collected, namespaces and CRDs are emptied.

It happens at once, within the request that gives rise to it. Rules:
https://kubernetes.io/docs/concepts/architecture/garbage-collection/
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyopscaffold.testing.fake.kinds import Kinds, Resource
    from pyopscaffold.testing.fake.store import Change, Store
    from pyopscaffold.testing.fake.writes import Writer

Json = dict[str, Any]

CRDS = "customresourcedefinitions.apiextensions.k8s.io"
CRD_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_FOREGROUND = "foregroundDeletion"
_ORPHAN = "orphan"


class Collector:
    """Collects in one store."""

    def __init__(self, store: Store, kinds: Kinds, writer: Writer) -> None:
        self._store = store
        self._kinds = kinds
        self._writer = writer
        self._changes: list[Change] = []
        store.followers.append(self._changes.append)

    def collect(self) -> None:
        """Do all that is due after the latest changes."""
        while self._changes:
            changes = list(self._changes)
            self._changes.clear()
            if any(change.removed or "deletionTimestamp" in change.new["metadata"] for change in changes):
                self._attend_all()
            elif any(change.table == CRDS for change in changes):
                self._attend_all()  # owners of a kind that was unknown may be known now
            else:
                self._attend_new(changes)

    def _attend_new(self, changes: Iterable[Change]) -> None:
        """Attend to objects that somebody has put; that matters where they name owners."""
        tables = self._tables()
        for change in changes:
            if "ownerReferences" in change.new["metadata"] and change.table in tables:
                self._attend(tables[change.table], change.new)

    def _attend_all(self) -> None:
        for resource, obj in self._objects():
            self._attend(resource, obj)

    def _tables(self) -> dict[str, Resource]:
        return {resource.table: resource for resource in self._kinds}

    def _objects(self) -> Iterator[tuple[Resource, Json]]:
        tables = self._tables()
        for table, _, obj in self._store.all():
            if table in tables:
                yield tables[table], obj

    def _attend(self, resource: Resource, obj: Json) -> None:
        metadata = obj["metadata"]
        if self._store.get(resource.table, _key(obj)) is not obj:
            return  # something has come of it meanwhile, and is a change of its own
        if "deletionTimestamp" not in metadata:
            self._judge(resource, obj)
            return
        finalizers = metadata.get("finalizers", ())
        if resource.table == "namespaces":
            self._empty_namespace(metadata["name"])
        elif CRD_FINALIZER in finalizers:
            self._empty_crd(resource, obj)
        elif _FOREGROUND in finalizers:
            if not any(ref.get("blockOwnerDeletion") for _, _, ref in self._dependents(metadata["uid"])):
                self._drop_finalizer(resource, obj, _FOREGROUND)
        elif _ORPHAN in finalizers:
            for dependent_resource, dependent, _ in list(self._dependents(metadata["uid"])):
                self._forget(dependent_resource, dependent, {metadata["uid"]})
            self._drop_finalizer(resource, self._store.get(resource.table, _key(obj)) or obj, _ORPHAN)

    def _judge(self, resource: Resource, obj: Json) -> None:
        """Delete an object that has lost its last owner, or drop the references to those that are gone."""
        references = obj["metadata"].get("ownerReferences", ())
        states = {reference["uid"]: self._state(obj, reference) for reference in references}
        if not states or "unknown" in states.values():
            return
        if "solid" in states.values():
            going = {uid for uid, state in states.items() if state != "solid"}
            if going:
                self._forget(resource, obj, going)
            return
        waiting = "waiting" in states.values()
        foreground = waiting and any(self._dependents(obj["metadata"]["uid"]))
        self._writer.delete(resource, obj, "Foreground" if foreground else _own_policy(obj))

    def _state(self, obj: Json, reference: Json) -> str:
        group, _, _ = reference["apiVersion"].rpartition("/")
        owner_resource = self._kinds.of_kind(group, reference["kind"])
        namespace = obj["metadata"].get("namespace", "")
        if owner_resource is None or (owner_resource.kind.namespaced and not namespace):
            return "unknown"  # the collector waits: a CRD may only be late
        key = (namespace if owner_resource.kind.namespaced else "", reference["name"])
        owner = self._store.get(owner_resource.table, key)
        if owner is None or owner["metadata"]["uid"] != reference["uid"]:
            return "gone"
        deleting = "deletionTimestamp" in owner["metadata"]
        return "waiting" if deleting and _FOREGROUND in owner["metadata"].get("finalizers", ()) else "solid"

    def _dependents(self, uid: str) -> Iterator[tuple[Resource, Json, Json]]:
        for resource, obj in self._objects():
            for reference in obj["metadata"].get("ownerReferences", ()):
                if reference["uid"] == uid:
                    yield resource, obj, reference

    def _forget(self, resource: Resource, obj: Json, uids: set[str]) -> None:
        left = [one for one in obj["metadata"]["ownerReferences"] if one["uid"] not in uids]
        self._rewrite(resource, obj, "ownerReferences", left)

    def _drop_finalizer(self, resource: Resource, obj: Json, name: str) -> None:
        left = [one for one in obj["metadata"]["finalizers"] if one != name]
        if left:
            self._rewrite(resource, obj, "finalizers", left)
        else:
            self._store.remove(resource.table, _key(obj))

    def _rewrite(self, resource: Resource, obj: Json, name: str, value: list[Any]) -> None:
        metadata = {**obj["metadata"], name: value}
        if not value:
            del metadata[name]
        self._store.put(resource.table, _key(obj), {**obj, "metadata": metadata})

    def _empty_namespace(self, name: str) -> None:
        inside = [(resource, obj) for resource, obj in self._objects() if obj["metadata"].get("namespace") == name]
        for resource, obj in inside:
            if "deletionTimestamp" not in obj["metadata"]:
                self._writer.delete(resource, obj, "Background")
        if not any(obj["metadata"].get("namespace") == name for _, obj in self._objects()):
            self._store.remove("namespaces", ("", name))

    def _empty_crd(self, resource: Resource, crd: Json) -> None:
        table = crd["metadata"]["name"]
        for instance_resource, obj in list(self._objects()):
            if instance_resource.table == table and "deletionTimestamp" not in obj["metadata"]:
                self._writer.delete(instance_resource, obj, "Background")
        if not self._store.select(table, ""):
            self._kinds.drop(crd)
            self._drop_finalizer(resource, crd, CRD_FINALIZER)


def _key(obj: Json) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _own_policy(obj: Json) -> str:
    finalizers = obj["metadata"].get("finalizers", ())
    if _ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if _FOREGROUND in finalizers else "Background"
