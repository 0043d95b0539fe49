"""Whatever a structural schema says, the classes that the importer writes for it say the same."""

from __future__ import annotations

import keyword
import sys
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyopscaffold.loader import source
from pyopscaffold.loader.probe import declared
from pyopscaffold.model.schema import kind_schema
from pyopscaffold.scaffold.importer.crd import modules
from pyopscaffold.schema import UNSET, Rule, Schema, from_mapping, to_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from pyopscaffold.scaffold.importer.crd import Imported

RULE = Rule(rule="self == self", message="say 'it'", reason="FieldValueInvalid")
_numbers = count()

awkward = st.sampled_from(
    [
        "",
        'say "hi"',
        'ends in "',
        "back\\slash",
        "\\",
        "two\nlines",
        "a\n\n  b\n c",
        "\ttab",
        "blank \nend",
        'a"""b',
        "é \N{RIGHT SINGLE QUOTATION MARK}",
    ]
)
texts = st.one_of(awkward, st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=30))
json_names = st.one_of(
    st.sampled_from(
        [*keyword.kwlist, "clusterIP", "s3_path", "$ref", "a-b", "a.b/c", "3d", "_x", "list", "field", "bytes", "l"]
    ),
    st.text("abAB1_-.", min_size=1, max_size=6),
    st.text(st.characters(categories=["L", "N"], codec="utf-8"), min_size=1, max_size=3),
)


def _with(schema: Schema, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Schema]:
    """Draw a schema with some of these attributes."""
    chosen = st.fixed_dictionaries({}, optional=more)
    return chosen.map(lambda values: schema.having(**values))


strings = st.one_of(
    _with(
        Schema(type="string"), pattern=st.sampled_from(["^a+$", r"\d", "'\"", r"^\\$"]), max_length=st.integers(3, 9)
    ),
    _with(Schema(type="string", enum=("a", "b\n", "it's")), default=st.sampled_from(["a", "it's"])),
    _with(Schema(type="string"), default=texts, example=texts, min_length=st.just(0)),
    st.sampled_from(["date-time", "byte", "uuid", "ipv4"]).map(lambda name: Schema(type="string", format=name)),
    st.just(Schema(type="string", format="date-time", default="2026-01-02T03:04:05Z")),
)
integers = _with(
    Schema(type="integer"),
    format=st.sampled_from(["int32", "int64", ""]),
    minimum=st.integers(-5, 0),
    maximum=st.integers(10, 20),
    exclusive_maximum=st.just(True),
    default=st.integers(1, 9),
).map(lambda schema: schema if schema.maximum is not None else schema.having(exclusive_maximum=False))
numbers = _with(
    Schema(type="number"), format=st.sampled_from(["double", "float"]), multiple_of=st.just(0.5), default=st.just(1.5)
)
others = st.sampled_from(
    [
        Schema(type="integer", format="int32", enum=(1, 2), default=2),
        Schema(type="boolean"),
        Schema(type="boolean", default=False),
        Schema(int_or_string=True),
        Schema(int_or_string=True, default="25%"),
        Schema(int_or_string=True, default=3, any_of=({"minimum": 1},)),
        Schema(int_or_string=True, pattern=r"^\d+%$"),
        Schema(preserve_unknown_fields=True),
        Schema(type="object", preserve_unknown_fields=True, default={"a": [1, None]}),
        Schema(type="object", preserve_unknown_fields=True, embedded_resource=True),
    ]
)
leaves = st.one_of(strings, integers, numbers, others)


def _around(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    bare = inner.map(lambda schema: schema.having(default=UNSET))
    lists = bare.flatmap(
        lambda items: _with(
            Schema(type="array", items=items),
            max_items=st.integers(2, 4),
            list_type=st.just("atomic"),
            default=st.just([]),
        )
    )
    ruled = strings.map(lambda items: Schema(type="array", items=items.having(default=UNSET), rules=(RULE,)))
    maps = bare.flatmap(
        lambda values: _with(
            Schema(type="object", additional_properties=values),
            max_properties=st.integers(2, 4),
            map_type=st.sampled_from(["atomic", "granular"]),
            default=st.just({}),
        )
    )
    keyed = st.just(
        Schema(
            type="array",
            list_type="map",
            list_map_keys=("k-1", "class"),
            items=Schema(
                type="object",
                properties={"k-1": Schema(type="string"), "class": Schema(type="string", default="x")},
                required=("k-1",),
            ),
        )
    )
    plain = st.sampled_from([("a",), ("b", "a")]).map(
        lambda value: Schema(type="array", items=Schema(type="string"), default=list(value))
    )
    return st.one_of(lists, ruled, maps, keyed, plain, enums, objects(inner)).flatmap(_described)


def _described(schema: Schema) -> st.SearchStrategy[Schema]:
    docs = st.just({"url": "https://example.com", "description": "More."})
    return _with(schema, description=texts, title=st.just("A title"), external_docs=docs, nullable=st.just(True))


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    """Draw an object whose fields are drawn from ``inner``."""
    properties = draw(st.dictionaries(json_names, inner.flatmap(_described), max_size=4))
    free = [name for name, schema in properties.items() if schema.default is UNSET]
    required = draw(st.lists(st.sampled_from(free), unique=True)) if free else []
    junctors: dict[str, st.SearchStrategy[Any]] = {}
    if free:
        junctors["any_of"] = st.just(({"required": [free[0]]},))
    # An object may be empty where nothing is required of it.
    if not required and not junctors:
        junctors["default"] = st.just({})
    schema = Schema(type="object", properties=properties, required=tuple(sorted(required)))
    more = {"map_type": st.just("atomic"), "min_properties": st.just(0), "preserve_unknown_fields": st.just(True)}
    return draw(_with(schema, **more, **junctors))


enums = st.sampled_from(
    [
        Schema(type="array", items=Schema(type="string"), enum=([], ["a", 'say "it"'])),
        Schema(type="object", additional_properties=Schema(type="string"), enum=({"a": "b"}, {})),
        Schema(type="object", properties={"x": Schema(type="string")}, enum=({"x": "a"}, {"x": "b"})),
        Schema(preserve_unknown_fields=True, enum=("a", 1)),
        Schema(type="boolean", enum=(True,)),
        Schema(type="number", enum=(0.5, 2)),
        Schema(int_or_string=True, enum=("a", 1)),
    ]
)
"""Enums of what no Literal can say."""


schemas = st.recursive(leaves.flatmap(_described), _around, max_leaves=8)


def _module(spec: Schema, status: Schema) -> Imported:
    whole = Schema(type="object", properties={"spec": spec, "status": status}, required=("spec",))
    crd = {
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Thing", "plural": "things"},
            "scope": "Namespaced",
            "versions": [
                {"name": "v1", "schema": {"openAPIV3Schema": to_mapping(whole)}, "subresources": {"status": {}}}
            ],
        },
    }
    (made,) = modules(crd, own=True)
    return made


@contextmanager
def _importable(root: Path, text: str) -> Iterator[str]:
    """Give the name of a package that holds the module, for as long as it is needed."""
    package = f"imported{next(_numbers)}"
    (root / package / "api").mkdir(parents=True)
    (root / package / "__init__.py").touch()
    (root / package / "api" / "__init__.py").touch()
    (root / package / "api" / "thing.py").write_text(text, encoding="utf-8")
    sys.path.insert(0, str(root))
    try:
        yield package
    finally:
        sys.path.remove(str(root))
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(spec=objects(schemas), status=objects(schemas))
def test_classes_say_what_the_schema_says(
    spec: Schema, status: Schema, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The probe reads from the written module the very schema that it was written for."""
    spec = spec.having(default=UNSET)
    made = _module(spec, status)
    root = tmp_path_factory.mktemp("imported")
    with _importable(root, made.text) as package:
        (kind,) = source.model_of(root, declared.read(str(root), package)).kinds
    found = kind_schema(kind).properties
    assert made.notes == ()
    assert _json(found["spec"]) == _json(spec)
    assert _json(found["status"]) == _json(status)


def _json(schema: Schema) -> Any:
    return _in_order(to_mapping(schema))


def _in_order(value: Any) -> Any:
    """Return a schema with what is required sorted, as that is a set."""
    if isinstance(value, dict):
        return {key: sorted(item) if key == "required" and item else _in_order(item) for key, item in value.items()}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


@given(schema=schemas)
def test_reading_a_schema_is_the_inverse_of_writing_it(schema: Schema) -> None:
    """The JSON form of a schema is read as the same schema."""
    assert from_mapping(to_mapping(schema)) == schema
