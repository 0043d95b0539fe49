"""Helm charts, rendered by the helm of the user."""

from __future__ import annotations

import re
from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Source
from pyopscaffold.lint.derived import Derived, Place
from pyopscaffold.lint.programs import ask
from pyopscaffold.loader.manifests import find, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FILE = "Chart.yaml"
_HEAD = re.compile(r"^---\n# Source: (\S+?)/(\S+)$", re.MULTILINE)
_ALIKE = 3
"""Lines on end that tell where in a template a part comes from, and lines that a value in between may take."""
_FAR = 200


def rendered(folder: str, excluded: Callable[[str], bool]) -> Iterator[str | Source]:
    """Yield what a chart makes, by its own default values, a source for each of its files.

    Where helm refuses it, that is the fault of its Chart.yaml, and the files of crds/ are named instead.
    """
    # Whatever is in the chart, helm only reads it; without --dry-run=server no cluster is asked.
    answer = ask("helm", "template", "lint-crd", folder, "--include-crds")
    if answer.error:
        yield Source(str(Path(folder, FILE)), "", f"helm template: {answer.error}")
        crds = Path(folder, "crds")
        yield from find([str(crds)], excluded=excluded) if crds.is_dir() else ()
        return
    for name, text in _by_file(answer.text).items():
        file = Path(folder, name)
        if not excluded(str(file)):
            yield _placed(text, file)


def _by_file(text: str) -> dict[str, str]:
    """Cut helm's output by the files that it says the parts are from; helm sorts them by kind."""
    heads = list(_HEAD.finditer(text))
    # A file in crds/ may have such comments of its own.
    heads = [head for head in heads if head[1] == heads[0][1]]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    found: dict[str, list[str]] = {}
    for head, end in zip(heads, ends, strict=True):
        found.setdefault(head[2], []).append(text[head.start() : end])
    return {name: "".join(parts) for name, parts in found.items()}


def _placed(text: str, file: Path) -> Derived:
    name = f"{file} (rendered)"
    if not file.is_file():  # it is in the archive of a dependency
        return Derived(name, text)
    template = read(str(file))
    made = Derived(name, text)
    lines = same_lines(made.lines, template.lines)
    return Derived(name, text, places={line: Place(template, there) for line, there in lines.items()})


def same_lines(made: Sequence[str], template: Sequence[str]) -> dict[int, int]:
    """Map lines of what a template made to its own, both from 1, where they are alike and in like company."""
    where: dict[str, list[int]] = {}
    for at, line in enumerate(template):
        where.setdefault(line, []).append(at)
    found, due = {}, 0
    for at, line in enumerate(made):
        places = where.get(line)
        if not places or not line.strip():
            due += line == template[due] if due < len(template) else 0
            continue
        place = due if due < len(template) and template[due] == line else _likeliest(made, at, template, places, due)
        if place is not None:
            found[at + 1], due = place + 1, place + 1
    return found


def _likeliest(made: Sequence[str], at: int, template: Sequence[str], places: list[int], due: int) -> int | None:
    """Return where a line that does not follow the last one comes from, None where that is a guess."""
    following = bisect_left(places, due)
    near = places[max(0, following - _ALIKE) : following + _FAR]
    best = max(near, key=lambda place: (_alike(made, at, template, place), place >= due, -abs(place - due)))
    sure = len(places) == 1 or 0 <= best - due <= _ALIKE or _alike(made, at, template, best) >= _ALIKE
    return best if sure else None


def _alike(made: Sequence[str], at: int, template: Sequence[str], place: int) -> int:
    """Count the lines on end that are alike, up to a bound."""
    most = min(len(made) - at, len(template) - place, _FAR)
    return next((count for count in range(most) if made[at + count] != template[place + count]), most)
