"""UX04: printer columns and the scale subresource lead to fields."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint.example import crd, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.document.reader import Path

_STEP = re.compile(r"\.(?P<name>(?:[^.\[\]\\*]|\\.)+)|\['(?P<quoted>[^']*)'\]|\[(?P<item>\*|-?\d+|\?\(.*?\))\]")
_KNOWN = frozenset({"apiVersion", "kind", "metadata"})
_SCALE = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
_ANY = "x-kubernetes-preserve-unknown-fields"
_EACH = "*"


def check(version: Version) -> Iterator[Hit]:
    """Report paths to nowhere, columns of one name, and columns that show a list or an object."""
    names: set[str] = set()
    for index, column in enumerate(map(mapping, listing(version.data.get("additionalPrinterColumns")))):
        path: Path = (*version.path, "additionalPrinterColumns", index)
        name, target = text(column.get("name")), text(column.get("jsonPath"))
        if name and name in names:
            yield Hit((*path, "name"), f"there is another column {name}")
        names.add(name)
        yield from _leads((*path, "jsonPath"), f"column {name}", target, version, shown=True)
    scale = mapping(mapping(version.data.get("subresources")).get("scale"))
    for key in _SCALE:
        path = (*version.path, "subresources", "scale", key)
        yield from _leads(path, key, text(scale.get(key)), version, shown=False)


def _leads(path: Path, what: str, target: str, version: Version, *, shown: bool) -> Iterator[Hit]:
    steps = _steps(target)
    if not steps or version.root is None:
        return
    node = version.root
    for step in steps:
        if _may_have(node, step):
            return
        found = _next(node, step)
        if found is None:
            name = step.removeprefix(_EACH) or "list"
            yield Hit(path, f"{what} has the path {target}, but there is no {name} in {node.field or 'it'}")
            return
        node = found
    if shown and node.type in {"array", "object"}:
        message = f"{what} shows {node.field}, which is an {node.type}"
        yield Hit(path, message, node.field, severity=Severity.INFO)


def _steps(path: str) -> list[str] | None:
    """Split a JSONPath into names of fields, "" for an item and * for all; None where it is more than this reads."""
    steps, end = [], 0
    while found := _STEP.match(path, end):
        end = found.end()
        name = found["name"] if found["quoted"] is None else found["quoted"]
        steps.append(_EACH if found["item"] == _EACH else re.sub(r"\\(.)", r"\1", name or ""))
    return steps if end == len(path) else None


def _may_have(node: Node, step: str) -> bool:
    """Whether an object may have what its schema does not declare."""
    if step in _KNOWN and (node.parent is None or node.schema.get("x-kubernetes-embedded-resource") is True):
        return True
    is_any = node.schema.get(_ANY) is True or node.schema.get("additionalProperties") is True
    return is_any or (step == _EACH and bool(node.properties))


def _next(node: Node, step: str) -> Node | None:
    if step in node.properties:
        return node.property(step)
    if node.type == "array":
        return node.items if step in {"", _EACH} else None
    return node.values if step else None


def _columns(*columns: str) -> str:
    status = (
        "status: {type: object, properties: {ready: {type: boolean}, "
        "nodes: {type: array, items: {type: object, properties: {name: {type: string}}}}, "
        "zones: {type: object, additionalProperties: {type: object, properties: {name: {type: string}}}}}}"
    )
    lines = "".join(f"- {column}\n" for column in columns)
    return crd(status, extra=f"subresources: {{status: {{}}}}\nadditionalPrinterColumns:\n{lines}")


_READY = "{name: Ready, type: boolean, jsonPath: .status.ready}"
_SCALED = (
    "subresources: {{scale: {{specReplicasPath: .spec.{field}, statusReplicasPath: .status.replicas}}, status: {{}}}}"
)
_SIZES = "{type: object, properties: {replicas: {type: integer, format: int32}}}"

RULE = Rule(
    id="UX04",
    name="column-path",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="The paths of printer columns and of the scale subresource lead to fields of the schema; no column's name is "
    "there twice.",
    why="The server takes any path. A column to nowhere stays empty, and a scale subresource to nowhere makes kubectl "
    "scale fail.",
    check=check,
    good=(
        _columns(_READY, "{name: Node, type: string, jsonPath: '.status.nodes[0].name'}"),
        _columns("{name: Zones, type: string, jsonPath: '.status.zones[*].name'}"),
        crd(f"spec: {_SIZES}\nstatus: {_SIZES}", extra=_SCALED.format(field="replicas")),
    ),
    good_class=widget(options='columns=[Column("Size", path="spec.size"), Age()]'),
    bad=(
        _columns("{name: Ready, type: boolean, jsonPath: .status.isReady}"),
        _columns("{name: Node, type: string, jsonPath: .status.nodes.name}"),
        _columns("{name: Nodes, type: string, jsonPath: .status.nodes}"),
        _columns(_READY, _READY),
        crd(f"spec: {_SIZES}\nstatus: {_SIZES}", extra=_SCALED.format(field="size")),
    ),
)
