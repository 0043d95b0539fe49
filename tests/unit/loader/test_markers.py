"""What each marker says in the schema, read from a module as users write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.generate.crd import crd_of
from pyopscaffold.model.schema import kind_schema
from pyopscaffold.schema import to_mapping
from tests.unit.loader.projects import read_kind, told, told_of_each

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyopscaffold.model.kinds import KindModel

INT64 = {"type": "integer", "format": "int64"}
KEPT = {
    "type": "object",
    "properties": {
        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
        "finalizers": {"type": "array", "items": {"type": "string"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "name": {"type": "string"},
        "namespace": {"type": "string"},
    },
}
INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]

FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "tighter_bound": ("Annotated[Port, Ge(1024), Le(70000)]", {**INT64, "minimum": 1024, "maximum": 65535}),
    "wider_bound": ("Annotated[Port, Ge(0)]", {**INT64, "minimum": 1, "maximum": 65535}),
    "exclusive_is_tighter": (
        "Annotated[Port, Gt(1)]",
        {**INT64, "minimum": 1, "maximum": 65535, "exclusiveMinimum": True},
    ),
    "two_patterns": (
        'Annotated[Slug, Pattern("^x")]',
        {"type": "string", "pattern": "^[a-z]+$", "maxLength": 20, "allOf": [{"pattern": "^x"}]},
    ),
    "smaller_size": ("Annotated[Slug, MaxLen(9)]", {"type": "string", "pattern": "^[a-z]+$", "maxLength": 9}),
    "two_multiples": (
        "Annotated[int, MultipleOf(2), MultipleOf(3)]",
        {**INT64, "multipleOf": 2, "allOf": [{"multipleOf": 3}]},
    ),
    "values": ("Annotated[str, OneOfValues('b', 'a')]", {"type": "string", "enum": ["b", "a"]}),
    "values_of_an_int_or_string": (
        "Annotated[int | str, OneOfValues(80, 'http')]",
        {"x-kubernetes-int-or-string": True, "anyOf": INT_OR_STRING, "enum": [80, "http"]},
    ),
    "external": (
        "Annotated[str, ExternalDocs('https://example.com', 'More')]",
        {"type": "string", "externalDocs": {"url": "https://example.com", "description": "More"}},
    ),
    "external_without_words": (
        "Annotated[str, ExternalDocs('https://example.com')]",
        {"type": "string", "externalDocs": {"url": "https://example.com"}},
    ),
    "raw": ("RawExtension", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
    "embedded": (
        "Annotated[RawExtension, EmbeddedResource()]",
        {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
    ),
    "json": ("JSON", {"x-kubernetes-preserve-unknown-fields": True}),
    "retyped": ('Annotated[Any, SchemaType("string"), MaxLen(3)]', {"type": "string", "maxLength": 3}),
    "retyped_after": ('Annotated[Any, MaxLen(3), SchemaType("string")]', {"type": "string", "maxLength": 3}),
    "same_type": ('Annotated[Literal["a"], SchemaType("string")]', {"type": "string", "enum": ["a"]}),
    "same_array": ('Annotated[list[str], SchemaType("array")]', {"type": "array", "items": {"type": "string"}}),
    "schemaless": (
        "Annotated[Part, Schemaless(), PreserveUnknownFields()]",
        {"x-kubernetes-preserve-unknown-fields": True},
    ),
    "schemaless_int": ('Annotated[Part, Schemaless(), SchemaType("integer")]', {"type": "integer"}),
    "pruned_meta": ("ObjectMeta", {"type": "object"}),
    "kept_meta": (
        "Annotated[dict[str, ObjectMeta], KeepMetadata()]",
        {
            "type": "object",
            "additionalProperties": KEPT,
        },
    ),
    "kept_meta_of_an_item": (
        "list[Annotated[ObjectMeta, KeepMetadata()]]",
        {"type": "array", "items": KEPT},
    ),
    "enum_of_lists": (
        "Annotated[list[str], OneOfValues([], ['a'])]",
        {"type": "array", "items": {"type": "string"}, "enum": [[], ["a"]]},
    ),
    "enum_of_objects": (
        "Annotated[dict[str, str], OneOfValues({'a': 'b'})]",
        {"type": "object", "additionalProperties": {"type": "string"}, "enum": [{"a": "b"}]},
    ),
    "any_of": (
        'Annotated[str, AnyOf({"minLength": 3}, {"pattern": "^a"})]',
        {"type": "string", "anyOf": [{"minLength": 3}, {"pattern": "^a"}]},
    ),
    "any_of_an_int_or_string": (
        'Annotated[int | str, AnyOf({"minimum": 1}, {"minLength": 1})]',
        {
            "x-kubernetes-int-or-string": True,
            "allOf": [{"anyOf": INT_OR_STRING}],
            "anyOf": [{"minimum": 1}, {"minLength": 1}],
        },
    ),
    "two_one_ofs": (
        'Annotated[str, OneOf({"minLength": 3}, {"pattern": "^a"}), OneOf({"maxLength": 3}, {"pattern": "^b"})]',
        {
            "type": "string",
            "oneOf": [{"minLength": 3}, {"pattern": "^a"}],
            "allOf": [{"oneOf": [{"maxLength": 3}, {"pattern": "^b"}]}],
        },
    ),
    "not_this": ('Annotated[str, Not({"enum": ["x"]})]', {"type": "string", "not": {"enum": ["x"]}}),
    "all_of": (
        'Annotated[Part, AllOf({"properties": {"name": {"minLength": 1}}})]',
        {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
            "allOf": [{"properties": {"name": {"minLength": 1}}}],
        },
    ),
}

MODULE = """\
Port = Annotated[int, Ge(1), Le(65535)]
Slug = Annotated[str, Pattern("^[a-z]+$"), MaxLen(20)]

@dataclass(kw_only=True)
class Part:
    name: str

@exactly_one_of("some_file", "url")
@at_most_one_of("url", "token")
@at_least_one_of("namespace", "url")
@cel("true")
@atomic
@mark(Title("Where from"), MinLen(1), MaxLen(3), ExternalDocs("https://example.com"))
@dataclass(kw_only=True)
class Origin:
    some_file: str | None = None
    url: Annotated[str | None, Selectable()] = None
    token: str | None = None
    namespace: str | None = None

@dataclass(kw_only=True)
class Derived(Origin):
    pass

@dataclass(kw_only=True)
class Spec:
{fields}
    origin: Origin
    derived: Derived
    size: Annotated[int, Selectable()]

@resource(
    group="example.com",
    version="v1",
    labels={{"example.com/tier": "one"}},
    annotations={{"example.com/note": "any text"}},
    status_subresource=False,
)
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
    status: Part
"""


@pytest.fixture(scope="module")
def kind(tmp_path_factory: pytest.TempPathFactory) -> KindModel:
    """Give a kind with every field of the table."""
    fields = "\n".join(f"    {name}: {hint}" for name, (hint, _) in FIELDS.items())
    return read_kind(tmp_path_factory.mktemp("markers"), MODULE.format(fields=fields))


@pytest.fixture(scope="module")
def spec(kind: KindModel) -> dict[str, Any]:
    """Give the schemas of the spec's fields by Python name."""
    schema = kind_schema(kind).properties["spec"]
    assert kind.spec is not None
    return {member.name: to_mapping(schema.properties[member.json_name]) for member in kind.spec.fields}


@pytest.mark.parametrize("name", FIELDS)
def test_effect(spec: dict[str, Any], name: str) -> None:
    """A marker says just this in the field's schema."""
    assert spec[name] == FIELDS[name][1]


def test_class_markers(spec: dict[str, Any]) -> None:
    """Markers of a dataclass hold for each field of its type, and for its subclasses."""
    for name in ("origin", "derived"):
        schema = spec[name]
        assert schema["title"] == "Where from"
        assert (schema["minProperties"], schema["maxProperties"]) == (1, 3)
        assert schema["externalDocs"] == {"url": "https://example.com"}
        assert schema["x-kubernetes-map-type"] == "atomic"


def test_choices(spec: dict[str, Any]) -> None:
    """Choices become rules after those of @cel, speak JSON names, and escape what CEL reserves."""
    assert [(rule["rule"], rule.get("message")) for rule in spec["origin"]["x-kubernetes-validations"]] == [
        ("true", None),
        ("(has(self.url)?1:0)+(has(self.token)?1:0) <= 1", "at most one of the fields in [url token] may be set"),
        (
            "(has(self.someFile)?1:0)+(has(self.url)?1:0) == 1",
            "exactly one of the fields in [someFile url] must be set",
        ),
        ("has(self.__namespace__)||has(self.url)", "at least one of the fields in [namespace url] must be set"),
    ]


def test_crd_of_the_kind(kind: KindModel) -> None:
    """Labels, annotations, selectable fields and the lack of a status subresource reach the CRD."""
    crd = crd_of([kind])
    assert crd["metadata"] == {
        "name": "things.example.com",
        "labels": {"example.com/tier": "one"},
        "annotations": {"example.com/note": "any text"},
    }
    (version,) = crd["spec"]["versions"]
    assert version["selectableFields"] == [
        {"jsonPath": ".spec.origin.url"},
        {"jsonPath": ".spec.derived.url"},
        {"jsonPath": ".spec.size"},
    ]
    assert "subresources" not in version


CLASSES = {
    "unknown field": (
        '@at_most_one_of("neme", "other")',
        "there is no field neme to choose; did you mean name?",
    ),
    "required field": (
        '@at_least_one_of("name", "other")',
        "name is required, which leaves at_least_one_of no choice; give it = None",
    ),
    "field with a default": (
        '@exactly_one_of("other", "always")',
        "always has a default, which leaves exactly_one_of no choice; write = None",
    ),
    "field named twice": (
        '@at_most_one_of("other", "other")',
        'at_most_one_of is to name each field once; write at_most_one_of("a", "b")',
    ),
    "no field": ("@exactly_one_of()", 'exactly_one_of is to name each field once; write exactly_one_of("a", "b")'),
    "marker of a field": (
        "@mark(Immutable())",
        "Immutable is for fields, not for a whole dataclass; write it in Annotated[...]",
    ),
    "marker's class": ("@mark(Title)", "Title is the marker's class; write Title(...)"),
    "sizes that cross": ("@mark(MinLen(3), MaxLen(2))", "MinLen(3) is above MaxLen(2); change one of them"),
}


THING = """
{above}
@dataclass(kw_only=True)
class Spec:
    name: str
    other: str | None = None
    always: str = "x"

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """Give what is said about each case."""
    texts = {name: THING.format(above=above) for name, (above, _) in CLASSES.items()}
    return told_of_each(tmp_path_factory.mktemp("classes"), texts)


@pytest.mark.parametrize("name", CLASSES)
def test_mistake_on_a_class(said: Mapping[str, list[str]], name: str) -> None:
    """A mistake in a marker of a dataclass is told once, at the class."""
    (problem,) = said[name]
    assert problem.partition(": ")[2] == f"Spec: {CLASSES[name][1]}"


def test_too_many_selectable_fields(tmp_path: Path) -> None:
    """The ninth selectable field is one too many for the API server, and is told at the kind."""
    fields = "\n".join(f"            field{number}: Annotated[str, Selectable()]" for number in range(9))
    (said,) = told(
        tmp_path,
        f"""\
        @dataclass(kw_only=True)
        class Spec:
{fields}

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec
        """,
    )
    assert "Thing: 9 fields are Selectable, and the API server takes 8; remove some: .spec.field0" in said


def test_bad_label(tmp_path: Path) -> None:
    """A label that the API server would refuse is told."""
    (said,) = told(
        tmp_path,
        """\
        @resource(group="example.com", version="v1", labels={"a b": "c"})
        @dataclass(kw_only=True)
        class Thing(Object):
            pass
        """,
    )
    assert 'Thing: "a b: c" is no label or annotation' in said


def test_default_of_an_embedded_resource(tmp_path: Path) -> None:
    """It names its kind itself, since the server looks for that before it fills in defaults; metadata stays empty."""
    kind = read_kind(
        tmp_path,
        """\
        @dataclass(kw_only=True)
        class Part:
            api_version: str = "v1"
            kind: str = "Pod"
            metadata: ObjectMeta = field(default_factory=ObjectMeta)
            size: int = 3

        @dataclass(kw_only=True)
        class Spec:
            part: Annotated[Part, EmbeddedResource()] = field(default_factory=Part)
            meta: Annotated[ObjectMeta, KeepMetadata()] = field(default_factory=lambda: ObjectMeta(name="a"))

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec
        """,
    )
    spec = to_mapping(kind_schema(kind))["properties"]["spec"]["properties"]
    assert spec["part"]["default"] == {"apiVersion": "v1", "kind": "Pod"}
    assert spec["meta"]["default"] == {"name": "a"}


def test_default_with_a_null(tmp_path: Path) -> None:
    """What a default has to say by null, it says by null; the server would refuse it without."""
    kind = read_kind(
        tmp_path,
        """\
        @dataclass(kw_only=True)
        class Part:
            holder: Annotated[str | None, Nullable()]
            zone: Annotated[str | None, Nullable()] = "eu"
            note: Annotated[str | None, Nullable()] = None

        @dataclass(kw_only=True)
        class Spec:
            part: Part = field(default_factory=lambda: Part(holder=None, zone=None))

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec
        """,
    )
    spec = to_mapping(kind_schema(kind))["properties"]["spec"]["properties"]
    assert spec["part"]["default"] == {"holder": None, "zone": None}
