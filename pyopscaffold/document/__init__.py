"""YAML and JSON with positions: a fast reader for checking, a round-trip editor for changing."""

from __future__ import annotations
