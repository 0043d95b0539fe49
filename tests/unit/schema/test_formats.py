"""Formats of strings, as the API server judges them; tests/cluster asks one whether it agrees."""

from __future__ import annotations

import pytest

from pyopscaffold.schema import Schema, validate
from tests.unit.schema.format_cases import CASES


@pytest.mark.parametrize(("name", "fitting", "unfit"), CASES)
def test_formats(name: str, fitting: tuple[str, ...], unfit: tuple[str, ...]) -> None:
    """A string with a format that the server looks at is held to it."""
    schema = Schema(type="string", format=name)
    assert [text for text in fitting if validate(schema, text)] == []
    assert [text for text in unfit if not validate(schema, text)] == []


def test_a_long_number_is_no_duration() -> None:
    """A text of many digits takes no time to be refused."""
    assert validate(Schema(type="string", format="duration"), "1" * 300_000) != ()


def test_other_formats() -> None:
    """A format that the server does not know, or leaves to a parser of Go, says nothing about the string."""
    assert (
        validate(Schema(type="string", format="semver"), "x") == validate(Schema(type="string", format="uri"), "") == ()
    )


def test_an_int_or_string() -> None:
    """Only a string is held to the format of an int-or-string."""
    schema = Schema(int_or_string=True, format="ipv4")
    assert validate(schema, 1) == validate(schema, "10.0.0.1") == ()
    assert [str(misfit) for misfit in validate(schema, "1")] == ['"1" has not the format ipv4']
