"""Conditions of an object's status, for reconcilers: ``set``, ``get`` and ``remove``.

The framework adds ``lastTransitionTime`` when it writes the status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.kube import conditions as pure
from pyopscaffold.kube.conditions import READY, RECONCILING, STALLED, VALIDATED

if TYPE_CHECKING:
    from pyopscaffold.api import Object
    from pyopscaffold.kube.conditions import Status
    from pyopscaffold.kube.meta import Condition

__all__ = ["READY", "RECONCILING", "STALLED", "VALIDATED", "get", "remove", "set"]


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


def _conditions(obj: Object) -> list[Condition]:
    found = getattr(getattr(obj, "status", None), "conditions", None)
    if not isinstance(found, list):
        raise PyopscaffoldError(f"{obj.kind} has no status.conditions; declare `conditions: Conditions` in its status")
    return found
