"""Kustomize folders, put together by the kubectl or kustomize of the user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyopscaffold.document.reader import Document, Source, scan
from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint.derived import RENDERED, Derived, Place
from pyopscaffold.lint.programs import ask, has, there_is
from pyopscaffold.lint.subject import manifests
from pyopscaffold.loader.manifests import find, is_manifest, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyopscaffold.lint.subject import Manifest

_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_COMMANDS = (("kubectl", "kustomize"), ("kustomize", "build"))
_PARTS = ("resources", "bases", "components")


def file_of(folder: str) -> Path | None:
    """Return the file that makes a folder one of kustomize; None where there is none, or nobody who reads it."""
    if not any(has(program) for program, _ in _COMMANDS):
        return None
    return next((Path(folder, name) for name in _FILES if there_is(folder, name)), None)


def rendered(folder: str, file: Path, excluded: Callable[[str], bool]) -> Iterator[str | Source]:
    """Yield what kustomize makes of a folder; where it refuses, that is the fault of ``file``, and files are named."""
    command = next(command for command in _COMMANDS if has(command[0]))
    answer = ask(*command, "--", folder)
    if answer.error:
        yield Source(str(file), "", f"{' '.join(command)}: {answer.error}")
        yield from (each for each in find([folder], excluded=excluded) if each != str(file))
        return
    made = Derived(f"{file}{RENDERED}", answer.text)
    places: dict[int, Place] = {}
    written = [manifest for each in _files(file, set()) for manifest in _manifests(read(str(each)))]
    for manifest in _manifests(made):
        if origin := _origin(manifest, written):
            for line, place in _places(manifest, origin):
                places.setdefault(line, place)
    yield Derived(made.file, made.text, places=places)


def _files(file: Path, seen: set[Path]) -> Iterator[Path]:
    """Yield the local files that a kustomization is made of; what lies elsewhere has no place here."""
    if file.resolve() in seen:
        return
    seen.add(file.resolve())
    for part in scan(read(str(file))):
        data = mapping(part.data) if isinstance(part, Document) else {}
        for name in (name for key in _PARTS for name in listing(data.get(key)) if text(name)):
            path = Path(os.path.normpath(file.parent / name))  # as a person would write it
            if path.is_file() and is_manifest(path.name):
                yield path
            elif inner := next((path / each for each in _FILES if (path / each).is_file()), None):
                yield from _files(inner, seen)


def _manifests(source: Source) -> Iterator[Manifest]:
    return (manifest for part in scan(source) if isinstance(part, Document) for manifest in manifests(part))


def _origin(made: Manifest, written: Sequence[Manifest]) -> Manifest | None:
    """Return what a manifest was made of: kustomize may have moved it, or put something around its name."""
    alike = [one for one in written if one.kind == made.kind and one.name and one.name in made.name]
    return max(alike, key=lambda one: (len(one.name), _namespace(one) == _namespace(made)), default=None)


def _namespace(manifest: Manifest) -> str:
    return text(mapping(manifest.data.get("metadata")).get("namespace"))


def _places(made: Manifest, written: Manifest) -> Iterator[tuple[int, Place]]:
    """Yield where each line comes from that says the same in both; a value that was patched comes from elsewhere."""
    pending: list[tuple[tuple[str | int, ...], Any, tuple[str | int, ...], Any]]
    pending = [((), made.data, (), written.data)]
    while pending:
        to, new, fro, old = pending.pop()
        if type(new) is not type(old) or (not isinstance(new, dict | list) and new != old):
            continue
        if not isinstance(new, dict) or new.keys() >= old.keys():  # else it is about what a patch took away
            origin = written.document.position((*written.base, *fro))
            yield made.document.position((*made.base, *to)).line, Place(written.document.source, *origin)
        if isinstance(new, dict):
            pending += [((*to, key), new[key], (*fro, key), old[key]) for key in new if key in old]
        elif isinstance(new, list):
            keys = {_key(item, index): index for index, item in enumerate(old)}
            for index, item in enumerate(new):
                if (at := keys.get(_key(item, index))) is not None:
                    pending.append(((*to, index), item, (*fro, at), old[at]))


def _key(item: Any, index: int) -> str | int:
    """Return what tells an item of a list from the others: its name, else where it stands."""
    return text(mapping(item).get("name")) or (item if isinstance(item, str) else index)
