"""What can be wrong with declarations that were read well, across fields, kinds and controllers."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pyopscaffold.api.introspect import fields_of
from pyopscaffold.api.markers import (
    AllOf,
    AnyOf,
    AtLeastOneOf,
    AtMostOneOf,
    Default,
    Doc,
    ExactlyOneOf,
    Example,
    ExternalDocs,
    Immutable,
    KeepMetadata,
    ListMap,
    Name,
    NoSchemaDefault,
    Not,
    Nullable,
    OneOf,
    OneOfValues,
    Selectable,
    Title,
)
from pyopscaffold.errors import Problem
from pyopscaffold.kube import duration, meta
from pyopscaffold.kube.names import (
    is_api_version,
    is_dns1035_label,
    is_dns1123_subdomain,
    is_kind,
    is_label_value,
    is_qualified_name,
    is_reserved_group,
)
from pyopscaffold.loader import crds, permissions, selectors
from pyopscaffold.model.kinds import (
    UNREAD,
    EnumType,
    FieldModel,
    KnownType,
    ListType,
    MapType,
    ScalarType,
    SourceSpan,
    StructType,
    TypeModel,
)
from pyopscaffold.model.kubernetes import fields as kubernetes
from pyopscaffold.model.markers import ON_CLASSES
from pyopscaffold.model.rules import is_spelled
from pyopscaffold.model.schema import field_schema, marker_problems, type_schema
from pyopscaffold.schema import UNSET, validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from annotated_types import MultipleOf

    from pyopscaffold.api.declarations import RbacRule
    from pyopscaffold.model.kinds import ControllerModel, KindModel, ScalarKind

WITHOUT_MEANING = frozenset({"Timezone", "Unit", "Predicate", "Not"})
"""Markers of annotated-types that no schema can express."""

CHOICES = (AtMostOneOf, ExactlyOneOf, AtLeastOneOf)

OF_FIELDS = (Name, NoSchemaDefault, Selectable)
"""Markers that say nothing of an item of a list or a value of a dict."""

OF_JSON = (Default, Example, OneOfValues, AllOf, AnyOf, OneOf, Not, Doc, Title, ExternalDocs)
"""Markers that put a value of the user's into the CRD as it is."""

OF_NAMES = {
    ListMap: "ListMap",
    AtMostOneOf: "at_most_one_of",
    ExactlyOneOf: "exactly_one_of",
    AtLeastOneOf: "at_least_one_of",
}
"""Markers that name fields, and what an author calls them."""

_SURROGATE = re.compile("[\ud800-\udfff]")

_SELECTABLE_MAX = 8
"""How many selectable fields the API server takes in a version."""

_KNOWN_CLASSES: dict[str, type] = {"ObjectMeta": meta.ObjectMeta, "Condition": meta.Condition}
_KNOWN_KINDS: dict[Any, ScalarKind] = {str: "string", int: "integer", datetime: "datetime"}


@dataclass
class Findings:
    """Problems stop the run; warnings do not."""

    problems: list[Problem] = dataclass_field(default_factory=list)
    warnings: list[Problem] = dataclass_field(default_factory=list)


def members_of(model: TypeModel) -> dict[str, FieldModel]:
    """Return the fields of a dataclass or a known type by Python name; nothing for all else."""
    match model:
        case StructType():
            return {member.name: member for member in model.fields}
        case KnownType(name) if name in _KNOWN_CLASSES:
            return _known_members(name)
        case KnownType(name):
            return {member.name: member for member in kubernetes.fields_of(name)}
        case _:
            return {}


@cache
def _known_members(name: str) -> dict[str, FieldModel]:
    members = {}
    for info in fields_of(_KNOWN_CLASSES[name]):
        is_enum = get_origin(info.type) is Literal
        shape = EnumType(get_args(info.type)) if is_enum else ScalarType(_KNOWN_KINDS.get(info.type, "any"))
        span, has_default = SourceSpan("", 0), not info.required
        members[info.name] = FieldModel(info.name, info.json_name, shape, span, has_default=has_default)
    return members


def is_text(value: Any) -> bool:
    """Whether a value is a text that a file can hold: half of a surrogate pair is none."""
    return isinstance(value, str) and not _SURROGATE.search(value)


def is_single(member: FieldModel) -> bool:
    """Whether a field is a scalar, to the API server too."""
    return isinstance(member.type, ScalarType | EnumType) and field_schema(member).type not in {"array", "object"}


def can_be_key(member: FieldModel) -> bool:
    """Whether every item of a list-map has this scalar: it is required, or the server fills in a default."""
    return member.required or field_schema(member).default is not UNSET


def json_names(struct: StructType) -> Iterator[Problem]:
    """Yield fields of a dataclass that share a JSON name."""
    counts = Counter(member.json_name for member in struct.fields)
    for member in struct.fields:
        if counts[member.json_name] > 1:
            message = f'another field has the JSON name {member.json_name} too; write Name("...") on one of them'
            yield _at(member.span, f"{struct.name}.{member.name}", message)


def on_class(struct: StructType, markers: tuple[Any, ...]) -> Iterator[Problem]:
    """Yield what is wrong with the markers of a dataclass, which it does not have yet."""
    misplaced = [marker for marker in markers if type(marker) not in ON_CLASSES]
    for marker in misplaced:
        message = f"{type(marker).__name__} is for fields, not for a whole dataclass; write it in Annotated[...]"
        yield _at(struct.span, struct.name, message)
    for message in marker_problems(struct, tuple(marker for marker in markers if marker not in misplaced)):
        yield _at(struct.span, struct.name, message)


def field(member: FieldModel, subject: str) -> Iterator[Problem]:
    """Yield what is wrong with one field on its own."""
    for message in marker_problems(member.type, member.markers) if member.type != UNREAD else ():
        yield _at(member.span, subject, message)
    # The schema can't tell a duration: no format means one.
    texts = [marker.value for marker in member.markers if isinstance(marker, Default) and isinstance(marker.value, str)]
    for text in texts if member.type == ScalarType("duration") else ():
        try:
            duration.parse(text)
        except ValueError as error:
            yield _at(member.span, subject, f"its Default is not allowed: {error}; change the Default")
    if any(isinstance(marker, Immutable) for marker in member.markers) and not is_spelled(member.json_name):
        yield _at(member.span, subject, f"no rule can name the field {member.json_name}, so it can't be Immutable")
    if any(isinstance(marker, KeepMetadata) for marker in member.markers) and not _has_metadata(member.type):
        yield _at(member.span, subject, "KeepMetadata finds no ObjectMeta in it; remove it")
    if member.name.startswith("_") and not any(isinstance(marker, Name) for marker in member.markers):
        yield _at(member.span, subject, 'no field of an API starts with an underscore; rename it, or write Name("...")')
    nullable = any(isinstance(marker, Nullable) for marker in member.markers)
    if member.optional and member.required and not nullable:
        yield _at(member.span, subject, "None is left out when written, so it can't be required; write = None")


def fractional(marker: MultipleOf) -> str | None:
    """Return what is doubtful about a factor: the API server drops its fraction for values that have none."""
    factor: Any = marker.multiple_of
    if not isinstance(factor, float) or factor <= 0 or not math.isfinite(factor) or factor.is_integer():
        return None
    kept = int(factor)
    effect = f"takes every multiple of {kept}" if kept else "refuses each of them"
    return (
        f"MultipleOf({factor}): the API server holds whole numbers against {kept}, the factor without its fraction, and"
        f" {effect}; write a whole factor, or count in smaller units"
    )


def _has_metadata(model: TypeModel) -> bool:
    match model:
        case ListType(inner, _) | MapType(inner, _):
            return _has_metadata(inner)
        case StructType():
            return any(_has_metadata(member.type) for member in model.fields)
        case KnownType(name):
            return name == "ObjectMeta" or type_schema(model, keep_metadata=True) != type_schema(model)
        case _:
            return False


def kinds(found: Sequence[KindModel]) -> Iterator[Problem]:
    """Yield what is wrong with each kind: names, and defaults that break their own field's bounds."""
    for kind in found:
        yield from _names(kind)
        yield from _parts(kind)
        yield from selectors.problems(kind)
        yield from (_at(kind.span, kind.root.name, message) for message in crds.problems(kind))
        yield from values(kind.root)


def values(root: StructType) -> Iterator[Problem]:
    """Yield defaults and examples of a kind's fields that are not allowed."""
    for member in root.fields:
        if member.json_name == "status":
            yield from _status_keys(member, root.name)
        elif member.json_name != "metadata":
            yield from _values(member, root.name)


def _names(kind: KindModel) -> Iterator[Problem]:
    gvk, subject = kind.gvk, kind.root.name
    if not is_dns1123_subdomain(gvk.group) or "." not in gvk.group:
        yield _at(
            kind.span, subject, f'group "{gvk.group}" is no domain in lower case; write db.example.com or the like'
        )
    elif is_reserved_group(gvk.group) and crds.APPROVED not in kind.annotations:
        yield _at(kind.span, subject, f'group "{gvk.group}" is reserved for Kubernetes; write a domain of your own')
    if not is_api_version(gvk.version):
        yield _at(kind.span, subject, f'version "{gvk.version}" is none; write v1, v1beta1 or the like')
    # Who says kind= knows what the kind is called: there are some in lower case.
    if not is_kind(gvk.kind if gvk.kind == subject else gvk.kind[:1].upper() + gvk.kind[1:]):
        message = f'kind "{gvk.kind}" is no CamelCase word of 63 letters at most; write MyDatabase or the like'
        yield _at(kind.span, subject, message)
    labels = [("plural", gvk.plural), ("singular", kind.singular)]
    labels += [("short name", name) for name in kind.short_names]
    labels += [("category", name) for name in kind.categories]
    for what, name in labels:
        if not is_dns1035_label(name):
            message = (
                f'{what} "{name}" is none; write lower-case letters, digits and dashes, 63 at most, a letter first'
            )
            yield _at(kind.span, subject, message)


def _parts(kind: KindModel) -> Iterator[Problem]:
    if len(kind.selectable) > _SELECTABLE_MAX:
        message = f"{len(kind.selectable)} fields are Selectable, and the API server takes {_SELECTABLE_MAX}"
        yield _at(kind.span, kind.root.name, f"{message}; remove some: {', '.join(kind.selectable)}")
    for name, value in (*kind.labels.items(), *((name, "") for name in kind.annotations)):
        if not is_qualified_name(name) or not is_label_value(value):
            message = f'"{name}: {value}" is no label or annotation; write letters, digits, dashes and dots'
            yield _at(kind.span, kind.root.name, f"{message} only, and a domain with a slash before the name")
    for member in kind.root.fields:
        subject = f"{kind.root.name}.{member.name}"
        free = isinstance(member.type, MapType) and member.json_name == "status"
        known = isinstance(member.type, StructType) or member.type == UNREAD
        if member.json_name in {"spec", "status"} and not known and not free:
            yield _at(member.span, subject, f"{member.name} is to be a dataclass")
        if member.json_name in {"apiVersion", "kind", "metadata"}:
            yield _at(member.span, subject, f"every object has {member.json_name} already; choose another name")


def _values(member: FieldModel, owner: str) -> Iterator[Problem]:
    """Yield defaults and examples that their own schema refuses, the innermost only."""
    inner = list(_inner_values(member.type))
    yield from inner
    if inner or not _is_read(member.type):
        return
    schema = field_schema(member)
    values = {"example": schema.example}
    if member.has_default and member.default is not None and (schema.properties or member.default not in ([], {})):
        values["default"] = member.default
    plain = schema.having(default=UNSET)
    for what, value in values.items():
        for misfit in validate(plain, value) if value is not UNSET else ():
            message = f"its {what} is not allowed: {misfit}; {_mend(what)}"
            yield _at(member.span, f"{owner}.{member.name}", message)


def _is_read(model: TypeModel) -> bool:
    match model:
        case ListType(inner, _) | MapType(inner, _):
            return _is_read(inner)
        case StructType():
            return all(_is_read(member.type) for member in model.fields)
        case _:
            return model != UNREAD


def _status_keys(member: FieldModel, owner: str) -> Iterator[Problem]:
    """Yield keys of list-maps in the status that may be missing: only a ``Default`` is the server's there."""
    keys = {key for marker in member.markers if isinstance(marker, ListMap) for key in marker.keys}
    inner = member.type.items if isinstance(member.type, ListType) else member.type
    inner = inner.values if isinstance(inner, MapType) else inner
    for item in members_of(inner).values():
        explicit = any(isinstance(marker, Default) for marker in item.markers)
        if item.json_name in keys and not item.required and not explicit:
            message = f"the key {item.name} has a default, which no status gets; remove it, or write Default(...)"
            yield _at(member.span, f"{owner}.{member.name}", message)
    if isinstance(inner, StructType):
        for item in inner.fields:
            yield from _status_keys(item, inner.name)


def _mend(what: str) -> str:
    return "write = None for no default, or change it" if what == "default" else f"change the {what}"


def _inner_values(model: TypeModel) -> Iterator[Problem]:
    match model:
        case StructType():
            for member in model.fields:
                yield from _values(member, model.name)
        case ListType(items, _):
            yield from _inner_values(items)
        case MapType(values, _):
            yield from _inner_values(values)


def controllers(found: Sequence[ControllerModel], *, namespaced: bool) -> Findings:
    """Return what is wrong with controllers and their permissions; ``namespaced`` projects have none on a cluster."""
    findings = Findings()
    names = Counter(item.name for item in found)
    for item in found:
        if names[item.name] > 1:
            message = f'another controller has the name "{item.name}" too; write name="..." on one of them'
            findings.problems.append(_at(item.span, "@controller", message))
        for gvk in (item.resource, *item.owns, *item.watches) if namespaced else ():
            if not gvk.namespaced:
                message = f"{gvk.group_kind} is cluster-scoped, and a project made with --namespaced has no rights on"
                advice = "such kinds; leave it out, or set namespaced: false in PROJECT"
                findings.problems.append(_at(item.span, "@controller", f"{message} {advice}"))
        for rule in item.rbac:
            span = SourceSpan(rule.file, rule.line)
            if namespaced and not rule.namespace and _follows_namespaces(rule):
                subject = "@controller" if span == item.span else "@rbac"
                message = "a project made with --namespaced can't list namespaces, nor tell tenants by their labels"
                findings.problems.append(_at(span, subject, f"{message}; set namespaced: false in PROJECT"))
            findings.problems += [_at(span, "@rbac", message) for message in permissions.problems(rule)]
            findings.warnings += [_at(span, "@rbac", message) for message in permissions.warnings(rule)]
    return findings


def _follows_namespaces(rule: RbacRule) -> bool:
    return "namespaces" in rule.resources and not {"list", "watch"}.isdisjoint(rule.verbs)


def _at(span: SourceSpan, subject: str, message: str) -> Problem:
    return Problem(span.file, span.line, subject, message)
