"""Where rules come from in a schema: fields, classes and their bases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyopscaffold.model.schema import kind_schema
from tests.unit.loader.projects import read_kind

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.schema import Schema

HEAD = """\
@cel("base")
@dataclass(kw_only=True)
class Base:
    size: int = 1

@cel("first")
@dataclass(kw_only=True, slots=True)
@cel("second")
class Part(Base):
    namespace: Annotated[str | None, Immutable()] = None
    dashed: Annotated[str | None, Immutable(), Name("a-b/c.d__")] = None
    name: Annotated[str, CEL("own"), Immutable()]

@resource(group="example.com", version="v1")
@cel("whole")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Annotated[Part, CEL("field")]
    more: Annotated[list[Annotated[Part, CEL("item")]], ListMap("name")] = field(default_factory=list)
"""


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    """Give the schema of a kind with rules everywhere."""
    folder: Path = tmp_path_factory.mktemp("rules")
    return kind_schema(read_kind(folder, HEAD))


def rules(schema: Schema | None) -> list[str]:
    """Return the expressions of a schema's rules."""
    assert schema is not None
    return [rule.rule for rule in schema.rules]


def test_rules_of_classes_come_before_those_of_the_field(schema: Schema) -> None:
    """Bases first, then from top to bottom, then the field or item that has the class."""
    assert rules(schema) == ["whole"]
    assert rules(schema.properties["spec"])[2:] == ["base", "first", "second", "field"]
    assert rules(schema.properties["more"].items)[2:] == ["base", "first", "second", "item"]


def test_immutable_optional_fields_bind_their_object(schema: Schema) -> None:
    """They can't be taken away; CEL's words and signs are spelled as the API server reads them."""
    spelled = ("__namespace__", "a__dash__b__slash__c__dot__d__underscores__")
    expected = [f"!has(oldSelf.{name}) || has(self.{name})" for name in spelled]
    assert rules(schema.properties["spec"])[:2] == expected


def test_immutable_fields_keep_their_value(schema: Schema) -> None:
    """The rule stands beside the field's own."""
    assert rules(schema.properties["spec"].properties["name"]) == ["own", "self == oldSelf"]
