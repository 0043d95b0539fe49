"""Made projects, as values: what is deployed by kustomize and by Helm, without the Python that it comes from."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from pyopscaffold.api import Column, GroupVersionKind
from pyopscaffold.generate import artefacts
from pyopscaffold.model.kinds import (
    ControllerModel,
    FieldModel,
    KindModel,
    ProjectModel,
    ScalarType,
    SourceSpan,
    StructType,
)
from pyopscaffold.model.project import Project, ResourceEntry
from pyopscaffold.scaffold.render import render

if TYPE_CHECKING:
    from pathlib import Path

SPAN = SourceSpan("shop_operator/api/v1/shop.py", 1)
HARD_TEXT = """Trips: {{ if .Values.x }}, {{- end -}}, {{{{ a }}}}, {}}, {{{}}}, `{{ "a" }}`, 'it''s' "so" <chart>."""
"""A description with everything that Helm, YAML or Go could take for its own."""

SIGN = FieldModel(
    name="sign",
    json_name="sign",
    type=ScalarType("string"),
    span=SPAN,
    optional=True,
    has_default=True,
    default="",
    description=HARD_TEXT,
)
SPEC = StructType(name="ShopSpec", description="Desired state of a Shop.", fields=(SIGN,), span=SPAN)
SHOP = KindModel(
    gvk=GroupVersionKind("sales.example.com", "v1", "Shop"),
    singular="shop",
    short_names=("sh",),
    categories=(),
    columns=(Column("Age", json_path=".metadata.creationTimestamp", type="date"),),
    scale=None,
    root=StructType(
        name="Shop",
        description="A shop.",
        fields=(FieldModel(name="spec", json_name="spec", type=SPEC, span=SPAN),),
        span=SPAN,
    ),
    served=True,
    storage=True,
    deprecated=None,
    span=SPAN,
)
REGION = replace(
    SHOP, gvk=GroupVersionKind("sales.example.com", "v1", "Region", namespaced=False), singular="region", short_names=()
)
SHOPS = ControllerModel(
    name="shop",
    resource=SHOP.gvk,
    owns=(GroupVersionKind("apps", "v1", "Deployment"),),
    watches=(),
    finalizes=True,
    rbac=(),
    span=SPAN,
)
MODEL = ProjectModel(kinds=(SHOP,), controllers=(SHOPS,))
PROJECT = Project(
    domain="example.com",
    name="shop-operator",
    package="shop_operator",
    image="example/shop-operator",
    cli_version="0.1.0",
    resources=(ResourceEntry(group="sales", domain="example.com", version="v1", kind="Shop", plural="shops"),),
)


def made(model: ProjectModel = MODEL, project: Project = PROJECT) -> dict[str, str]:
    """Give path → text of a project as `init` and `generate` make it."""
    values: dict[str, Any] = {"project": asdict(project), "spdx": "Apache-2.0", "versions": ">=0.1,<0.2", "sources": {}}
    tree = {artefact.path: artefact.text for artefact in render("project", values)}
    tree |= {artefact.path: artefact.text for artefact in artefacts(model, project, tree)}
    return tree


def write(tree: dict[str, str], folder: Path) -> Path:
    """Write the files below ``folder`` and give it back."""
    for name, text in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
