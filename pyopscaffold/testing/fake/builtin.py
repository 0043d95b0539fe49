"""What the server makes of objects of its own kinds, so far as operators see it every day."""

from __future__ import annotations

import base64
from typing import Any

Json = dict[str, Any]


def normalise(obj: Json) -> None:
    """Leave out nulls, which mean nothing to typed objects, and encode what a Secret says in plain text."""
    _drop_nulls(obj)
    if obj.get("kind") == "Secret" and obj.get("apiVersion") == "v1" and "stringData" in obj:
        plain = obj.pop("stringData")
        encoded = {name: base64.b64encode(text.encode()).decode() for name, text in plain.items()}
        obj["data"] = {**obj.get("data", {}), **encoded}


def furnish_namespace(obj: Json) -> None:
    """Give a namespace what every one has: operators select by the label."""
    obj["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = obj["metadata"].get("name", "")
    obj["spec"] = {"finalizers": ["kubernetes"]}
    obj["status"] = {"phase": "Active"}


def _drop_nulls(value: Any) -> None:
    if isinstance(value, dict):
        for name in [name for name, item in value.items() if item is None]:
            del value[name]
        value = value.values()
    if not isinstance(value, str | int | float | None):
        for item in value:
            _drop_nulls(item)
