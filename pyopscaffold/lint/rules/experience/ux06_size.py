"""UX06: a CRD fits where it is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Crd

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANNOTATION = 262_144  # bytes of all annotations of an object (apimachinery, TotalAnnotationSizeLimitB)
_REQUEST = 1_572_864  # bytes that etcd takes in one request by default (--max-request-bytes)


def check(subject: Crd) -> Iterator[Hit]:
    """Report a CRD that kubectl apply can't keep in an annotation, or that etcd does not take."""
    size = len(json.dumps(subject.manifest.data, separators=(",", ":"), ensure_ascii=False, default=str).encode())
    if size > _REQUEST:
        message = f"the CRD has {size:,} bytes as JSON, more than the {_REQUEST:,} that etcd takes"
        yield Hit(("metadata", "name"), message, severity=Severity.ERROR)
    elif size > _ANNOTATION:
        message = (
            f"the CRD has {size:,} bytes as JSON, more than the {_ANNOTATION:,} that kubectl apply can keep in an "
            "annotation: shorten descriptions, or tell users to apply it with --server-side"
        )
        yield Hit(("metadata", "name"), message)


def _large(levels: int) -> str:
    """Write a spec of ``16 ** levels`` leaves in few lines: YAML may repeat a value, JSON spells it out."""
    level = "leaf"
    lines = [f"{level}: &{level} {{type: string, maxLength: 63, description: One of many fields.}}"]
    for number in range(1, levels + 1):
        fields = ", ".join(f"{letter}: *{level}" for letter in "abcdefghijklmnop")
        level = f"level{number}"
        lines.append(f"{level}: &{level} {{type: object, description: Of 16., properties: {{{fields}}}}}")
    return spec("\n".join(lines))


RULE = Rule(
    id="UX06",
    name="size",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Crd,
    what="A CRD has at most 262,144 bytes as JSON; it is an error beyond what etcd takes.",
    why="kubectl apply keeps a copy of what it applied in an annotation, whose size is limited: it fails with "
    "'metadata.annotations: Too long', also in the hands of those who only install it.",
    check=check,
    good=(_large(2),),
    bad=(_large(3),),
)
