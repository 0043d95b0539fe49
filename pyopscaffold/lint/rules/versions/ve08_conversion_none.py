"""VE08: versions that differ are converted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.compat.change import Grade
from pyopscaffold.compat.schema import compare
from pyopscaffold.kube.values import mapping
from pyopscaffold.lint.example import crd
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Crd, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.compat.change import Change


def check(subject: Crd) -> Iterator[Hit]:
    """Report a CRD that serves versions which differ in more than words, and only renames one into the other."""
    if (mapping(subject.spec.get("conversion")).get("strategy") or "None") != "None":
        return
    served = [version for version in subject.versions if version.data.get("served") is True]
    for version in served[1:]:
        if change := _difference(served[0], version):
            message = (
                f"versions {served[0].name} and {version.name} are both served and differ at "
                f"{change.field or 'the root'}, but no webhook converts them"
            )
            yield Hit((*version.path, "name"), message, change.field)
            return


def _difference(one: Version, other: Version) -> Change | None:
    """Give the first thing that an object of one of two versions may not be, or not have, in the other."""
    for old, new in ((one.root, other.root), (other.root, one.root)):
        if old is not None and new is not None:
            for change in compare(old.schema, new.schema, version="", path=new.path):
                if change.grade is not Grade.COMPATIBLE:
                    return change
    return None


_TWO = crd("spec: {type: object, properties: {size: {type: integer, format: int32}}}")
_OLD = _TWO[_TWO.index("  - name: v1") :].replace("v1", "v1beta1").replace("storage: true", "storage: false")

RULE = Rule(
    id="VE08",
    name="conversion-none",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Crd,
    what="A CRD whose served versions differ in more than descriptions has a conversion webhook.",
    why="Without one the server changes nothing but apiVersion: a field that the other version has not is dropped "
    "when somebody writes, and an object that one version allows and the other does not can't be written as the other.",
    check=check,
    good=(
        _TWO + _OLD,
        _TWO + _OLD.replace("format: int32", "format: int32, description: Number of parts."),
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
        _TWO + _OLD.replace("format: int32", "format: int32, maximum: 9"),
    ),
)
