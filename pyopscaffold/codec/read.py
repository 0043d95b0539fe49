"""JSON → dataclass: what msgspec reads for each type hint.

msgspec reads and checks the JSON text in C against a mirror of the dataclass, from which the author's own is built.
Structure is checked, bounds are not: the server has validated the object, and one that is older than a bound must stay
readable.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass
from datetime import datetime, timedelta
from functools import lru_cache, reduce
from operator import or_
from threading import get_ident
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from pyopscaffold.api import Object
from pyopscaffold.api.introspect import fields_of, hints_of, unwrap
from pyopscaffold.api.markers import IntOrString
from pyopscaffold.codec import shape as shapes
from pyopscaffold.codec.mirror import Slot, mirrored
from pyopscaffold.codec.misfit import Misfit
from pyopscaffold.codec.shape import Shape
from pyopscaffold.errors import CodecError
from pyopscaffold.kube import duration

_AWARE = Annotated[datetime, msgspec.Meta(tz=True)]
_LISTS: dict[Any, type] = {
    list: list,
    collections.abc.Sequence: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
}
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_SIMPLE: dict[Any, Shape] = {
    **{scalar: Shape(scalar) for scalar in (str, int, float, bool, bytes)},
    datetime: Shape(_AWARE),
    # the objects of a kind say the same few durations over and over
    timedelta: Shape(str, lru_cache(maxsize=1024)(duration.parse)),
    Any: Shape(Any),
    object: Shape(Any),
}


class Shapes:
    """The shapes of the dataclasses met so far; one instance serves the process.

    A class of which the same thread is still making the shape contains itself: Kubernetes schemas can't recurse, so it
    is refused.
    """

    def __init__(self) -> None:
        self._shapes: dict[Any, Shape] = {}
        self._open: set[tuple[int, Any]] = set()

    def of(self, hint: Any, metadata: tuple[Any, ...] = ()) -> Shape:
        """Return the shape of a type hint; raises Misfit where JSON can't be read as it."""
        plain, inner, optional = unwrap(hint)
        if isinstance(plain, TypeVar):
            return self.of(plain.__bound__ or Any)
        shape = self._plain(plain)
        if shape.type is str and any(isinstance(marker, IntOrString) for marker in (*metadata, *inner)):
            shape = Shape(str | int | float, str)
        return shapes.optional(shape) if optional else shape

    def of_dataclass(self, hint: Any) -> Shape:
        """Return the shape of a dataclass, or of a generic one with its arguments."""
        if (known := self._shapes.get(hint)) is not None:
            return known
        at = (get_ident(), hint)
        if at in self._open:
            raise Misfit(f"{_name(hint)} contains itself, which no Kubernetes schema can express")
        self._open.add(at)
        try:
            cls: type = get_origin(hint) or hint
            _refuse_init_vars(cls)
            shape = self._shapes[hint] = mirrored(cls, tuple(self._slots(cls, hint)))
        finally:
            self._open.discard(at)
        return shape

    def _slots(self, cls: type, hint: Any) -> Iterator[Slot]:
        fields = {field.name: field for field in dataclasses.fields(cls)}
        for info in fields_of(hint):
            try:
                shape = self.of(info.type, info.metadata)
            except Misfit as misfit:
                raise Misfit(f"{cls.__name__}.{info.name}: {misfit.message}") from None
            yield Slot(fields[info.name], info.json_name, shape, info.optional)

    def _plain(self, hint: Any) -> Shape:
        origin = get_origin(hint) or hint
        if dataclasses.is_dataclass(origin):
            shape = self.of_dataclass(hint)
        elif origin in _LISTS:
            shape = self._list(hint, _LISTS[origin])
        elif origin in _MAPPINGS:
            shape = self._mapping(hint)
        elif origin in {Union, types.UnionType}:
            shape = self._union(hint)
        elif origin is Literal:
            shape = _choice(hint, get_args(hint))
        elif isinstance(hint, type) and issubclass(hint, enum.Enum):
            shape = _choice(hint, [member.value for member in hint])
        elif hint in _SIMPLE:
            shape = _SIMPLE[hint]
        else:
            raise Misfit(f"the type {_name(hint)} has no JSON form")
        return shape

    def _list(self, hint: Any, container: type) -> Shape:
        arguments = get_args(hint)
        if container is tuple and arguments[1:] != (...,) and hint is not tuple:
            raise Misfit(f"{_name(hint)}: a list of fixed length has no Kubernetes schema; write tuple[X, ...]")
        item = self.of(arguments[0] if arguments else Any)
        if container in {set, frozenset} and arguments and not _is_hashable(arguments[0]):
            raise Misfit(f"{_name(hint)}: Python holds no such items in a set; a dataclass is to be frozen")
        return shapes.listing(container, item)

    def _mapping(self, hint: Any) -> Shape:
        key, value = get_args(hint) or (str, Any)
        if unwrap(key)[0] is not str:
            raise Misfit(f"{_name(hint)}: JSON keys are strings")
        return shapes.mapping(self.of(value))

    def _union(self, hint: Any) -> Shape:
        members = [self.of(member) for member in get_args(hint)]
        union = reduce(or_, [member.type for member in members])
        try:
            told_apart = all(member.load is None for member in members) and msgspec.json.Decoder(union)
        except TypeError:
            told_apart = None
        if not told_apart:
            raise Misfit(f"{_name(hint)}: only unions of plain JSON types, such as int | str, can be told apart")
        return Shape(union)


def _choice(hint: Any, values: typing.Sequence[Any]) -> Shape:
    kinds = {type(value) for value in values}
    if not kinds or not (kinds <= {str} or kinds <= {int}):
        raise Misfit(f"{_name(hint)}: the values of an enum are to be all strings, or all integers")
    return Shape(hint)


def _is_hashable(item: Any) -> bool:
    plain = unwrap(item)[0]
    origin = get_origin(plain) or plain
    return not isinstance(origin, type) or origin.__hash__ is not None


def _refuse_init_vars(cls: type) -> None:
    known = cls.__dataclass_fields__  # type: ignore[attr-defined]  # of a dataclass
    if len(known) == len(dataclasses.fields(cls)):
        return
    for name, hint in hints_of(cls).items():
        if isinstance(hint, dataclasses.InitVar) and known[name].default is MISSING:
            raise Misfit(f"{cls.__name__}.{name}: an InitVar can't be read from JSON; give it a default")


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)


_shapes = Shapes()


@dataclass(frozen=True)
class Codec:
    """How one class is read: from JSON text to the mirror, and from there by the ``load`` of its shape.

    ``head`` is the apiVersion and kind that an Object demands.
    """

    decode: Callable[[Any], Any]
    shape: Shape
    head: tuple[str, str] | None


def codec_of(hint: Any) -> Codec:
    """Make the mirror of a dataclass; raises CodecError where a field's type has no JSON form."""
    try:
        shape = _shapes.of_dataclass(hint)
        decoder = msgspec.json.Decoder(shape.type)
    except Misfit as misfit:
        raise CodecError(misfit.message) from misfit
    except Exception as error:  # a hint or a default factory is the author's code
        raise CodecError(f"{_name(hint)}: {error}") from error
    cls: type = get_origin(hint) or hint
    head = (cls.api_version, cls.kind) if issubclass(cls, Object) and hasattr(cls, "gvk") else None
    return Codec(decoder.decode, shape, head)
