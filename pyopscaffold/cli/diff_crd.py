"""``pyopscaffold diff-crd``."""

from __future__ import annotations

import enum
import os
from typing import TYPE_CHECKING, Annotated

import typer

from pyopscaffold.cli import console
from pyopscaffold.errors import DocumentError

if TYPE_CHECKING:
    from pyopscaffold.compat.change import Change
    from pyopscaffold.document.reader import Unreadable
    from pyopscaffold.lint.subject import Manifest


class Output(enum.StrEnum):
    """Forms of the comparison."""

    MARKDOWN = "markdown"
    JSON = "json"


class Threshold(enum.StrEnum):
    """The least grade that makes the exit code 1."""

    BREAKING = "breaking"
    RISKY = "risky"
    NEVER = "never"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("diff-crd")(diff_crd)


def diff_crd(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A file, a folder, or REVISION[:PATH] as in git.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, as it is now.")],
    *,
    fail_on: Annotated[
        Threshold, typer.Option(help="The least grade that makes the exit code 1.")
    ] = Threshold.BREAKING,
    output: Annotated[Output, typer.Option("--output", "-o", help="Markdown is a release note.")] = Output.MARKDOWN,
) -> None:
    """Tell what changed between two states of CRDs, and whom that breaks.

    Exits 0 if nothing breaks, 1 if something does (see --fail-on), 2 if it could not compare.
    """
    from pyopscaffold.compat import report  # noqa: PLC0415 - heavy imports belong to the command
    from pyopscaffold.compat.change import Grade  # noqa: PLC0415

    found = _compared(old, new)
    console.say((report.to_json(found) if output is Output.JSON else report.to_markdown(found)).removesuffix("\n"))
    if fail_on is not Threshold.NEVER:
        least = Grade[fail_on.name]
        if any(change.grade >= least for changes in found.values() for change in changes):
            raise typer.Exit(1)


def _compared(old: str, new: str) -> dict[str, tuple[Change, ...]]:
    from pyopscaffold.compat.crd import added, compare, removed  # noqa: PLC0415

    (was, unread_then), (now, unread_now) = _read(old, new), _read(new, old)
    for name in sorted(was.keys() ^ now.keys()):
        _require_absent(name, unread_now if name in was else unread_then)
    if len(was) == len(now) == 1 and was.keys() != now.keys():  # two files: one was meant to become the other
        (before,), (name, after) = was.values(), next(iter(now.items()))
        return {name: compare(before.data, after.data)}
    found: dict[str, tuple[Change, ...]] = {}
    for name in sorted(was.keys() | now.keys()):
        if name not in now:
            found[name] = (removed(name),)
        else:
            found[name] = compare(was[name].data, now[name].data) if name in was else (added(name),)
    return found


def _require_absent(name: str, unread: list[Unreadable]) -> None:
    """Refuse to call a CRD new, or gone, that stands in what can't be read."""
    for part in unread:
        if name in part.source.text:
            raise _unread(part, f"{name} is in it, and can't be compared")


def _read(place: str, other: str) -> tuple[dict[str, Manifest], list[Unreadable]]:
    """Read the CRDs of a place, and what can't be read; a revision alone means the path of the other place in it."""
    from pyopscaffold.lint.evolution import read_before  # noqa: PLC0415
    from pyopscaffold.loader.revision import load_before  # noqa: PLC0415

    unread: list[Unreadable] = []
    path = other if os.path.lexists(other) else other.partition(":")[2] or "."
    found = read_before(load_before(place, [path]), unread)
    if found:
        return found, unread
    if unread:
        raise _unread(unread[0], f"{place} has no other CRD")
    where = place if ":" in place or os.path.lexists(place) else f"{place}:{path}"
    raise DocumentError(f"no CRD found in {where}", hint="name files or folders of apiextensions.k8s.io/v1")


def _unread(part: Unreadable, hint: str) -> DocumentError:
    problem = "a template: render it first" if part.template else part.problem
    return DocumentError(f"{part.source.file}:{part.position.line}: {problem}", hint=hint)
