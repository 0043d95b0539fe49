"""CRDs of several versions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import yaml

from pyopscaffold.api import GroupVersionKind, Scale
from pyopscaffold.generate import crd
from pyopscaffold.model.kinds import FieldModel, KindModel, ProjectModel, ScalarType, SourceSpan, StructType
from pyopscaffold.model.project import Project

SPAN = SourceSpan("acme/api/thing.py", 7)
PROJECT = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="")


def _kind(version: str, *fields: str, description: str = "", **options: Any) -> KindModel:
    members = tuple(FieldModel(name, name, ScalarType("string"), SPAN) for name in fields)
    spec = FieldModel("spec", "spec", StructType("ThingSpec", description, members, SPAN), SPAN)
    kind = KindModel(
        gvk=GroupVersionKind("example.com", version, "Thing"),
        singular="thing",
        short_names=(),
        categories=(),
        columns=(),
        scale=None,
        root=StructType("Thing", "", (spec,), SPAN),
        served=True,
        storage=True,
        deprecated=None,
        span=SPAN,
    )
    return replace(kind, **options)


def _crds(*kinds: KindModel) -> list[dict[str, Any]]:
    made = crd.artefacts(ProjectModel(kinds=kinds, controllers=()), PROJECT)
    return [yaml.safe_load(item.text) for item in made]


def test_versions_share_a_crd() -> None:
    """All versions of a kind are in one CRD, sorted; each says whether it is served, stored and deprecated."""
    (made,) = _crds(
        _kind("v2"), _kind("v1", storage=False, deprecated=""), _kind("v1beta1", storage=False, served=False)
    )
    versions = made["spec"]["versions"]
    assert [(v["name"], v["served"], v["storage"], v.get("deprecated")) for v in versions] == [
        ("v1", True, False, True),
        ("v1beta1", False, False, None),
        ("v2", True, True, None),
    ]
    assert "deprecationWarning" not in versions[0]


def test_subresources() -> None:
    """A kind without status and scale has no subresources; a scale without selector has no path for one."""
    (plain,) = _crds(_kind("v1"))
    assert "subresources" not in plain["spec"]["versions"][0]
    (scaled,) = _crds(_kind("v1", scale=Scale(spec=".spec.a", status=".status.a")))
    assert scaled["spec"]["versions"][0]["subresources"] == {
        "scale": {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"}
    }


def test_crd_that_kubectl_cannot_keep() -> None:
    """A CRD of more than 262,144 bytes is warned of, with its size and the ways out; a smaller one is not."""

    def warned(length: int, project: Project = PROJECT) -> list[str]:
        model = ProjectModel(kinds=(_kind("v1", description="x" * length),), controllers=())
        return [str(warning) for warning in crd.warnings(model, project, crd.artefacts(model, project))]

    (message,) = warned(262_144)
    assert message.startswith("acme/api/thing.py:7: Thing: the CRD has 263,")
    assert "--server-side" in message
    assert "pyopscaffold generate --max-description" in message
    assert warned(261_000) == []
    assert warned(262_144, replace(PROJECT, max_description=100)) == []


def test_one_file_a_kind() -> None:
    """The same kind in two groups is two files, named by group and plural."""
    kinds = (_kind("v1"), _kind("v1", gvk=GroupVersionKind("b.example.com", "v1", "Thing")))
    made = crd.artefacts(ProjectModel(kinds=kinds, controllers=()), PROJECT)
    assert [item.path for item in made] == [
        "config/crd/bases/b.example.com_things.yaml",
        "config/crd/bases/example.com_things.yaml",
    ]
