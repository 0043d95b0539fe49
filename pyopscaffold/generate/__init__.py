"""From the model to files, purely: the same declarations give the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.files.plan import GENERATED
from pyopscaffold.generate import crd, docs, helm, kustomize, rbac, samples, webhook

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyopscaffold.files.artefact import Artefact
    from pyopscaffold.model.kinds import ProjectModel
    from pyopscaffold.model.project import Project

READS = ("config/**/*.yaml", "charts/*/Chart.yaml", "charts/*/templates/**/*.yaml", f"{docs.FOLDER}/*.md")
"""The files that generators want to know: those they edit, and those that may have become stale."""

_HEAD = 200


def artefacts(model: ProjectModel, project: Project, present: Mapping[str, str]) -> tuple[Artefact, ...]:
    """Return every file that follows from the model.

    ``present`` maps the paths of existing files (:data:`READS`) to their texts.

    Raises:
        DocumentError: a file that is edited in place is malformed.

    """
    made = (
        *crd.artefacts(model, project),
        *rbac.artefacts(model, project, present),
        *webhook.artefacts(model),
        *samples.artefacts(model, project),
        *helm.artefacts(model, project, present),
        *(docs.artefacts(model) if docs.wanted(present) else ()),
    )
    gone = stale(made, present)
    after = {path: text for path, text in present.items() if path not in gone}
    after |= {artefact.path: artefact.text for artefact in made if artefact.path not in after}
    return (*made, *kustomize.artefacts(model, project, after))


def stale(made: Iterable[Artefact], present: Mapping[str, str]) -> frozenset[str]:
    """Return the files that say they were generated and are not among those made: of a kind that is gone, say."""
    paths = {artefact.path for artefact in made}
    return frozenset(path for path, text in present.items() if GENERATED in text[:_HEAD] and path not in paths)
