"""What the API server takes as the metadata of an object.

Source: k8s.io/apimachinery pkg/api/validation/objectmeta.go, save names and managed fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import is_label_value, is_qualified_name
from pyopscaffold.kube.values import listing, mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.document.reader import Path


_MOST_BYTES = 262_144


def problems(metadata: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong in it, with paths below the metadata."""
    for kind in ("labels", "annotations"):
        for key, value in mapping(metadata.get(kind)).items():
            if not is_qualified_name(key.lower() if kind == "annotations" else key):
                message = f"{kind[:-1]} {key!r} is no name such as example.com/owner, of at most 63 characters"
                yield (kind, key), message
            if kind == "labels" and not is_label_value(text(value)):
                message = f"label {key} is {value!r}, but must be at most 63 letters, digits, '-', '_' and '.'"
                yield (kind, key), message
    annotations = mapping(metadata.get("annotations")).items()
    if sum(len(key.encode()) + len(text(value).encode()) for key, value in annotations) > _MOST_BYTES:
        yield ("annotations",), f"annotations have more than {_MOST_BYTES:,} bytes"
    for index, name in enumerate(listing(metadata.get("finalizers"))):
        if not is_qualified_name(text(name)):
            yield ("finalizers", index), f"finalizer {name!r} is no name such as example.com/cleanup"
    for index, owner in enumerate(listing(metadata.get("ownerReferences"))):
        for key in ("apiVersion", "kind", "name", "uid"):
            if not mapping(owner).get(key):
                yield ("ownerReferences", index, key), f"owner reference {index + 1} has no {key}"
