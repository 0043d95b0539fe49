"""SU02: the kind has a status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd, status, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report a schema with a spec and no status; an object of data alone, such as a grant, has neither."""
    root = version.root
    if root is None or version.status is not None or "spec" not in root.properties:
        return
    if not root.schema.get("x-kubernetes-preserve-unknown-fields"):
        yield Hit(root.path, f"version {version.name} has a spec, but no status: nobody can see what became of it")


RULE = Rule(
    id="SU02",
    name="status-missing",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="A kind with a spec has a status.",
    why="The status is where a controller says what it made of the spec; without one users read its logs.",
    check=check,
    good=(status("ready: {type: boolean, description: Whether it serves.}"), crd("rules: {type: object}", extra="")),
    bad=(crd("spec: {type: object}"),),
    good_class=widget(),
    bad_class=widget(status=""),
)
