"""The status of the primary object: what the framework adds to it, and the one write at the end.

Several writers may share a list of conditions. So what this operator neither set in this call nor applied before stays
another's: to apply it would be to own it, and to put back what was read once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from pyopscaffold import codec
from pyopscaffold.kube import conditions as pure
from pyopscaffold.kube.conditions import PAUSED, READY, RECONCILING, STALLED
from pyopscaffold.kube.meta import Condition, ObjectMeta
from pyopscaffold.runtime.children import restrict

if TYPE_CHECKING:
    from datetime import datetime

    from pyopscaffold.api import GroupVersionKind, Object
    from pyopscaffold.runtime.client.protocols import Client
    from pyopscaffold.runtime.outcome import Failure

OWN = frozenset({READY, RECONCILING, STALLED, PAUSED})
"""Types that the framework itself sets: they are never taken for another writer's."""


@dataclass(frozen=True)
class Before:
    """An object's status as a reconcile found it: the server's, our view of it, and its conditions.

    ``found`` are the conditions that the reconciler was given, ``conditions`` copies that it can't change.
    """

    raw: Mapping[str, Any]
    view: Mapping[str, Any]
    found: tuple[Condition, ...]
    conditions: tuple[Condition, ...]

    @property
    def ready(self) -> Condition | None:
        """The condition Ready that the reconciler was given."""
        return pure.find(self.found, READY)


def begin(obj: Object, raw: Mapping[str, Any]) -> Before:
    """Keep the status for comparison, and clear Reconciling, Stalled and Paused: they stay only if they come again."""
    conditions = _conditions(obj)
    before = Before(raw.get("status") or {}, _view(obj), tuple(conditions), tuple(map(replace, conditions)))
    pure.drop(conditions, RECONCILING, STALLED, PAUSED)
    return before


def succeed(obj: Object, before: Before, *, waiting: bool) -> None:
    """Set Ready where the reconciler leaves it to the framework: it never did, or the last word was a failure's."""
    if not _has_conditions(obj) or waiting:
        return
    ready = pure.find(_conditions(obj), READY)
    if ready is not None and (ready is not before.ready or not _reported_failure(before)):
        return
    if pure.find(_conditions(obj), RECONCILING) is None:
        generation = obj.metadata.generation
        pure.put(_conditions(obj), pure.condition(READY, "True", reason="Reconciled", generation=generation))


def fail(obj: Object, failure: Failure) -> None:
    """Say by kstatus' rules that the object is not in line, and whether it may yet be."""
    if not _has_conditions(obj):
        return
    ready = pure.condition(
        READY, "False", reason=failure.reason, message=failure.message, generation=obj.metadata.generation
    )
    pure.put(_conditions(obj), ready)
    pure.put(_conditions(obj), replace(ready, type=STALLED if failure.stalled else RECONCILING, status="True"))


def pause(obj: Object, before: Before, why: str) -> bool:
    """Say that nothing is done for the object, and no more: what was said of it before stands. Whether it can be said.

    Neither generation is touched, for nobody has acted on the spec.
    """
    if not _has_conditions(obj):
        return False
    conditions = _conditions(obj)
    conditions[:] = before.found
    pure.put(conditions, pure.condition(PAUSED, "True", reason="Paused", message=why))
    return True


class StatusWriter:
    """Writes the statuses of one controller's objects.

    Whose a condition is that nobody set in this call is told by managedFields alone, which the cache does without. So
    the object is read for it, once in the life of a process, before the first write that such a condition is part of.
    """

    def __init__(self, client: Client, kind: GroupVersionKind, *, field_manager: str) -> None:
        self._client = client
        self._kind = kind
        self._field_manager = field_manager
        self._ours: dict[str, frozenset[str]] = {}

    def forget(self, uid: str) -> None:
        """Drop what is remembered of an object that is gone."""
        self._ours.pop(uid, None)

    async def write(self, obj: Object, before: Before, *, now: datetime, observed: bool = True) -> bool:
        """Stamp the status and apply it through ``/status`` if it differs from what the server has; tells whether.

        ``observed``: somebody has acted on the spec, so ``observedGeneration`` is its generation.

        Raises:
            Conflict: the object was deleted and made anew meanwhile.
            NotFound: it is gone.

        """
        status = getattr(obj, "status", None)
        if status is None:
            return False
        metadata, conditions = obj.metadata, _conditions(obj)
        kept = frozenset(
            new.type
            for new, old in zip(before.found, before.conditions, strict=True)
            if new == old and any(new is item for item in conditions)
        )
        generation = metadata.generation if observed else None
        pure.settle(conditions, before.conditions, now=now.replace(microsecond=0), generation=generation)
        if observed and hasattr(status, "observed_generation"):
            status.observed_generation = metadata.generation
        view = _view(obj)
        if view == before.view and restrict(before.raw, view) == view:
            return False
        theirs = await self._theirs(metadata, kept - OWN)
        if theirs:
            view["conditions"] = [item for item in view["conditions"] if item["type"] not in theirs]
        await self._apply(metadata.name, metadata.namespace, metadata.uid, view)
        return True

    async def write_undecodable(self, raw: Mapping[str, Any], failure: Failure, *, now: datetime) -> None:
        """Report an object that does not fit its class, which leaves no typed status to fill in."""
        metadata, status = raw["metadata"], raw.get("status") or {}
        found = {condition.get("type", ""): condition for condition in status.get("conditions") or ()}
        generation = metadata.get("generation", 0)
        new = dict(found)
        for type_, state in ((READY, "False"), (STALLED, "True")):
            old = found.get(type_, {})
            new[type_] = {
                "type": type_,
                "status": state,
                "reason": failure.reason,
                "message": pure.cut(failure.message),
                "observedGeneration": generation,
                "lastTransitionTime": old["lastTransitionTime"]
                if old.get("status") == state
                else f"{now:%Y-%m-%dT%H:%M:%SZ}",
            }
        if new == found and status.get("observedGeneration") == generation:
            return
        name, namespace, uid = metadata["name"], metadata.get("namespace", ""), metadata["uid"]
        about = ObjectMeta(name=name, namespace=namespace, uid=uid)
        theirs = await self._theirs(about, frozenset(found) - OWN)
        kept = [condition for type_, condition in new.items() if type_ not in theirs]
        await self._apply(name, namespace, uid, {**status, "observedGeneration": generation, "conditions": kept})

    async def _theirs(self, metadata: ObjectMeta, doubtful: frozenset[str]) -> frozenset[str]:
        """Return those of the types of condition that this operator has not applied."""
        if not doubtful:
            return doubtful
        ours = self._ours.get(metadata.uid)
        if ours is None:
            # By a list of one: the role needs no further verb for it.
            selected = f"metadata.name={metadata.name}"
            found = await self._client.list(self._kind, namespace=metadata.namespace, fields=selected)
            if not found or found[0]["metadata"]["uid"] != metadata.uid:
                return doubtful  # the object is gone, and the write will be told so
            ours = self._ours[metadata.uid] = applied(found[0], self._field_manager)
        return doubtful - ours

    async def _apply(self, name: str, namespace: str, uid: str, status: Mapping[str, Any]) -> None:
        metadata = {"name": name, "uid": uid, **({"namespace": namespace} if namespace else {})}
        kind = self._kind
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "status": status}
        await self._client.apply(body, field_manager=self._field_manager, subresource="status")
        if uid in self._ours:
            self._ours[uid] = frozenset(condition["type"] for condition in status.get("conditions") or ())


def applied(obj: Mapping[str, Any], field_manager: str) -> frozenset[str]:
    """Return the types of the conditions that a field manager has applied, by the object's managedFields."""
    types: set[str] = set()
    for entry in obj.get("metadata", {}).get("managedFields") or ():
        if (entry.get("manager"), entry.get("subresource")) == (field_manager, "status"):
            fields = entry.get("fieldsV1", {}).get("f:status", {}).get("f:conditions", {})
            types.update(json.loads(key[2:]).get("type", "") for key in fields if key.startswith("k:"))
    return frozenset(types)


def _reported_failure(before: Before) -> bool:
    """Whether the Ready that was found came from ``fail``: it shares its reason with Reconciling or Stalled."""
    marks = (pure.find(before.conditions, RECONCILING), pure.find(before.conditions, STALLED))
    return any(mark is not None and before.ready is not None and mark.reason == before.ready.reason for mark in marks)


def _view(obj: Object) -> dict[str, Any]:
    status = getattr(obj, "status", None)
    if is_dataclass(status) and not isinstance(status, type):
        return codec.to_mapping(status)
    return dict(codec.to_mapping(obj).get("status") or {})


def _has_conditions(obj: Object) -> bool:
    return isinstance(getattr(getattr(obj, "status", None), "conditions", None), list)


def _conditions(obj: Object) -> list[Condition]:
    return obj.status.conditions if _has_conditions(obj) else []  # type: ignore[attr-defined]  # checked just before
