"""Samples hold values that their own schema allows."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen, MultipleOf

from pyopscaffold.api import Example, Format, GroupVersionKind, IntOrString, ListMap, ListSet, Pattern
from pyopscaffold.api.types import QUANTITY_PATTERN
from pyopscaffold.files.artefact import Owner
from pyopscaffold.generate import samples
from pyopscaffold.generate.witness import witnesses
from pyopscaffold.model.kinds import (
    EnumType,
    FieldModel,
    KindModel,
    ListType,
    MapType,
    ProjectModel,
    ScalarType,
    SourceSpan,
    StructType,
    TypeModel,
)
from pyopscaffold.model.project import Project
from pyopscaffold.model.schema import field_schema
from pyopscaffold.schema import validate

SPAN = SourceSpan("acme/api/thing.py", 1)
PROJECT = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="")
STRING, INTEGER, NUMBER = ScalarType("string"), ScalarType("integer"), ScalarType("number")


def _field(kind: TypeModel, *markers: Any, name: str = "x", **options: Any) -> FieldModel:
    return FieldModel(name, name, kind, SPAN, markers=markers, **options)


PORT = StructType("Port", "", (_field(STRING, name="name"), _field(INTEGER, Ge(1), name="number")), SPAN)


@pytest.mark.parametrize(
    "field",
    [
        _field(STRING),
        _field(STRING, MinLen(12)),
        _field(STRING, MaxLen(3)),
        _field(STRING, Pattern(r"^[A-Z]{3}-[0-9]+$"), MinLen(9)),
        _field(STRING, Pattern(r"^(north|south)/[^/a-z]+$")),
        _field(STRING, Pattern(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"), MinLen(5), MaxLen(9)),
        _field(STRING, Pattern(r"^\d+\.\d+$")),
        _field(STRING, Format("ipv4"), MinLen(7)),
        _field(STRING, Example("chosen")),
        _field(STRING, IntOrString(), Pattern(QUANTITY_PATTERN)),
        _field(ScalarType("int-or-string")),
        _field(INTEGER, Gt(5)),
        _field(INTEGER, Lt(-5)),
        _field(INTEGER, Ge(7), MultipleOf(5)),
        _field(NUMBER, Gt(0), Le(0.5), MultipleOf(0.5)),
        _field(ScalarType("boolean")),
        _field(ScalarType("datetime")),
        _field(ScalarType("duration")),
        _field(ScalarType("bytes")),
        _field(ScalarType("any")),
        _field(EnumType((2, 4))),
        _field(ListType(STRING, (MinLen(2),)), MinLen(3), ListSet()),
        _field(ListType(STRING, (Pattern("^[a-c]+$"),)), MinLen(3), ListSet()),
        _field(ListType(EnumType(("a", "b"))), MinLen(2), ListSet()),
        _field(ListType(INTEGER, (Ge(5),)), MinLen(2), ListSet()),
        _field(ListType(PORT), MinLen(2), ListMap("name")),
        _field(MapType(PORT), MinLen(2)),
        _field(PORT),
    ],
    ids=lambda field: f"{type(field.type).__name__}-{'-'.join(type(marker).__name__ for marker in field.markers)}",
)
def test_value(field: FieldModel) -> None:
    """The value found for a field fits its schema, and the items of a set differ."""
    value = samples.value_of(field)
    assert validate(field_schema(field), value) == ()
    if isinstance(value, list):
        assert len({str(item) for item in value}) == len(value)


@pytest.mark.parametrize("pattern", [r"^a{2,5}$", r"[^a-y]z", r"^(x|y)+?\.?$", r"\s\w$"])
def test_witnesses_match_and_grow(pattern: str) -> None:
    """Every witness matches its pattern."""
    found = list(witnesses(pattern))
    assert found
    assert all(re.search(pattern, text) for text in found)


def test_no_witness() -> None:
    """A pattern that is no expression has none."""
    assert list(witnesses("(")) == []


def _sample(*fields: FieldModel, served: bool = True) -> str:
    spec = StructType("ThingSpec", "", fields, SPAN)
    kind = KindModel(
        gvk=GroupVersionKind("db.example.com", "v1", "Thing"),
        singular="thing",
        short_names=(),
        categories=(),
        columns=(),
        scale=None,
        root=StructType("Thing", "", (FieldModel("spec", "spec", spec, SPAN),), SPAN),
        served=served,
        storage=True,
        deprecated=None,
        span=SPAN,
    )
    made = samples.artefacts(ProjectModel(kinds=(kind,), controllers=()), PROJECT)
    assert [(item.path, item.owner) for item in made] == [("config/samples/db_v1_thing.yaml", Owner.USER)][: len(made)]
    return made[0].text if made else ""


def test_required_filled_optional_commented() -> None:
    """Required fields have a value; documented optional ones are comments that become valid when uncommented."""
    text = _sample(
        _field(STRING, name="must"),
        _field(INTEGER, name="may", has_default=True, default=3, description="How many.\n\nMore."),
        _field(INTEGER, name="hidden", has_default=True, default=3),
    )
    assert yaml.safe_load(text)["spec"] == {"must": "example"}
    assert text.endswith("  must: example\n  # How many.\n  #\n  # More.\n  # may: 3\n")
    assert yaml.safe_load(text.replace("# may", "may"))["spec"] == {"must": "example", "may": 3}


def test_all_optional() -> None:
    """Where nothing is required, the first default is written, since an object of comments would be null."""
    text = _sample(
        _field(INTEGER, name="may", has_default=True, default=3), _field(STRING, name="other", has_default=True)
    )
    assert yaml.safe_load(text)["spec"] == {"may": 3}


def test_nothing_to_write() -> None:
    """Where there is no default either, the spec is empty but there."""
    assert yaml.safe_load(_sample(_field(STRING, has_default=True, optional=True)))["spec"] == {}


def test_unserved() -> None:
    """A version that is not served has no sample."""
    assert _sample(served=False) == ""
