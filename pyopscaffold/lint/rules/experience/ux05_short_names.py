"""UX05: a long name has a short one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.names import short_name
from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint.example import crd, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Crd

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(subject: Crd) -> Iterator[Hit]:
    """Report a long kind of several words without short names."""
    names = mapping(subject.spec.get("names"))
    kind, plural = text(names.get("kind")), text(names.get("plural"))
    name = short_name(kind, plural) if kind else ""
    if name and not listing(names.get("shortNames")):
        yield Hit(("spec", "names"), f"{plural} has no short name, such as {name}: all its letters are to be typed")


_GOOD = crd("spec: {type: object}")
_LONG_ONE = _GOOD.replace("widgets", "certificaterequests").replace("Widget", "CertificateRequest")

RULE = Rule(
    id="UX05",
    name="short-names",
    severity=Severity.INFO,
    profile=Profile.STRICT,
    subject=Crd,
    what="A kind of several words whose plural has more than 12 letters has a short name.",
    why="Names of kinds are typed many times a day, and completed by few shells.",
    check=check,
    good=(_GOOD, _LONG_ONE.replace("  scope:", "    shortNames: [cr]\n  scope:")),
    bad=(_LONG_ONE,),
    good_class=widget(options='kind="WidgetContainer", short_names=["wc"]'),
    bad_class=widget(options='kind="WidgetContainer"'),
)
