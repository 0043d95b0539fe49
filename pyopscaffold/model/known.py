"""Schemas of Kubernetes' own types, as controller-gen writes them for the Go types; the descriptions are ours.

Source: k8s.io/apimachinery meta/v1 (TypeMeta, ObjectMeta, Condition). All other types, with Kubernetes' own
descriptions, are in :mod:`pyopscaffold.model.kubernetes`.
"""

from __future__ import annotations

from typing import Final

from pyopscaffold.model.kubernetes import Schemas, is_builtin
from pyopscaffold.schema import Schema

_STRING: Final = "string"

_QUALIFIED_NAME: Final = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)

_CONDITION: Final = Schema(
    type="object",
    description="One observation of the object's state.",
    properties={
        "lastTransitionTime": Schema(
            type=_STRING,
            format="date-time",
            description="When the status of this condition last changed from one value to another.",
        ),
        "message": Schema(
            type=_STRING, max_length=32768, description="What happened, in words for people; may be empty."
        ),
        "observedGeneration": Schema(
            type="integer",
            format="int64",
            minimum=0,
            description=(
                "Generation of the object that this condition was worked out from;\n"
                "out of date where metadata.generation is higher."
            ),
        ),
        "reason": Schema(
            type=_STRING,
            min_length=1,
            max_length=1024,
            pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
            description="Why the condition last changed: one CamelCase word for programs.",
        ),
        "status": Schema(type=_STRING, enum=("True", "False", "Unknown"), description="Whether the condition holds."),
        "type": Schema(
            type=_STRING,
            max_length=316,
            pattern=_QUALIFIED_NAME,
            description="What is observed, in CamelCase, or with a domain as in example.com/CamelCase.",
        ),
    },
    required=("lastTransitionTime", "message", "reason", "status", "type"),
)

_TYPE_META: Final = Schema(
    type="object",
    properties={
        "apiVersion": Schema(
            type=_STRING,
            description=(
                "API group and version that this object is written in.\n"
                "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
            ),
        ),
        "kind": Schema(
            type=_STRING,
            description=(
                "Kind of this object, in CamelCase; it can't be changed.\n"
                "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
            ),
        ),
        "metadata": Schema(type="object"),
    },
)

_STRINGS: Final = Schema(type="object", additional_properties=Schema(type=_STRING))

_EMBEDDED_META: Final = Schema(
    type="object",
    properties={
        "annotations": _STRINGS,
        "finalizers": Schema(type="array", items=Schema(type=_STRING)),
        "labels": _STRINGS,
        "name": Schema(type=_STRING),
        "namespace": Schema(type=_STRING),
    },
)
"""What controller-gen's option generateEmbeddedObjectMeta keeps of an embedded ObjectMeta."""

KNOWN: Final = {
    "Condition": _CONDITION,
    "EmbeddedObjectMeta": _EMBEDDED_META,
    "ObjectMeta": Schema(type="object"),
    "TypeMeta": _TYPE_META,
}
"""Schema by the short name of a :class:`~pyopscaffold.model.kinds.KnownType`."""

_BUILTIN: Final = {
    False: Schemas(KNOWN),
    True: Schemas({**KNOWN, "ObjectMeta": _EMBEDDED_META}),
}


def is_known(name: str) -> bool:
    """Whether there is a schema of that name."""
    return name in KNOWN or is_builtin(name)


def schema_of(name: str, *, keep_metadata: bool = False) -> Schema:
    """Return the schema of a known type; with ``keep_metadata``, embedded metadata keeps its fields.

    Raises:
        KeyError: there is no such type.

    """
    if keep_metadata and name == "ObjectMeta":
        return _EMBEDDED_META
    return KNOWN[name] if name in KNOWN else _BUILTIN[keep_metadata].of(name)
