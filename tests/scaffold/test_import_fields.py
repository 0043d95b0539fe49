"""What a schema in an imported CRD becomes in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api.types import QUANTITY_PATTERN
from pyopscaffold.model.known import KNOWN
from pyopscaffold.schema import Schema, to_mapping
from tests.scaffold.widgets_crd import crd, versions

if TYPE_CHECKING:
    from tests.scaffold.conftest import Folder

CONDITIONS = Schema(type="array", items=KNOWN["Condition"], list_type="map", list_map_keys=("type",))
FIXED = {"rule": "self == oldSelf", "message": "field is immutable"}
FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "time": ({"type": "string", "format": "date-time"}, "x: datetime | None = None"),
    "time with a default": (
        {"type": "string", "format": "date-time", "default": "2026-01-02T03:04:05Z"},
        'x: Annotated[str, Format("date-time")] = "2026-01-02T03:04:05Z"',
    ),
    "bytes": ({"type": "string", "format": "byte"}, "x: bytes | None = None"),
    "quantity": (
        {"x-kubernetes-int-or-string": True, "pattern": QUANTITY_PATTERN, "default": "1Gi"},
        'x: Quantity = "1Gi"',
    ),
    "plain integer": ({"type": "integer"}, 'x: Annotated[int, Format("")] | None = None'),
    "number": ({"type": "number", "format": "double"}, 'x: Annotated[float, Format("double")] | None = None'),
    "numbers as enum": (
        {"type": "integer", "format": "int64", "enum": [1, 2], "default": 1},
        "x: Literal[1, 2] = 1",
    ),
    "enum with null": (
        {"type": "string", "nullable": True, "enum": ["a", None]},
        'x: Annotated[str, OneOfValues("a", None), Nullable()] | None = None',
    ),
    "any object": (
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "x: RawExtension | None = None",
    ),
    "any value": ({"x-kubernetes-preserve-unknown-fields": True}, "x: Any | None = None"),
    "an embedded object": (
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-embedded-resource": True},
        "x: Annotated[RawExtension, EmbeddedResource()] | None = None",
    ),
    "a set": (
        {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}, "default": ["a"]},
        'x: Annotated[list[str], ListSet()] = field(default_factory=lambda: ["a"])',
    ),
    "an empty default": (
        {"type": "array", "items": {"type": "string"}, "default": []},
        "x: Annotated[list[str], Default([])] = field(default_factory=list)",
    ),
    "a map": (
        {"type": "object", "additionalProperties": {"type": "string", "maxLength": 9}, "maxProperties": 3},
        "x: Annotated[dict[str, Annotated[str, MaxLen(9)]], MaxLen(3)] | None = None",
    ),
    "conditions": (to_mapping(CONDITIONS), "x: Conditions | None = None"),
    "an optional field that can't change": (
        {"type": "string", "x-kubernetes-validations": [FIXED]},
        'x: Annotated[str, CEL("self == oldSelf", message="field is immutable")] | None = None',
    ),
    "an object with all defaults": (
        {"type": "object", "properties": {"a": {"type": "boolean", "default": True}}, "default": {}},
        "x: WidgetSpecX = field(default_factory=WidgetSpecX)",
    ),
    "a description that no docstring holds": (
        {"type": "string", "description": "ends in a blank "},
        'x: Annotated[str, Doc("ends in a blank ")] | None = None',
    ),
}


@pytest.mark.parametrize("case", FIELDS)
def test_field(folder: Folder, case: str) -> None:
    """Each form of a schema becomes the Python type of that meaning."""
    data, line = FIELDS[case]
    (version,) = versions("v1")
    version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["x"] = data
    (folder.path / "crd.yaml").write_text(crd(versions=[version]))

    folder.run("import", "crd", "crd.yaml")

    text = folder.files()["v1/widget.py"]
    assert f"    {line}" in text.splitlines(), text


def test_rules_that_have_a_name(folder: Folder) -> None:
    """Rules that a marker or a decorator stands for are written as such; whole objects have theirs on the class."""
    (version,) = versions("v1")
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["mode"]["x-kubernetes-validations"] = [FIXED]
    spec["x-kubernetes-map-type"] = "atomic"
    spec["minProperties"] = 1
    spec["x-kubernetes-validations"].append(
        {
            "rule": "(has(self.template)?1:0)+(has(self.clusterIP)?1:0) <= 1",
            "message": "at most one of the fields in [template clusterIP] may be set",
        }
    )
    (folder.path / "crd.yaml").write_text(crd(versions=[version]))

    folder.run("import", "crd", "crd.yaml")

    text = folder.files()["v1/widget.py"]
    assert (
        """\
@atomic
@mark(MinLen(1))
@cel("has(self.template) || has(self.fallback)", message="one is needed")
@at_most_one_of("template", "cluster_ip")
@dataclass(kw_only=True)
class WidgetSpec:
"""
        in text
    )
    assert 'mode: Annotated[Literal["fast", "slow"], Immutable(), Selectable()]' in text
