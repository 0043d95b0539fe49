"""The schemas of Kubernetes' own types are structural, and say what the API server says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api.types import QUANTITY_PATTERN
from pyopscaffold.model import kubernetes
from pyopscaffold.model.known import schema_of
from pyopscaffold.schema import UNSET, Schema, to_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = sorted(Path(kubernetes.__path__[0]).glob("*.json"))
PREFIXES = {"meta.v1": "io.k8s.apimachinery.pkg.apis.meta.v1"}
CORE = "io.k8s.api.core.v1"


def names() -> list[str]:
    """Return the OpenAPI names of all types."""
    return [
        f"{PREFIXES.get(file.stem, f'io.k8s.api.{file.stem}')}.{name}"
        for file in FILES
        for name in json.loads(file.read_text())
    ]


def nodes(schema: Schema) -> Iterator[Schema]:
    """Yield a schema and all within it."""
    yield schema
    for child in [*schema.properties.values(), schema.items, schema.additional_properties]:
        if child is not None:
            yield from nodes(child)


def test_every_type_resolves() -> None:
    """More than three hundred types have a schema, and each that they refer to has one."""
    found = names()
    assert len(found) > 300
    for name in found:
        assert schema_of(name).type == "object"


def test_types_are_made_once() -> None:
    """A type that many others hold is one value: thousands of copies would be slow to make."""
    template = schema_of("io.k8s.api.apps.v1.DeploymentSpec").properties["template"]
    assert template.properties["spec"].properties["volumes"].items is schema_of(f"{CORE}.Volume")


def test_list_maps_have_their_keys() -> None:
    """Every key of a list-map is required or has a default, as the server demands of a CRD."""
    lists = [node for name in names() for node in nodes(schema_of(name)) if node.list_map_keys]
    assert lists
    for node in lists:
        assert node.items is not None
        for key in node.list_map_keys:
            assert key in node.items.required or node.items.properties[key].default is not UNSET


def test_required_fields_have_no_default() -> None:
    """Go's zero values, which the server publishes as defaults, are left out."""
    for name in names():
        schema = schema_of(name)
        for field in schema.required:
            assert schema.properties[field].default is UNSET, f"{name}.{field}"


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("ContainerPort", "protocol", {"type": "string", "default": "TCP", "enum": ["SCTP", "TCP", "UDP"]}),
        ("ContainerPort", "containerPort", {"type": "integer", "format": "int32"}),
        ("LocalObjectReference", "name", {"type": "string", "default": ""}),
        ("SecretKeySelector", "optional", {"type": "boolean"}),
        (
            "ServicePort",
            "targetPort",
            {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        ),
        (
            "EmptyDirVolumeSource",
            "sizeLimit",
            {
                "x-kubernetes-int-or-string": True,
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "pattern": QUANTITY_PATTERN,
            },
        ),
        ("Toleration", "tolerationSeconds", {"type": "integer", "format": "int64"}),
        ("PodStatus", "startTime", {"type": "string", "format": "date-time"}),
        ("PodTemplateSpec", "metadata", {"type": "object"}),
        ("Service", "metadata", {"type": "object"}),
    ],
)
def test_fields(name: str, path: str, expected: dict[str, Any]) -> None:
    """Formats, int-or-strings, quantities, defaults and enums are as a CRD has them."""
    found = to_mapping(schema_of(f"{CORE}.{name}").properties[path])
    found.pop("description", None)
    assert found == expected


def test_references_keep_what_the_place_says() -> None:
    """A field's own description and map type win over those of the type it refers to."""
    claim = schema_of(f"{CORE}.PersistentVolumeSpec").properties["claimRef"]
    assert claim.map_type == "granular"
    assert claim.description.startswith("claimRef is part of a bi-directional binding")
    assert schema_of(f"{CORE}.ObjectReference").map_type == "atomic"


def test_unknown_type() -> None:
    """There is no schema of what is not there."""
    with pytest.raises(KeyError):
        schema_of(f"{CORE}.PodSpeck")
