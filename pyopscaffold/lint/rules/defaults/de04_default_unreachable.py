"""DE04: a default below an optional object comes to pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import mapping
from pyopscaffold.lint.example import spec, struct, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHOSEN = frozenset({"oneOf", "anyOf", "x-kubernetes-validations"})


def check(version: Version) -> Iterator[Hit]:
    """Report optional objects all of whose fields have defaults, once a subtree.

    An object that must be given to mean something has a field without one: its defaults wait for it, rightly.
    """
    reported: set[str] = set()
    for node in version.own("spec"):
        if not _is_all_defaults(node) or not _may_be_absent(node):
            continue
        if not any(node.field.startswith(f"{above}.") for above in reported):
            reported.add(node.field)
            message = f"{node.field} has defaults inside, which nobody gets who leaves it out: give it the default {{}}"
            yield Hit(node.path, message, node.field)


def _is_all_defaults(node: Node) -> bool:
    fields = node.properties.values()
    return bool(fields) and all(mapping(field).get("default") is not None for field in fields) and not node.core_type


def _may_be_absent(node: Node) -> bool:
    if not node.name or node.parent is None or node.has_default or node.schema.get("nullable"):
        return False
    return not node.is_required and _CHOSEN.isdisjoint(node.parent.schema)


_REQUIRED = "        required: [spec]\n"
_SIZE = "{type: integer, format: int32, default: 1, description: Gigabytes; 1 if unset.}"

RULE = Rule(
    id="DE04",
    name="default-unreachable",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="An optional object whose fields all have defaults has the default {} itself.",
    why="The server fills in defaults of objects that are there, and does not make objects to hold them: without the "
    "default {} the fields stay unset, although the description says otherwise.",
    check=check,
    good=(
        spec(f"disk: {{type: object, default: {{}}, properties: {{size: {_SIZE}}}}}") + _REQUIRED,
        spec(f"disk: {{type: object, properties: {{size: {_SIZE}, class: {{type: string}}}}}}"),
        spec(f"disk: {{type: object, properties: {{size: {_SIZE}}}}}") + "            required: [disk]\n",
    ),
    bad=(spec(f"disk: {{type: object, properties: {{size: {_SIZE}}}}}"),),
    good_class=widget(
        '''
        disk: Disk = field(default_factory=Disk)
        """Where it stores."""
        ''',
        before=struct("Disk", "size: int32 = 1"),
    ),
    bad_class=widget(
        '''
        disk: Disk | None = None
        """Where it stores."""
        ''',
        before=struct("Disk", "size: int32 = 1"),
    ),
)
