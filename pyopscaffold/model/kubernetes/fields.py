"""The fields of Kubernetes' own types, as models: apart from their schemas, which the linter needs without the rest."""

from __future__ import annotations

from functools import cache
from typing import Final

from pyopscaffold.kube.names import field_name
from pyopscaffold.model.kinds import (
    EnumType,
    FieldModel,
    KnownType,
    ListType,
    MapType,
    ScalarType,
    SourceSpan,
    TypeModel,
)
from pyopscaffold.model.kubernetes import BASIC, Json, entry

_SPAN: Final = SourceSpan("", 0)


@cache
def fields_of(name: str) -> tuple[FieldModel, ...]:
    """Return the fields of a type, empty for those that are told elsewhere.

    Raises:
        KeyError: there is no such type.

    """
    node = entry(name)
    required = node.get("required", ())
    found = []
    for json_name, child in node.get("properties", {}).items():
        optional = json_name not in required
        model = FieldModel(
            name=field_name(json_name),
            json_name=json_name,
            type=_model(child),
            span=_SPAN,
            optional=optional,
            has_default=optional,
            default=child.get("default"),
            description=child.get("description", ""),
        )
        found.append(model)
    return tuple(found)


def _model(node: Json) -> TypeModel:  # noqa: PLR0911 - one case a type
    match node:
        case {"$ref": str(name)}:
            return KnownType(BASIC.get(name) or name)
        case {"type": "array", "items": items}:
            return ListType(_model(items))
        case {"type": "object", "additionalProperties": values}:
            return MapType(_model(values))
        case {"enum": values}:
            return EnumType(tuple(values))
        case {"x-kubernetes-int-or-string": True}:
            return ScalarType("int-or-string")
        case {"type": "string", "format": "date-time"}:
            return ScalarType("datetime")
        case {"type": "string", "format": "byte"}:
            return ScalarType("bytes")
        case {"type": "string" | "integer" | "boolean" as kind}:
            return ScalarType(kind)
        case _:
            return ScalarType("any")
