"""VA10: an integer says how large it can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import text
from pyopscaffold.lint.edits import with_keywords
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = {"int32": 2**31 - 1, "int64": 2**63 - 1}


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own integers without a format, and bounds that the format can't hold."""
    for node in version.own("spec", "status"):
        if node.type != "integer":
            continue
        name = text(node.schema.get("format"))
        if name not in _LARGEST:
            yield Hit(node.path, f"{node.field} has no format int32 or int64", node.field, fix=_fix(node))
            continue
        limit = _LARGEST[name]
        for bound in ("minimum", "maximum"):
            value = node.schema.get(bound)
            if isinstance(value, int | float) and not -limit - 1 <= value <= limit:
                yield Hit((*node.path, bound), f"{node.field} has the {bound} {value}, beyond {name}", node.field)


def _fix(node: Node) -> Fix:
    """Name the smallest format that holds the bounds; without both, some number might get lost."""
    bounds = [node.schema.get(bound) for bound in ("minimum", "maximum")]
    for name, limit in _LARGEST.items():
        if all(isinstance(bound, int) and -limit - 1 <= bound <= limit for bound in bounds):
            return Fix(with_keywords(node, format=name))
    return Fix(with_keywords(node, format="int64"), safe=False)


RULE = Rule(
    id="VA10",
    name="integer-format",
    severity=Severity.INFO,
    profile=Profile.STRICT,
    subject=Version,
    what="An integer has the format int32 or int64, and bounds within it.",
    why="Clients in Go, Java and Rust choose their type by it, and newer API servers refuse what it can't hold.",
    check=check,
    good=(spec("size: {type: integer, format: int32}"), spec("bytes: {type: integer, format: int64, minimum: 0}")),
    bad=(
        spec("size: {type: integer}"),
        spec("size: {type: integer, minimum: 0, maximum: 9}"),
        spec("size: {type: integer, format: int32, maximum: 4294967295}"),
    ),
    good_class=widget(),
)
