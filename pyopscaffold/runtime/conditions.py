"""Conditions of an object's status, for reconcilers: ``set``, ``get``, ``remove``, and ``summarize`` others in one.

The framework adds ``lastTransitionTime`` when it writes the status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.kube import conditions as pure
from pyopscaffold.kube.conditions import PAUSED, READY, RECONCILING, STALLED, VALIDATED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pyopscaffold.api import Object
    from pyopscaffold.kube.conditions import Status
    from pyopscaffold.kube.meta import Condition

__all__ = ["PAUSED", "READY", "RECONCILING", "STALLED", "VALIDATED", "get", "remove", "set", "summarize"]


def set(obj: Object, type: str, status: Status, *, reason: str, message: str = "") -> None:  # noqa: A001, A002 - read as conditions.set, the field's name
    """Set one condition of ``obj.status.conditions``.

    Raises:
        PyopscaffoldError: ``reason`` or ``type`` is no CamelCase word, or the kind has no conditions.

    """
    new = pure.condition(type, status, reason=reason, message=message, generation=obj.metadata.generation)
    pure.put(_conditions(obj), new)


def get(obj: Object, type: str) -> Condition | None:  # noqa: A002 - the field's name
    """Return the condition of that type, or None."""
    return pure.find(_conditions(obj), type)


def remove(obj: Object, type: str) -> None:  # noqa: A002 - the field's name
    """Take away the condition of that type; it may be absent."""
    pure.drop(_conditions(obj), type)


def summarize(obj: Object, type: str = READY, *, of: Iterable[str], negative: Collection[str] = ()) -> Condition:  # noqa: A002 - the field's name
    """Set one condition from others, and return it: True if all are well, False if one is bad, else Unknown.

    A type in ``of`` is well when True, and Unknown as long as nobody has said it for the object's generation; one in
    ``negative`` (``Degraded``) is well when False or absent. The reason is that of the first that is not well, the
    message names all of them.

    Raises:
        PyopscaffoldError: the kind has no conditions, or nothing is to be summarized.

    """
    generation = obj.metadata.generation
    read = [_read(type_, get(obj, type_), generation, well="True") for type_ in of]
    read += [_read(type_, get(obj, type_), generation, well="False") for type_ in negative]
    if not read:
        raise PyopscaffoldError(f"condition {type} is to summarize others, and none are named")
    for status in ("False", "Unknown", "True"):
        found = [condition for condition in read if condition.status == status]
        if found:
            break
    if status == "True":
        set(obj, type, "True", reason="AllWell")
    else:
        said = "; ".join(f"{item.type}: {item.message}" if item.message else item.type for item in found)
        set(obj, type, status, reason=found[0].reason, message=said)
    return next(condition for condition in _conditions(obj) if condition.type == type)


def _read(type_: str, found: Condition | None, generation: int, *, well: Status) -> Condition:
    """Return a condition that is True when all is well with this one."""
    if found is None:
        if well == "False":
            return pure.condition(type_, "True", reason="Absent")
        return pure.condition(type_, "Unknown", reason="NotReported", message="nobody has reported it yet")
    if found.observed_generation is not None and found.observed_generation < generation:
        message = f"reported for generation {found.observed_generation}, not yet for {generation}"
        return pure.condition(type_, "Unknown", reason="Outdated", message=message)
    status: Status = "True" if found.status == well else "Unknown" if found.status == "Unknown" else "False"
    return pure.condition(type_, status, reason=pure.reason_from(found.reason), message=found.message)


def _conditions(obj: Object) -> list[Condition]:
    found = getattr(getattr(obj, "status", None), "conditions", None)
    if not isinstance(found, list):
        raise PyopscaffoldError(f"{obj.kind} has no status.conditions; declare `conditions: Conditions` in its status")
    return found
