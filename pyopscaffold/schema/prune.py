"""What the API server drops from a value: fields that the schema does not name.

Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/pruning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyopscaffold.schema.structural import Schema

_TYPE_META: Final = ("apiVersion", "kind", "metadata")


def prune(value: Any, schema: Schema, path: str = "") -> list[str]:
    """Take what the schema does not name out of the value, and return the paths of it."""
    if isinstance(value, list):
        inner = schema.items
        return (
            [] if inner is None else [at for i, item in enumerate(value) for at in prune(item, inner, f"{path}[{i}]")]
        )
    if not isinstance(value, dict):
        return []
    kept = _TYPE_META if not path or schema.embedded_resource else ()
    gone = []
    for name in list(value):
        child = schema.properties.get(name, schema.additional_properties)
        place = f"{path}.{name}".lstrip(".")
        if name in kept:
            continue
        if child is not None:
            gone += prune(value[name], child, place)
        elif not schema.preserve_unknown_fields:
            del value[name]
            gone.append(place)
    return gone
