"""The commands by which the pages for newcomers make a project, as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.scaffold.conftest import Folder

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/getting-started.md"])
def test_commands_of_a_page_go_on_from_each_other(page: str, folder: Folder) -> None:
    """All of init and create api work one after the other, and make what the page says is there."""
    text = (ROOT / page).read_text()
    commands = re.findall(r"^pyopscaffold ((?:init|create api) (?:.*\\\n)*.*)", text, re.MULTILINE)
    assert len(commands) > 1
    for command in commands:
        folder.run(*shlex.split(command.replace("\\\n", " ")))
    made = {path.split("/", 1)[-1] for path in folder.files()}
    named = re.findall(r"`(?:shop|<package>)/((?:api|controllers)/[\w/]+\.py)`", text)
    assert named
    assert set(named) <= made
