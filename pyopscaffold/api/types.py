"""Types for API fields: plain Python underneath, with the markers that make them Kubernetes types."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pyopscaffold.api.markers import Format, IntOrString, ListMap, Pattern, PreserveUnknownFields, SchemaType
from pyopscaffold.kube.meta import Condition

int32 = Annotated[int, Format("int32")]
"""A 32-bit integer."""

int64 = Annotated[int, Format("int64")]
"""A 64-bit integer; what a bare ``int`` means too."""

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""The pattern that controller-gen puts on ``resource.Quantity``."""

Quantity = Annotated[str, IntOrString(), Pattern(QUANTITY_PATTERN)]
"""A quantity in Kubernetes text form, such as ``10Gi`` or ``500m``; compare with :mod:`pyopscaffold.kube.quantity`."""

Conditions = Annotated[list[Condition], ListMap("type")]
"""``status.conditions``: a list-map by type, so that several writers can each apply their own condition."""

RawExtension = Annotated[dict[str, Any], SchemaType("object"), PreserveUnknownFields()]
"""A JSON object of any kind, kept as it is: what ``runtime.RawExtension`` is in Go."""

JSON: TypeAlias = Any
"""Any JSON value, kept as it is: what ``apiextensionsv1.JSON`` is in Go."""
