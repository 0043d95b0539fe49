"""ST03: the CRD is of apiextensions.k8s.io/v1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import CRD_API_VERSION, Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(manifest: Manifest) -> Iterator[Hit]:
    """Report CRDs of another version."""
    if manifest.is_crd and manifest.api_version != CRD_API_VERSION:
        yield Hit(("apiVersion",), f"apiVersion {manifest.api_version} is not served; write {CRD_API_VERSION}")


_GOOD = crd("spec: {type: object}")

RULE = Rule(
    id="ST03",
    name="api-version",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Manifest,
    what="A CustomResourceDefinition is of apiextensions.k8s.io/v1.",
    why="v1beta1 was removed in Kubernetes 1.22: no supported API server knows it. Nothing else is checked in it.",
    check=check,
    good=(_GOOD,),
    bad=(_GOOD.replace(CRD_API_VERSION, "apiextensions.k8s.io/v1beta1"),),
)
