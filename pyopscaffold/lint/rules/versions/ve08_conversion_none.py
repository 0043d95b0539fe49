"""VE08: versions that differ are converted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.values import mapping
from pyopscaffold.lint.example import crd
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Crd, Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(subject: Crd) -> Iterator[Hit]:
    """Report a CRD that serves versions with other fields or types, and only renames one into the other."""
    if mapping(subject.spec.get("conversion")).get("strategy", "None") != "None":
        return
    served = [version for version in subject.versions if version.data.get("served") is True and version.root]
    for version in served[1:]:
        field = _difference(served[0], version)
        if field:
            message = (
                f"versions {served[0].name} and {version.name} are both served and differ at {field}, "
                "but no webhook converts them"
            )
            yield Hit((*version.path, "name"), message, field)
            return


def _difference(one: Version, other: Version) -> str:
    """Name the first field that one of two versions lacks or has with another type; "" where there is none."""
    left, right = _shape(one), _shape(other)
    return next((field for field in (*left, *right) if left.get(field) != right.get(field)), "")


def _shape(version: Version) -> dict[str, Any]:
    return {node.field: node.type for node in version.nodes if not node.core}


_TWO = crd("spec: {type: object, properties: {size: {type: integer, format: int32}}}")
_OLD = _TWO[_TWO.index("  - name: v1") :].replace("v1", "v1beta1").replace("storage: true", "storage: false")

RULE = Rule(
    id="VE08",
    name="conversion-none",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Crd,
    what="A CRD whose served versions differ in fields or types has a conversion webhook.",
    why="Without one the server changes nothing but apiVersion: a field that the other version has not is dropped "
    "when somebody writes, and one of another type makes the object unreadable.",
    check=check,
    good=(
        _TWO + _OLD,
        (_TWO + _OLD.replace("size:", "count:")).replace(
            "  scope:",
            "  conversion:\n    strategy: Webhook\n    webhook:\n      conversionReviewVersions: [v1]\n"
            "      clientConfig: {service: {name: webhook, namespace: system}}\n  scope:",
        ),
        _TWO + _OLD.replace("size:", "count:").replace("served: true", "served: false"),
    ),
    bad=(
        _TWO + _OLD.replace("size:", "count:"),
        _TWO + _OLD.replace("type: integer, format: int32", "type: string"),
    ),
)
