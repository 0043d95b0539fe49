"""Random declarations of an API, as Python text: dataclasses whose fields have any type and any markers.

A marker mostly stands where it belongs and says something sensible; now and then it does not, and the loader has to
refuse what the API server would.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

IMPORTS = """\
from __future__ import annotations
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar
from pyopscaffold.api import *
from pyopscaffold.k8s.core.v1 import EnvVar, LocalObjectReference, ResourceRequirements, Toleration
from pyopscaffold.k8s.meta.v1 import LabelSelector

class Mode(StrEnum):
    FAST = "fast"
    SLOW = "slow"

class Level(IntEnum):
    LOW = 1
    HIGH = 2

T = TypeVar("T")
Named = NewType("Named", str)
Short = Annotated[str, MaxLen(5)]

@dataclass(kw_only=True)
class Box(Generic[T]):
    content: T
    label: str = "box"

@dataclass(kw_only=True, frozen=True, slots=True)
class Pair:
    left: int = 1
    right: int | None = None

@dataclass(kw_only=True)
class Item:
    name: Annotated[str, MaxLen(9)]
    protocol: Literal["TCP", "UDP"] = "TCP"
    port: Annotated[int32, Ge(1)] = 80
    labels: dict[str, str] = field(default_factory=dict)

"""
KIND = """
@resource(group="{group}", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: {spec}
    status: {status} | None = None
"""

_NAMES = ("a", "b", "c", "long_name", "metadata", "kind", "api_version", "namespace", "x1")
_SCALARS = {
    "str": "string",
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "float": "number",
    "bool": "boolean",
    "bytes": "bytes",
    "datetime": "datetime",
    "timedelta": "duration",
    "Any": "any",
    "JSON": "any",
    "Quantity": "quantity",
    "int | str": "int-or-string",
    "RawExtension": "raw",
    "Mode": "enum",
    "Level": "enum",
    'Literal["a", "b"]': "enum",
    "Literal[1, 2]": "enum",
    "Condition": "struct",
    "Item": "item",
    "Pair": "pair",
    "Box[int]": "struct",
    "Box[Item]": "struct",
    "Box[list[Short]]": "struct",
    "Named": "string",
    "Short": "string",
    "EnvVar": "struct",
    "LocalObjectReference": "struct",
    "ResourceRequirements": "struct",
    "Toleration": "struct",
    "LabelSelector": "struct",
    "Conditions": "conditions",
    "ObjectMeta": "struct",
}
_DEFAULTS = {
    "string": ('"a"', '""', '"10.0.0.1"'),
    "integer": ("0", "1", "3", "7"),
    "number": ("0.5", "1.0", "3.0"),
    "boolean": ("True", "False"),
    "bytes": ('b"a"', 'b""'),
    "datetime": ("datetime(2024, 1, 2, tzinfo=UTC)",),
    "duration": ("timedelta(seconds=5)",),
    "any": ("1", '"a"', "field(default_factory=dict)"),
    "quantity": ('"10Gi"', '"x"'),
    "int-or-string": ("80", '"http"'),
    "pair": ("Pair()", "Pair(left=2)", "field(default_factory=Pair)"),
    "raw": ("field(default_factory=dict)", 'field(default_factory=lambda: {"a": 1})'),
    "list": ("field(default_factory=list)",),
    "texts": ("field(default_factory=list)", 'field(default_factory=lambda: ["a"])'),
    "numbers": ("field(default_factory=list)", "field(default_factory=lambda: [1])"),
    "map": ("field(default_factory=dict)", 'field(default_factory=lambda: {"a": "b"})'),
}
_ON_NUMBERS = ("Ge({n})", "Le({n})", "Gt({n})", "Lt({n})", "Interval(ge={n}, le={m})", "MultipleOf({n})")
_ON_STRINGS = ("MinLen({n})", "MaxLen({m})", "Len({n}, {m})", "Pattern({pattern})", "Format({format})")
_ON_LISTS = ("MinLen({n})", "MaxLen({m})", "ListAtomic()")
_ON_OBJECTS = ("MinLen({n})", "MaxLen({m})", 'MapType("atomic")', 'MapType("granular")', "PreserveUnknownFields()")
_MARKERS: dict[str, tuple[str, ...]] = {
    "string": (*_ON_STRINGS, 'OneOfValues("a", "b")', "IntOrString()"),
    "integer": (*_ON_NUMBERS, 'Format("int32")', "OneOfValues(1, 3)", "IntOrString()"),
    "number": (*_ON_NUMBERS, 'Format("float")', 'Format("double")'),
    "bytes": ("MinLen({n})", "MaxLen({m})"),
    "int-or-string": (*_ON_STRINGS, *_ON_NUMBERS),
    "quantity": ("MaxLen({m})",),
    "any": ("PreserveUnknownFields()", 'SchemaType("object")', "IntOrString()"),
    "raw": (*_ON_OBJECTS, "EmbeddedResource()"),
    "list": (*_ON_LISTS, 'ListMap("a")', 'ListMap("b", "long_name")', "ListSet()"),
    "items": (*_ON_LISTS, 'ListMap("name")', 'ListMap("name", "protocol")', 'ListMap("port")', 'ListMap("labels")'),
    "texts": (*_ON_LISTS, "ListSet()"),
    "numbers": (*_ON_LISTS, "ListSet()"),
    "conditions": ("MinLen({n})", "MaxLen({m})", "ListAtomic()"),
    "map": (*_ON_OBJECTS, 'SchemaType("object")'),
    "struct": _ON_OBJECTS,
    "pair": (*_ON_OBJECTS, 'AnyOf({{"required": ["right"]}}, {{"properties": {{"left": {{"minimum": 2}}}}}})'),
    "item": (*_ON_OBJECTS, 'AllOf({{"required": ["port"]}})', 'Not({{"properties": {{"name": {{"enum": ["a"]}}}}}})'),
}
_ANYWHERE = (
    'Title("t")',
    "Example({value})",
    "Nullable()",
    'ExternalDocs("https://example.com", description="d")',
    'Doc("d")',
    'CEL("true")',
    "Immutable()",
    "Default({value})",
    "NoSchemaDefault()",
    "Name({name})",
    "Selectable()",
    "Schemaless()",
    'SchemaType("string")',
    'SchemaType("object")',
    "UniqueItems()",
    'AllOf({{"minLength": {n}}}, {{"minimum": {n}}})',
    'AnyOf({{"required": ["a"]}}, {{"maxProperties": {n}}})',
    'OneOf({{"pattern": "^a"}}, {{"maximum": {n}}})',
    'Not({{"enum": ["a", 1]}})',
    'AllOf({{"properties": {{"a": {{"maxLength": {n}}}}}}})',
    'AllOf({{"items": {{"minLength": {n}}}}})',
    "EmbeddedResource()",
    "KeepMetadata()",
)
_ABOVE = (
    '@cel("true")',
    "@atomic",
    '@mark(Title("t"))',
    "@mark(MinLen({n}))",
    "@mark(MaxLen({m}))",
    "@mark(PreserveUnknownFields())",
    "@mark(EmbeddedResource())",
    '@mark(Not({{"required": ["a", "b"]}}))',
    '@mark(OneOf({{"required": ["a"]}}, {{"required": ["b"]}}))',
    '@at_most_one_of("a", "b")',
    '@exactly_one_of("a", "b")',
    '@at_least_one_of("a", "long_name")',
)
_LISTS = {"str": "texts", "int": "numbers", "int32": "numbers", "int64": "numbers", "Item": "items"}
_VALUES = ("1", "3", '"a"', "0.5", "True", "None", "{}", "[]", '["a"]', '{"a": "b"}', '[{"a": 1}]', '"10Gi"')
_NUMBERS = ("0", "1", "2", "3")
_ODD_NUMBERS = ("-1", "1.5", "-1.5", "0.1", "2**31", "2**32", "2**63", "10**30", '"1"', "True", "None", 'float("inf")')
_PATTERNS = ('"^a"', '"a$"', '"^[a-c]*$"', '"^(a|b)+$"')
_ODD_PATTERNS = ('"("', '"(?=a)"', r'"\\d+"', r'"(a)\\1"', '"[[:alpha:]]"', r'"\\pL"', '""')
_FORMATS = ("ipv4", "date", "date-time", "uuid", "hostname", "duration", "byte", "cidr", "k8s-short-name", "semver")


@dataclass(frozen=True)
class _Hint:
    text: str
    shape: str


@st.composite
def programs(draw: st.DrawFn, *, group: str) -> str:
    """Draw a module with one kind, ``Thing``, in this API group."""
    odd = draw(st.integers(0, 3)) == 0
    structs: list[str] = []
    classes = []
    for index in range(draw(st.integers(1, 3))):
        classes.append(draw(_classes(f"Part{index}", tuple(structs), odd=odd)))
        structs.append(f"Part{index}")
    return IMPORTS + "\n".join(classes) + KIND.format(group=group, spec=structs[-1], status=structs[0])


@st.composite
def _classes(draw: st.DrawFn, name: str, structs: tuple[str, ...], *, odd: bool) -> str:
    above = draw(st.lists(st.sampled_from(_ABOVE), max_size=1)) if draw(st.integers(0, 2)) == 0 else []
    base = f"({structs[0]})" if structs and draw(st.integers(0, 5)) == 0 else ""
    lines = [*(_filled(draw, text, odd=odd) for text in above), "@dataclass(kw_only=True)", f"class {name}{base}:"]
    usual = _NAMES if odd else _NAMES[:4]
    fields = draw(st.lists(st.sampled_from(usual), min_size=1, max_size=4, unique=True))
    return "\n".join([*lines, *(f"    {field}: {draw(_fields(structs, odd=odd))}" for field in fields), ""])


@st.composite
def _fields(draw: st.DrawFn, structs: tuple[str, ...], *, odd: bool) -> str:
    hint = draw(_hints(structs, 2, odd=odd))
    match draw(st.sampled_from(("required", "optional", "default"))):
        case "required":
            return hint.text
        case "optional":
            return f"{hint.text} | None = None"
        case _:
            made = f"field(default_factory={hint.text})" if hint.text in structs else ""
            defaults = _DEFAULTS.get(hint.shape, (made,) if made else ())
            if not defaults:
                return f"{hint.text} | None = None"
            return f"{hint.text} = {_in_its_container(hint.text, draw(st.sampled_from(defaults)))}"


def _in_its_container(hint: str, default: str) -> str:
    """Turn a list in a default into the set or tuple that the type asks for."""
    container = hint.removeprefix("Annotated[").partition("[")[0]
    if container not in ("set", "tuple"):
        return default
    return default.replace("=list", f"={container}").replace("lambda: [", f"lambda: {container}([").replace("])", "]))")


@st.composite
def _hints(draw: st.DrawFn, structs: tuple[str, ...], depth: int, *, odd: bool) -> _Hint:
    plain = draw(_plain(structs, depth, odd=odd))
    count = draw(st.sampled_from((0, 0, 1, 1, 2)))
    if not count:
        return plain
    fitting = st.sampled_from(_MARKERS.get(plain.shape, ("Nullable()",)))
    anywhere = st.sampled_from(_ANYWHERE if odd else _ANYWHERE[:6])
    anything = st.sampled_from(sorted({marker for known in _MARKERS.values() for marker in known}))
    choice = st.one_of(fitting, fitting, anywhere, anything) if odd else st.one_of(fitting, fitting, anywhere)
    markers = [_filled(draw, draw(choice), odd=odd) for _ in range(count)]
    return _Hint(f"Annotated[{plain.text}, {', '.join(markers)}]", plain.shape)


@st.composite
def _plain(draw: st.DrawFn, structs: tuple[str, ...], depth: int, *, odd: bool) -> _Hint:
    kinds = [
        "scalar",
        "scalar",
        "scalar",
        *(("list", "dict", "set", "tuple") if depth else ()),
        *("struct" for _ in structs),
    ]
    match draw(st.sampled_from(kinds)):
        case "scalar":
            return _Hint(*draw(st.sampled_from(sorted(_SCALARS.items()))))
        case "struct":
            return _Hint(draw(st.sampled_from(structs)), "struct")
        case "dict":
            inner = draw(_hints(structs, depth - 1, odd=odd))
            return _Hint(f"{draw(st.sampled_from(('dict', 'Mapping')))}[str, {inner.text}]", "map")
        case "list":
            inner = draw(_hints(structs, depth - 1, odd=odd))
            return _Hint(f"{draw(st.sampled_from(('list', 'Sequence')))}[{inner.text}]", _LISTS.get(inner.text, "list"))
        case "tuple":
            inner = draw(_hints(structs, depth - 1, odd=odd))
            return _Hint(f"tuple[{inner.text}, ...]", _LISTS.get(inner.text, "list"))
        case _:
            item = draw(st.sampled_from(("str", "int", "Mode", "bool")))
            return _Hint(f"set[{item}]", _LISTS.get(item, "list"))


def _filled(draw: st.DrawFn, marker: str, *, odd: bool) -> str:
    """Put arguments into a marker's text."""
    numbers = (*_NUMBERS, *_ODD_NUMBERS) if odd else _NUMBERS
    low, high = draw(st.sampled_from(numbers)), draw(st.sampled_from(numbers))
    if not odd and "n}" in marker and "m}" in marker:
        low, high = sorted((low, high))
    filling = {
        "n": low if odd or "MultipleOf" not in marker else "2",
        "m": high,
        "pattern": draw(st.sampled_from((*_PATTERNS, *_ODD_PATTERNS) if odd else _PATTERNS)),
        "format": f'"{draw(st.sampled_from(_FORMATS))}"',
        "value": draw(st.sampled_from(_VALUES)),
        "name": draw(st.sampled_from(('"aB"', '"a-b"', '"$ref"', '"a.b"', '"a"', '""', '"metadata"'))),
    }
    used = {name: filling[name] for name in filling if f"{{{name}}}" in marker}
    return marker.format(**used)
