"""What there is to check: files, and what is made of a folder that is named itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.errors import DocumentError
from pyopscaffold.lint import charts, kustomized
from pyopscaffold.lint.programs import has, there_is
from pyopscaffold.loader.manifests import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyopscaffold.document.reader import Source
    from pyopscaffold.model.project import Project

CLUSTER = "cluster:"


def gather(paths: Iterable[str], *, excluded: Callable[[str], bool] = lambda _: False) -> Iterator[str | Source]:
    """Name files to read, see :func:`~pyopscaffold.loader.manifests.find`, and yield what is made of folders.

    A folder that is named itself, and is no mere part of a tree, is what it was made to be: a Helm chart or a
    kustomization is rendered, if there is a program for it.

    ``cluster:`` and the name of a context, if it is not the current one, stands for the CRDs of a cluster.

    Raises:
        DocumentError: a path is empty, a folder can't be looked into, or a Python file is in no project's package.
        KubeconfigError, ClientError: the CRDs of a cluster can't be read.

    """
    plain: list[str] = []
    for path in paths:
        if path.startswith(CLUSTER):
            from pyopscaffold.lint import clusters  # noqa: PLC0415 - its client takes time to load

            yield from clusters.sources(path.removeprefix(CLUSTER))
        elif there_is(path, charts.FILE) and has("helm"):
            yield from charts.rendered(path, excluded)
        elif file := kustomized.file_of(path):
            yield from kustomized.rendered(path, file, excluded)
        elif project := _project_of(path):
            from pyopscaffold.lint import declared  # noqa: PLC0415 - generators take time to load

            yield from declared.generated(path, *project)
            plain += [path] if Path(path).is_dir() else []  # it may have manifests too
        else:
            plain.append(path)
    yield from find(plain, excluded=excluded)


def _project_of(path: str) -> tuple[Path, Project] | None:
    is_code = path.endswith(".py") and there_is(path)
    if not is_code and not there_is(path, "__init__.py"):
        return None
    from pyopscaffold.lint import declared  # noqa: PLC0415 - as above

    project = declared.project_of(path)
    if is_code and not project:
        raise DocumentError(
            f"{path} is no part of a project's package, whose classes could be checked",
            hint="pyopscaffold init makes a project; its PROJECT file names the package",
        )
    return project
