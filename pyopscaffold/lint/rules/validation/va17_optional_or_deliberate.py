"""VA17: what is required can't be left out with the object around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report required fields of a spec that may itself be absent."""
    spec = version.root.property("spec") if version.root else None
    if spec is None or spec.is_required or spec.has_default:
        return
    names = [name for name in spec.required if isinstance(name, str)]
    if names:
        shown = ", ".join(names[:3]) + (", …" if names[3:] else "")
        message = f"spec requires {shown}, but may be left out as a whole: require spec, or make them optional"
        yield Hit((*spec.path, "required"), message, spec.field)


_SIZE = "properties: {size: {type: integer, format: int32}}"

RULE = Rule(
    id="VA17",
    name="optional-or-deliberate",
    severity=Severity.INFO,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A field of the spec is optional, has a default, or is required together with the spec.",
    why="An object without any spec passes, and the controller meets a missing field that its types say is there.",
    check=check,
    good=(
        crd(f"spec: {{type: object, required: [size], {_SIZE}}}") + "        required: [spec]\n",
        crd(f"spec: {{type: object, {_SIZE}}}"),
    ),
    bad=(crd(f"spec: {{type: object, required: [size], {_SIZE}}}"),),
    good_class=widget(
        '''
        size: int32
        """Number of parts."""
        '''
    ),
    bad_class=widget(
        '''
        size: int32
        """Number of parts."""
        '''
    ).replace("    spec: WidgetSpec\n", "    spec: WidgetSpec | None = None\n"),
)
