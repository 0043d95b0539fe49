"""OpenAPI v3 documents and JSON schemas as modules of dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from pyopscaffold.errors import DocumentError
from pyopscaffold.scaffold.importer.classes import Classes, Place
from pyopscaffold.scaffold.importer.crd import RESERVED, Note
from pyopscaffold.scaffold.importer.source import module
from pyopscaffold.schema import UNSET, Schema, from_mapping
from pyopscaffold.schema.structural import key_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Json: TypeAlias = dict[str, Any]

_ANY = Schema(preserve_unknown_fields=True)
_DEEPEST = 100
"""How many schemas may lie within each other: generate reads a few more, with the kind around them."""
_FAMILIES = (("components", "schemas"), ("definitions",), ("$defs",))
_SILENT = frozenset(
    {"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "xml", "discriminator", "examples", "title"}
    | {"additionalProperties", "properties", "items", "allOf", "anyOf", "oneOf", "type", "enum", "const", "nullable"}
    | {"exclusiveMinimum", "exclusiveMaximum", "example", "not"}
)
"""Keywords that say nothing of values, and those that are looked at one by one."""
_EXTENSIONS = frozenset(map(key_of, vars(Schema())))
"""The extensions that a CRD may have; what others mean, their authors' programs know."""
_JSON_TYPES = ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"))
_INTEGER_OR_STRING = ({"integer", "string"}, {"number", "string"})


@dataclass(frozen=True)
class Module:
    """The text, the number of classes, and what of the document they do not say."""

    text: str = field(repr=False)
    classes: int
    notes: tuple[Note, ...] = ()


def module_of(document: Json, *, name: str, file: str) -> Module:
    """Return the dataclasses of all objects of a document; ``name`` is that of a JSON schema without a title.

    Raises:
        DocumentError: it has no schemas.

    """
    reader = _Reader(document)
    classes = Classes(reserved=RESERVED)
    for title, pointer in _roots(document, name):
        schema = reader.at(pointer)
        if schema.type == "object" and schema.additional_properties is None:
            classes.add(schema, Place(title, title.rpartition(".")[2]))
    if not classes.found:
        raise DocumentError(
            f"{file}: there is no schema of an object in it",
            hint="name an OpenAPI v3 document with components, or a JSON schema",
        )
    info = document.get("info")
    called = (info if isinstance(info, dict) else document).get("title") or name
    line = " ".join("".join(filter(str.isprintable, str(called))).split()).replace("\\", "").replace('"', "'")
    return Module(module(f"The types of {line}.", classes), len(classes.found), tuple(reader.notes))


def _roots(document: Json, name: str) -> Iterator[tuple[str, str]]:
    """Yield the name of every schema that has one, and where it is."""
    for family in _FAMILIES:
        found: Any = document
        for key in family:
            found = found.get(key) if isinstance(found, dict) else None
        for title in found if isinstance(found, dict) else ():
            yield title, "/".join(("#", *family, title.replace("~", "~0").replace("/", "~1")))
    if isinstance(document.get("properties"), dict):
        yield str(document.get("title") or name), "#"


class _Reader:
    """Makes schemas structural; equal references give one and the same Schema, which makes one class."""

    def __init__(self, document: Json) -> None:
        self.notes: list[Note] = []
        self._document = document
        self._known: dict[str, Schema] = {}
        self._open: set[str] = set()
        self._depth = 0

    def at(self, pointer: str) -> Schema:
        """Return the schema that a reference leads to."""
        if pointer in self._open:
            self._note(pointer, "it contains itself, which no CRD can say: Any stands there")
            return _ANY
        if pointer not in self._known:
            self._open.add(pointer)
            self._known[pointer] = self.schema(self._target(pointer), pointer)
            self._open.discard(pointer)
        return self._known[pointer]

    def _note(self, path: str, message: str) -> None:
        note = Note("", path, message)
        if note not in self.notes:
            self.notes.append(note)

    def _target(self, pointer: str) -> Any:
        found: Any = self._document
        for step in pointer.removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, dict) else None
        if found is None:
            self._note(pointer, "the reference leads nowhere in this document: Any stands there")
        return found

    def schema(self, data: Any, path: str) -> Schema:
        """Return a schema in structural form."""
        if not isinstance(data, dict):
            return _ANY
        if self._depth == _DEEPEST:
            self._note(path, f"it lies within {_DEEPEST} others, more than can be read again: Any stands there")
            return _ANY
        self._depth += 1
        try:
            return self._schema(data, path)
        finally:
            self._depth -= 1

    def _schema(self, data: Json, path: str) -> Schema:
        if isinstance(data.get("$ref"), str):
            return self._beside(self.at(unquote(data["$ref"])), data)
        if data.get("allOf"):
            return self._together(data, path)
        for junctor in ("anyOf", "oneOf"):
            if data.get(junctor):
                return self._alternatives(data, data[junctor], path)
        return self._plain(data, path)

    def _beside(self, schema: Schema, data: Json) -> Schema:
        """Return what a reference leads to, with what stands beside it: the very same where that is nothing."""
        said = {key: value for key, value in data.items() if key in ("description", "default", "nullable")}
        changes = {key: value for key, value in said.items() if value != getattr(schema, key)}
        return schema.having(**changes) if changes else schema

    def _together(self, data: Json, path: str) -> Schema:
        """Return the one schema that all parts of ``allOf`` make up."""
        parts, rest = data["allOf"], {key: value for key, value in data.items() if key != "allOf"}
        if len(parts) == 1 and isinstance(parts[0], dict) and not rest.keys() - {"description", "default", "nullable"}:
            return self._beside(self.schema(parts[0], path), rest)
        merged: Json = {}
        for part in (*(self._resolved(part) for part in parts), rest):
            for key, value in part.items():
                if key == "properties":
                    merged[key] = {**merged.get(key, {}), **value}
                elif key == "required":
                    merged[key] = list(dict.fromkeys([*merged.get(key, ()), *value]))
                else:
                    merged[key] = value
        return self.schema(merged, path)

    def _resolved(self, part: Any) -> Json:
        if not isinstance(part, dict):
            return {}
        if isinstance(part.get("$ref"), str) and unquote(part["$ref"]) not in self._open:
            target = self._target(unquote(part["$ref"]))
            return {**self._resolved(target), **{key: value for key, value in part.items() if key != "$ref"}}
        return part

    def _alternatives(self, data: Json, parts: Sequence[Any], path: str) -> Schema:
        rest = {key: value for key, value in data.items() if key not in ("anyOf", "oneOf")}
        kept = [part for part in parts if part != {"type": "null"}]
        nullable = {"nullable": True} if len(kept) < len(parts) else {}
        kinds = {part.get("type") for part in kept if isinstance(part, dict)}
        if len(kept) == 1 and isinstance(kept[0], dict):
            inner = {"allOf": [kept[0]], **rest, **nullable} if rest or nullable else kept[0]
            return self.schema(inner, path)
        if kinds in _INTEGER_OR_STRING:
            return self._plain({**rest, **nullable}, path).having(
                type="", int_or_string=True, preserve_unknown_fields=False
            )
        if all(isinstance(part, dict) and part.keys() <= {"const", "enum", "title", "type"} for part in kept):
            values = [value for part in kept for value in _values(part)]
            return self._plain({**rest, **nullable, "enum": values}, path)
        if "properties" in rest or "type" in rest:
            self._note(path, "which of several forms it has is not checked")
            return self._plain({**rest, **nullable}, path)
        self._note(path, "it has several forms: Any stands there")
        return self._plain({**rest, **nullable}, path)

    def _plain(self, data: Json, path: str) -> Schema:
        data = _old_form(data)
        if "not" in data:
            self._note(path, "what it is not is left out")
        foreign = {key for key in data if key.startswith("x-") and key not in _EXTENSIONS}
        simple = {key: value for key, value in data.items() if key not in _SILENT | foreign}
        for key in ("type", "enum", "nullable", "example", "exclusiveMinimum", "exclusiveMaximum"):
            if key in data:
                simple[key] = data[key]
        schema = from_mapping(simple, report=lambda _, keyword: self._note(path, f"{keyword} has no marker"))
        match schema.type:
            case "object":
                return self._object(schema, data, path)
            case "array":
                items = data.get("items")
                if not isinstance(items, dict):
                    self._note(path, "its items are not described: Any stands for them")
                return schema.having(items=self.schema(items, f"{path}[]"))
            case "":
                return schema if schema.int_or_string else schema.having(preserve_unknown_fields=True)
            case _:
                return schema

    def _object(self, schema: Schema, data: Json, path: str) -> Schema:
        found = data.get("properties") or {}
        properties = {name: self.schema(child, f"{path}/{name}") for name, child in found.items()}
        more = data.get("additionalProperties")
        if properties:
            if isinstance(more, dict):
                self._note(path, "beside its fields it has others, whose values are not described")
            # A name that is required and not described has any value.
            properties |= {name: _ANY for name in schema.required if name not in properties}
            return schema.having(properties=properties, preserve_unknown_fields=bool(more))
        if isinstance(more, dict) and more:
            return schema.having(additional_properties=self.schema(more, f"{path}{{}}"))
        is_open = "properties" not in data and more is not False
        return schema.having(preserve_unknown_fields=schema.preserve_unknown_fields or is_open)


def _values(part: Mapping[str, Any]) -> list[Any]:
    return list(part["enum"]) if "enum" in part else [part.get("const")]


def _old_form(data: Json) -> Json:
    """Return JSON Schema's newer spellings in those of OpenAPI 3.0, and a type where values tell it."""
    out = dict(data)
    if "const" in out:
        out["enum"] = [out.pop("const")]
    kinds = out.get("type")
    if isinstance(kinds, list):
        named = [kind for kind in kinds if kind != "null"]
        out["nullable"] = out.get("nullable", False) or len(named) < len(kinds)
        out["type"] = named[0] if len(named) == 1 else ""
        if set(named) in _INTEGER_OR_STRING:
            out["x-kubernetes-int-or-string"] = True
    if None in out.get("enum", ()):
        out["nullable"], out["enum"] = True, [value for value in out["enum"] if value is not None]
    for name, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if name in out and not isinstance(out[name], bool):
            out[bound], out[name] = out[name], True
    if "type" not in out:
        out["type"] = _told(out)
    if not out["type"]:
        del out["type"]
    return out


def _told(data: Json) -> str:
    if "properties" in data or "additionalProperties" in data:
        return "object"
    if "items" in data:
        return "array"
    first = next(iter(data.get("enum", ())), UNSET)
    return next((name for kind, name in _JSON_TYPES if isinstance(first, kind)), "")
