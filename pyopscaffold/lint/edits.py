"""Edits of a schema that several rules propose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.lint.rule import Edit, Fix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyopscaffold.lint.subject import Node


def without_required(node: Node, *names: str) -> Edit:
    """Take properties out of ``required``, and ``required`` away where none is left."""
    left = [name for name in node.required if name not in names]
    path = (*node.path, "required")
    return Edit(path, left) if left else Edit(path, remove=True)


def with_required(node: Node, *names: str) -> Edit:
    """Add properties to ``required``."""
    return Edit((*node.path, "required"), [*node.required, *names])


def with_keywords(node: Node, **keywords: Any) -> tuple[Edit, ...]:
    """Set keywords of a schema."""
    return tuple(Edit((*node.path, keyword), value) for keyword, value in keywords.items())


def with_property(node: Node, name: str, schema: Mapping[str, Any]) -> Fix | None:
    """Add a property, save to values by any key, beside which the server takes none."""
    if node.schema.get("additionalProperties") is not None:
        return None
    return Fix((Edit((*node.path, "properties", name), dict(schema)),), safe=False)
