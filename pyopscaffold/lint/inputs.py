"""What there is to check: files, and what is made of a folder that is named itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.lint import charts
from pyopscaffold.lint.programs import has
from pyopscaffold.loader.manifests import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyopscaffold.document.reader import Source


def gather(paths: Iterable[str], *, excluded: Callable[[str], bool] = lambda _: False) -> Iterator[str | Source]:
    """Name files to read, see :func:`~pyopscaffold.loader.manifests.find`, and yield what is made of folders.

    A folder that is named itself, and is no mere part of a tree, is what it was made to be: a Helm chart is rendered,
    if there is helm.

    Raises:
        DocumentError: a path is empty, or a folder can't be looked into.

    """
    plain: list[str] = []
    for path in paths:
        if path and Path(path, charts.FILE).is_file() and has("helm"):
            yield from charts.rendered(path, excluded)
        else:
            plain.append(path)
    yield from find(plain, excluded=excluded)
