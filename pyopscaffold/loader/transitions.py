"""Whether the API server finds the old value of everything that a transition rule stands on.

It finds the old item of a list by the keys of a list-map, and nothing below an atomic list, a set, or an atomic object:
there it refuses rules that read ``oldSelf``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyopscaffold.api.markers import ListMap
from pyopscaffold.api.markers import MapType as Merged
from pyopscaffold.errors import Problem
from pyopscaffold.model.kinds import FieldModel, KindModel, ListType, MapType, SourceSpan, StructType, TypeModel
from pyopscaffold.model.rules import compares

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class _Place:
    """Where the reading is; ``lost`` says what hides the old value there, and what to do about it."""

    span: SourceSpan
    subject: str
    lost: str = ""


def problems(kinds: Iterable[KindModel]) -> Iterator[Problem]:
    """Yield the transition rules that the API server would refuse for their place."""
    for kind in kinds:
        for member in kind.root.fields:
            yield from _field(member, kind.root.name, "")


def _field(member: FieldModel, owner: str, lost: str) -> Iterator[Problem]:
    yield from _value(member.type, member.markers, _Place(member.span, f"{owner}.{member.name}", lost))


def _value(model: TypeModel, markers: tuple[Any, ...], place: _Place) -> Iterator[Problem]:
    yield from _judged(markers, place)
    inside = replace(place, lost=place.lost or _hidden(model, markers, place.subject))
    match model:
        case ListType(items, inner):
            yield from _value(items, inner, replace(inside, subject=f"{place.subject}[]"))
        case MapType(values, inner):
            yield from _value(values, inner, replace(inside, subject=f"{place.subject}{{}}"))
        case StructType():
            yield from _judged(model.markers, _Place(model.span, model.name, place.lost))
            for member in model.fields:
                yield from _field(member, model.name, inside.lost)


def _hidden(model: TypeModel, markers: tuple[Any, ...], subject: str) -> str:
    """Say what hides the old values below this one, "" if nothing does."""
    if isinstance(model, ListType) and not any(isinstance(marker, ListMap) for marker in markers):
        return f"the items of {subject} have no key; write ListMap there"
    if any(isinstance(marker, Merged) and marker.kind == "atomic" for marker in markers):
        return f'{subject} is replaced as a whole; drop MapType("atomic") there'
    return ""


def _judged(markers: tuple[Any, ...], place: _Place) -> Iterator[Problem]:
    for marker in markers if place.lost else ():
        if compares(marker):
            rule = type(marker).__name__
            message = f"{rule} reads the old value, which nobody finds here: {place.lost}, or put the rule above it"
            yield Problem(place.span.file, place.span.line, place.subject, message)
