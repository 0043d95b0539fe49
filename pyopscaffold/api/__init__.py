"""What the author of an API imports: dataclass bases, markers, types and declarations."""

from __future__ import annotations

from annotated_types import Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen, MultipleOf

from pyopscaffold.api.declarations import Watch, controller, rbac
from pyopscaffold.api.markers import (
    CEL,
    Default,
    Doc,
    Example,
    Format,
    Immutable,
    IntOrString,
    ListAtomic,
    ListMap,
    ListSet,
    MapType,
    Name,
    NoSchemaDefault,
    Nullable,
    Pattern,
    PreserveUnknownFields,
    Title,
    cel,
)
from pyopscaffold.api.resource import Age, Column, Object, Scale, resource
from pyopscaffold.api.types import Conditions, Quantity, int32, int64
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.kube.meta import Condition, ObjectMeta, OwnerReference

__all__ = [
    "CEL",
    "Age",
    "Column",
    "Condition",
    "Conditions",
    "Default",
    "Doc",
    "Example",
    "Format",
    "Ge",
    "GroupVersionKind",
    "Gt",
    "Immutable",
    "IntOrString",
    "Interval",
    "Le",
    "Len",
    "ListAtomic",
    "ListMap",
    "ListSet",
    "Lt",
    "MapType",
    "MaxLen",
    "MinLen",
    "MultipleOf",
    "Name",
    "NoSchemaDefault",
    "Nullable",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "Pattern",
    "PreserveUnknownFields",
    "Quantity",
    "Scale",
    "Title",
    "Watch",
    "cel",
    "controller",
    "int32",
    "int64",
    "rbac",
    "resource",
]
