"""VA08: formats are ones that the API server knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.names import nearest
from pyopscaffold.kube.values import text
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version
from pyopscaffold.schema import formats

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report formats that the server does not know for the value's type."""
    for part in version.subschemas:
        name, type_ = text(part.schema.get("format")), text(part.schema.get("type"))
        if name and not formats.is_known_for(type_, name):
            where = part.node.field or "the root"
            known = [other for other in sorted(formats.NAMES) if formats.is_known_for(type_, other)]
            near = nearest(name, known) if known else None
            hint = f"; did you mean {near}?" if near else ""
            message = f"format {name!r} of {where} is none that the API server checks{hint}"
            yield Hit((*part.path, "format"), message, part.node.field)


RULE = Rule(
    id="VA08",
    name="unknown-format",
    severity=Severity.WARNING,
    profile=Profile.APISERVER,
    subject=Version,
    what="A format is one that the API server checks for values of that type.",
    why="The server warns of others and ignores them, so the field takes any text. A pattern is checked.",
    check=check,
    good=(
        spec("since: {type: string, format: date-time}"),
        spec("size: {type: integer, format: int32}"),
    ),
    bad=(
        spec("size: {type: string, format: quantity}"),
        spec("size: {type: integer, format: int16}"),
        spec("names: {type: array, format: date, items: {type: string}}"),
    ),
    good_class=widget(
        '''
        since: datetime
        """When it began."""
        '''
    ),
)
