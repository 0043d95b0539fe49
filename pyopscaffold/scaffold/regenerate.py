"""What generating would change in a project on disk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyopscaffold.loader import interpreter
from pyopscaffold.loader import project as project_file

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.errors import Problem
    from pyopscaffold.files.plan import Plan


def plan_project(
    root: Path,
    *,
    python: str = "",
    force: bool = False,
    docs_only: bool = False,
    max_description: int | None = None,
) -> tuple[Plan, tuple[Problem, ...]]:
    """Read the project at ``root``, and return what generating would change, with warnings about its declarations.

    ``docs_only`` is for the reference of the API alone, which is made where it is not there yet.
    ``max_description`` goes before PROJECT's.

    Raises:
        ProjectError, LoadError, DeclarationError, DocumentError, FilesError: as the parts say.

    """
    project = project_file.read(root)
    if max_description is not None:
        project = replace(project, max_description=max_description)
    probe = interpreter.start(root, project.package, python=python)
    # The probe imports the user's code meanwhile.
    from pyopscaffold import generate as generators  # noqa: PLC0415
    from pyopscaffold.files.plan import plan  # noqa: PLC0415
    from pyopscaffold.loader import source, tree  # noqa: PLC0415

    model = source.model_of(root, probe.answer(), namespaced=project.namespaced)
    present = tree.texts(root, generators.READS)
    if docs_only:
        present = {path: text for path, text in present.items() if path.startswith(generators.docs.FOLDER)}
        made = generators.docs.artefacts(model)
    else:
        made = generators.artefacts(model, project, present)
    warnings = (*model.warnings, *generators.crd.warnings(model, project, made))
    return plan(root, made, delete=generators.stale(made, present), force=force), warnings
