"""Whether the API server finds the old value of everything that a transition rule stands on.

It finds the old item of a list by the keys of a list-map. Below all other lists it refuses rules that read ``oldSelf``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyopscaffold.api.markers import ListMap
from pyopscaffold.errors import Problem
from pyopscaffold.model.kinds import FieldModel, KindModel, ListType, MapType, SourceSpan, StructType, TypeModel
from pyopscaffold.model.rules import compares

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class _Place:
    """Where the reading is; ``loose`` names the outermost list without keys around it."""

    span: SourceSpan
    subject: str
    loose: str = ""


def problems(kinds: Iterable[KindModel]) -> Iterator[Problem]:
    """Yield the transition rules that the API server would refuse for their place."""
    for kind in kinds:
        for member in kind.root.fields:
            yield from _field(member, kind.root.name, "")


def _field(member: FieldModel, owner: str, loose: str) -> Iterator[Problem]:
    yield from _value(member.type, member.markers, _Place(member.span, f"{owner}.{member.name}", loose))


def _value(model: TypeModel, markers: tuple[Any, ...], place: _Place) -> Iterator[Problem]:
    yield from _judged(markers, place)
    match model:
        case ListType(items, inner):
            keyed = any(isinstance(marker, ListMap) for marker in markers)
            loose = place.loose or ("" if keyed else place.subject)
            yield from _value(items, inner, replace(place, subject=f"{place.subject}[]", loose=loose))
        case MapType(values, inner):
            yield from _value(values, inner, replace(place, subject=f"{place.subject}{{}}"))
        case StructType():
            yield from _judged(model.markers, _Place(model.span, model.name, place.loose))
            for member in model.fields:
                yield from _field(member, model.name, place.loose)


def _judged(markers: tuple[Any, ...], place: _Place) -> Iterator[Problem]:
    for marker in markers if place.loose else ():
        if compares(marker):
            why = f"reads the old value, but the items of {place.loose} have no key to find it by"
            message = f"{type(marker).__name__} {why}; write ListMap there, or put the rule above it"
            yield Problem(place.span.file, place.span.line, place.subject, message)
