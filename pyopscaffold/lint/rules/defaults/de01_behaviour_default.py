"""DE01: a default that matters is documented."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.values import text
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own non-empty defaults in spec that no description names."""
    for node in version.own("spec"):
        default = node.schema.get("default")
        if not default:
            continue
        path = (*node.path, "default")
        if isinstance(default, dict):
            yield Hit(path, f"{node.field} is an object with a default: give its fields theirs", node.field)
        elif isinstance(default, list):
            yield Hit(path, f"{node.field} is a list with a default: let the controller take none for it", node.field)
        elif not _names(text(node.schema.get("description")), default):
            shown = json.dumps(default, ensure_ascii=False)
            yield Hit(path, f"{node.field} defaults to {shown}, and its description does not say so", node.field)


def _names(description: str, default: Any) -> bool:
    """Whether the default stands in the description as a word: 14 is not named by 14.2 or 140, nor a by A."""
    is_whole = isinstance(default, float) and default.is_integer()
    word = default if isinstance(default, str) else json.dumps(int(default) if is_whole else default)
    pattern = rf"(?<![\w.-]){re.escape(word)}(?![\w-]|\.\w)"
    return re.search(pattern, description, re.IGNORECASE if len(word) > 1 else 0) is not None


RULE = Rule(
    id="DE01",
    name="behaviour-default",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A default that is not empty, zero or false is named by the field's description, and stands on a scalar.",
    why="A default is behaviour that nobody wrote down: it shows up as a difference in GitOps tools, and changing it "
    "changes every object. A default of a whole object or list replaces the ones of its parts.",
    check=check,
    good=(
        spec('version: {type: string, default: "14", description: "PostgreSQL version; 14 if unset."}'),
        spec("enabled: {type: boolean, default: false}"),
        spec("storage: {type: object, default: {}, properties: {}}"),
    ),
    bad=(
        spec('version: {type: string, default: "14", description: PostgreSQL version.}'),
        spec('version: {type: string, default: "14", description: Such as 14.2 or 140.}'),
        spec("enabled: {type: boolean, default: true, description: Whether it runs.}"),
        spec("zones: {type: array, items: {type: string}, default: [a], description: Zones; a if unset.}"),
    ),
    good_class=widget(
        '''
        version: Annotated[str, MaxLen(16)] = "14"
        """PostgreSQL version; 14 if unset."""
        '''
    ),
    bad_class=widget(
        '''
        version: Annotated[str, MaxLen(16)] = "14"
        """PostgreSQL version."""
        '''
    ),
)
