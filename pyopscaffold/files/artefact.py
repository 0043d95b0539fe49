"""One file that the tool wants to be there."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class Owner(enum.Enum):
    """Who may change a file after it was first written (DESIGN §5)."""

    USER = "user"
    """Written once where absent, then the user's: never overwritten."""

    TOOL = "tool"
    """Rewritten whenever its source changes; says so in its header."""

    BOTH = "both"
    """Edited round trip: the text given already holds the user's own changes."""


@dataclass(frozen=True, order=True)
class Artefact:
    """A text file at ``path``, which is relative to the project's root and has forward slashes."""

    path: str
    text: str = field(repr=False)
    owner: Owner = field(compare=False, kw_only=True)
    executable: bool = field(default=False, kw_only=True)
