"""ST02: what is left to a renderer is rendered first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Unreadable
from pyopscaffold.lint.example import crd
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import File, manifests

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(file: File) -> Iterator[Hit]:
    """Report templates, and kustomize's patches of CRDs."""
    for part in file.parts:
        if isinstance(part, Unreadable):
            if part.template:
                yield Hit((), "a template is not checked: render it, as helm template does", position=part.position)
            continue
        for manifest in manifests(part):
            if manifest.is_crd and manifest.is_template:
                message = f"{manifest.name} has values that are to be filled in: render it, as helm template does"
            elif manifest.is_crd and manifest.is_fragment:
                message = f"{manifest.name} is a patch: have kubectl kustomize put it together"
            else:
                continue
            yield Hit(manifest.base, message, position=part.position(manifest.base))


_GOOD = crd("spec: {type: object}")

RULE = Rule(
    id="ST02",
    name="template-skipped",
    severity=Severity.INFO,
    profile=Profile.STRICT,
    subject=File,
    what="What is checked is what a cluster gets: no template, and no patch.",
    why="The rest of a template, or of a patch's CRD, is not there to be looked at, and what is not looked at is not "
    "right.",
    check=check,
    good=(_GOOD,),
    bad=(
        "{{- if .Values.crds }}\n" + _GOOD + "{{- end }}\n",
        _GOOD.replace("name: widgets.example.com", 'name: "{{ .Values.name }}"'),
        _GOOD[: _GOOD.index("  group:")] + "  conversion: {strategy: None}\n",
    ),
)
