"""Descriptions come from docstrings: the class's own, those below fields, and Google's section on attributes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.loader import docstrings
from pyopscaffold.model.kinds import StructType
from tests.unit.loader.projects import FIRST, IMPORTS, read

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.model.kinds import ProjectModel

THING = """
@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""


def _model(root: Path, text: str) -> ProjectModel:
    return read(root, {"api/kind.py": IMPORTS + textwrap.dedent(text) + THING})


def _spec(root: Path, text: str) -> StructType:
    spec = _model(root, text).kinds[0].spec
    assert spec is not None
    return spec


def _texts(spec: StructType) -> dict[str, str]:
    return {member.name: member.description for member in spec.fields}


def test_section_on_attributes(tmp_path: Path) -> None:
    """The section describes the fields, and is not part of the class's description."""
    spec = _spec(
        tmp_path,
        '''
        @dataclass(kw_only=True)
        class Spec:
            """Desired state.

            Attributes:
                version: PostgreSQL version to run,
                    14 if unset.
                limits (dict[str, int]): Most of each.

                    Kept:
                        as it is

                        even here
                size (Annotated[int32, Ge(1)]):
                    How large.
                quiet: In the section.

            More on the class:

                with code
            """

            version: str
            limits: dict[str, int]
            size: int
            quiet: bool
            """Below the field."""
        ''',
    )
    assert spec.description == "Desired state.\n\nMore on the class:\n\n    with code"
    assert _texts(spec) == {
        "version": "PostgreSQL version to run,\n14 if unset.",
        "limits": "Most of each.\n\nKept:\n    as it is\n\n    even here",
        "size": "How large.",
        "quiet": "Below the field.",
    }


@pytest.mark.parametrize(
    "docstring",
    [
        "",
        "Attributes:",
        "Attributes:\n    none here",
        "Has attributes: many.",
        "Code:\n\n    Attributes:\n        a: b",
        "Attributes: a, b",
    ],
)
def test_no_section(docstring: str) -> None:
    """What only looks like the section stays in the description."""
    assert docstrings.split(docstring) == (docstring, {})


def test_indentation_is_kept(tmp_path: Path) -> None:
    """Code in a docstring keeps its indentation, below a class as below a field."""
    spec = _spec(
        tmp_path,
        '''
        @dataclass(kw_only=True)
        class Spec:
            """A spec such as

            ```yaml
            size:
              of: it
            ```
            """
            size: str
            """Its size:

                $ size
                  10
            """
        ''',
    )
    assert spec.description == "A spec such as\n\n```yaml\nsize:\n  of: it\n```"
    assert _texts(spec) == {"size": "Its size:\n\n    $ size\n      10"}


def test_inheritance(tmp_path: Path) -> None:
    """The texts of bases and mixins are found, also for a field declared anew; the subclass has the last word."""
    spec = _spec(
        tmp_path,
        '''
        @dataclass(kw_only=True)
        class Base:
            """A base.

            Attributes:
                one: One of the base.
                two: Two of the base.
            """
            one: str
            two: str
            three: str = ""
            """Three of the base."""
            four: str = ""
            """Four of the base."""

        @dataclass(kw_only=True)
        class Mixin:
            five: str = ""
            """Five of the mixin."""

        @dataclass(kw_only=True)
        class Spec(Base, Mixin):
            """Desired state.

            Attributes:
                two: Two of the spec.
                three: Three of the spec.
            """
            one: Annotated[str, MaxLen(3)]
            four: str = "4"
            """Four of the spec."""
        ''',
    )
    assert spec.description == "Desired state."
    assert _texts(spec) == {
        "one": "One of the base.",
        "two": "Two of the spec.",
        "three": "Three of the spec.",
        "four": "Four of the spec.",
        "five": "Five of the mixin.",
    }


def test_without_source(tmp_path: Path) -> None:
    """Classes without source are described by their docstring at run time, by Doc, and by Doc on their fields."""
    spec = _spec(
        tmp_path,
        """
        from dataclasses import make_dataclass

        Part = mark(Doc("A part."))(make_dataclass("Part", [("size", Annotated[int, Doc("Its size.")])]))
        text = "Desired state.\\n\\n    Attributes:\\n        part: The part.\\n    "
        fields = [("part", Part), ("name", Annotated[str, Doc("Its name.")])]
        Spec = make_dataclass("Spec", fields, namespace={"__doc__": text}, kw_only=True)
        """,
    )
    assert spec.description == "Desired state."
    assert _texts(spec) == {"part": "The part.", "name": "Its name."}
    part = spec.fields[0].type
    assert isinstance(part, StructType)
    assert part.description == "A part."
    assert _texts(part) == {"size": "Its size."}


def test_unknown_name(tmp_path: Path) -> None:
    """A name in the section that is no field is a warning with what was meant; other attributes may be described."""
    model = _model(
        tmp_path,
        '''
        @dataclass(kw_only=True)
        class Spec:
            """Desired state.

            Attributes:
                vresion: PostgreSQL version.
                length: Not a field.
            """
            version: str

            @property
            def length(self) -> int:
                return len(self.version)
        ''',
    )
    said = "its docstring describes vresion, and there is no such field; did you mean version?"
    assert [str(warning) for warning in model.warnings] == [f"acme/api/kind.py:{FIRST + 2}: Spec: {said}"]
