"""The committed examples are what the tool makes today, plus their users' edits and nothing else."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from examples.remake import EXAMPLES, FOLDER, MYDATABASE, Example, tree


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_only_the_edits_differ(example: Example) -> None:
    """Made anew, with the edited files copied in, it equals the committed example byte for byte (`make examples`)."""
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix=".remade-") as folder:
        example.make(Path(folder))
        made, committed = tree(Path(folder)), tree(example.root)
    assert made.keys() == committed.keys()
    assert {path for path in made if made[path] != committed[path]} == set()


def test_every_example_is_here() -> None:
    """No folder below examples/ escapes the tests."""
    made = {path.parent.name for path in FOLDER.glob("[!.]*/PROJECT")}
    assert made == {example.name for example in EXAMPLES}


def test_it_is_a_short_program() -> None:
    """The user's code of the main example, types and reconciler, stays at about 300 lines."""
    written = [path for path in MYDATABASE.edited if not path.startswith("tests/")]
    assert sum(len((MYDATABASE.root / path).read_text().splitlines()) for path in written) <= 320
