"""Edits of schemas as wishes about the fields that declare them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any

from pyopscaffold.model.kinds import FieldModel, ListType, MapType, StructType, TypeModel
from pyopscaffold.scaffold.importer import markers
from pyopscaffold.scaffold.importer.classes import Classes, FieldDef, Place
from pyopscaffold.scaffold.importer.expressions import Expr, json_value
from pyopscaffold.schema.read import from_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyopscaffold.lint.declared import Declared
    from pyopscaffold.lint.finding import Finding

_Path = tuple[str | int, ...]
_Given = dict[_Path, dict[str, Any]]
_KEYWORDS = frozenset(
    {"pattern", "maxLength", "minLength", "enum", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"}
)


@dataclass
class Wish:
    """What is to change at a line, which is that of a field or of a class."""

    markers: list[Expr] = field(default_factory=list)
    replaced: set[str] = field(default_factory=set)
    """Names of markers that must be there to be changed: one that comes from an alias is not the field's."""
    doc: tuple[str, str] | None = None
    """The description as it was and as it is to be."""
    required: bool = False
    default: Expr | None = None
    """Python's default, which takes the place of the marker."""
    fields: dict[str, FieldDef] = field(default_factory=dict)
    """New fields of a class."""
    status: bool = False
    """Whether a resource is to have the status subresource."""


class Fields:
    """The fields and classes of CRDs by the path of their schema; ``data`` are the CRDs by name."""

    def __init__(self, source: Declared, data: Mapping[str, Any]) -> None:
        self._data = data
        self._root = source.root
        self._fields: dict[tuple[str, _Path], FieldModel] = {}
        self._classes: dict[tuple[str, _Path], StructType] = {}
        for name, versions in zip(data, source.crds, strict=True):
            for index, kind in enumerate(versions):
                self._add(name, ("spec", "versions", index, "schema", "openAPIV3Schema"), kind.root)

    def _add(self, crd: str, path: _Path, model: TypeModel) -> None:
        match model:
            case StructType(fields=fields):
                self._classes[crd, path] = model
                for item in fields:
                    below = (*path, "properties", item.json_name)
                    self._fields[crd, below] = item
                    self._add(crd, below, item.type)
            case ListType(items=items):
                self._add(crd, (*path, "items"), items)
            case MapType(values=values):
                self._add(crd, (*path, "additionalProperties"), values)

    def wishes(self, findings: Iterable[Finding]) -> dict[str, dict[int, Wish]] | None:
        """Return what is to change, by file as findings name it and line; None where Python can't say an edit."""
        found: dict[str, dict[int, Wish]] = {}
        for finding in findings:
            given: _Given = {}
            for path, value, remove in finding.fix.edits if finding.fix else ():
                given.setdefault(path[:-1], {})[str(path[-1])] = None if remove else value
            if not all(self._add_wishes(found, finding.crd, path, given) for path in given):
                return None
        return found

    def _at(self, found: dict[str, dict[int, Wish]], item: FieldModel | StructType) -> Wish:
        file = os.path.relpath(self._root / item.span.file)
        return found.setdefault(file, {}).setdefault(item.span.line, Wish())

    def _add_wishes(self, found: dict[str, dict[int, Wish]], crd: str, path: _Path, given: _Given) -> bool:
        keywords = given[path]
        if path[-1] == "properties" and (owner := self._classes.get((crd, path[:-1]))):
            required = given.get(path[:-1], {}).get("required") or ()
            return _add_fields(self._at(found, owner), keywords, required)
        if keywords.keys() == {"required"} and (owner := self._classes.get((crd, path))):
            return self._require(found, crd, path, keywords["required"] or ())
        if path[-1] == "subresources" and keywords == {"status": {}}:
            self._at(found, self._classes[crd, (*path[:-1], "schema", "openAPIV3Schema")]).status = True
            return True
        item = self._fields.get((crd, path))
        return item is not None and _say(self._at(found, item), item, keywords, self._node(crd, path))

    def _node(self, crd: str, path: _Path) -> Any:
        return reduce(getitem, path, self._data[crd])

    def _require(self, found: dict[str, dict[int, Wish]], crd: str, path: _Path, required: Iterable[str]) -> bool:
        """Have fields that are no longer required take their default from Python, and others have none."""
        node = self._node(crd, path)
        for item in self._classes[crd, path].fields:
            is_required = item.json_name in node.get("required", ())
            if item.json_name in required and not is_required:
                self._at(found, item).required = True
            elif item.json_name not in required and is_required:
                default = node["properties"][item.json_name].get("default")
                if not isinstance(default, str | int | float):
                    return False
                self._at(found, item).default = json_value(default)
        return True


def _add_fields(wish: Wish, schemas: Mapping[str, Any], required: Iterable[str]) -> bool:
    """Add fields, if their types need no new classes."""
    classes = Classes()
    parent = {"type": "object", "properties": dict(schemas), "required": [it for it in required if it in schemas]}
    made = classes.define(from_mapping(parent), Place(".status", "Status", in_status=True))
    wish.fields.update({item.name: item for item in made.fields})
    return not classes.found


def _say(wish: Wish, item: FieldModel, keywords: dict[str, Any], node: Any) -> bool:
    """Have a field say keywords of its schema."""
    left, made = dict(keywords), []
    if (text := left.pop("description", None)) is not None:
        wish.doc = node.get("description", ""), text
    if (name := left.pop("format", None)) is not None:
        made.append(markers.marker("Format", name))
    if not left.keys() <= _KEYWORDS or None in left.values():
        return False
    items = item.type.items if isinstance(item.type, ListType) else None
    keys = {it.json_name: it.name for it in items.fields} if isinstance(items, StructType) else {}
    if node.get("pattern") and "pattern" in left:
        wish.replaced.add("Pattern")
    made += markers.of_value(from_mapping(left), keys)
    wish.markers += [marker for marker in made if marker not in wish.markers]  # a class may stand at several places
    return None not in keywords.values()
