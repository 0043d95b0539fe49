"""Texts for readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pyopscaffold.api import Example, ExternalDocs, Object, Title, int64, mark, resource


@mark(ExternalDocs("https://example.com/cover", "All about covers."), Title("Cover"))
@dataclass(kw_only=True)
class Cover:
    """A book's cover.

    In one or
    two colours.

    The second paragraph says more:
      - a list
      - of two

    And the third ends it.
    """

    colour: Annotated[str, ExternalDocs("https://example.com/colour")]


@dataclass(kw_only=True)
class BookSpec:
    """What a book is to be."""

    title: Annotated[
        str,
        Title("Book title"),
        Example("The Sea"),
        ExternalDocs("https://example.com/title", description="How to choose one"),
    ]
    """Its title, which may
    span several lines.
    """

    cover: Cover

    back: Annotated[Cover | None, Title("Back cover")] = None
    """The cover on its back."""

    pages: Annotated[list[int64] | None, Example([1, 2, 3])] = None
    codes: Annotated[dict[str, str] | None, Example({"isbn": "1-2"})] = None


@resource(group="docs.example.com", version="v1")
@dataclass(kw_only=True)
class Book(Object):
    """A book.

    Not a magazine.
    """

    spec: BookSpec
