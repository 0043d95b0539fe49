"""What Go says of expressions, by the program in testdata/grammar."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from tests.tools_path import tool

if TYPE_CHECKING:
    from collections.abc import Iterable


def ask(questions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answer to each question; see main.go for their keys."""
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    said = subprocess.run([tool("grammar")], input=lines, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in said.splitlines()]
