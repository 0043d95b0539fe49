from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import lint_rules
from tests.tools_path import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "changelog.d").glob("*.md")])
TEXTS = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}
COMMAND = re.compile(r"\bpyopscaffold((?: [a-z][a-z-]+)+)")
CODE = re.compile(r"^```.*?^```$|``.*?``|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")
PROGRAM = Path(sys.executable).with_name("pyopscaffold")


def commands() -> set[str]:
    """Every command line that a page shows as code, as its verbs: ``create api``; decisions may name later ones."""
    shown = [
        code
        for page, text in TEXTS.items()
        if "/adr/" not in page
        for code in re.findall(r"```console\n(.*?)```|`([^`\n]+)`", text, re.DOTALL)
    ]
    return {match.strip() for code in shown for match in COMMAND.findall("".join(code))}


@pytest.mark.parametrize("verbs", sorted(commands()))
def test_each_command_of_the_pages_is_there(verbs: str) -> None:
    """Whoever types what a page says is understood: each verb has its help."""
    words = verbs.split()
    words = words[: 2 if words[0] in {"create", "envtest", "rbac"} else 1]

    asked = subprocess.run([str(PROGRAM), *words, "--help"], capture_output=True, text=True, check=False)

    assert asked.returncode == 0, asked.stderr
    assert f"pyopscaffold {' '.join(words)}" in asked.stdout


@pytest.mark.parametrize("page", sorted(TEXTS))
def test_links_lead_somewhere(page: str) -> None:
    """Each relative link of a page names a file that is there; code may look like one."""
    folder = (ROOT / page).parent

    assert [link for link in LINK.findall(CODE.sub("", TEXTS[page])) if not (folder / link).exists()] == []


def test_the_pages_of_the_linter_say_what_its_rules_say() -> None:
    """The table and the page of all rules are what `make docs` writes."""
    assert lint_rules.page() == TEXTS["docs/lint-rules.md"], "run make docs"
    assert lint_rules.overview() == TEXTS["docs/lint-crd.md"], "run make docs"


def test_changelog_can_be_built() -> None:
    """The fragments are of known types, and make a section."""
    command = [str(Path(sys.executable).with_name("towncrier")), "build", "--draft", "--version", "next"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "## next" in done.stdout
