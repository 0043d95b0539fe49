"""JSON → dataclass, by way of a mirror.

For each dataclass a msgspec struct with the JSON names is made once. msgspec reads and checks the JSON text against it
in C; a loader then builds the user's own dataclass from the mirror. Structure is checked, bounds are not: the server
has validated the object, and one that is older than a bound must stay readable.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import msgspec

from pyopscaffold.api import Object
from pyopscaffold.api.introspect import FieldInfo, fields_of, unwrap
from pyopscaffold.api.markers import IntOrString
from pyopscaffold.codec.misfit import Misfit
from pyopscaffold.errors import CodecError
from pyopscaffold.kube import duration

Load: TypeAlias = Callable[[Any], Any]
Bindings: TypeAlias = dict[Any, Any]

_AWARE = Annotated[datetime, msgspec.Meta(tz=True)]
_LISTS: dict[Any, type] = {
    list: list,
    collections.abc.Sequence: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
}
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


@dataclass(frozen=True)
class Shape:
    """The type that msgspec reads, and what makes the author's value of it (None: it is that value already)."""

    type: Any
    load: Load | None = None


_SIMPLE: dict[Any, Shape] = {
    **{scalar: Shape(scalar) for scalar in (str, int, float, bool, bytes)},
    datetime: Shape(_AWARE),
    timedelta: Shape(str, duration.parse),
    Any: Shape(Any),
    object: Shape(Any),
}


@dataclass(frozen=True)
class _Slot:
    name: str
    json_name: str
    load: Load | None
    optional: bool


class Loaders:
    """The shapes made so far; one instance serves the process.

    A class of which the shape is still being made contains itself: Kubernetes schemas can't recurse, so it is refused.
    """

    def __init__(self) -> None:
        self._shapes: dict[Any, Shape] = {}
        self._open: set[Any] = set()

    def shape(self, hint: Any, bindings: Bindings) -> Shape:
        """Return the shape of a type hint; raises Misfit where JSON can't be read as it."""
        hint, metadata, optional = unwrap(_resolve(hint, bindings))
        shape = self._plain(_resolve(hint, bindings), bindings)
        if shape.type is str and any(isinstance(marker, IntOrString) for marker in metadata):
            shape = Shape(str | int | float, str)
        return _or_none(shape) if optional else shape

    def _plain(self, hint: Any, bindings: Bindings) -> Shape:
        origin = get_origin(hint) or hint
        if dataclasses.is_dataclass(origin):
            shape = self.of_dataclass(hint)
        elif hint in _SIMPLE:
            shape = _SIMPLE[hint]
        elif origin is Literal or (isinstance(hint, type) and issubclass(hint, enum.Enum)):
            shape = Shape(hint)
        elif origin in _LISTS:
            shape = self._list(hint, origin, bindings)
        elif origin in _MAPPINGS:
            shape = self._mapping(hint, bindings)
        elif origin in {Union, types.UnionType}:
            shape = self._union(hint, bindings)
        else:
            raise Misfit(f"the type {_name(hint)} has no JSON form")
        return shape

    def _list(self, hint: Any, origin: Any, bindings: Bindings) -> Shape:
        container = _LISTS[origin]
        arguments = [argument for argument in get_args(hint) if argument is not ...]
        if len(arguments) > 1:
            raise Misfit(f"{_name(hint)}: items of several types in one list have no Kubernetes schema")
        item = self.shape(arguments[0], bindings) if arguments else Shape(Any)
        load = None if item.load is None and container is list else _list_loader(container, item.load)
        return Shape(types.GenericAlias(list, (item.type,)), load)

    def _mapping(self, hint: Any, bindings: Bindings) -> Shape:
        key, value = get_args(hint) or (str, Any)
        if unwrap(_resolve(key, bindings))[0] is not str:
            raise Misfit(f"{_name(hint)}: JSON keys are strings")
        item = self.shape(value, bindings)
        alias = types.GenericAlias(dict, (str, item.type))
        return Shape(alias, None if item.load is None else _mapping_loader(item.load))

    def _union(self, hint: Any, bindings: Bindings) -> Shape:
        members = [self.shape(member, bindings) for member in get_args(hint)]
        if any(member.load is not None for member in members):
            raise Misfit(f"{_name(hint)}: only unions of plain JSON types, such as int | str, can be told apart")
        return Shape(Union[tuple(member.type for member in members)])  # noqa: UP007 - built from values

    def of_dataclass(self, hint: Any) -> Shape:
        """Return the mirror and the loader of a dataclass or of a generic one with its arguments."""
        if (known := self._shapes.get(hint)) is not None:
            return known
        if hint in self._open:
            raise Misfit(f"{_name(hint)} contains itself, which no Kubernetes schema can express")
        self._open.add(hint)
        try:
            shape = self._shapes[hint] = self._make(hint)
        finally:
            self._open.discard(hint)
        return shape

    def _make(self, hint: Any) -> Shape:
        cls: type = get_origin(hint) or hint
        bindings = dict(zip(_parameters(cls), get_args(hint), strict=False))
        initialised = {field.name for field in dataclasses.fields(cls) if field.init}
        slots: list[_Slot] = []
        members: list[tuple[str, Any, Any]] = []
        for info in fields_of(cls):
            if info.name not in initialised:
                continue
            try:
                shape = self.shape(info.type if not info.metadata else _annotated(info), bindings)
            except Misfit as misfit:
                raise Misfit(f"{cls.__name__}.{info.name}: {misfit.message}") from None
            slots.append(_Slot(info.name, info.json_name, shape.load, info.optional))
            members.append(_member(info, shape))
        if issubclass(cls, Object):
            members += [(name, str | None, None) for name in ("apiVersion", "kind")]
        mirror = msgspec.defstruct(cls.__name__, members, kw_only=True)
        return Shape(mirror, _loader(cls, slots))


def _member(info: FieldInfo, shape: Shape) -> tuple[str, Any, Any]:
    if info.required and not info.optional:
        return info.name, shape.type, msgspec.field(name=info.json_name)
    # null means "not set" to Kubernetes: a field with a default takes it then
    return info.name, shape.type | None | msgspec.UnsetType, msgspec.field(default=msgspec.UNSET, name=info.json_name)


def _loader(cls: type, slots: list[_Slot]) -> Load:
    names = tuple(slot.name for slot in slots)
    json_names = {slot.name: slot.json_name for slot in slots}
    nullable = frozenset(slot.name for slot in slots if slot.optional)
    converters = tuple((slot.name, slot.load) for slot in slots if slot.load is not None)
    # X | None without a default: Python demands a value, JSON does not
    implied = tuple(info.name for info in fields_of(cls) if info.optional and info.required)
    unset, values_of = msgspec.UNSET, msgspec.structs.astuple

    def load(mirror: Any) -> Any:
        values = {
            name: value
            for name, value in zip(names, values_of(mirror), strict=False)
            if value is not unset and (value is not None or name in nullable)
        }
        name = ""
        try:
            for name, convert in converters:
                if (value := values.get(name)) is not None:
                    values[name] = convert(value)
        except Misfit as misfit:
            raise misfit.inside(f".{json_names[name]}") from None
        except ValueError as error:
            raise Misfit(str(error), f".{json_names[name]}") from error
        for name in implied:
            values.setdefault(name, None)
        try:
            return cls(**values)
        except (TypeError, ValueError) as error:  # the author's own __post_init__
            raise Misfit(str(error)) from error

    return load


def _list_loader(container: type, convert: Load | None) -> Load:
    def load(values: list[Any]) -> Any:
        if convert is None:
            return container(values)
        index = 0
        loaded = []
        try:
            for index, value in enumerate(values):  # noqa: B007 - the handler reads index
                loaded.append(convert(value))
        except Misfit as misfit:
            raise misfit.inside(f"[{index}]") from None
        except ValueError as error:
            raise Misfit(str(error), f"[{index}]") from error
        return loaded if container is list else container(loaded)

    return load


def _mapping_loader(convert: Load) -> Load:
    def load(values: dict[str, Any]) -> Any:
        key = ""
        loaded = {}
        try:
            for key, value in values.items():
                loaded[key] = convert(value)
        except Misfit as misfit:
            raise misfit.inside(f"[{key!r}]") from None
        except ValueError as error:
            raise Misfit(str(error), f"[{key!r}]") from error
        return loaded

    return load


def _or_none(shape: Shape) -> Shape:
    load = shape.load
    return Shape(shape.type | None, None if load is None else lambda value: None if value is None else load(value))


def _annotated(info: FieldInfo) -> Any:
    return Annotated[(info.type, *info.metadata)]


def _resolve(hint: Any, bindings: Bindings) -> Any:
    """Replace what only stands for a type: variables, NewType, ``type X = …``."""
    while True:
        if isinstance(hint, TypeVar):
            hint = bindings.get(hint, hint.__bound__ or Any)
        elif isinstance(hint, typing.NewType):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":  # Python 3.12's
            hint = hint.__value__
        elif bindings and (parameters := _parameters(hint)):
            return hint[tuple(bindings.get(parameter, Any) for parameter in parameters)]
        else:
            return hint


def _parameters(hint: Any) -> tuple[Any, ...]:
    found: tuple[Any, ...] = getattr(hint, "__parameters__", ())
    return found


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)


_loaders = Loaders()


@dataclass(frozen=True)
class Codec:
    """How one class is read from JSON text."""

    decode: Callable[[Any], Any]
    load: Load


def codec_of(cls: Any) -> Codec:
    """Make the mirror of a dataclass; raises CodecError where a field's type has no JSON form."""
    try:
        shape = _loaders.of_dataclass(cls)
        decoder = msgspec.json.Decoder(shape.type)
    except Misfit as misfit:
        raise CodecError(misfit.message) from misfit
    except (TypeError, NameError) as error:
        raise CodecError(f"{_name(cls)}: {error}") from error
    assert shape.load is not None  # noqa: S101 - a dataclass always has a loader
    return Codec(decoder.decode, shape.load)
