"""The status of the primary object: what the framework adds to it, and the one write at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from pyopscaffold import codec
from pyopscaffold.kube import conditions as pure
from pyopscaffold.kube.conditions import READY, RECONCILING, STALLED
from pyopscaffold.kube.meta import Condition
from pyopscaffold.runtime.children import restrict

if TYPE_CHECKING:
    from datetime import datetime

    from pyopscaffold.api import GroupVersionKind, Object
    from pyopscaffold.runtime.client.protocols import Client
    from pyopscaffold.runtime.outcome import Failure


@dataclass(frozen=True)
class Before:
    """An object's status as a reconcile found it: the server's, our view of it, and its conditions."""

    raw: Mapping[str, Any]
    view: Mapping[str, Any]
    conditions: tuple[Condition, ...]
    ready: Condition | None


def begin(obj: Object, raw: Mapping[str, Any]) -> Before:
    """Keep the status for comparison, and clear Reconciling and Stalled: they stay only if they come again."""
    conditions = _conditions(obj)
    before = Before(raw.get("status") or {}, _view(obj), tuple(map(replace, conditions)), pure.find(conditions, READY))
    pure.drop(conditions, RECONCILING, STALLED)
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


async def write(client: Client, obj: Object, before: Before, *, field_manager: str, now: datetime) -> bool:
    """Stamp the status and apply it through ``/status`` if it differs from what the server has; tells whether.

    Raises:
        Conflict: the object was deleted and made anew meanwhile.
        NotFound: it is gone.

    """
    status = getattr(obj, "status", None)
    if status is None:
        return False
    pure.settle(_conditions(obj), before.conditions, now=now.replace(microsecond=0), generation=obj.metadata.generation)
    if hasattr(status, "observed_generation"):
        status.observed_generation = obj.metadata.generation
    view = _view(obj)
    if view == before.view and restrict(before.raw, view) == view:
        return False
    metadata = {"name": obj.metadata.name, "uid": obj.metadata.uid}
    if obj.metadata.namespace:
        metadata["namespace"] = obj.metadata.namespace
    body = {"apiVersion": obj.api_version, "kind": obj.kind, "metadata": metadata, "status": view}
    await client.apply(body, field_manager=field_manager, subresource="status")
    return True


async def write_undecodable(
    client: Client,
    kind: GroupVersionKind,
    raw: Mapping[str, Any],
    failure: Failure,
    *,
    field_manager: str,
    now: datetime,
) -> None:
    """Report an object that does not fit its class, which leaves no typed status to fill in."""
    metadata, status = raw["metadata"], raw.get("status") or {}
    found = {condition.get("type"): condition for condition in status.get("conditions") or ()}
    generation = metadata.get("generation", 0)
    for type_, state in ((READY, "False"), (STALLED, "True")):
        same = found.get(type_, {}).get("status") == state
        found[type_] = {
            "type": type_,
            "status": state,
            "reason": failure.reason,
            "message": pure.cut(failure.message),
            "observedGeneration": generation,
            "lastTransitionTime": found[type_]["lastTransitionTime"] if same else f"{now:%Y-%m-%dT%H:%M:%SZ}",
        }
    body = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {key: metadata[key] for key in ("name", "namespace", "uid") if key in metadata},
        "status": {**status, "observedGeneration": generation, "conditions": list(found.values())},
    }
    await client.apply(body, field_manager=field_manager, subresource="status")


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
