"""UX05: a long name has a short one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Crd, listing, mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONG = 12  # letters; Kubernetes' own deployments (11) have one, and secrets (7) have none


def check(subject: Crd) -> Iterator[Hit]:
    """Report a plural of many letters without short names."""
    names = mapping(subject.spec.get("names"))
    plural = text(names.get("plural"))
    if len(plural) > _LONG and not listing(names.get("shortNames")):
        yield Hit(("spec", "names"), f"{plural} has no short name: kubectl get takes all its {len(plural)} letters")


_GOOD = crd("spec: {type: object}")
_LONG_ONE = _GOOD.replace("widgets", "certificaterequests").replace("Widget", "CertificateRequest")

RULE = Rule(
    id="UX05",
    name="short-names",
    severity=Severity.INFO,
    profile=Profile.STRICT,
    subject=Crd,
    what="A kind whose plural has more than 12 letters has a short name.",
    why="Names of kinds are typed many times a day, and completed by few shells.",
    check=check,
    good=(_GOOD, _LONG_ONE.replace("  scope:", "    shortNames: [cr]\n  scope:")),
    bad=(_LONG_ONE,),
    good_class=widget(options='plural="widgetcontainers", short_names=["wc"]'),
    bad_class=widget(options='plural="widgetcontainers"'),
)
