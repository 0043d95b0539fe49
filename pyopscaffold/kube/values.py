"""JSON values of which nothing is known: each function gives an empty value where there is one of another type."""

from __future__ import annotations

from typing import Any


def mapping(value: Any) -> dict[str, Any]:
    """Give ``value`` if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """Give ``value`` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """Give ``value`` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""
