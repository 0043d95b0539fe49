"""Makes fixes of findings where the fields are declared: edits of a schema, said as edits of Python source.

What was edited is generated again, from a copy of the project: an edit that does not end its finding, or brings what a
server refuses, is dropped.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Document, scan
from pyopscaffold.errors import UserError
from pyopscaffold.lint import declared, engine
from pyopscaffold.lint.fixes import ROUNDS, Fixed, is_fixable, name_of
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.rule import Profile
from pyopscaffold.loader.manifests import read
from pyopscaffold.scaffold.importer.edits import Fields
from pyopscaffold.scaffold.importer.rewrite import rewritten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyopscaffold.document.reader import Source
    from pyopscaffold.lint.declared import Declared
    from pyopscaffold.lint.finding import Finding

    _Check = Callable[[Source], Iterable[Finding]]


def fix(source: Declared, check: _Check, *, unsafe: bool = False) -> dict[str, tuple[Source, Fixed]]:
    """Fix what ``check`` finds; return the files that have such findings, as they were and as they are to be."""
    before = {place.source.file: place.source for place in source.places.values()}
    made: list[Finding] = []
    stuck: dict[str, Finding] = {}
    work = _Work(source, check)
    for _ in range(ROUNDS):
        found = [it for it in check(work.now) if is_fixable(it, unsafe=unsafe) and name_of(it) not in stuck]
        done, refused = work.make(found)
        made += done
        stuck.update((name_of(it), it) for it in refused)
        if not done:
            break
    files = {it.file for it in (*made, *stuck.values())} & before.keys() | work.texts.keys()
    return {
        file: (
            before[file],
            Fixed(
                work.texts.get(file, before[file].text),
                tuple(it for it in made if it.file == file),
                tuple(it for it in stuck.values() if it.file == file),
            ),
        )
        for file in sorted(files)
    }


class _Work:
    """The state of the code: ``texts`` are the files that were edited, by the names that findings have."""

    def __init__(self, source: Declared, check: _Check) -> None:
        self.now = source
        self.texts: dict[str, str] = {}
        self._check = check

    def make(self, findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
        """Make fixes, all at once where that goes; return those that ended their findings, and the others."""
        if not findings:
            return [], []
        if self._made(findings):
            return list(findings), []
        if len(findings) == 1:
            return [], list(findings)
        # Lines move with each edit, so the second half is looked up anew.
        half = len(findings) // 2
        done, refused = self.make(findings[:half])
        names = {name_of(it) for it in findings[half:]}
        more, others = self.make([it for it in self._check(self.now) if name_of(it) in names])
        return done + more, refused + others

    def _made(self, findings: Sequence[Finding]) -> bool:
        documents = [part.data for part in scan(self.now) if isinstance(part, Document)]
        wishes = Fields(self.now, {data["metadata"]["name"]: data for data in documents}).wishes(findings)
        package = (self.now.root / self.now.project.package.partition(".")[0]).resolve()
        if wishes is None or not all(Path(file).resolve().is_relative_to(package) for file in wishes):
            return False  # what others wrote is not for us to edit
        texts = dict(self.texts)
        for file, changes in wishes.items():
            text = rewritten(texts[file] if file in texts else read(file).text, changes)
            if text is None:
                return False
            texts[file] = text
        after = _generated(self.now, texts)
        if after is None or {name_of(it) for it in self._check(after)} & {name_of(it) for it in findings}:
            return False
        if _refusals(after) - _refusals(self.now):
            return False
        self.now, self.texts = after, texts
        return True


def _generated(source: Declared, texts: Mapping[str, str]) -> Declared | None:
    """Generate from a copy of the package with other texts; None where that fails."""
    package = source.project.package.partition(".")[0]
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder).resolve()
        for entry in source.root.iterdir():
            if entry.name == package:
                shutil.copytree(entry, code / package, ignore=_left_out)
            else:
                (code / entry.name).symlink_to(entry.resolve())
        for name, text in texts.items():
            (code / Path(name).resolve().relative_to(source.root.resolve())).write_text(text, "utf-8")
        try:
            return next(declared.generated(source.file, source.root, source.project, code=code), None)
        except UserError:
            return None


def _left_out(folder: str, names: Iterable[str]) -> list[str]:
    """Name what can't be copied, such as an editor's lock, which is a link to nowhere, and what need not be."""
    entries = (Path(folder, name) for name in names)
    return [it.name for it in entries if it.name == "__pycache__" or not (it.is_file() or it.is_dir())]


def _refusals(source: Source) -> set[str]:
    rules = builtin().choose(profile=Profile.APISERVER)
    return {name_of(finding) for finding in engine.lint([source], rules).findings}
