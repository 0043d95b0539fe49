"""Markers: what a dataclass field says beyond its Python type.

They stand in ``typing.Annotated`` beside the bounds of ``annotated-types`` (``Ge``, ``Le``, ``MinLen`` …). A marker is
a frozen value without behaviour: :mod:`pyopscaffold.model.markers` gives each its meaning in the CRD, and
controller-gen's markers of the same name are the reference for that meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
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
class Flag(Marker):
    """A marker without arguments. Only this one is made a dataclass: each costs a third of a millisecond to make."""


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

    value: Any = field(hash=False)  # a list has no hash, and a union wants one


@dataclass(frozen=True)
class Default(Marker):
    """Default that the API server fills in, where it differs from the dataclass's own; a JSON value."""

    value: Any = field(hash=False)  # a list has no hash, and a union wants one


class NoSchemaDefault(Flag):
    """Keep the dataclass's default out of the CRD: it is applied on reading only."""


@dataclass(frozen=True)
class OneOfValues(Marker):
    """The value is one of these, where ``Literal`` or an Enum can't say it: ``OneOfValues("a", "b")``."""

    values: tuple[Any, ...] = field(hash=False)  # a list has no hash, and a union wants one

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)


@dataclass(frozen=True)
class ExternalDocs(Marker):
    """OpenAPI ``externalDocs``: where to read more."""

    url: str
    description: str = ""


class Selectable(Flag):
    """``kubectl get --field-selector`` may select objects by the field: a string, boolean or integer, not in a list."""


class Nullable(Flag):
    """An explicit ``null`` is allowed and kept."""


@dataclass(frozen=True)
class ListMap(Marker):
    """The list is a map keyed by these fields (Python names) of its items: server-side apply merges by key."""

    keys: tuple[str, ...]

    def __init__(self, *keys: str) -> None:
        object.__setattr__(self, "keys", keys)


class ListSet(Flag):
    """The list is a set of scalars."""


class ListAtomic(Flag):
    """The list is replaced as a whole."""


class UniqueItems(Flag):
    """Known from other schemas, and refused: the API server allows no ``uniqueItems``. Write :class:`ListSet`."""


@dataclass(frozen=True)
class MapType(Marker):
    """``"granular"`` merges an object key by key (the default), ``"atomic"`` replaces it as a whole."""

    kind: str


class PreserveUnknownFields(Flag):
    """Fields that the schema does not name are kept instead of pruned."""


class IntOrString(Flag):
    """The value is a number or a string; ``Quantity`` carries it."""


@dataclass(frozen=True)
class SchemaType(Marker):
    """JSON type of the value in place of the one that its Python type says; what lies below is not described then.

    With ``SchemaType("object")`` a ``dict[str, Any]`` has no schema for its values.
    """

    name: str


class Schemaless(Flag):
    """Nothing is said about the value but its description and the markers beside this one; it needs one of those."""


class EmbeddedResource(Flag):
    """The object is a whole Kubernetes object: it has apiVersion, kind and metadata, which the server checks."""


class KeepMetadata(Flag):
    """An embedded ``ObjectMeta`` keeps name, namespace, labels, annotations and finalizers.

    Without it, the server drops whatever is in the metadata of an embedded object, such as a Pod template's labels.
    """


@dataclass(frozen=True, init=False)
class _Junctor(Marker):
    """Schemas of value validations only, as JSON: ``{"minLength": 1}``, ``{"required": ["hostName"]}``."""

    schemas: tuple[Mapping[str, Any], ...] = field(hash=False)

    def __init__(self, *schemas: Mapping[str, Any]) -> None:
        object.__setattr__(self, "schemas", schemas)


class AllOf(_Junctor):
    """The value fits each of these schemas too; they hold validations in JSON form, no types."""


class AnyOf(_Junctor):
    """The value fits at least one of these schemas; they hold validations in JSON form, no types."""


class OneOf(_Junctor):
    """The value fits exactly one of these schemas; they hold validations in JSON form, no types."""


class Not(_Junctor):
    """The value does not fit this schema; it holds validations in JSON form, no types."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        super().__init__(schema)


@dataclass(frozen=True)
class _Choice(Marker):
    """How many of these fields (Python names) are set."""

    fields: tuple[str, ...]


class AtMostOneOf(_Choice):
    """At most one of the fields is set: what :func:`at_most_one_of` leaves."""


class ExactlyOneOf(_Choice):
    """Exactly one of the fields is set: what :func:`exactly_one_of` leaves."""


class AtLeastOneOf(_Choice):
    """At least one of the fields is set: what :func:`at_least_one_of` leaves."""


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


class Immutable(Flag):
    """The value can't change once it is set, nor be taken away; an optional field may be set later."""


_C = TypeVar("_C", bound=type)

_MARKERS = "__pyopscaffold_markers__"


def _in_brackets(decorator: str, given: tuple[object, ...]) -> None:
    """Refuse a decorator without brackets, which is given the class below it."""
    for item in given:
        if isinstance(item, type) and item.__module__ not in {__name__, "annotated_types"}:
            raise TypeError(f"@{decorator} takes brackets, with what it says of {item.__name__}: @{decorator}(...)")


def mark(*markers: object) -> Callable[[_C], _C]:
    """Put markers on the dataclass below: they hold wherever it is a field's type, unless the field says otherwise.

    Stands above or below ``@dataclass``. Subclasses inherit the markers.

    Raises:
        TypeError: it stands there without brackets, as may ``cel`` and the choices between fields.

    """
    _in_brackets("mark", markers)

    def declare(cls: _C) -> _C:
        setattr(cls, _MARKERS, (*markers, *cls.__dict__.get(_MARKERS, ())))
        return cls

    return declare


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
    _in_brackets("cel", (rule,))
    return mark(
        CEL(
            rule,
            message=message,
            message_expression=message_expression,
            reason=reason,
            field_path=field_path,
            optional_old_self=optional_old_self,
        )
    )


def at_most_one_of(*fields: str) -> Callable[[_C], _C]:
    """Let at most one of these fields (Python names) of the dataclass below be set. Subclasses inherit it."""
    _in_brackets("at_most_one_of", fields)
    return mark(AtMostOneOf(fields))


def exactly_one_of(*fields: str) -> Callable[[_C], _C]:
    """Demand that exactly one of these fields (Python names) of the dataclass below is set. Subclasses inherit it."""
    _in_brackets("exactly_one_of", fields)
    return mark(ExactlyOneOf(fields))


def at_least_one_of(*fields: str) -> Callable[[_C], _C]:
    """Demand that at least one of these fields (Python names) of the dataclass below is set. Subclasses inherit it."""
    _in_brackets("at_least_one_of", fields)
    return mark(AtLeastOneOf(fields))


def atomic(cls: _C) -> _C:
    """Have server-side apply replace objects of the dataclass below as a whole; as ``MapType("atomic")`` on each."""
    return mark(MapType("atomic"))(cls)


def markers_of(cls: type) -> tuple[Any, ...]:
    """Return the markers of a class itself, those of its bases first, each class's from top to bottom."""
    return tuple(marker for base in reversed(cls.__mro__) for marker in base.__dict__.get(_MARKERS, ()))
