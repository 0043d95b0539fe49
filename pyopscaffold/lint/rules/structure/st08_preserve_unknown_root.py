"""ST08: the schema says what an object may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd, spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPEN = "x-kubernetes-preserve-unknown-fields"


def check(version: Version) -> Iterator[Hit]:
    """Report the root, or else the spec, where it keeps whatever is sent."""
    for node in (version.root, version.root.property("spec") if version.root else None):
        if node is not None and node.schema.get(_OPEN) is True:
            what = node.field or f"version {version.name}"
            yield Hit((*node.path, _OPEN), f"{what} keeps whatever is sent: declare its fields", node.field)
            return


RULE = Rule(
    id="ST08",
    name="preserve-unknown-root",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="Neither the whole object nor its spec preserves unknown fields; a field that is free by nature may.",
    why="Where anything is kept, nothing is checked: a misspelt field is stored and does nothing, kubectl explain is "
    "empty, and no field can be added later without meeting old data of its name.",
    check=check,
    good=(spec(f"values: {{type: object, {_OPEN}: true, description: Values of the chart.}}"),),
    bad=(
        crd(f"spec: {{type: object, {_OPEN}: true}}"),
        crd("spec: {type: object}") + f"        {_OPEN}: true\n",
    ),
    good_class=widget(
        '''
        values: Annotated[dict[str, Any], PreserveUnknownFields()] = field(default_factory=dict)
        """Values of the chart."""
        '''
    ),
    bad_class=widget(before="@mark(PreserveUnknownFields())").replace("\n\n\n@dataclass", "\n@dataclass", 1),
)
