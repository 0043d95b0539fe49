"""What the server makes of a custom object by its schema: unknown fields go, defaults come, misfits are refused.

Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/{pruning,defaulting}.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.schema import UNSET, Schema, validate
from pyopscaffold.testing.fake.failure import Cause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.schema import Misfit

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


def prune(value: Any, schema: Schema, path: str = "") -> list[str]:
    """Take what the schema does not name out of the value, and return the paths of it."""
    if isinstance(value, list):
        inner = schema.items
        return (
            [] if inner is None else [at for i, item in enumerate(value) for at in prune(item, inner, f"{path}[{i}]")]
        )
    if not isinstance(value, dict):
        return []
    kept = _TYPE_META if not path or schema.embedded_resource else ()
    gone = []
    for name in list(value):
        child = schema.properties.get(name, schema.additional_properties)
        place = f"{path}.{name}".lstrip(".")
        if name in kept:
            continue
        if child is not None:
            gone += prune(value[name], child, place)
        elif not schema.preserve_unknown_fields:
            del value[name]
            gone.append(place)
    return gone


def drop_nulls(value: Any, schema: Schema | None) -> None:
    """Take nulls out that may not be, save those that a default replaces."""
    if schema is None:
        return
    if isinstance(value, dict):
        for name in list(value):
            child = schema.properties.get(name, schema.additional_properties)
            if child is not None and value[name] is None and not child.nullable and child.default is UNSET:
                del value[name]
            else:
                drop_nulls(value[name], child)
    elif isinstance(value, list):
        for item in value:
            drop_nulls(item, schema.items)


def default(value: Any, schema: Schema | None) -> None:
    """Put defaults where nothing is, or a null that may not be."""
    if schema is None:
        return
    if isinstance(value, dict):
        for name, child in schema.properties.items():
            if child.default is not UNSET and (name not in value or _refused_null(value[name], child)):
                value[name] = copy.deepcopy(child.default)
        for name in value:
            default(value[name], schema.properties.get(name, schema.additional_properties))
    elif isinstance(value, list):
        for item in value:
            default(item, schema.items)


def _refused_null(value: Any, schema: Schema) -> bool:
    return value is None and not schema.nullable


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
