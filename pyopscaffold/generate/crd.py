"""CustomResourceDefinitions: one a kind, with all its versions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import Problem
from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.generate.descriptions import trimmed
from pyopscaffold.generate.manifest import documents
from pyopscaffold.loader.crds import ANNOTATIONS_MAX
from pyopscaffold.model.schema import kind_schema
from pyopscaffold.schema import to_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyopscaffold.api.resource import Column, Scale
    from pyopscaffold.model.kinds import KindModel, ProjectModel
    from pyopscaffold.model.project import Project

FOLDER = "config/crd/bases"


def artefacts(model: ProjectModel, project: Project) -> tuple[Artefact, ...]:
    """Return the file of every CRD."""
    found = kinds_by_versions(model)
    texts = {path_of(versions[0]): documents(crd_of(versions, project.max_description)) for versions in found}
    return tuple(Artefact(path, text, owner=Owner.TOOL) for path, text in texts.items())


def warnings(model: ProjectModel, project: Project, made: Iterable[Artefact]) -> Iterator[Problem]:
    """Yield CRDs that kubectl can't apply in its old way, which keeps a copy in an annotation, and APIs without one."""
    yield from _undeclared(model, project)
    texts = {artefact.path: artefact.text for artefact in made}
    for versions in kinds_by_versions(model):
        kind = versions[0]
        # As JSON it is smaller than as YAML, so few are made once more to be counted.
        if len(texts.get(path_of(kind), "")) > ANNOTATIONS_MAX:
            size = len(json.dumps(crd_of(versions, project.max_description), separators=(",", ":")))
            if size > ANNOTATIONS_MAX:
                message = (
                    f"the CRD has {size:,} bytes, more than the {ANNOTATIONS_MAX:,} that kubectl apply can keep in an"
                    " annotation; apply it with --server-side, or shorten it: pyopscaffold generate --max-description 0"
                )
                yield Problem(kind.span.file, kind.span.line, kind.root.name, message)


def _undeclared(model: ProjectModel, project: Project) -> Iterator[Problem]:
    """Yield the project's own APIs in PROJECT that no class declares."""
    declared = {kind.gvk for kind in model.kinds}
    for entry in project.resources:
        if entry.has_api and not entry.external and entry.gvk not in declared:
            message = (
                f"no @resource without skip=True declares {entry.kind} {entry.version} of {entry.api_group}, so it has"
                " no CRD; remove the entry if the class is gone, or make group, version and kind agree"
            )
            yield Problem("PROJECT", entry.line, entry.kind, message)


def path_of(kind: KindModel) -> str:
    """Return where a kind's CRD is: ``config/crd/bases/example.com_mydatabases.yaml``."""
    return f"{FOLDER}/{kind.gvk.group}_{kind.gvk.plural}.yaml"


def kinds_by_versions(model: ProjectModel) -> tuple[tuple[KindModel, ...], ...]:
    """Return the versions of each kind, both sorted by name as controller-gen sorts them."""
    found: dict[tuple[str, str], list[KindModel]] = {}
    for kind in model.kinds:
        found.setdefault((kind.gvk.group, kind.gvk.kind), []).append(kind)
    by_version = (sorted(versions, key=lambda kind: kind.gvk.version) for _, versions in sorted(found.items()))
    return tuple(map(tuple, by_version))


def crd_of(versions: Sequence[KindModel], max_description: int | None = None) -> dict[str, Any]:
    """Return the CRD of one kind; ``versions`` agree on everything that is not a version's own.

    Descriptions are :func:`~pyopscaffold.generate.descriptions.trimmed` to ``max_description`` bytes, if that is given.
    """
    kind = versions[0]
    names: dict[str, Any] = {
        "kind": kind.gvk.kind,
        "listKind": f"{kind.gvk.kind}List",
        "plural": kind.gvk.plural,
        "singular": kind.singular,
    }
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    if kind.categories:
        names["categories"] = list(kind.categories)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": _metadata(versions),
        "spec": {
            "group": kind.gvk.group,
            "names": names,
            "scope": "Namespaced" if kind.gvk.namespaced else "Cluster",
            "versions": [_version(version, max_description) for version in versions],
        },
    }


def _metadata(versions: Sequence[KindModel]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": versions[0].gvk.group_resource}
    for name in ("annotations", "labels"):
        if merged := {key: text for version in versions for key, text in getattr(version, name).items()}:
            metadata[name] = merged
    return metadata


def _version(kind: KindModel, max_description: int | None) -> dict[str, Any]:
    schema = kind_schema(kind)
    if max_description is not None:
        schema = trimmed(schema, max_description)
    version: dict[str, Any] = {
        "name": kind.gvk.version,
        "schema": {"openAPIV3Schema": to_mapping(schema)},
        "served": kind.served,
        "storage": kind.storage,
    }
    if kind.selectable:
        version["selectableFields"] = [{"jsonPath": path} for path in kind.selectable]
    if kind.columns:
        version["additionalPrinterColumns"] = [_column(column) for column in kind.columns]
    subresources: dict[str, Any] = {}
    if kind.has_status_subresource:
        subresources["status"] = {}
    if kind.scale is not None:
        subresources["scale"] = _scale(kind.scale)
    if subresources:
        version["subresources"] = subresources
    if kind.deprecated is not None:
        version["deprecated"] = True
    if kind.deprecated:
        version["deprecationWarning"] = kind.deprecated
    return version


def _column(column: Column) -> dict[str, Any]:
    optional = {"description": column.description, "format": column.format, "priority": column.priority}
    required = {"jsonPath": column.json_path, "name": column.name, "type": column.type}
    return {**required, **{name: value for name, value in optional.items() if value}}


def _scale(scale: Scale) -> dict[str, str]:
    paths = {"specReplicasPath": scale.spec, "statusReplicasPath": scale.status}
    return {**paths, "labelSelectorPath": scale.selector} if scale.selector else paths
