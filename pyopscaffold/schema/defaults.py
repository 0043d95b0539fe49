"""What the API server puts into a value where nothing is.

Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from pyopscaffold.schema.structural import UNSET

if TYPE_CHECKING:
    from pyopscaffold.schema.structural import Schema


def drop_nulls(value: Any, schema: Schema | None) -> None:
    """Take nulls out that may not be, save those that a default replaces."""
    if schema is None:
        return
    if isinstance(value, dict):
        for name in list(value):
            child = schema.properties.get(name, schema.additional_properties)
            if child is not None and value[name] is None and not child.nullable and child.default is UNSET:
                del value[name]
            else:
                drop_nulls(value[name], child)
    elif isinstance(value, list):
        for item in value:
            drop_nulls(item, schema.items)


def default(value: Any, schema: Schema | None) -> None:
    """Put defaults where nothing is, or a null that may not be."""
    if schema is None:
        return
    if isinstance(value, dict):
        for name, child in schema.properties.items():
            if child.default is not UNSET and (name not in value or _refused_null(value[name], child)):
                value[name] = copy.deepcopy(child.default)
        for name in value:
            default(value[name], schema.properties.get(name, schema.additional_properties))
    elif isinstance(value, list):
        for item in value:
            default(item, schema.items)


def _refused_null(value: Any, schema: Schema) -> bool:
    return value is None and not schema.nullable
