"""Patterns as the API server reads them; tests/oracle holds verdicts and matches against Go's regexp."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyopscaffold.schema import Schema, regex, validate
from pyopscaffold.schema.matcher import matches


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a(?=b)", "RE2 has no look-ahead (?=…), at character 2"),
        ("(?<!a)b", "RE2 has no look-behind (?<!…), at character 1"),
        (r"(a)\1", "RE2 has no back reference, at character 4"),
        ("(?P=n)", "RE2 has no back reference (?P=…), at character 1"),
        ("(?>a)", "RE2 has no atomic group (?>…), write (?:…), at character 1"),
        ("a++", "RE2 has no repeat of a repeat ++, nor possessive ones; write (?:…)+, at character 2"),
        ("a{1001}", "{1001} repeats more than 1000 times, at character 2"),
        ("(a{99}){99}", "repeats within repeats make more than 1000 copies, at character 8"),
        ("a{3,2}", "{3,2} has more for the least than for the most, at character 2"),
        ("*a", r"there is nothing before * to repeat, write \* for the character, at character 1"),
        ("(a", r"the group has no closing ), write \( for the character, at character 1"),
        ("a)", r"the ) closes no group, write \) for the character, at character 2"),
        ("a[b", r"the class has no closing ], write \[ for the character, at character 2"),
        ("[z-a]", "the range z-a ends before it starts, at character 2"),
        ("[[:word]:]]", "there is no class [:word]:], such as [:alpha:], at character 2"),
        (
            r"\p{Klingon}",
            r"\p{Klingon} names no category or script of Unicode, such as \pL or \p{Greek}, at character 1",
        ),
        (r"^a\Z", r"RE2 has no \Z, write \z or $, at character 3"),
        (r"\u00e9", r"RE2 has no \u, write \x{00E9} for \u00E9, at character 1"),
        (r"\e", r"RE2 has no escape \e, at character 1"),
        (r"\x{110000}", r"\x{110000} is no character of Unicode, at character 1"),
        ("a\\", "a single \\ ends the expression, write \\\\, at character 2"),
        ("(?<1-2>a)", "the name of a group is (?P<name>…), of letters, digits and _, at character 1"),
        ("(?x)a", "RE2 has after (? only flags of i, m, s and U, a colon, or a name"),
        ("\ud800", "half a character of UTF-16 can't be, at character 1"),
        ("(b" * 202 + ")*" * 202, "repeats and alternatives nest more than 200 deep, at character 1"),
    ],
)
def test_what_go_refuses_is_explained(pattern: str, message: str) -> None:
    """A refusal names the place, and what RE2 has instead where there is such a thing."""
    with pytest.raises(regex.BadPattern) as caught:
        regex.parse(pattern)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("^a$", "a", "a\n"),
        (r"\Aa\z", "a", "a\n"),
        (r"^\d$", "1", "\u0664"),
        (r"^\w$", "a", "é"),
        (r"^\s$", "\t", "\v"),
        (r"^\pL$", "é", "1"),
        (r"^\p{Latin}$", "é", "я"),
        ("a{,2}", "a{,2}", "aa"),
        (r"^\Qa.b\E$", "a.b", "axb"),
        ("^[[:xdigit:]]$", "F", "g"),
        ("(?i)^k$", "\u212a", "c"),
        ("(?i)^i$", "I", "\u0131"),
        ("^.$", "\r", "\n"),
        ("(?s)^.$", "\n", ""),
    ],
)
def test_patterns_mean_what_they_mean_to_go(pattern: str, matching: str, other: str) -> None:
    """Where Python reads a pattern otherwise, or not at all, Go's reading holds."""
    assert matches(pattern, matching)
    assert not matches(pattern, other)


def test_values_are_judged_by_the_same_reading() -> None:
    """A value fits a schema's pattern as it does to the API server; a broken pattern fits nothing."""
    assert validate(Schema(type="string", pattern=r"^\pL+\z"), "é") == ()
    assert [str(misfit) for misfit in validate(Schema(type="string", pattern="^a$"), "a\n")] == [
        '"a\n" does not match ^a$'
    ]
    (misfit,) = validate(Schema(type="string", pattern="("), "a")
    assert str(misfit).startswith('"a" can\'t be matched with (: the group has no closing )')


def test_no_pattern_is_slow() -> None:
    """A text that nearly matches is answered at once, where going back and trying again would take years."""
    assert not matches("^([a-z]+-?)+$", "a" * 2_000 + "!")
    assert matches("(x{2,}){500}", "x" * 1_000)
    assert not matches("(x{2,}){500}", "x" * 999)
    assert not matches("(a?){500}b", "a" * 500)
    with pytest.raises(regex.BadPattern, match="no closing"):
        regex.parse("[" + "[:" * 100_000)


@given(st.one_of(st.text(), st.text(alphabet=r"ab\(?)[]{}^$.*+|-:,01pQEdP<>i")))
def test_any_pattern_is_answered(pattern: str) -> None:
    """There is an expression or a refusal within the pattern, and nothing else."""
    place = 0
    try:
        regex.parse(pattern)
    except regex.BadPattern as fault:
        place = fault.offset
    assert 0 <= place <= len(pattern)
