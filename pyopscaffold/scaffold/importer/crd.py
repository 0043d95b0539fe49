"""CustomResourceDefinitions as modules: one for each version of a kind."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from pyopscaffold import api as api_package
from pyopscaffold.kube.names import plural_of
from pyopscaffold.model.schema import NOT_YET_OBSERVED
from pyopscaffold.scaffold.importer import markers
from pyopscaffold.scaffold.importer.classes import ClassDef, Classes, FieldDef, Place
from pyopscaffold.scaffold.importer.expressions import (
    NONE,
    Bracket,
    Expr,
    Name,
    OrNone,
    Prefixed,
    Use,
    api,
    call,
    json_value,
    with_markers,
)
from pyopscaffold.scaffold.importer.names import class_name
from pyopscaffold.scaffold.importer.source import Top, module
from pyopscaffold.schema import UNSET, Schema, from_mapping, validate

if TYPE_CHECKING:
    from collections.abc import Iterator

Json: TypeAlias = dict[str, Any]

TYPE_META = ("apiVersion", "kind", "metadata")
RESERVED = frozenset({*api_package.__all__, "Annotated", "Any", "Literal"})
"""Names that a module imports: no class may hide them."""

_MEMBERS = ("metadata", "api_version", "kind", "gvk")
"""What every Object has: no field of a kind may have these names."""
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
_COLUMN = ("type", "format", "description", "priority")
_SCALE = (
    ("spec", "specReplicasPath", "integer"),
    ("status", "statusReplicasPath", "integer"),
    ("selector", "labelSelectorPath", "string"),
)
_FOREIGN_ANNOTATIONS = (
    "controller-gen.kubebuilder.io/version",
    "kubectl.kubernetes.io/last-applied-configuration",
    "meta.helm.sh/",
    "helm.sh/",
)
"""Annotations that say which program wrote or installed the file, not what the author means."""


@dataclass(frozen=True)
class Note:
    """Something of a CRD that the classes do not say; ``path`` is where, from the version on."""

    subject: str
    path: str
    message: str

    def __str__(self) -> str:
        place = " ".join(part for part in (self.subject, self.path.strip(".")) if part)
        return f"{place}: {self.message}" if place else self.message


@dataclass(frozen=True)
class Imported:
    """One version of one kind, as a module."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    text: str = field(repr=False)
    notes: tuple[Note, ...] = ()


def modules(crd: Json, *, own: bool) -> Iterator[Imported]:
    """Yield the module of every version of a CRD; ``own`` lets ``generate`` write the CRD again."""
    for version in crd["spec"]["versions"]:
        yield _Version(crd, version, own=own).imported()


class _Version:
    def __init__(self, crd: Json, version: Json, *, own: bool) -> None:
        self._crd, self._spec, self._version = crd, crd["spec"], version
        self._names = self._spec["names"]
        self._own = own
        self._notes: list[Note] = []
        self._api_version = f"{self._spec['group']}/{version['name']}"
        self._subject = f"{self._names['kind']} {version['name']}"

    def imported(self) -> Imported:
        """Return the module."""
        self._note_the_rest()
        data = self._version.get("schema", {}).get("openAPIV3Schema", {})
        schema = self._whole(from_mapping(data, report=self._unread))
        for path, message in gaps(schema):
            self._note(path, message)
        paths = {item["jsonPath"] for item in self._version.get("selectableFields") or ()}
        classes = Classes(selectable=frozenset(paths), reserved=RESERVED)
        kind = self._names["kind"]
        name = class_name(kind, set(RESERVED))
        definition = self._root(classes, schema)
        arguments = tuple(self._arguments(definition, classes, schema, name))
        top = Top(
            name=name,
            definition=definition,
            description=schema.description,
            bases=(api("Object"),),
            decorators=(call(api("resource"), *arguments),),
        )
        title = f"The {kind} API, version {self._version['name']} of {self._spec['group']}."
        return Imported(
            group=self._spec["group"],
            version=self._version["name"],
            kind=kind,
            plural=self._names["plural"],
            namespaced=self._spec.get("scope") == "Namespaced",
            text=module(title, classes, top),
            notes=tuple(self._notes),
        )

    def _note_the_rest(self) -> None:
        """Say what of the CRD around its versions is left out."""
        if (self._spec.get("conversion") or {}).get("strategy", "None") != "None":
            self._note("", "the conversion webhook is left out: there are none yet")
        if self._spec.get("preserveUnknownFields"):
            self._note("", "preserveUnknownFields is left out: no server takes it with apiextensions.k8s.io/v1")

    def _unread(self, path: str, keyword: str) -> None:
        self._note(path, f"{keyword} has no marker")

    def _note(self, path: str, message: str) -> None:
        self._notes.append(Note(self._subject, path, message))

    def _whole(self, schema: Schema) -> Schema:
        """Take away what every object has, and say what the CRD says of it beyond that."""
        for name in TYPE_META:
            child = schema.properties.get(name)
            plain = Schema(type="object" if name == "metadata" else "string")
            if child is None or replace(child, description="") == plain:
                continue
            implied = {"apiVersion": self._api_version, "kind": self._names["kind"]}.get(name)
            if implied and replace(child, description="", enum=()) == plain and child.enum == (implied,):
                self._note(name, "enum of itself; the API server takes no other")
            else:
                self._note(name, "what the schema demands of it is left out: a dataclass has no say in it")
        if implied := [name for name in TYPE_META if name in schema.required]:
            self._note("", f"required: {', '.join(implied)}; every object has them")
        return replace(
            schema,
            properties={name: child for name, child in schema.properties.items() if name not in TYPE_META},
            required=tuple(name for name in schema.required if name not in TYPE_META),
        )

    def _root(self, classes: Classes, schema: Schema) -> ClassDef:
        found = classes.define(schema, Place("", self._names["kind"]), taken=_MEMBERS)
        return replace(found, fields=tuple(_with_status(classes, item, schema) for item in found.fields))

    def _arguments(self, definition: ClassDef, classes: Classes, schema: Schema, name: str) -> Iterator[Expr]:
        yield from (Prefixed(f"{key}=", json_value(value)) for key, value in self._identity(name).items())
        if columns := self._version.get("additionalPrinterColumns"):
            yield Prefixed("columns=", Bracket(None, "[]", tuple(map(_column, columns))))
        subresources = self._version.get("subresources") or {}
        if "scale" in subresources and (scale := self._scale(subresources["scale"], definition, classes, schema)):
            yield Prefixed("scale=", scale)
        yield from (Prefixed(f"{key}=", json_value(value)) for key, value in self._state(schema, subresources).items())

    def _identity(self, name: str) -> Json:
        kind, names = self._names["kind"], self._names
        found: Json = {"group": self._spec["group"], "version": self._version["name"]}
        if name != kind:
            found["kind"] = kind
        if names["plural"] != plural_of(kind):
            found["plural"] = names["plural"]
        if names.get("singular") and names["singular"] != kind.lower():
            found["singular"] = names["singular"]
        if self._spec.get("scope") == "Cluster":
            found["scope"] = "Cluster"
        for key, argument in (("shortNames", "short_names"), ("categories", "categories")):
            if names.get(key):
                found[argument] = names[key]
        if names.get("listKind", f"{kind}List") != f"{kind}List":
            self._note("", f"listKind {names['listKind']}; that of a dataclass is {kind}List")
        return found

    def _state(self, schema: Schema, subresources: Json) -> Json:
        found: Json = {key: False for key in ("served", "storage") if not self._version.get(key, True)}
        if self._version.get("deprecated"):
            found["deprecated"] = self._version.get("deprecationWarning", "")
        metadata = self._crd.get("metadata", {})
        annotations = metadata.get("annotations") or {}
        found["labels"] = dict(metadata.get("labels") or {})
        found["annotations"] = {
            key: annotations[key] for key in annotations if not key.startswith(_FOREIGN_ANNOTATIONS)
        }
        found = {key: value for key, value in found.items() if value != {}}
        if ("status" in subresources) != ("status" in schema.properties):
            found["status_subresource"] = "status" in subresources
        return found if self._own else {**found, "skip": True}

    def _scale(self, scale: Json, definition: ClassDef, classes: Classes, schema: Schema) -> Expr | None:
        paths = {}
        for argument, key, kind in _SCALE:
            if path := scale.get(key):
                paths[argument] = _python_path(path, definition, classes, schema, kind)
        if None in paths.values():
            self._note("", "the scale subresource is left out: one of its paths leads to no number or text")
            return None
        return call(api("Scale"), **{name: json_value(path) for name, path in paths.items()})


def gaps(schema: Schema, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the places where a schema is not structural, which no server takes, and what a class can't say of them."""
    if not schema.type and not schema.int_or_string and not schema.preserve_unknown_fields:
        yield path, "it has no type: Any stands there"
    if schema.type == "array" and schema.items is None:
        yield path, "its items are not described: Any stands for them"
    if schema.properties and (schema.type != "object" or schema.additional_properties is not None):
        yield path, "its fields are left out: it is no object, or a dict"
    elif missing := [name for name in schema.required if name not in schema.properties]:
        yield path, f"required are {', '.join(missing)}, which it does not describe"
    for name, child in schema.properties.items():
        yield from gaps(child, f"{path}.{name}")
    for inner, suffix in ((schema.items, "[]"), (schema.additional_properties, "{}")):
        if inner is not None:
            yield from gaps(inner, path + suffix)


def _with_status(classes: Classes, item: FieldDef, schema: Schema) -> FieldDef:
    """Give an object its status where that may be empty, and keep out the default that a status has by itself."""
    if item.json_name != "status" or item.use is None:
        return item
    status, kind, default = schema.properties["status"], item.type, item.default
    if default == NONE and classes.found[item.use].is_free and not status.nullable and isinstance(kind, OrNone):
        kind, default = kind.value, call(Name("field", "dataclasses"), default_factory=Use(item.use))
    observed = "observedGeneration" in status.properties and not validate(
        replace(status, default=UNSET), NOT_YET_OBSERVED
    )
    if observed and status.default is UNSET:
        kind = with_markers(kind, [markers.marker("NoSchemaDefault")])
    return replace(item, type=kind, default=default)


def _column(column: Json) -> Expr:
    if column == _AGE:
        return call(api("Age"))
    path = column["jsonPath"]
    named = {"json_path": path if path.startswith(".") else f".{path}", **{name: column.get(name) for name in _COLUMN}}
    named = {name: value for name, value in named.items() if value and (name, value) != ("type", "string")}
    return call(api("Column"), json_value(column["name"]), **{name: json_value(value) for name, value in named.items()})


def _python_path(path: str, definition: ClassDef, classes: Classes, schema: Schema, kind: str) -> str | None:
    """Return a JSON path in Python names; None where it leads to no field of this type."""
    here: ClassDef | None = definition
    names = []
    for step in path.strip(".").split("."):
        found = next((item for item in here.fields if item.json_name == step), None) if here else None
        if found is None:
            return None
        names.append(found.name)
        schema = schema.properties[step]
        here = classes.found[found.use] if found.use is not None else None
    return ".".join(names) if schema.type == kind else None
