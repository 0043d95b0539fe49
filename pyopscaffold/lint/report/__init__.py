"""Forms of a report; each module has a ``render``."""

from __future__ import annotations
