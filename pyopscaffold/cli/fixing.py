"""What ``lint-crd`` does for ``--fix`` and ``--diff``: which files are mended, and where their new text goes."""

from __future__ import annotations

import contextlib
import os
import sys
from codecs import BOM_UTF8
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import typer

from pyopscaffold.cli import console
from pyopscaffold.errors import FilesError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from pyopscaffold.document.reader import Source
    from pyopscaffold.files.plan import Plan
    from pyopscaffold.lint.declared import Declared
    from pyopscaffold.lint.finding import Report
    from pyopscaffold.lint.fixes import Fixed
    from pyopscaffold.lint.ruleset import Ruleset
    from pyopscaffold.lint.workers import Item

_STDIN = "<stdin>"


@dataclass(frozen=True, kw_only=True)
class Mending:
    """What was asked for: to write, or only to ``show``, and whether fixes may be ``unsafe``."""

    write: bool
    show: bool
    unsafe: bool

    def __post_init__(self) -> None:
        """Refuse what would do nothing."""
        if self.unsafe and not self.wanted:
            raise UsageError(
                "--unsafe-fixes alone changes nothing", hint="add --fix, or --diff to see what it would do"
            )

    @property
    def wanted(self) -> bool:
        """Whether anything is to be mended."""
        return self.write or self.show

    def aside(self, paths: Sequence[str] | None) -> AbstractContextManager[object]:
        """Have reports go to stderr where stdout is for the mended text."""
        is_piped = self.write and "-" in (paths or ())
        return contextlib.redirect_stdout(sys.stderr) if is_piped else contextlib.nullcontext()

    def carry_out(
        self,
        items: Sequence[Item],
        reports: tuple[Report, Report],
        ruleset: Ruleset,
        again: Callable[..., Report],
        *,
        jobs: int,
    ) -> Report:
        """Mend what a run found, by so many processes (0: as many as there is work for).

        ``reports`` are the whole one and the one less the baseline, ``again`` makes the next.

        Raises:
            Exit: the differences were shown; 1 if there are some.
            FilesError: a file can't be written; none was.

        """
        from pyopscaffold.document.reader import Source  # noqa: PLC0415 - heavy imports belong to the command

        whole, less = ({it.key(it.file) for it in report.findings} for report in reports)
        accepted = frozenset(whole - less)
        sources = self._files(items, reports[1])
        texts = self._mended(sources, ruleset, accepted, jobs=jobs)
        for name, (source, fixed) in self._mended_code(items, ruleset, accepted).items():
            if name not in texts:
                sources[name], texts[name] = source, fixed
        count = sum(len(fixed.made) for fixed in texts.values())
        for fixed in texts.values():
            for finding in fixed.stuck:
                place = f"{finding.file}:{finding.line}"
                why = (
                    "as Python has no word for it or the server would refuse it"
                    if finding.file.endswith(".py")
                    else "as an alias, a tag or a key that is there twice is in the way"
                )
                console.warn(f"{place}: {finding.rule} can't be fixed in place, {why}: do it by hand")
        written = {name: fixed.text for name, fixed in texts.items() if fixed.made}
        plan = _plan({name: text for name, text in written.items() if name != _STDIN}, sources)
        if self.show:
            console.diff(plan.diff() + _stdin_diff(sources, written))
            console.note(f"{count} would be fixed" if count else "nothing would be fixed")
            raise typer.Exit(1 if written else 0)
        _write(plan)
        if piped := next((item for item in items if isinstance(item, Source) and item.file == _STDIN), None):
            typer.echo(written.get(_STDIN, piped.text).encode("utf-8", "surrogateescape"), nl=False)
        if not written:
            return reports[1]
        return replace(again([_again(item, written) for item in items]), fixed=count)

    def _files(self, items: Sequence[Item], report: Report) -> dict[str, Source]:
        """Read again what has findings with fixes, but for what is no file and what code declares."""
        from pyopscaffold.document.reader import Source  # noqa: PLC0415 - as above
        from pyopscaffold.lint.fixes import is_fixable  # noqa: PLC0415
        from pyopscaffold.loader.manifests import read  # noqa: PLC0415

        names = {it.file for it in report.findings if is_fixable(it, unsafe=self.unsafe)}
        found: dict[str, Source] = {}
        for item in items:
            if (name := _name(item)) not in names or _is_declared(item):
                continue
            if isinstance(item, str) or name == _STDIN:
                found[name] = item if isinstance(item, Source) else read(item)
            else:
                console.warn(f"{name}: not fixed, as it is no file: mend what it was made from")
        return found

    def _mended(
        self, sources: Mapping[str, Source], ruleset: Ruleset, accepted: frozenset[str], *, jobs: int
    ) -> dict[str, Fixed]:
        from pyopscaffold.lint import workers  # noqa: PLC0415 - as above
        from pyopscaffold.lint.fixes import mend  # noqa: PLC0415

        tasks = [partial(mend, source, accepted=accepted, unsafe=self.unsafe) for source in sources.values()]
        sizes = list(map(workers.size, sources.values()))
        with console.Progress("files fixed") as progress:
            made = workers.each(tasks, sizes, ruleset, jobs=jobs, tell=progress.tell)
        return dict(zip(sources, made, strict=True))

    def _mended_code(
        self, items: Sequence[Item], ruleset: Ruleset, accepted: frozenset[str]
    ) -> dict[str, tuple[Source, Fixed]]:
        """Mend what code declares; the files are as they were and as they are to be."""
        found: dict[str, tuple[Source, Fixed]] = {}
        for item in items:
            if _is_declared(item):
                from pyopscaffold.lint.fixes import unaccepted  # noqa: PLC0415 - as above
                from pyopscaffold.scaffold import fixes_in_python  # noqa: PLC0415

                check = partial(unaccepted, ruleset=ruleset, accepted=accepted)
                found = fixes_in_python.fix(item, check, unsafe=self.unsafe) | found
        return found


def _name(item: Item) -> str:
    return item if isinstance(item, str) else item.file


def _is_declared(item: Item) -> TypeGuard[Declared]:
    """Tell what code declares from texts, without a need to load what reads code."""
    from pyopscaffold.lint.derived import Derived  # noqa: PLC0415 - as above

    return isinstance(item, Derived) and item.can_be_fixed


def _again(item: Item, written: Mapping[str, str]) -> Item:
    """Return what is to be checked after files were written."""
    from pyopscaffold.document.reader import Source  # noqa: PLC0415 - as above

    if _is_declared(item):
        from pyopscaffold.lint import declared  # noqa: PLC0415

        return next(declared.generated(item.file, item.root, item.project), item)
    return Source(name, written[name]) if (name := _name(item)) in written else item


def _plan(texts: Mapping[str, str], sources: Mapping[str, Source]) -> Plan:
    """Plan to write texts; a link's target is what is written."""
    from pyopscaffold.files.artefact import Artefact, Owner  # noqa: PLC0415 - as above
    from pyopscaffold.files.plan import plan  # noqa: PLC0415

    places = {name: Path(name).resolve() for name in texts}
    root = Path.cwd().resolve()
    if not all(place.is_relative_to(root) for place in places.values()):
        root = Path(os.path.commonpath([root, *(place.parent for place in places.values())]))
    marks = {name: "\ufeff" if place.read_bytes().startswith(BOM_UTF8) else "" for name, place in places.items()}
    relative = {places[name].relative_to(root).as_posix(): name for name in texts}
    planned = plan(
        root, [Artefact(path, marks[name] + texts[name], owner=Owner.BOTH) for path, name in relative.items()]
    )
    for change in planned.changes:
        name = relative[change.path]
        if change.before != marks[name] + sources[name].text:
            raise FilesError(f"{name} was changed while it was checked; nothing was changed", hint="run it again")
    return planned


def _write(plan: Plan) -> None:
    from pyopscaffold.files.apply import apply  # noqa: PLC0415 - as above

    for change in plan.writes:
        if not os.access(plan.root / change.path, os.W_OK):
            raise FilesError(
                f"{change.path} is read-only; nothing was changed",
                hint="make it writable, or see by --diff what would be fixed",
            )
    apply(plan)


def _stdin_diff(sources: Mapping[str, Source], texts: Mapping[str, str]) -> str:
    from pyopscaffold.files.plan import Action, Change  # noqa: PLC0415 - as above

    if _STDIN not in texts:
        return ""
    return Change(_STDIN, Action.UPDATE, sources[_STDIN].text, texts[_STDIN]).diff()
