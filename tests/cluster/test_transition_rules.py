"""The loader refuses a rule for where it stands, or for a pattern in it, just where a real API server does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.errors import DeclarationError, Invalid
from tests.unit.loader.projects import IMPORTS, read

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.testing import ApiServer

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
KIND = """
@dataclass(kw_only=True)
class Item:
    name: str
    size: Annotated[int, Immutable()]

@dataclass(kw_only=True)
class Spec:
    x: {field}

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""
FIXED = {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
TEXT, NUMBER = {"type": "string", "maxLength": 9, **FIXED}, {"type": "integer", **FIXED}
ITEM = {"type": "object", "properties": {"name": {"type": "string"}, "size": NUMBER}, "required": ["name", "size"]}
KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
ATOMIC = {"x-kubernetes-map-type": "atomic"}

CASES: dict[str, dict[str, Any]] = {
    "Item": ITEM,
    'Annotated[Item, MapType("atomic")]': {**ITEM, **ATOMIC},
    "list[Item]": {"type": "array", "items": ITEM},
    "Annotated[list[Item], ListAtomic()]": {"type": "array", "items": ITEM, "x-kubernetes-list-type": "atomic"},
    'Annotated[list[Item], ListMap("name")]': {**KEYED, "items": ITEM},
    'Annotated[list[Annotated[Item, MapType("atomic")]], ListMap("name")]': {**KEYED, "items": {**ITEM, **ATOMIC}},
    "list[Annotated[str, Immutable()]]": {"type": "array", "items": TEXT},
    "set[Annotated[str, Immutable()]]": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
    "dict[str, Annotated[str, Immutable()]]": {"type": "object", "maxProperties": 9, "additionalProperties": TEXT},
    'Annotated[dict[str, Annotated[str, Immutable()]], MapType("atomic")]': {
        "type": "object",
        "maxProperties": 9,
        "additionalProperties": TEXT,
        **ATOMIC,
    },
    "dict[str, list[Item]]": {"type": "object", "additionalProperties": {"type": "array", "items": ITEM}},
    "Annotated[list[str], Immutable()]": {"type": "array", "maxItems": 9, "items": {"type": "string"}, **FIXED},
}


def crd(schema: dict[str, Any]) -> dict[str, Any]:
    """Make a CRD with this schema of its only field."""
    spec = {"type": "object", "properties": {"x": schema}}
    root = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}
    names = {"plural": "things", "kind": "Thing"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.transitions.example.com"},
        "spec": {"group": "transitions.example.com", "names": names, "scope": "Namespaced", "versions": [version]},
    }


@pytest.mark.parametrize("field", CASES)
def test_the_loader_and_the_server_agree(api_server: ApiServer, tmp_path: Path, field: str) -> None:
    """What the server calls uncorrelatable is what the loader refuses."""
    client = api_server.client()
    refused = taken = ""
    try:
        client.request("POST", CRDS, body=crd(CASES[field]), query={"dryRun": "All"})
    except Invalid as error:
        refused = str(error)
    try:
        read(tmp_path, {"api/kind.py": IMPORTS + KIND.format(field=field)})
    except DeclarationError as error:
        taken = str(error)
    assert ("uncorrelatable" in refused) == ("reads the old value" in taken)
    assert bool(refused) == bool(taken), refused + taken


RULES = (
    "self.matches('^(a|b$')",
    "matches(self, r'\\d(?=x)')",
    "self.find('*') == ''",
    "self.findAll('[', 1).size() == 0",
    "self.matches('^(a|b)$')",
    "matches(self, r'\\d+')",
    "self.find('[a-z]*') == ''",
    "self.matches(self)",
    "self.contains('[')",
)


@pytest.mark.parametrize("rule", RULES)
def test_patterns_in_rules(api_server: ApiServer, tmp_path: Path, rule: str) -> None:
    """A constant pattern that the loader refuses is one that the server refuses the CRD for."""
    schema = {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": rule}]}
    refused = taken = ""
    try:
        api_server.client().request("POST", CRDS, body=crd(schema), query={"dryRun": "All"})
    except Invalid as error:
        refused = str(error)
    try:
        read(tmp_path, {"api/kind.py": IMPORTS + KIND.format(field=f"Annotated[str, MaxLen(9), CEL({rule!r})]")})
    except DeclarationError as error:
        taken = str(error)
    assert ("no regular expression" in taken) == bool(taken)
    assert bool(refused) == bool(taken), refused + taken
