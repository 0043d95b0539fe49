"""UX03: kubectl get shows what matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint.example import crd, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_AGE = ".metadata.creationTimestamp"


def check(version: Version) -> Iterator[Hit]:
    """Report a served version without columns, and columns without the age, which kubectl then leaves out."""
    if version.data.get("served") is not True:
        return
    columns = listing(version.data.get("additionalPrinterColumns"))
    if not columns:
        message = f"version {version.name} has no printer columns: kubectl get shows name and age alone"
        yield Hit((*version.path, "name"), message)
    elif not any(_AGE in text(mapping(column).get("jsonPath")) for column in columns):
        path = (*version.path, "additionalPrinterColumns")
        yield Hit(path, f"version {version.name} has printer columns, but none for the age")


def _columns(*columns: str) -> str:
    lines = "".join(f"- {column}\n" for column in columns)
    return crd("status: {type: object, properties: {ready: {type: boolean}}}",
               extra=f"subresources: {{status: {{}}}}\nadditionalPrinterColumns:\n{lines}")  # fmt: skip


_READY = "{name: Ready, type: boolean, jsonPath: .status.ready}"

RULE = Rule(
    id="UX03",
    name="printer-columns",
    severity=Severity.INFO,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A version has printer columns, and one of them is the age.",
    why="kubectl get is where everybody looks first. A CRD without columns shows the age by itself, one with columns "
    "has to say it.",
    check=check,
    good=(_columns(_READY, f"{{name: Age, type: date, jsonPath: {_AGE}}}"),),
    bad=(_columns(_READY), crd("spec: {type: object}")),
    good_class=widget(options='columns=[Column("Ready", condition="Ready"), Age()]'),
    bad_class=widget(),
)
