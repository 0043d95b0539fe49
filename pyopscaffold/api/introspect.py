"""How a dataclass is read: its fields with resolved types, markers and JSON names.

The codec and the reader of declarations share this, so that both see the same API.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
import typing
from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, Protocol, TypeAlias, TypeVar, get_args, get_origin

from pyopscaffold.api.markers import Name, Nullable
from pyopscaffold.kube.names import camel_case

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")
Bindings: TypeAlias = dict[Any, Any]
"""What type variables stand for."""

_LONGEST = 128
"""How many aliases and unions may lie around a type."""


@dataclass(frozen=True)
class FieldInfo:
    """One dataclass field.

    ``type`` has neither the outermost ``Annotated`` nor the ``| None``; those are ``metadata`` and ``optional``.
    ``default`` is a value or :data:`dataclasses.MISSING`; a ``default_factory`` has been called.
    """

    name: str
    json_name: str
    type: Any
    metadata: tuple[Any, ...]
    optional: bool
    default: Any

    @property
    def required(self) -> bool:
        """Whether Python demands a value: there is no default."""
        return self.default is MISSING

    @property
    def keeps_null(self) -> bool:
        """Whether None is written as ``null``: the server keeps it, and would take absence for something else."""
        return self.default is not None and any(isinstance(marker, Nullable) for marker in self.metadata)


def fields_of(hint: Any) -> tuple[FieldInfo, ...]:
    """Return the fields of a dataclass in order, with type hints resolved; fields with ``init=False`` are none of them.

    Of a generic dataclass with its arguments (``Ref[str]``), and of one that inherits such (``class Name(Ref[str])``),
    the type variables are replaced; those of a bare ``Ref`` stay.

    Raises:
        NameError: a type hint names something that its module does not define, nor imports under ``TYPE_CHECKING``.
        DeclarationError: that import fails.

    """
    cls: type = get_origin(hint) or hint
    hints = hints_of(cls)
    bound = bindings_of(hint)
    return tuple(
        _field_info(field, substitute(hints[field.name], _of_owner(cls, field.name, bound)))
        for field in dataclasses.fields(cls)
        if field.init
    )


def field_of(hint: Any, name: str) -> FieldInfo:
    """Return one field of a dataclass, whatever is wrong with others; raises as :func:`fields_of` does."""
    cls: Any = get_origin(hint) or hint
    owner = _owner(cls, name)
    said = hints_in(owner, {name: inspect.get_annotations(owner)[name]})[name]
    return _field_info(cls.__dataclass_fields__[name], substitute(said, bindings_of(hint).get(owner, {})))


def hints_of(cls: type) -> dict[str, Any]:
    """Return the type hints of a class; raises as :func:`fields_of` does."""
    if not any("__type_params__" in vars(base) for base in cls.__mro__):
        return resolved(lambda: typing.get_type_hints(cls, include_extras=True))
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        found |= hints_in(base, inspect.get_annotations(base))
    return found


def hints_in(cls: type, annotations: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate ``annotations`` as the class itself would, which knows its own parameters (PEP 695).

    Python does so too, where they are texts, from 3.12.4 on.
    """
    alone = type(cls.__name__, (), {"__annotations__": dict(annotations)})

    def evaluate() -> dict[str, Any]:
        parameters = {item.__name__: item for item in vars(cls).get("__type_params__", ())}
        known = {**vars(sys.modules.get(cls.__module__, types)), **parameters}
        return typing.get_type_hints(alone, dict(vars(cls)), known, include_extras=True)

    return resolved(evaluate)


def resolved(evaluate: Callable[[], T]) -> T:
    """Evaluate hints, also where they say names that modules import under ``TYPE_CHECKING``."""
    try:
        return evaluate()
    except (NameError, AttributeError) as error:
        from pyopscaffold.api import deferred  # noqa: PLC0415 - what it costs is for those who need it

        return deferred.evaluated(evaluate, error)


def bindings_of(hint: Any) -> dict[type, Bindings]:
    """Return what the type variables of a dataclass, and of each generic class above it, stand for."""
    cls: type = get_origin(hint) or hint
    mine = dict(zip(_parameters(cls), get_args(hint), strict=False))
    found = {cls: mine} if mine else {}
    for base in vars(cls).get("__orig_bases__", cls.__bases__):
        if get_origin(base) not in {Generic, Protocol}:
            found.update(bindings_of(substitute(_unquoted(base, cls) if get_args(base) else base, mine)))
    return found


def _unquoted(base: Any, cls: type) -> Any:
    """Return a generic base with the arguments that ``cls`` says in quotes."""
    return hints_of(type(cls.__name__, (), {"__annotations__": {"base": base}, "__module__": cls.__module__}))["base"]


def substitute(hint: Any, bindings: Bindings) -> Any:
    """Replace the type variables in a hint; those without a binding stay."""
    if isinstance(hint, TypeVar):
        return bindings.get(hint, hint)
    parameters = _parameters(hint) if bindings and not isinstance(hint, type) else ()
    return hint[tuple(bindings.get(parameter, parameter) for parameter in parameters)] if parameters else hint


def _of_owner(cls: type, name: str, bound: dict[type, Bindings]) -> Bindings:
    """Return the bindings of the class that says the field's type."""
    return bound.get(_owner(cls, name), {}) if bound else {}


def _owner(cls: type, name: str) -> type:
    """Return the class that says the field's type."""
    return next(base for base in cls.__mro__ if name in inspect.get_annotations(base))


def _parameters(hint: Any) -> tuple[Any, ...]:
    found: tuple[Any, ...] = getattr(hint, "__parameters__", ())
    return found


def unwrap(hint: Any) -> tuple[Any, tuple[Any, ...], bool]:
    """Split a hint into plain type, metadata (outermost last) and whether None is allowed.

    Raises:
        RecursionError: it is an alias that stands for itself.

    """
    metadata: tuple[Any, ...] = ()
    optional = False
    for _ in range(_LONGEST):
        if get_origin(hint) is Annotated:
            hint, *outer = get_args(hint)
            metadata = (*outer, *metadata)
        elif _is_union(hint) and type(None) in get_args(hint):
            optional = True
            members = tuple(member for member in get_args(hint) if member is not type(None))
            if len(members) > 1:
                return typing.Union[members], metadata, optional  # noqa: UP007 - built from values
            hint = members[0]
        elif (alias := _aliased(hint)) is not None:
            hint = alias
        else:
            return hint, metadata, optional
    raise RecursionError(f"{hint} stands for itself")


def _aliased(hint: Any) -> Any:
    """Return what a ``type`` statement (PEP 695), ``NewType`` or a variable with a default (PEP 696) stands for."""
    if isinstance(hint, typing.NewType):
        return hint.__supertype__
    alias = get_origin(hint) or hint
    if isinstance(hint, TypeVar):
        return alias.__default__ if getattr(alias, "has_default", bool)() else None
    if type(alias).__name__ != "TypeAliasType":
        return None
    value = resolved(lambda: alias.__value__)
    return substitute(value, dict(zip(alias.__type_params__, get_args(hint), strict=False)))


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in {typing.Union, types.UnionType}


def _field_info(field: dataclasses.Field[Any], hint: Any) -> FieldInfo:
    plain, metadata, optional = unwrap(hint)
    explicit = [marker.json for marker in metadata if isinstance(marker, Name)]
    default = field.default
    if field.default_factory is not MISSING:
        default = field.default_factory()
    return FieldInfo(
        name=field.name,
        json_name=explicit[-1] if explicit else camel_case(field.name),
        type=plain,
        metadata=metadata,
        optional=optional,
        default=default,
    )
