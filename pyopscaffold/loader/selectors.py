"""The fields that ``kubectl get --field-selector`` knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.api.markers import Selectable
from pyopscaffold.errors import Problem
from pyopscaffold.model.kinds import FieldModel, KindModel, ListType, MapType, StructType, TypeModel

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN = re.compile(r"[\w-]+")


def selectable(struct: StructType, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FieldModel]]:
    """Yield the fields marked ``Selectable`` with the JSON names on the way, as far as no list or dict lies there."""
    for member in struct.fields:
        here = (*path, member.json_name)
        if _is_marked(member):
            yield here, member
        if isinstance(member.type, StructType):
            yield from selectable(member.type, here)


def problems(kind: KindModel) -> Iterator[Problem]:
    """Yield the fields marked ``Selectable`` that no selector reaches: inside of lists and dicts, or by their names."""
    reached = {member.span for path, member in selectable(kind.root) if all(map(_PLAIN.fullmatch, path))}
    for owner, member in _below(kind.root):
        if _is_marked(member) and member.span not in reached:
            message = "no selector reaches it inside of a list or dict, or without a plain name; remove Selectable()"
            yield Problem(member.span.file, member.span.line, f"{owner}.{member.name}", message)


def _below(model: TypeModel) -> Iterator[tuple[str, FieldModel]]:
    match model:
        case StructType():
            for member in model.fields:
                yield model.name, member
                yield from _below(member.type)
        case ListType(inner, _) | MapType(inner, _):
            yield from _below(inner)


def _is_marked(member: FieldModel) -> bool:
    return any(isinstance(marker, Selectable) for marker in member.markers)
