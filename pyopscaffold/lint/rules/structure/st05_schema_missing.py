"""ST05: each version has a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report a version without schema.openAPIV3Schema."""
    if version.root is None:
        yield Hit((*version.path, "schema", "openAPIV3Schema"), f"version {version.name} has no schema.openAPIV3Schema")


_GOOD = crd("spec: {type: object}")

RULE = Rule(
    id="ST05",
    name="schema-missing",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="Each version of a CRD has a schema.",
    why="The API server refuses v1 CRDs without one.",
    check=check,
    good=(_GOOD,),
    bad=(_GOOD[: _GOOD.index("    schema:")],),
    good_class=widget(),
)
