"""Helm charts, rendered by the helm of the user."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Source
from pyopscaffold.lint.alike import same_lines
from pyopscaffold.lint.derived import RENDERED, Derived, Place
from pyopscaffold.lint.programs import ask
from pyopscaffold.lint.subject import CRD_KIND
from pyopscaffold.loader.manifests import find, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILE = "Chart.yaml"
_HEAD = re.compile(r"^---\n# Source: ([^/\n]+)/(.+)$", re.MULTILINE)


def rendered(folder: str, excluded: Callable[[str], bool]) -> Iterator[str | Source]:
    """Yield what a chart makes, by its own default values, a source for each of its files.

    Where helm refuses it, that is the fault of its Chart.yaml, and the files of crds/ are named instead. Templates of
    CRDs that the values switch off are named too: as templates they are told, and not checked.
    """
    # Whatever is in the chart, helm only reads it; without --dry-run=server no cluster is asked.
    answer = ask("helm", "template", "--include-crds", "--", "lint-crd", folder)
    if answer.error:
        yield Source(str(Path(folder, FILE)), "", f"helm template: {answer.error}")
        crds = Path(folder, "crds")
        yield from find([str(crds)], excluded=excluded) if crds.is_dir() else ()
        return
    made = {os.path.normpath(Path(folder, name)): parts for name, parts in _by_file(answer.text).items()}
    yield from (_placed(parts, Path(file)) for file, parts in made.items() if not excluded(file))
    for file in find([folder], excluded=excluded):
        if file not in made and "templates" in Path(file).parts and CRD_KIND in read(file).text:
            yield file


def _by_file(text: str) -> dict[str, list[str]]:
    """Cut helm's output into its parts, by the files that it says they are from; helm sorts them by kind."""
    heads = list(_HEAD.finditer(text))
    # A file in crds/ may have such comments of its own.
    heads = [head for head in heads if head[1] == heads[0][1]]
    found: dict[str, list[str]] = {}
    for head, end in zip(heads, [*(head.start() for head in heads[1:]), len(text)], strict=False):
        found.setdefault(head[2], []).append(text[head.start() : end])
    return found


def _placed(parts: list[str], file: Path) -> Derived:
    name, text = f"{file}{RENDERED}", "".join(parts)
    if not file.is_file():  # it is in the archive of a dependency
        return Derived(name, text)
    template = read(str(file))
    places: dict[int, Place] = {}
    before = 0
    for part in parts:
        lines = Source(name, part).lines
        for line, there in same_lines(lines, template.lines).items():
            places[before + line] = Place(template, there)
        before += len(lines)
    return Derived(name, text, places=places)
