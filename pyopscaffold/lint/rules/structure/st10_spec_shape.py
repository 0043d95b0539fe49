"""ST10: what is wanted stands in spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_META = frozenset({"apiVersion", "kind", "metadata", "status"})


def check(version: Version) -> Iterator[Hit]:
    """Report a kind with a status that has its wishes elsewhere; and a spec that may be left out, unless by default."""
    root = version.root
    if root is None or root.schema.get("x-kubernetes-preserve-unknown-fields"):
        return
    spec = root.property("spec")
    loose = sorted(name for name in root.properties if name not in _META)
    if spec is None:
        if "status" in root.properties or not loose:
            names = f": put {', '.join(loose)} into one" if loose else ""
            yield Hit((*root.path, "properties"), f"version {version.name} has no spec{names}")
    elif not spec.is_required and not spec.has_default and not spec.required:
        message = (
            "spec is not required and has no default: an object without one is taken, and controllers must bear it"
        )
        yield Hit(spec.path, message, spec.field, severity=Severity.INFO)


RULE = Rule(
    id="ST10",
    name="spec-shape",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A kind has a spec, which is required or has a default; an object of data alone needs none.",
    why="Tools take spec for what is wanted and all else for what is: Argo CD and Flux compare it, "
    "metadata.generation counts its changes.",
    check=check,
    good=(
        crd("spec: {type: object}") + "        required: [spec]\n",
        crd("spec: {type: object, default: {}}"),
        crd("rules: {type: array, items: {type: string}}", extra=""),
    ),
    bad=(
        crd("size: {type: integer}\nstatus: {type: object}"),
        crd("status: {type: object}"),
        crd("spec: {type: object}"),
    ),
    good_class=widget(),
    bad_class=widget().replace("    spec: WidgetSpec\n", "    spec: WidgetSpec | None = None\n"),
)
