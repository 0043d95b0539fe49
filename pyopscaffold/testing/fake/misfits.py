"""Why the server refuses a custom object by its schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.schema import validate
from pyopscaffold.testing.fake.failure import Cause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.schema import Misfit, Schema

Json = dict[str, Any]

_TYPE_META: Final = ("apiVersion", "kind", "metadata")
_REASONS: Final = (
    ("FieldValueTypeInvalid", r" is not (an? |true or false)|has not the format|null is not allowed"),
    ("FieldValueNotSupported", r" is none of "),
    ("FieldValueTooLong", r"it has \d+ of at most \d+ characters"),
    ("FieldValueTooMany", r"it has \d+ of at most \d+ (items|entries)"),
    ("FieldValueDuplicate", r"it is the same as "),
)
"""By what our validation says of a misfit; what is none of these is FieldValueInvalid."""


def causes(schema: Schema, new: Json, old: Json | None) -> list[Cause]:
    """Return why an object does not fit; what an older state was already at fault in is let pass (ratcheting)."""
    known = set(_misfits(schema, old)) if old is not None else set()
    return [_cause(misfit) for misfit in _misfits(schema, new) if misfit not in known]


def _misfits(schema: Schema, obj: Json) -> Iterator[Misfit]:
    yield from validate(schema, {name: value for name, value in obj.items() if name not in _TYPE_META})


def _cause(misfit: Misfit) -> Cause:
    if missing := re.fullmatch(r"(\S+) is missing", misfit.message):
        return Cause(f"{misfit.path}.{missing[1]}".lstrip("."), "FieldValueRequired", "Required value")
    reason = next((name for name, pattern in _REASONS if re.search(pattern, misfit.message)), "FieldValueInvalid")
    return Cause(misfit.path, reason, misfit.message)
