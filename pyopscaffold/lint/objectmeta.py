"""What the API server takes as the metadata of an object.

Source: k8s.io/apimachinery pkg/api/validation/objectmeta.go, the labels and annotations of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import is_label_value, is_qualified_name
from pyopscaffold.kube.values import mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.document.reader import Path


_MOST_BYTES = 262_144


def problems(metadata: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with labels and annotations, with paths below the metadata."""
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
