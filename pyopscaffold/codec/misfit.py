"""How a misfit finds its JSON path: each level that it passes on its way out prepends its own segment."""

from __future__ import annotations


class Misfit(Exception):  # noqa: N818 - never leaves the codec
    """A value that can't be converted; ``path`` grows from the inside out."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def inside(self, segment: str) -> Misfit:
        """Return the same misfit, seen from one level further out."""
        return Misfit(self.message, segment + self.path)
