"""What the API server can read as a CustomResourceDefinition: its fields, and the JSON types of their values.

Source: k8s.io/apiextensions-apiserver pkg/apis/apiextensions/v1 and its reading of unions; metav1.ObjectMeta. Whole
numbers may be written as 1.0: every client makes 1 of it.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyopscaffold.document.reader import Path

_Shape: TypeAlias = "str | list[_Shape] | dict[str, _Shape]"
"""The name of a type, a list of what is alike, a mapping of what is alike (key ``*``), or fields."""

SCHEMA: Final = "a schema"
METADATA: Final = "the metadata of an object"
MANIFEST: Final = "a CustomResourceDefinition"
_ANY: Final = "anything"
_MAPPING: Final = "a mapping"
_TEXT, _FLAG, _INTEGER, _NUMBER = "a string", "true or false", "an integer", "a number"
_INT32: Final = "an integer of 32 bits"
_BYTES: Final = "a string in base64"
_TIME: Final = "a time such as 2026-01-31T12:00:00Z"
_SCHEMA_OR_FLAG: Final = "a schema, true or false"
_SCHEMA_OR_LIST: Final = "a schema or a list of schemas"
_SCHEMA_OR_TEXTS: Final = "a schema or a list of strings"
_UNIONS: Final = (_SCHEMA_OR_FLAG, _SCHEMA_OR_LIST, _SCHEMA_OR_TEXTS)
_TEXTS: Final[_Shape] = [_TEXT]
_TEXT_MAP: Final[_Shape] = {"*": _TEXT}
_ANYTHING: Final[_Shape] = [_ANY]
_SCHEMA_LIST: Final[_Shape] = [SCHEMA]
_SCHEMAS: Final[_Shape] = {"*": SCHEMA}
_NAMES: Final[_Shape] = {
    **dict.fromkeys(("plural", "singular", "kind", "listKind"), _TEXT),
    **dict.fromkeys(("shortNames", "categories"), _TEXTS),
}

_FIELDS: Final[dict[str, dict[str, _Shape]]] = {
    SCHEMA: {
        **dict.fromkeys(("$ref", "$schema", "id", "description", "type", "format", "title", "pattern"), _TEXT),
        **dict.fromkeys(("default", "example"), _ANY),
        **dict.fromkeys(("maximum", "minimum", "multipleOf"), _NUMBER),
        **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"), _INTEGER),
        **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "nullable"), _FLAG),
        **dict.fromkeys(("allOf", "anyOf", "oneOf"), _SCHEMA_LIST),
        **dict.fromkeys(("properties", "patternProperties", "definitions"), _SCHEMAS),
        **dict.fromkeys(("additionalProperties", "additionalItems"), _SCHEMA_OR_FLAG),
        **dict.fromkeys(("x-kubernetes-list-type", "x-kubernetes-map-type"), _TEXT),
        **dict.fromkeys(("x-kubernetes-int-or-string", "x-kubernetes-embedded-resource"), _FLAG),
        "x-kubernetes-preserve-unknown-fields": _FLAG,
        "enum": [_ANY],
        "required": _TEXTS,
        "items": _SCHEMA_OR_LIST,
        "not": SCHEMA,
        "dependencies": {"*": _SCHEMA_OR_TEXTS},
        "externalDocs": {"description": _TEXT, "url": _TEXT},
        "x-kubernetes-list-map-keys": _TEXTS,
        "x-kubernetes-validations": [
            {
                **dict.fromkeys(("rule", "message", "messageExpression", "reason", "fieldPath"), _TEXT),
                "optionalOldSelf": _FLAG,
            }
        ],
    },
    "a version": {
        **dict.fromkeys(("name", "deprecationWarning"), _TEXT),
        **dict.fromkeys(("served", "storage", "deprecated"), _FLAG),
        "schema": {"openAPIV3Schema": _MAPPING},
        "subresources": {
            "status": {},
            "scale": dict.fromkeys(("specReplicasPath", "statusReplicasPath", "labelSelectorPath"), _TEXT),
        },
        "additionalPrinterColumns": [
            {
                **dict.fromkeys(("name", "type", "format", "description", "jsonPath"), _TEXT),
                "priority": _INT32,
            }
        ],
        "selectableFields": [{"jsonPath": _TEXT}],
    },
    METADATA: {
        **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"), _TEXT),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), _TIME),
        **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), _INTEGER),
        **dict.fromkeys(("labels", "annotations"), _TEXT_MAP),
        **dict.fromkeys(("ownerReferences", "managedFields"), _ANYTHING),
        "finalizers": _TEXTS,
    },
    MANIFEST: {
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "status": {
            "acceptedNames": _NAMES,
            "storedVersions": _TEXTS,
            "observedGeneration": _INTEGER,
            "conditions": [
                {
                    **dict.fromkeys(("type", "status", "reason", "message"), _TEXT),
                    "lastTransitionTime": _TIME,
                    "observedGeneration": _INTEGER,
                }
            ],
        },
        "metadata": METADATA,
        "spec": {
            "group": _TEXT,
            "scope": _TEXT,
            "preserveUnknownFields": _FLAG,
            "names": _NAMES,
            "versions": ["a version"],
            "conversion": {
                "strategy": _TEXT,
                "webhook": {
                    "conversionReviewVersions": _TEXTS,
                    "clientConfig": {
                        "url": _TEXT,
                        "caBundle": _BYTES,
                        "service": {**dict.fromkeys(("name", "namespace", "path"), _TEXT), "port": _INT32},
                    },
                },
            },
        },
    },
}


class Fault(NamedTuple):
    """A field that is not known, or a value of another type than its field has; ``path`` is relative.

    An unknown field is ``silent`` where the server drops it without a word, however strict it is asked to be.
    """

    path: Path
    message: str
    unknown: bool = False
    silent: bool = False


def faults(value: Any, shape: str) -> Iterator[Fault]:
    """Yield what the server can't read of ``value``, which is to be a schema or a manifest; a null is nothing."""
    pending: list[tuple[Any, _Shape, Path, bool]] = [(value, shape, (), False)]
    while pending:
        value, wanted, path, silent = pending.pop()
        silent = silent or wanted in _UNIONS
        inner = _choose(wanted, value) if isinstance(wanted, str) else wanted
        if inner is None:
            continue
        if isinstance(inner, list) and isinstance(value, list):
            found = [(item, inner[0], (*path, index), silent) for index, item in enumerate(value) if item is not None]
            pending += reversed(found)
        elif isinstance(inner, dict) and isinstance(value, dict):
            alike = inner.get("*")
            for key, item in reversed(value.items()):
                part = inner.get(key, alike)
                if part is None:
                    yield Fault((*path, key), f"there is no field {key!r}", unknown=True, silent=silent)
                elif item is not None and part is not _ANY:
                    pending.append((item, part, (*path, key), silent))
        else:
            name = inner if isinstance(inner, str) else "a list" if isinstance(inner, list) else "a mapping"
            yield Fault(path, f"{_show(value)} is not {name}")


def _choose(name: str, value: Any) -> _Shape | None:
    """Return what a named shape asks of a value: None where it is fulfilled, the name where it can't be."""
    if name in _CHECKS:
        return None if _CHECKS[name](value) else name
    if name in _FIELDS:
        return _FIELDS[name]
    if isinstance(value, dict):
        return _FIELDS[SCHEMA]
    if name == _SCHEMA_OR_FLAG:
        return None if isinstance(value, bool) else name
    # The server passes over what is neither of the two.
    return _LISTS[name] if isinstance(value, list) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_integer(value: Any, bits: int = 64) -> bool:
    return _is_number(value) and value == int(value) and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)


def _is_base64(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(_BASE64, re.sub(r"[\r\n]", "", value)) is not None


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(_RFC3339, value) is not None


def _show(value: Any) -> str:
    return f"a {_KINDS[type(value)]}" if isinstance(value, dict | list) else json.dumps(value, ensure_ascii=False)


_BASE64: Final = r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
_RFC3339: Final = (
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.,][0-9]+)?"
    r"(Z|[+-]([01][0-9]|2[0-4]):[0-5][0-9])"
)
_KINDS: Final[dict[type, str]] = {dict: "mapping", list: "list"}
_LISTS: Final[dict[str, _Shape]] = {_SCHEMA_OR_LIST: [SCHEMA], _SCHEMA_OR_TEXTS: [_TEXT]}
_CHECKS: Final[dict[str, Callable[[Any], bool]]] = {
    _ANY: lambda _: True,
    _MAPPING: lambda value: isinstance(value, dict),
    _TEXT: lambda value: isinstance(value, str),
    _FLAG: lambda value: isinstance(value, bool),
    _INTEGER: _is_integer,
    _INT32: lambda value: _is_integer(value, 32),
    _NUMBER: _is_number,
    _BYTES: _is_base64,
    _TIME: _is_time,
}
KEYWORDS: Final = tuple(_FIELDS[SCHEMA])
"""What a schema in a CRD may hold, and what it only may hold to be told that it may not."""
