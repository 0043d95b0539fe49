"""Rules of a company of its own: an example of a distribution that adds rules to lint-crd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyopscaffold.lint import Crd, Hit, Profile, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Options:
    """What the company's own domain is."""

    domain: str = "acme.com"
    """The domain that all API groups are below."""


def check(crd: Crd, options: Options) -> Iterator[Hit]:
    """Report groups of other domains."""
    group = crd.spec.get("group")
    if not str(group).endswith(options.domain):
        yield Hit(("spec", "group"), f"group {group} is not below {options.domain}")


_CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%(group)s}
spec:
  group: %(group)s
"""

GROUP = Rule(
    id="AC01",
    name="group-of-acme",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Crd,
    what="API groups are below acme.com.",
    why="The domain tells who to ask about a kind; other domains are other people's.",
    check=check,
    good=(_CRD % {"group": "db.acme.com"},),
    bad=(_CRD % {"group": "db.example.com"},),
    options=Options(),
)
RULES = [GROUP]
