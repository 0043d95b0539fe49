"""UX01: everything is described."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import text
from pyopscaffold.lint.example import crd, spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_KNOWN = frozenset({"apiVersion", "kind", "metadata"})


def check(version: Version) -> Iterator[Hit]:
    """Report the kind and the author's own fields without a description."""
    for node in version.nodes:
        if node.core or node.part in _KNOWN or text(node.schema.get("description")).strip():
            continue
        if node.parent is None:
            yield Hit(node.path, f"version {version.name} of the kind has no description")
        elif node.name:
            yield Hit(node.path, f"{node.field} has no description", node.field)


_GOOD = spec("replicas: {type: integer, description: 'Number of pods.'}")

RULE = Rule(
    id="UX01",
    name="description",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="The kind and each of its fields have a description.",
    why="It is the text of kubectl explain, of editors and of the API reference.",
    check=check,
    good=(_GOOD,),
    bad=(
        spec("replicas: {type: integer}"),
        crd("spec: {type: object}"),
        _GOOD.replace("        description: A widget.\n", ""),
    ),
    good_class=widget(),
    bad_class=widget("size: int32 = 0"),
)
