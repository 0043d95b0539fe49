"""Conditions as meta/v1 has them: pure functions over a list of them.

``type`` and ``reason`` are CamelCase words, ``message`` is for people; ``lastTransitionTime`` changes exactly when
``status`` does (https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.kube.meta import Condition

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

Status = Literal["True", "False", "Unknown"]

READY = "Ready"
RECONCILING = "Reconciling"
STALLED = "Stalled"
PAUSED = "Paused"
VALIDATED = "Validated"

MESSAGE_MAX = 120
_WORD = re.compile(r"[A-Z][A-Za-z0-9]*")
_ELLIPSIS = "…"


def condition(type: str, status: Status, *, reason: str, message: str = "", generation: int | None = None) -> Condition:  # noqa: A002 - the field's name
    """Make a condition without a transition time; the message is put on one line and cut at 120 characters.

    Raises:
        PyopscaffoldError: type or reason is no CamelCase word, or status is none of True, False and Unknown.

    """
    for what, text in (("type", type), ("reason", reason)):
        if not _WORD.fullmatch(text):
            raise PyopscaffoldError(f"condition {type}: {what} {text!r} is not one CamelCase word")
    if status not in ("True", "False", "Unknown"):
        raise PyopscaffoldError(f"condition {type}: status {status!r} is not True, False or Unknown")
    return Condition(type=type, status=status, reason=reason, message=cut(message), observed_generation=generation)


def cut(message: str, limit: int = MESSAGE_MAX) -> str:
    """Fold white space and shorten to ``limit`` characters, the last one an ellipsis then."""
    line = " ".join(message.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + _ELLIPSIS


def reason_from(text: str, default: str = "Error") -> str:
    """Make a CamelCase reason of an error's name: ``not_found`` → ``NotFound``."""
    word = "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", text))
    return word if _WORD.fullmatch(word) else default


def find(conditions: Sequence[Condition], type: str) -> Condition | None:  # noqa: A002 - the field's name
    """Return the condition of that type."""
    return next((condition for condition in conditions if condition.type == type), None)


def put(conditions: list[Condition], new: Condition) -> None:
    """Put the condition in the place of the one of its type, or at the end."""
    for index, old in enumerate(conditions):
        if old.type == new.type:
            conditions[index] = new
            return
    conditions.append(new)


def drop(conditions: list[Condition], *types: str) -> None:
    """Take away the conditions of these types."""
    conditions[:] = [condition for condition in conditions if condition.type not in types]


def settle(
    conditions: list[Condition], before: Sequence[Condition], *, now: datetime, generation: int | None = None
) -> None:
    """Stamp a list that was changed from ``before``.

    ``last_transition_time`` is now, in the whole seconds of meta/v1 Time, where the status differs, else what it was;
    ``observed_generation`` is the generation where the condition says something else than before.
    """
    now = now.replace(microsecond=0)
    for index, new in enumerate(conditions):
        old = find(before, new.type)
        same_status = old is not None and old.status == new.status
        changed = old is None or (old.status, old.reason, old.message) != (new.status, new.reason, new.message)
        conditions[index] = replace(
            new,
            last_transition_time=(old.last_transition_time or now) if old and same_status else now,
            observed_generation=generation if changed and generation is not None else new.observed_generation,
        )
