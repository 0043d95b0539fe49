"""One module a rule; each has a ``RULE``. A module added below is found by itself."""

from __future__ import annotations
