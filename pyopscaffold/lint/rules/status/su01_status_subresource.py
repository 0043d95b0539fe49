"""SU01: a status is written through the status subresource."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Edit, Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report a status schema without ``subresources.status``."""
    status = version.status
    if status is not None and not version.enables_status:
        fix = Fix((Edit((*version.path, "subresources", "status"), {}),), safe=False)
        message = f"version {version.name} has a status, but no subresources.status"
        yield Hit(status.path, message, status.field, fix=fix)


_STATUS = "status: {type: object, description: Observed state.}"

RULE = Rule(
    id="SU01",
    name="status-subresource",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A version with a status enables the status subresource.",
    why="Without it whoever may write the spec may write the status, each status update raises metadata.generation, "
    "and RBAC can't tell the two apart.",
    check=check,
    good=(crd(_STATUS), crd("spec: {type: object}", extra="")),
    bad=(
        crd(_STATUS, extra=""),
        crd(_STATUS, extra="subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}"),
    ),
    good_class=widget(),
    bad_class=widget(options="status_subresource=False"),
)
