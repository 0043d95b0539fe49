"""Changes, for people as a release note, and for programs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from pyopscaffold.compat.change import Grade

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyopscaffold.compat.change import Change

    Changes = Mapping[str, Sequence[Change]]
    """Changes by the name of the CRD."""

FORMAT_VERSION = 1  # raised when a key changes its meaning or goes
_TITLES = {Grade.BREAKING: "Breaking", Grade.RISKY: "Risky", Grade.COMPATIBLE: "Compatible"}
_ACTIVE = re.compile(r"([*_`<>\[\]\\|])")


def to_markdown(found: Changes) -> str:
    """Render the changes, a chapter a CRD, the worst first; a CRD without changes is left out."""
    lines = list(_lines(found))
    return "\n".join(lines).strip("\n") + "\n" if lines else "Nothing changed that an API client could notice.\n"


def to_json(found: Changes) -> str:
    """Render the changes as one JSON object."""
    crds = {name: [_mapping(change) for change in changes] for name, changes in found.items()}
    counts = {grade.name.lower(): _count(found, grade) for grade in sorted(Grade, reverse=True)}
    return json.dumps({"version": FORMAT_VERSION, "crds": crds, "summary": counts}, indent=2) + "\n"


def _lines(found: Changes) -> Iterator[str]:
    for name, changes in found.items():
        if not changes:
            continue
        yield from (f"## {name}", "")
        for grade in sorted(Grade, reverse=True):
            graded = [change for change in changes if change.grade is grade]
            if graded:
                yield from (f"### {_TITLES[grade]}", "", *map(_item, graded), "")


def _item(change: Change) -> str:
    where = f"`{change.version}` " if change.version and change.field else ""
    beside = f"(objects written as `{change.before}`) " if change.before else ""
    rest = change.message.removeprefix(change.field)
    field = f"`{change.field}`" if rest != change.message else ""
    return f"- {where}{beside}{field}" + _ACTIVE.sub(r"\\\1", rest)


def _mapping(change: Change) -> dict[str, object]:
    return {
        "grade": change.grade.name.lower(),
        "sort": str(change.sort),
        "version": change.version,
        "before": change.before,
        "field": change.field,
        "message": change.message,
        "path": list(change.path),
    }


def _count(found: Changes, grade: Grade) -> int:
    return sum(change.grade is grade for changes in found.values() for change in changes)
