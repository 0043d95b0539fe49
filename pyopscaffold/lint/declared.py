"""The CRDs that a project's Python code declares, with the lines that declare them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyopscaffold.document.reader import Document, Source, scan
from pyopscaffold.generate.crd import crd_of, kinds_by_versions
from pyopscaffold.generate.manifest import documents
from pyopscaffold.lint.derived import Derived, Place
from pyopscaffold.lint.suppress import blocks_at
from pyopscaffold.loader import early, interpreter, source
from pyopscaffold.loader import project as project_file
from pyopscaffold.loader.manifests import read
from pyopscaffold.model.kinds import KindModel, ListType, MapType, SourceSpan, StructType, TypeModel
from pyopscaffold.model.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Declared(Derived):
    """The CRDs of a project's code, and what declares them: ``crds`` has the versions of each, as the text does."""

    root: Path = field(kw_only=True, repr=False)
    project: Project = field(kw_only=True, hash=False, repr=False)
    crds: tuple[tuple[KindModel, ...], ...] = field(kw_only=True, hash=False, repr=False)

    @property
    def can_be_fixed(self) -> bool:
        """Whether fixes can be made in what this was made of."""
        return True


def project_of(path: str) -> tuple[Path, Project] | None:
    """Return the project of a Python file or package, if it belongs to the package that declares the project's API.

    Raises:
        ProjectError: the PROJECT file is malformed.

    """
    place = Path(path).resolve()
    folder = place.parent if place.suffix == ".py" and place.is_file() else place
    if not (folder / "__init__.py").is_file() or not (root := early.root_of(str(folder))):
        return None
    project = project_file.read(Path(root))
    top = folder
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    module = ".".join((top.name, *folder.relative_to(top).parts))
    belongs = f"{module}.".startswith(f"{project.package}.")
    return (Path(root), project) if belongs else None


def generated(path: str, root: Path, project: Project, *, code: Path | None = None) -> Iterator[Declared]:
    """Yield the CRDs that the classes below ``path`` declare, as one text: what would be generated now.

    ``code`` is a copy of the project to read instead; what is found there is told of the project itself.

    Raises:
        LoadError, DeclarationError: the code can't be read; as ``generate`` has it.

    """
    command = interpreter.find_interpreter(root)
    at = code or root
    answer = interpreter.start(at, project.package, python=command[0] if code and len(command) == 1 else "").answer()
    model = source.model_of(at, answer, namespaced=project.namespaced)
    below = Path(path).resolve()
    chosen = tuple(
        tuple(versions)
        for versions in kinds_by_versions(model)
        if any((root / kind.span.file).resolve().is_relative_to(below) for kind in versions)
    )
    if chosen:
        text = documents(*(crd_of(versions, project.max_description) for versions in chosen))
        made = Derived(path, text)
        places = _places(made, chosen, _Files(root, at))
        yield Declared(path, text, places=places, root=root, project=project, crds=chosen)


def _places(made: Derived, crds: Sequence[Sequence[KindModel]], files: _Files) -> dict[int, Place]:
    """Map each line to the field that it is about, else to the class."""
    firsts: dict[int, SourceSpan] = {}
    parts = [part for part in scan(made) if isinstance(part, Document)]
    for document, versions in zip(parts, crds, strict=True):
        for path, span in _spans(versions):
            if _is_there(document.data, path):
                firsts[document.position(path).line] = span
    blocks = blocks_at(made.lines, {line - 1 for line in firsts})
    places: dict[int, Place] = {}
    for line, span in sorted(firsts.items()):  # what is within comes later
        place = files.place(span)
        places.update(dict.fromkeys(blocks[line - 1], place))
    return places


def _spans(versions: Sequence[KindModel]) -> Iterator[tuple[_Path, SourceSpan]]:
    for key in ("apiVersion", "kind", "metadata", "spec"):
        yield (key,), versions[0].root.span
    for index, kind in enumerate(versions):
        at = ("spec", "versions", index)
        yield at, kind.root.span
        yield from _fields(kind.root, (*at, "schema", "openAPIV3Schema"))


def _fields(model: TypeModel, path: _Path) -> Iterator[tuple[_Path, SourceSpan]]:
    match model:
        case StructType(fields=fields):
            for field in fields:
                below = (*path, "properties", field.json_name)
                yield below, field.span
                yield from _fields(field.type, below)
        case ListType(items=items):
            yield from _fields(items, (*path, "items"))
        case MapType(values=values):
            yield from _fields(values, (*path, "additionalProperties"))


def _is_there(data: Any, path: _Path) -> bool:
    try:
        reduce(getitem, path, data)
    except (KeyError, IndexError, TypeError):
        return False
    return True


class _Files:
    """The files of a project, named as seen from the working directory."""

    def __init__(self, root: Path, code: Path) -> None:
        self._root = root
        self._code = code
        self._read: dict[str, Source] = {}

    def place(self, span: SourceSpan) -> Place:
        if span.file not in self._read:
            text = read(os.path.relpath(self._code / span.file)).text
            self._read[span.file] = Source(os.path.relpath(self._root / span.file), text)
        found = self._read[span.file]
        line = found.lines[span.line - 1] if span.line <= len(found.lines) else ""
        return Place(found, span.line, len(line) - len(line.lstrip()) + 1)
