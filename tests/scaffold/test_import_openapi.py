from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.scaffold.conftest import Folder

PETS = """\
openapi: 3.0.3
info: {title: Pet "store"}
components:
  schemas:
    Pet:
      type: object
      description: A pet.
      required: [name]
      properties:
        name: {type: string, minLength: 1, description: How it is called.}
        owner: {$ref: '#/components/schemas/Owner'}
        vet:
          allOf: [{$ref: '#/components/schemas/Owner'}]
          description: Who looks after it.
        friends: {type: array, items: {$ref: '#/components/schemas/Pet'}}
        kind: {$ref: '#/components/schemas/Kind'}
        tags: {type: object, additionalProperties: {type: string}}
        place: {oneOf: [{type: integer}, {type: string}]}
        form: {oneOf: [{$ref: '#/components/schemas/Owner'}, {type: string}]}
    Owner:
      type: object
      properties:
        since: {type: string, format: date-time}
    Dog:
      allOf:
      - $ref: '#/components/schemas/Pet'
      - type: object
        required: [bark]
        properties: {bark: {type: boolean}}
    Kind: {type: string, enum: [cat, dog]}
"""

MODULE = '''\
"""The types of Pet 'store'."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pyopscaffold.api import MinLen


@dataclass(kw_only=True)
class Owner:
    since: datetime | None = None


@dataclass(kw_only=True)
class Pet:
    """A pet."""

    name: Annotated[str, MinLen(1)]
    """How it is called."""

    owner: Owner | None = None
    vet: Owner | None = None
    """Who looks after it."""

    friends: list[Any] | None = None
    kind: Literal["cat", "dog"] | None = None
    tags: dict[str, str] | None = None
    place: int | str | None = None
    form: Any | None = None


@dataclass(kw_only=True)
class Dog:
    """A pet."""

    name: Annotated[str, MinLen(1)]
    """How it is called."""

    owner: Owner | None = None
    vet: Owner | None = None
    """Who looks after it."""

    friends: list[Pet] | None = None
    kind: Literal["cat", "dog"] | None = None
    tags: dict[str, str] | None = None
    place: int | str | None = None
    form: Any | None = None
    bark: bool
'''


def test_components_become_classes(folder: Folder) -> None:
    """Objects become dataclasses, references share them, and what no schema of a CRD can say is told."""
    (folder.path / "pets.yaml").write_text(PETS)

    said = folder.run("import", "openapi", "pets.yaml")

    assert folder.files()["pets.py"] == MODULE
    assert "note: #/components/schemas/Pet: it contains itself, which no CRD can say: Any stands there" in said
    assert "note: #/components/schemas/Pet/form: it has several forms: Any stands there" in said


def test_into_a_project(project: Folder) -> None:
    """In a project the module goes beside its APIs, and is in order there; importing again changes nothing."""
    (project.path / "pets.yaml").write_text(PETS)
    project.run("import", "openapi", "pets.yaml", "--name", "zoo")

    assert project.files()["shop_operator/api/zoo.py"] == MODULE
    for command in (["ruff", "format", "--check"], ["ruff", "check"], ["mypy", "--no-incremental"]):
        done = subprocess.run(
            [*command, "shop_operator/api/zoo.py"], cwd=project.path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout
    assert "create" not in project.run("import", "openapi", "pets.yaml", "--name", "zoo")


FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "optional by a null": (
        {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]},
        "x: Annotated[str, MaxLen(3), Nullable()] | None = None",
    ),
    "two types": ({"type": ["integer", "null"]}, 'x: Annotated[int, Format(""), Nullable()] | None = None'),
    "integer or string": ({"type": ["integer", "string"]}, "x: int | str | None = None"),
    "a constant": ({"const": "a"}, 'x: Literal["a"] | None = None'),
    "constants": ({"oneOf": [{"const": "a"}, {"const": "b"}]}, 'x: Literal["a", "b"] | None = None'),
    "an enum with null": ({"enum": ["a", None]}, 'x: Annotated[Literal["a"], Nullable()] | None = None'),
    "a new bound": ({"type": "number", "exclusiveMinimum": 0}, "x: Annotated[float, Gt(0)] | None = None"),
    "a default": ({"type": "string", "default": "it's"}, 'x: str = "it\'s"'),
    "anything": (True, "x: Any | None = None"),  # type: ignore[dict-item]  # a schema may be a boolean
    "an open object": ({"type": "object"}, "x: RawExtension | None = None"),
    "a list of anything": ({"type": "array"}, "x: list[Any] | None = None"),
    "a definition": ({"$ref": "#/$defs/Part"}, "x: Part | None = None"),
    "a keyword of others": ({"type": "string", "x-order": 3, "title": "X"}, "x: str | None = None"),
    "nothing there": ({"$ref": "#/$defs/None"}, "x: Any | None = None"),
}


@pytest.mark.parametrize("case", FIELDS)
def test_field_of_a_json_schema(folder: Folder, case: str) -> None:
    """Each form that JSON schemas have for a value becomes the type that means the same."""
    data, line = FIELDS[case]
    part = {"type": "object", "properties": {"size": {"type": "boolean"}}}
    schema = {"title": "thing", "type": "object", "properties": {"x": data}, "$defs": {"Part": part}}
    (folder.path / "thing.json").write_text(json.dumps(schema))

    folder.run("import", "openapi", "thing.json")

    text = folder.files()["thing.py"]
    assert f"    {line}" in text.splitlines(), text
    assert "class Thing:" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("openapi: 3.0.0\n", "there is no schema of an object in it"),
        ("- a\n", "it is no single document with a mapping"),
        ("a: [", "in.yaml:"),
    ],
)
def test_what_can_not_be_imported(folder: Folder, text: str, message: str) -> None:
    """What describes no object is refused, and nothing is written."""
    (folder.path / "in.yaml").write_text(text)

    assert message in folder.run("import", "openapi", "in.yaml", code=2)
    assert folder.entries() == {"in.yaml"}


def test_existing_module(folder: Folder) -> None:
    """A module that is there already stays."""
    (folder.path / "pets.yaml").write_text(PETS)
    (folder.path / "pets.py").write_text("mine = True\n")

    assert "pets.py is there already" in folder.run("import", "openapi", "pets.yaml", code=2)
    assert folder.files()["pets.py"] == "mine = True\n"


def test_chain_of_references(folder: Folder) -> None:
    """A chain longer than anything reads ends in Any, with a note; it does not end the command."""
    parts = {f"C{n}": {"type": "object", "properties": {"x": {"$ref": f"#/$defs/C{n + 1}"}}} for n in range(300)}
    (folder.path / "chain.json").write_text(json.dumps({"$defs": parts}))
    said = folder.run("import", "openapi", "chain.json")
    assert "note: #/$defs/C50: it lies within 100 others, more than can be read again: Any stands there" in said


def test_reference_in_percent_encoding(folder: Folder) -> None:
    """A reference is a part of an address, where blanks and the like are encoded."""
    owner = {"type": "object", "properties": {"name": {"type": "string"}}}
    pet = {"type": "object", "properties": {"of": {"$ref": "#/$defs/The%20owner"}, "by": {"$ref": "#/$defs/a~1%25"}}}
    (folder.path / "pet.json").write_text(json.dumps({"$defs": {"Pet": pet, "The owner": owner, "a/%": owner}}))
    assert "note:" not in folder.run("import", "openapi", "pet.json")
    assert "    of: TheOwner | None = None\n" in folder.files()["pet.py"]
