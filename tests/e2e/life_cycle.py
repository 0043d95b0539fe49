"""Lives of databases, led at random twice at the same time: where the operator is killed, and where it never is.

A life is a row of steps: made, scaled, given another version, refused for its storage, hit by somebody's edits of its
children, deleted, made again. Each step is taken on both sides, once what it builds on is there on both: so where the
sides end up does not depend on how long an operator took, and they are compared field by field.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import ClientError, NotFound
from pyopscaffold.testing import RestClient

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    Json = dict[str, Any]
    Step = tuple[Callable[["Side"], bool], Callable[["Side"], object]]
    """What has to be so first, and what is done."""

FINALIZER = "example.com/mydatabase-finalizer"
VERSIONS = ("13", "14", "15", "16", "17")
STORAGE, OTHER_STORAGE = "1Gi", "2Gi"
TOO_OLD = "9"
_VOLATILE = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "namespace")


@dataclass(frozen=True)
class Side:
    """One database in one of the two namespaces."""

    client: RestClient
    namespace: str
    name: str

    @property
    def path(self) -> str:
        """Where it lives."""
        return f"/apis/example.com/v1/namespaces/{self.namespace}/mydatabases/{self.name}"

    @property
    def child_path(self) -> str:
        """Where its StatefulSet lives."""
        return f"/apis/apps/v1/namespaces/{self.namespace}/statefulsets/{self.name}"

    @property
    def service_path(self) -> str:
        """Where its Service lives."""
        return f"/api/v1/namespaces/{self.namespace}/services/{self.name}"

    def make(self, spec: Json) -> None:
        """Make it."""
        body = {"apiVersion": "example.com/v1", "kind": "MyDatabase", "metadata": {"name": self.name}, "spec": spec}
        self.client.apply(self.path, body, manager="user")

    def change(self, **spec: Any) -> None:
        """Change some fields of its spec."""
        self.client.merge(self.path, {"spec": spec})

    def edit_child(self) -> None:
        """Change a field of its StatefulSet by hand, which the operator owns."""
        self.client.merge(self.child_path, {"spec": {"replicas": 7}})

    def is_gone(self) -> bool:
        """Whether neither it nor a child is there."""
        return all(_read(self.client, path) is None for path in (self.path, self.child_path, self.service_path))

    def is_followed(self) -> bool:
        """Whether its children are as its spec says, at rest, and its status tells so."""
        found, child = self.client.get(self.path), _read(self.client, self.child_path)
        if child is None or _read(self.client, self.service_path) is None:
            return False
        spec, status, seen = found["spec"], found.get("status", {}), child.get("status", {})
        image = child["spec"]["template"]["spec"]["containers"][0]["image"]
        counts = [
            status.get("readyReplicas"),
            seen.get("replicas"),
            seen.get("readyReplicas"),
            child["spec"]["replicas"],
        ]
        return (
            image == f"postgres:{spec['version']}"
            and counts == [spec["replicas"]] * len(counts)
            and seen.get("observedGeneration") == child["metadata"]["generation"]
            and seen.get("currentRevision") == seen.get("updateRevision")
            and _is_ready(found)
        )

    def is_refused(self) -> bool:
        """Whether its newest spec is reported as one that can't be carried out."""
        return _is_refused(self.client.get(self.path))


def _always(_side: Side) -> bool:
    return True


def life(dice: random.Random) -> Iterator[Step]:
    """Throw the dice for one step after the other, for ever."""
    while True:
        spec = {
            "version": dice.choice(VERSIONS),
            "replicas": dice.randint(1, 4),
            "storage": STORAGE,
            "retention": dice.choice(("Retain", "Delete")),
        }
        yield Side.is_gone, lambda side, spec=dict(spec): side.make(spec)  # type: ignore[misc]  # bound now
        for _ in range(dice.randint(1, 8)):
            yield from _event(dice, spec)
        yield _always, lambda side: side.client.delete(side.path)


def _event(dice: random.Random, spec: Json) -> Iterator[Step]:
    """Throw the dice for what happens to a database with this spec, which is kept up to date."""
    match dice.choice(("scale", "scale", "version", "version", "storage", "old", "edit", "child", "service", "rest")):
        case "scale":
            spec["replicas"] = dice.randint(1, 4)
            yield _always, lambda side, count=spec["replicas"]: side.change(replicas=count)  # type: ignore[misc]  # bound now
        case "version":
            spec["version"] = dice.choice(VERSIONS)
            yield _always, lambda side, version=spec["version"]: side.change(version=version)  # type: ignore[misc]  # bound now
        case "storage":
            yield Side.is_followed, lambda side: side.change(storage=OTHER_STORAGE)
            yield Side.is_refused, lambda side: side.change(storage=STORAGE)
        case "old":
            yield Side.is_followed, lambda side: side.change(version=TOO_OLD)
            yield Side.is_refused, lambda side, version=spec["version"]: side.change(version=version)  # type: ignore[misc]  # bound now
        case "edit":
            yield Side.is_followed, Side.edit_child
        case "child":
            yield Side.is_followed, lambda side: side.client.delete(side.child_path)
        case "service":
            yield Side.is_followed, lambda side: side.client.delete(side.service_path)
        case "rest":
            yield Side.is_followed, lambda side: side.client.get(side.path)


@dataclass
class Pair:
    """One life on both sides, one step after the other."""

    sides: tuple[Side, Side]
    steps: Iterator[Step]
    taken: int = 0
    _next: Step | None = field(default=None, init=False)
    _done: set[Side] = field(default_factory=set, init=False)

    def advance(self) -> None:
        """Take the next step on each side, if both are ready for it."""
        if self._next is None:
            self._next = next(self.steps)
        ready, act = self._next
        try:
            if not self._done and not all(map(ready, self.sides)):
                return
            for side in self.sides:
                if side not in self._done:
                    act(side)
                    self._done.add(side)
        except ClientError:
            return  # it is not there yet, or the answer was lost: tried again, and no step does harm twice
        self._done.clear()
        self._next = None
        self.taken += 1


def finished(client: RestClient, namespace: str) -> bool:
    """Whether nothing is under way any more in a namespace: each database is ready or refused, or gone."""
    databases = client.get(f"/apis/example.com/v1/namespaces/{namespace}/mydatabases")["items"]
    return all(
        "deletionTimestamp" not in found["metadata"] and (_is_ready(found) or _is_refused(found)) for found in databases
    )


def contents(client: RestClient, namespace: str) -> dict[str, Json]:
    """Read all that the databases of a namespace are and have, but for what differs from run to run by its nature."""
    databases = client.get(f"/apis/example.com/v1/namespaces/{namespace}/mydatabases")["items"]
    uids = {item["metadata"]["uid"]: item["metadata"]["name"] for item in databases}
    found = {
        f"MyDatabase {item['metadata']['name']}": {**_plain(item, uids), "status": _status(item)} for item in databases
    }
    for kind, collection in (("StatefulSet", "/apis/apps/v1"), ("Service", "/api/v1")):
        for item in client.get(f"{collection}/namespaces/{namespace}/{kind.lower()}s")["items"]:
            found[f"{kind} {item['metadata']['name']}"] = child = _plain(item, uids)
            child["metadata"].pop("generation", None)  # how often it was put right is no matter
    return found


def lost(client: RestClient, namespace: str) -> list[str]:
    """Say what may not be so at any moment: a child whose database is not held, or a status that runs ahead."""
    wrong = []
    children = client.get(f"/apis/apps/v1/namespaces/{namespace}/statefulsets")["items"]
    held = {owner["uid"] for child in children for owner in child["metadata"].get("ownerReferences", [])}
    for found in client.get(f"/apis/example.com/v1/namespaces/{namespace}/mydatabases")["items"]:
        metadata, status = found["metadata"], found.get("status", {})
        if metadata["uid"] in held and FINALIZER not in metadata.get("finalizers", []):
            wrong.append(f"{metadata['name']} has children and no finalizer")
        told = [status, *status.get("conditions", [])]
        if any(one.get("observedGeneration", 0) > metadata["generation"] for one in told):
            wrong.append(f"{metadata['name']} tells of a generation to come")
    return wrong


def differences(ours: dict[str, Json], theirs: dict[str, Json]) -> list[str]:
    """Name what is not the same, with both values."""
    return [
        f"{name}: {ours.get(name)} instead of {theirs.get(name)}"
        for name in sorted({*ours, *theirs})
        if ours.get(name) != theirs.get(name)
    ]


def _plain(item: Json, uids: dict[str, str]) -> Json:
    metadata = {name: value for name, value in item["metadata"].items() if name not in _VOLATILE}
    owners = metadata.pop("ownerReferences", [])
    metadata["owners"] = [{**owner, "uid": uids.get(owner["uid"], "nobody's")} for owner in owners]
    return {"metadata": metadata, "spec": item["spec"]}


def _status(item: Json) -> Json:
    status = dict(item.get("status", {}))
    told: Sequence[Json] = status.pop("conditions", [])
    return {**status, "conditions": {one["type"]: {**one, "lastTransitionTime": "then"} for one in told}}


def _is_ready(found: Json) -> bool:
    return _condition(found, "Ready").get("status") == "True"


def _is_refused(found: Json) -> bool:
    return _condition(found, "Stalled").get("status") == "True"


def _condition(found: Json, kind: str) -> Json:
    """Give a condition that is about the newest spec, else nothing."""
    conditions: Sequence[Json] = found.get("status", {}).get("conditions", [])
    generation = found["metadata"]["generation"]
    return next((one for one in conditions if (one["type"], one["observedGeneration"]) == (kind, generation)), {})


def _read(client: RestClient, path: str) -> Json | None:
    try:
        return client.get(path)
    except NotFound:
        return None
