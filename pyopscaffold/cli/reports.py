"""Where a report goes: forms by name, on standard output or into files."""

from __future__ import annotations

import enum
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.cli import console
from pyopscaffold.errors import UsageError
from pyopscaffold.kube.names import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyopscaffold.lint.finding import Report
    from pyopscaffold.lint.ruleset import Ruleset


_OF_REPORTS = re.compile(
    rb""""findings": \[|"runs": \[|"check_name": |<testsuites name="lint-crd"|^\d+ CRDs? in \d+ files? checked by """,
    re.MULTILINE,
)


class Form(enum.StrEnum):
    """Forms of a report."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"


def parse_outputs(values: Sequence[str]) -> tuple[tuple[Form, Path | None], ...]:
    """Read ``FORM`` and ``FORM:FILE``; the text goes to standard output where nothing else does.

    Raises:
        UsageError: there is no such form, two would go to one place, or a file is in the way.

    """
    found: list[tuple[Form, Path | None]] = []
    for value in values:
        name, colon, file = value.partition(":")
        if name not in set(Form):
            near = nearest(name.lower(), list(Form))
            forms = ", ".join(Form)
            raise UsageError(
                f"no form {name!r} of a report", hint=f"did you mean {near}?" if near else f"the forms are {forms}"
            )
        if colon and not file:
            raise UsageError(f"--output {value} names no file", hint=f"write {name}:FILE, or {name} alone")
        found.append((Form(name), Path(file) if file else None))
    if not any(file is None for _, file in found):
        found.append((Form.TEXT, None))
    found.sort(key=lambda output: output[1] is None)  # files first: who reads standard output may go away, as head does
    places = [file and file.resolve() for _, file in found]
    for (_, target), place in zip(found, places, strict=True):
        if places.count(place) > 1:
            where = target or "standard output"
            raise UsageError(f"two reports would go to {where}", hint="name a file for each: --output FORM:FILE")
        if target:
            _require_place(target)
    return tuple(found)


def _require_place(file: Path) -> None:
    """Refuse a file that can't be made, or that holds anything but an earlier report: a slip must cost nobody a CRD."""
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {file.parent} for {file.name}", hint="make it first")
    if file.is_dir():
        raise UsageError(f"{file} is a folder", hint="name a file in it")
    if file.is_file():
        content = file.read_bytes()
        if content.strip() not in {b"", b"[]"} and not _OF_REPORTS.search(content):
            raise UsageError(f"{file} is there and is no report", hint="name another file, or delete it first")


def deliver(
    report: Report, ruleset: Ruleset, outputs: Sequence[tuple[Form, Path | None]], *, statistics: bool = False
) -> None:
    """Write the report in each form to its place.

    Raises:
        UserError: a file can't be written.

    """
    for form, file in outputs:
        colour = file is None and console.colourful(sys.stdout)
        rendered = _rendered(report, ruleset, form, colour=colour, statistics=statistics)
        if file is None:
            console.say(rendered.removesuffix("\n"))
        else:
            write_file(file, rendered)


def _rendered(report: Report, ruleset: Ruleset, form: Form, *, colour: bool, statistics: bool) -> str:
    module = import_module(f"pyopscaffold.lint.report.{form}")  # the one that is needed: xml takes time to load
    if form is Form.TEXT:
        shown = module.statistics if statistics else module.render
        return str(shown(report, colour=colour))
    return str(module.render(report, ruleset.known) if form is Form.SARIF else module.render(report))


def write_file(file: Path, text: str) -> None:
    """Write a file that its user may edit as well, whole or not at all; what is no file takes the text as it comes.

    Raises:
        UserError: it can't be written.

    """
    if file.exists() and not file.is_file():  # a pipe or device: to read it may never end, to replace it is no use
        file.write_text(text, "utf-8", "surrogateescape")
        return
    place = file.resolve()  # a link stays one
    from pyopscaffold.files.apply import apply  # noqa: PLC0415
    from pyopscaffold.files.artefact import Artefact, Owner  # noqa: PLC0415
    from pyopscaffold.files.plan import plan  # noqa: PLC0415

    apply(plan(place.parent, [Artefact(place.name, text, owner=Owner.BOTH)]))
