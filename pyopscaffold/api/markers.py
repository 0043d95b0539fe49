"""Markers: what a dataclass field says beyond its Python type.

They stand in ``typing.Annotated`` beside the bounds of ``annotated-types`` (``Ge``, ``Le``, ``MinLen`` …). A marker is
a frozen value without behaviour: :mod:`pyopscaffold.model.markers` gives each its meaning in the CRD, and
controller-gen's markers of the same name are the reference for that meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Reason = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]
"""How a client learns what kind of mistake a broken rule is."""


class Marker:
    """Base of the project's own markers, so that a reader can tell them from foreign metadata."""

    __slots__ = ()


@dataclass(frozen=True)
class Pattern(Marker):
    """The string matches this RE2 expression; anchor it, since a match anywhere counts."""

    regex: str


@dataclass(frozen=True)
class Format(Marker):
    """OpenAPI ``format`` of the value, such as ``int32`` or ``ipv4``."""

    name: str


@dataclass(frozen=True)
class Name(Marker):
    """JSON name of the field, where camelCase of the Python name is not it: ``Name("clusterIP")``."""

    json: str


@dataclass(frozen=True)
class Doc(Marker):
    """Description of the field, for where no docstring can stand under it."""

    text: str


@dataclass(frozen=True)
class Title(Marker):
    """OpenAPI ``title`` of the field."""

    text: str


@dataclass(frozen=True)
class Example(Marker):
    """OpenAPI ``example`` of the field, a JSON value."""

    value: Any


@dataclass(frozen=True)
class Default(Marker):
    """Default that the API server fills in, where it differs from the dataclass's own; a JSON value."""

    value: Any


@dataclass(frozen=True)
class NoSchemaDefault(Marker):
    """Keep the dataclass's default out of the CRD: it is applied on reading only."""


@dataclass(frozen=True)
class Nullable(Marker):
    """An explicit ``null`` is allowed and kept."""


@dataclass(frozen=True)
class ListMap(Marker):
    """The list is a map keyed by these fields (Python names) of its items: server-side apply merges by key."""

    keys: tuple[str, ...]

    def __init__(self, *keys: str) -> None:
        object.__setattr__(self, "keys", keys)


@dataclass(frozen=True)
class ListSet(Marker):
    """The list is a set of scalars."""


@dataclass(frozen=True)
class ListAtomic(Marker):
    """The list is replaced as a whole."""


@dataclass(frozen=True)
class MapType(Marker):
    """``"granular"`` merges an object key by key (the default), ``"atomic"`` replaces it as a whole."""

    kind: str


@dataclass(frozen=True)
class PreserveUnknownFields(Marker):
    """Fields that the schema does not name are kept instead of pruned."""


@dataclass(frozen=True)
class IntOrString(Marker):
    """The value is a number or a string; ``Quantity`` carries it."""


@dataclass(frozen=True)
class CEL(Marker):
    """A rule in the Common Expression Language that the API server holds every value to.

    ``self`` is the value, ``oldSelf`` the one before an update; fields go by their JSON names. ``field_path`` is the
    JSON path, from the value on, of the field that a refusal names (``.podCount``). ``optional_old_self`` has a rule
    with ``oldSelf`` run on creation too, ``oldSelf`` being an optional then.
    """

    rule: str
    message: str = field(default="", kw_only=True)
    message_expression: str = field(default="", kw_only=True)
    reason: Reason | Literal[""] = field(default="", kw_only=True)
    field_path: str = field(default="", kw_only=True)
    optional_old_self: bool | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Immutable(Marker):
    """The value can't change once it is set, nor be taken away; an optional field may be set later."""


_C = TypeVar("_C", bound=type)

_RULES = "__pyopscaffold_cel__"


def cel(
    rule: str,
    *,
    message: str = "",
    message_expression: str = "",
    reason: Reason | Literal[""] = "",
    field_path: str = "",
    optional_old_self: bool | None = None,
) -> Callable[[_C], _C]:
    """Hold every value of the dataclass below to a rule: :class:`CEL` for whole objects, above or below ``@dataclass``.

    Subclasses inherit it.
    """
    marker = CEL(
        rule,
        message=message,
        message_expression=message_expression,
        reason=reason,
        field_path=field_path,
        optional_old_self=optional_old_self,
    )

    def declare(cls: _C) -> _C:
        setattr(cls, _RULES, (marker, *cls.__dict__.get(_RULES, ())))
        return cls

    return declare


def rules_of(cls: type) -> tuple[CEL, ...]:
    """Return the ``@cel`` rules of a class, those of its bases first, each class's from top to bottom."""
    return tuple(rule for base in reversed(cls.__mro__) for rule in base.__dict__.get(_RULES, ()))
