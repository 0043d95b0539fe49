"""What the API server refuses in a CRD beside the schemas of its fields.

Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import annotated_types as bounds

from pyopscaffold.api import markers
from pyopscaffold.kube.names import is_approval, is_qualified_name, is_reserved_group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.api.resource import Column
    from pyopscaffold.model.kinds import KindModel

ANNOTATIONS_MAX = 262_144
"""Bytes that the annotations of an object may have (apimachinery, TotalAnnotationSizeLimitB)."""
APPROVED = "api-approved.kubernetes.io"

_WARNING_MAX = 256
_NAME_MAX = 253
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_NOT_ON_KINDS = (
    bounds.MinLen,
    bounds.MaxLen,
    markers.MapType,
    markers.EmbeddedResource,
    markers.OneOfValues,
    markers.AllOf,
    markers.AnyOf,
    markers.OneOf,
    markers.Not,
)
"""The status is judged on its own where it is a subresource, which leaves nobody to judge these."""


def problems(kind: KindModel) -> Iterator[str]:
    """Yield what is wrong with a kind as a whole."""
    if len(kind.gvk.group_resource) > _NAME_MAX:
        yield f"plural and group have {len(kind.gvk.group_resource)} letters together, at most {_NAME_MAX} are a name"
    warning = kind.deprecated or ""
    if len(warning.encode()) > _WARNING_MAX or not warning.isprintable():
        yield f"deprecated= is no line of at most {_WARNING_MAX} bytes; shorten it, and write it in one line"
    for column in kind.columns:
        yield from _column(column)
    yield from _annotations(kind)
    if kind.status is not None and kind.status_subresource is not False:
        for marker in kind.root.markers:
            if isinstance(marker, _NOT_ON_KINDS):
                yield f"{type(marker).__name__} can't stand on a kind with a status; write it on spec, or a rule in CEL"


def _annotations(kind: KindModel) -> Iterator[str]:
    size = sum(len(f"{name}{value}".encode()) for name, value in kind.annotations.items())
    if size > ANNOTATIONS_MAX:
        longest = max(kind.annotations, key=lambda name: len(kind.annotations[name]))
        yield (
            f"the annotations have {size:,} bytes together, and the API server takes {ANNOTATIONS_MAX:,}; shorten"
            f" {longest}, or keep it elsewhere"
        )
    approval = kind.annotations.get(APPROVED)
    if approval is not None and is_reserved_group(kind.gvk.group) and not is_approval(approval):
        yield f'{APPROVED} is "{approval}"; write the URL of the review, or a reason that starts with "unapproved"'


def _column(column: Column) -> Iterator[str]:
    if column.condition and not is_qualified_name(column.condition):
        yield f"the column {column.name} has no condition's type in {column.condition!r}; write one such as Ready"
    if not column.name:
        yield "a column has no name; write Column('Replicas', ...)"
    if column.format and column.format not in _COLUMN_FORMATS:
        known = ", ".join(_COLUMN_FORMATS)
        yield f"the column {column.name} has no format {column.format!r}; write one of {known}"
