"""Writes docs/lint-rules.md, and the table in docs/lint-crd.md, from the rules themselves: ``make docs``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.report import rules as form

if TYPE_CHECKING:
    from pyopscaffold.lint.rule import Rule

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "lint-rules.md"
OVERVIEW = ROOT / "docs" / "lint-crd.md"
_BEGIN, _END = "<!-- rules -->\n", "<!-- end of rules -->"
_HEAD = """\
# The rules of lint-crd

Each rule with its reason, and an example that breaches it beside one that does not; `pyopscaffold explain RULE` prints
the same. The tests run the examples. This page is written by `make docs`; [lint-crd](lint-crd.md) tells how to use it.
"""


def page() -> str:
    """Return the page of all rules."""
    return "\n".join([_HEAD, *map(_section, builtin())])


def overview() -> str:
    """Return docs/lint-crd.md with the table as the rules have it now."""
    before, _, rest = OVERVIEW.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    head = ["| id | name | profile | what it asks |", "|---|---|---|---|"]
    return "".join([before, _BEGIN, *(f"{line}\n" for line in [*head, *map(_row, builtin())]), _END, after])


def _section(rule: Rule[Any]) -> str:
    """Render a rule as ``explain`` does, two levels deeper; what is code is left as it is."""
    parts = re.split(r"(^```.*?^```$)", form.render(rule), flags=re.DOTALL | re.MULTILINE)
    deeper = [part if part.startswith("```") else re.sub("^(#+ )", r"#\1", part, flags=re.MULTILINE) for part in parts]
    return f'<a id="{rule.id.lower()}"></a>\n' + "".join(deeper)


def _row(rule: Rule[Any]) -> str:
    what = re.split(r"(?<=\.)\s", rule.what, maxsplit=1)[0].replace("|", "\\|")
    link = f"[{rule.id}]({PAGE.name}#{rule.id.lower()})"
    return f"| {link} | {rule.name} | {rule.profile.name.lower()} | {what} |"


def main() -> None:
    """Write the page and the table."""
    PAGE.write_text(page(), encoding="utf-8")
    OVERVIEW.write_text(overview(), encoding="utf-8")


if __name__ == "__main__":
    main()
