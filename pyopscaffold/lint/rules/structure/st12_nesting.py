"""ST12: fields are at most three levels deep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, struct, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Options:
    """What can be set."""

    max_depth: int = 3
    """Named fields below spec or status; lists and maps add none by themselves."""


def check(version: Version, options: Options) -> Iterator[Hit]:
    """Report each subtree that reaches deeper once, at its field of the deepest allowed level."""
    deepest: dict[Node, Node] = {}
    tops: dict[str, Node] = {}
    for node in version.own("spec", "status"):
        if node.name and node.depth - 1 > options.max_depth:
            top = _ancestor(node, options.max_depth)
            top = tops.setdefault(top.field, top)
            if top not in deepest or deepest[top].depth < node.depth:
                deepest[top] = node
    for top, node in deepest.items():
        message = f"{top.field} nests {node.depth - 1} levels deep, to {node.field}; keep to {options.max_depth}"
        yield Hit(top.path, message, top.field)


def _ancestor(node: Node, depth: int) -> Node:
    while node.parent is not None and not (node.name and node.depth - 1 == depth):
        node = node.parent
    return node


_LEAF = "{type: string, maxLength: 9, description: Leaf.}"

RULE = Rule(
    id="ST12",
    name="nesting",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="Fields of spec and status are at most three levels deep; embedded Kubernetes types do not count.",
    why="Deep objects are hard to write, to explain and to merge; a deep subtree is mostly an API of its own.",
    check=check,
    good=(
        spec(f"a: {{type: object, properties: {{b: {{type: object, properties: {{c: {_LEAF}}}}}}}}}"),
        spec(f"a: {{type: array, items: {{type: object, properties: {{b: {{type: array, items: {_LEAF}}}}}}}}}"),
    ),
    bad=(
        spec(
            "a: {type: object, properties: {b: {type: object, properties: "
            f"{{c: {{type: object, properties: {{d: {_LEAF}}}}}}}}}}}}}"
        ),
    ),
    good_class=widget(
        '''
        port: Port
        """Where it listens."""
        ''',
        before=struct("Port", "number: int32"),
    ),
    bad_class=widget(
        '''
        pool: Pool
        """Where it runs."""
        ''',
        before="\n\n".join(
            struct(name, field)
            for name, field in (("Port", "number: int32"), ("Node", "port: Port"), ("Pool", "node: Node"))
        ),
    ),
    options=Options(),
)
