"""Descriptions in CRDs can be trimmed, where controller-gen would cut them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.generate.crd import crd_of
from pyopscaffold.generate.descriptions import shortened
from tests.unit.loader.projects import read_kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KIND = '''
@dataclass(kw_only=True)
class Part:
    """A part. It has more to say."""
    description: str
    """Its own description. It is a property of that name."""

@dataclass(kw_only=True)
class Spec:
    """Desired state. There is more."""
    parts: list[Part]
    """Some parts. Each is one."""
    named: dict[str, Part]

@resource(group="example.com", version="v1", columns=[Column("A", json_path=".a", description="A column. It stays.")])
@dataclass(kw_only=True)
class Thing(Object):
    """A thing. It has more."""
    spec: Spec
'''


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("One. Two. Three.", 16, "One. Two. Three."),
        ("One. Two. Three.", 15, "One. Two."),
        ("One. Two. Three.", 4, "One."),
        ("One two three.", 9, "One two..."),
        ("One\ntwo three.", 5, "One..."),
        ("Extraordinary.", 5, "Extra..."),
        (".hidden files", 9, ".hidden..."),
        ("See v1.37 of it", 10, "See v1."),
        ("Really? Yes", 9, "Really?"),
        ("速い。とても速い", 12, "速い。"),
        ("ééé", 3, "é..."),
        ("anything", 0, ""),
        ("", 0, ""),
    ],
)
def test_cuts(text: str, limit: int, short: str) -> None:
    """A text ends with a whole sentence, else with a whole word, within as many bytes."""
    assert shortened(text, limit) == short


def _descriptions(schema: dict[str, Any]) -> Iterator[str]:
    if "description" in schema:
        yield schema["description"]
    children = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    for child in filter(None, children):
        yield from _descriptions(child)


def test_everywhere(tmp_path: Path) -> None:
    """Descriptions are trimmed on every level, properties of that name are not, and columns keep theirs."""
    kind = read_kind(tmp_path, KIND)
    (whole, trimmed, bare) = (crd_of([kind], limit)["spec"]["versions"][0] for limit in (None, 20, 0))
    schema = {limit: version["schema"]["openAPIV3Schema"] for limit, version in enumerate((whole, trimmed, bare))}
    assert "Its own description. It is a property of that name." in _descriptions(schema[0])
    said = [text for text in _descriptions(schema[1]) if "http" not in text]
    assert {"A thing.", "Desired state.", "Some parts.", "A part.", "Its own description."} < {*said}
    assert max(len(text.removesuffix("...")) for text in said) <= 20
    assert list(_descriptions(schema[2])) == []
    parts = schema[2]["properties"]["spec"]["properties"]["parts"]["items"]
    assert parts["properties"] == {"description": {"type": "string"}}
    assert bare["additionalPrinterColumns"][0]["description"] == "A column. It stays."
