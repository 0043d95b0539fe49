"""Go's regexp, which the API server compiles patterns with, and we judge alike."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pyopscaffold.schema import regex
from pyopscaffold.schema.matcher import matches
from tests.oracle.grammar import ask

DATA = Path(__file__).with_name("testdata") / "regex"
GOOD, BAD = ((DATA / name).read_text().split("\n")[:-1] for name in ("good.txt", "bad.txt"))
SPANNING = [
    "",
    "a\nb",
    "[a\nb]",
    "\\\n",
    "\\Qa\n\\E",
    "a\x00",
    "(" * 900 + "a" + ")" * 900 + "+",
    "(?:b|" * 98 + "a" + ")+" * 98,
    "(b" * 500 + ")" * 500,
    "\x7f[\x80-\u00ff]\U0001f600",
]
ATOMS = ["a", "(?:ab|c)", "[a-c]", "^", "$", "\\b", "(?i:K)", "()"]
REPEATS = ["*", "+", "?", "{2}", "{0}", "{1,}", "{0,2}", "*?", "{2}?"]
COMBINED = [f"{first}{second}{repeat}" for first in ATOMS for second in ATOMS for repeat in REPEATS]
TEXTS = json.loads((DATA / "texts.json").read_text())


def test_same_verdicts() -> None:
    """What Go compiles, we translate; what it refuses, we refuse, at a place within the pattern."""
    patterns = [*GOOD, *BAD, *SPANNING, *COMBINED]
    different = []
    for pattern, answer in zip(patterns, ask({"pattern": pattern} for pattern in patterns), strict=True):
        try:
            regex.parse(pattern)
        except regex.BadPattern as fault:
            fits = answer["error"] and 0 <= fault.offset <= len(pattern)
        else:
            fits = not answer["error"]
        if not fits:
            different.append((pattern, answer["error"]))
    assert different == []


def test_the_cases_are_what_they_are_called() -> None:
    """The lists hold good and bad ones, as Go says: the comparison is not one of refusals."""
    for patterns, refused in ((GOOD, False), (BAD, True)):
        answers = zip(patterns, ask({"pattern": pattern} for pattern in patterns), strict=True)
        assert [pattern for pattern, answer in answers if bool(answer["error"]) != refused] == []


def test_same_matches() -> None:
    """Each text matches each pattern there as here."""
    assert disagreements(dict.fromkeys([*GOOD, *SPANNING, *COMBINED], TEXTS)) == []


@pytest.mark.parametrize("pattern", ["^x{1000}$", "^((x{10}){10}){10}$", "^(x{500}){0,2}$", "^(x{1000})*$"])
def test_same_counts(pattern: str) -> None:
    """The largest counts are kept."""
    assert disagreements({pattern: ["x" * count for count in (0, 10, 500, 999, 1000, 1001, 2000)]}) == []


def test_same_letters_when_case_is_ignored() -> None:
    """A letter matches the same other letters there as here: Unicode's simple folding, which Python's is not."""
    letters = [chr(code) for code in range(sys.maxunicode) if len(_cases(chr(code))) > 1]
    odd = [letter for letter in letters if len(_cases(letter)) > 2 or len(letter.upper() + letter.casefold()) > 2]
    cases = {f"(?i)^{letter}$": sorted(_cases(letter)) for letter in {*odd, *letters[::20]}}
    assert len(cases) > 200
    assert disagreements(cases) == []


def disagreements(cases: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Return the patterns and texts of which Go and we say different things."""
    answers = ask({"pattern": pattern, "texts": texts} for pattern, texts in cases.items())
    return [
        (pattern, text)
        for (pattern, texts), answer in zip(cases.items(), answers, strict=True)
        for text, theirs in zip(texts, answer["matches"], strict=True)
        if matches(pattern, text) != theirs
    ]


def _cases(letter: str) -> set[str]:
    return {letter, *letter.lower(), *letter.upper(), *letter.casefold(), *letter.title()}
