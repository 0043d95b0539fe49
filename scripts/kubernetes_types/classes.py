"""What classes are made of at run time: fields without descriptions, packed as pyopscaffold.k8s._types reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import plural_of
from scripts.kubernetes_types.openapi import META, Resource, module_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scripts.kubernetes_types.openapi import Json, Published

_SCALARS = {
    f"{META}.Time": "time",
    f"{META}.MicroTime": "microtime",
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "object",
}
_MAY_BE_NULL = {"eventTime", "lastObservedTime", "limits"}
"""Required fields of which the server makes null where they are not set: of events.k8s.io, and of a LimitRange."""
_FORMATS = {"byte": "bytes", "int32": "int32", "int64": "int64"}


@dataclass(frozen=True)
class FieldType:
    """The type of a field: ``containers`` of it (``[]`` and ``{}``, outermost first), what is in them, and its enum."""

    containers: str
    name: str
    enum: tuple[str, ...] = ()

    def packed(self, module: str) -> str:
        """Return the text that stands for it in a module."""
        home = module_of(self.name)
        short = self.name.rpartition(".")[2]
        return self.containers + (self.name if not home else short if home == module else f"{home}.{short}")


@dataclass(frozen=True)
class TypeField:
    """One field of a class."""

    json_name: str
    type: FieldType
    required: bool
    description: str


@dataclass(frozen=True)
class TypeClass:
    """One class; ``resource`` where it is a kind."""

    name: str
    description: str
    fields: tuple[TypeField, ...]
    resource: Resource | None


def classes(published: Published, schemas: Mapping[str, Json]) -> dict[str, list[TypeClass]]:
    """Return the classes of each module, sorted by name."""
    found: dict[str, list[TypeClass]] = {}
    for name in sorted(schemas):
        found.setdefault(module_of(name), []).append(_class(published, name))
    return found


def _class(published: Published, name: str) -> TypeClass:
    schema = published.schemas[name]
    resource = _resource(published, schema)
    own = schema.get("properties", {})
    names = own if resource is None else [name for name in own if name not in {"apiVersion", "kind", "metadata"}]
    fields = (_field(name, own[name], schema.get("required", [])) for name in names)
    return TypeClass(name.rpartition(".")[2], schema["description"], tuple(fields), resource)


def _field(name: str, schema: Json, required: list[str]) -> TypeField:
    shape = _type(schema)
    demanded = name in required and name not in _MAY_BE_NULL
    return TypeField(name, shape, demanded, schema.get("description", ""))


def _type(schema: Json) -> FieldType:  # noqa: PLR0911 - one case a type
    match schema:
        case {"allOf": [{"$ref": reference}]} | {"$ref": reference}:
            name = reference.rpartition("/")[2]
            return FieldType("", _SCALARS.get(name, name))
        case {"type": "array", "items": inner}:
            return _within("[]", _type(inner))
        case {"type": "object", "additionalProperties": inner}:
            return _within("{}", _type(inner))
        case {"type": "string", "format": "byte"}:
            return FieldType("", "bytes")
        case {"type": "integer", "format": width}:
            return FieldType("", _FORMATS[width])
        case {"type": "string", "enum": values}:
            return FieldType("", "string", tuple(values))
        case {"type": "string" | "boolean" as name, **more} if "format" not in more:
            return FieldType("", name)
        case _:
            raise ValueError(f"nobody has thought of {schema}")


def _within(container: str, inner: FieldType) -> FieldType:
    return FieldType(container + inner.containers, inner.name, inner.enum)


def _resource(published: Published, schema: Json) -> Resource | None:
    """Return the resource of a whole object; those that are only posted to another have none in discovery."""
    properties = schema.get("properties", {})
    if not {"apiVersion", "kind", "metadata"} <= properties.keys():
        return None
    (gvk,) = schema["x-kubernetes-group-version-kind"]
    key = (gvk["group"], gvk["version"], gvk["kind"])
    served = (found for found in published.resources if (found.group, found.version, found.kind) == key)
    return next(served, None) or Resource(*key, plural=plural_of(gvk["kind"]), namespaced=True, short_names=())


def packed(module: str, found: Iterable[TypeClass], prefix: str) -> Json:
    """Return the data of one module."""
    found = list(found)
    kinds = {item.name: item.resource for item in found if item.resource is not None}
    first = next(iter(kinds.values()), None)
    return {
        "module": module,
        "prefix": prefix,
        "group": first.group if first else "",
        "version": first.version if first else "",
        "kinds": {name: _addressed(resource) for name, resource in kinds.items()},
        "types": {item.name: " ".join(_packed(field, module) for field in item.fields) for item in found},
    }


def _packed(field: TypeField, module: str) -> str:
    return f"{field.json_name}{':' if field.required else '?'}{field.type.packed(module)}"


def _addressed(resource: Resource) -> dict[str, Any]:
    return {
        "plural": resource.plural,
        "namespaced": resource.namespaced,
        "short_names": list(resource.short_names),
    }
