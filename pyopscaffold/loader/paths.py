"""Paths of columns and of the scale subresource: from Python names to JSON paths, checked against the fields."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyopscaffold.api.resource import Column, Scale
from pyopscaffold.loader.checks import members_of
from pyopscaffold.loader.suggest import choose
from pyopscaffold.model.kinds import (
    UNREAD,
    EnumType,
    FieldModel,
    KnownType,
    ListType,
    ScalarType,
    SourceSpan,
    StructType,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.api.resource import ColumnType
    from pyopscaffold.model.kinds import TypeModel

_COLUMN_TYPES: dict[str, ColumnType] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "datetime": "date",
    "duration": "string",
    "int-or-string": "string",
}
_CONDITIONS = (ListType(KnownType("Condition")), UNREAD)


class PathReader:
    """Resolves the paths of one kind; ``report`` takes the problems."""

    def __init__(self, root: StructType, report: Callable[[str], None]) -> None:
        metadata = FieldModel("metadata", "metadata", KnownType("ObjectMeta"), SourceSpan("", 0))
        self._root = replace(root, fields=(metadata, *root.fields))
        self._report = report

    def column(self, item: dict[str, Any]) -> Column:
        """Return the column with its JSON path and type."""
        column = Column(item.pop("name"), **item)
        given = [name for name in ("path", "condition", "json_path") if getattr(column, name)]
        if len(given) != 1:
            self._report(f'column "{column.name}" takes exactly one of path=, condition= and json_path=')
            return column
        if column.condition:
            return self._condition(column)
        if column.path:
            return self._by_path(column)
        if not column.json_path.startswith("."):
            message = f'column "{column.name}": the JSON path {column.json_path} is to start with a dot'
            self._report(f"{message}; write .{column.json_path}")
        else:
            self._check_json_path(column)
        return replace(column, type=column.type or "string")

    def _check_json_path(self, column: Column) -> None:
        if all(part.isidentifier() for part in column.json_path[1:].split(".")):
            return
        from pyopscaffold.kube import jsonpath  # noqa: PLC0415 - most paths are names and dots

        try:
            jsonpath.check(column.json_path)
        except jsonpath.BadPath as fault:
            lost = "the API server would leave out this column and those after it"
            self._report(
                f'column "{column.name}": the JSON path {column.json_path} can\'t be read, and {lost}: {fault}'
            )

    def scale(self, item: dict[str, Any]) -> Scale:
        """Return the scale subresource with JSON paths."""
        return Scale(
            spec=self._scale_path(item["spec"], under="spec", want="integer"),
            status=self._scale_path(item["status"], under="status", want="integer"),
            selector=self._scale_path(item["selector"], under="status", want="string") if item["selector"] else "",
        )

    def _condition(self, column: Column) -> Column:
        status = members_of(self._root).get("status")
        conditions = members_of(status.type).get("conditions") if status else None
        if (status is None or status.type != UNREAD) and (conditions is None or conditions.type not in _CONDITIONS):
            self._report(f'column "{column.name}": the status has no conditions; give it conditions: Conditions')
        path = f'.status.conditions[?(@.type=="{column.condition}")].{column.show}'
        return replace(column, json_path=path, type=column.type or "string")

    def _by_path(self, column: Column) -> Column:
        json_path, leaf = self._resolve(column.path, f'column "{column.name}"')
        found = _COLUMN_TYPES.get(leaf) if leaf else "string"
        if found is None:
            self._report(f'column "{column.name}": {column.path} is no single value; name a field that is')
        return replace(column, json_path=json_path, type=column.type or found)

    def _scale_path(self, path: str, *, under: str, want: str) -> str:
        if path.partition(".")[0] != under:
            self._report(f"scale: {path} is not below {under}; write {under}.{path.rpartition('.')[2] or 'replicas'}")
            return path
        json_path, leaf = self._resolve(path, "scale")
        if leaf and leaf != want:
            self._report(f"scale: {path} is to be {'an int' if want == 'integer' else 'a str'} field")
        return json_path

    def _resolve(self, path: str, what: str) -> tuple[str, str]:
        """Return the JSON path and what stands there: a scalar kind, "object", or "" where there is no such field."""
        here: TypeModel = self._root
        json_path = ""
        for name in path.split("."):
            members = members_of(here)
            if name not in members:
                self._report(f"{what}: there is no {path}: {self._missing(name, here, members)}")
                return path, ""
            json_path += f".{members[name].json_name}"
            here = members[name].type
            if here == UNREAD:
                return path, ""
        return json_path, _leaf(here)

    @staticmethod
    def _missing(name: str, here: TypeModel, members: dict[str, FieldModel]) -> str:
        if not members:
            return f"{name} is not in a dataclass; write json_path= for what lies in lists and dicts"
        if not name:
            return "it has a dot too many; write it as in spec.replicas"
        owner = here.name.rpartition(".")[2] if isinstance(here, StructType | KnownType) else "it"
        return f"{owner} has no field {name}; {choose(name, members)}"


def _leaf(found: TypeModel) -> str:
    match found:
        case ScalarType(kind):
            return kind
        case EnumType(values, _):
            return "string" if isinstance(values[0], str) else "integer"
        case _:
            return "object"
