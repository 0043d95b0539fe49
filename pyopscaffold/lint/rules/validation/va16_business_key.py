"""VA16: what an object is about is never left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyopscaffold.kube.values import mapping, text
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import words
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Options:
    """What can be set."""

    keys: tuple[str, ...] = ("{kind}Id", "{kind}ID", "{kind}Number")
    """Names of fields that must be required wherever they are in spec; ``{kind}`` stands for the kind, or its first
    words: orderId is a key of an OrderFulfillment."""


def check(version: Version, options: Options) -> Iterator[Hit]:
    """Report business keys that may be left out, with their object or alone."""
    keys = {
        name for key in options.keys for name in _spelt(key, text(mapping(version.crd.spec.get("names")).get("kind")))
    }
    for node in version.own("spec"):
        if node.name in keys and not node.is_required:
            yield Hit(node.path, f"{node.field} is a business key, and may be left out: require it", node.field)


def _spelt(key: str, kind: str) -> Iterator[str]:
    if "{kind}" not in key:
        yield key
    elif kind:
        head, *rest = words(kind)
        for word in ("", *(part.capitalize() for part in rest)):
            head += word
            yield key.replace("{kind}", head)


RULE = Rule(
    id="VA16",
    name="business-key",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="Fields that say which thing of the business an object is about, such as orderId of an Order, are required.",
    why="Identity comes from the domain: an object without its key can't be found, nor told from another.",
    check=check,
    good=(
        spec("widgetId: {type: string, maxLength: 9}\nzoneId: {type: string, maxLength: 9}")
        + "            required: [widgetId]\n",
    ),
    bad=(spec("widgetId: {type: string, maxLength: 9}"),),
    good_class=widget(
        '''
        widget_id: Annotated[str, MaxLen(9)]
        """Number in the catalogue."""
        '''
    ),
    bad_class=widget(
        '''
        widget_id: Annotated[str, MaxLen(9)] = ""
        """Number in the catalogue."""
        '''
    ),
    options=Options(),
)
