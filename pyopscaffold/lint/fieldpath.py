"""Paths of fields as the API server reads them in ``fieldPath`` of CEL rules and ``jsonPath`` of selectable fields.

Source: apiextensions-apiserver pkg/apiserver/schema/cel/validation.go, ValidFieldPath.
"""

from __future__ import annotations

import re
from typing import Any

from pyopscaffold.kube.values import mapping

_PIECE = re.compile(r"[.\[\]]|'(?:.*?(?<!\\)'|.*)|[^.\[\]]+", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class BadPath(ValueError):  # noqa: N818 - what it is about
    """The path is malformed, or leads to no field."""


def resolve(path: str, schema: dict[str, Any], *, quoted: bool = True) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Follow a path such as ``.a.b`` or ``.a['b']``, the latter only if ``quoted``; give its steps and its schema.

    Raises:
        BadPath: there is no such field.

    """
    steps: list[str] = []
    pieces = iter(_PIECE.findall(path))
    for piece in pieces:
        if piece == ".":
            name = next(pieces, "")
        elif piece == "[" and quoted:
            name = _unquote(next(pieces, ""))
            if next(pieces, "") != "]":
                raise BadPath("a quoted name ends with ]")
        elif piece == "[":
            raise BadPath("names in brackets are not allowed")
        else:
            raise BadPath(f"{piece!r} stands where a dot must")
        if not name:
            raise BadPath("it ends with a dot")
        schema = _step(schema, name)
        steps.append(name)
    return tuple(steps), schema


def _unquote(piece: str) -> str:
    if len(piece) < 2 or piece[0] != "'" or piece[-1] != "'":  # noqa: PLR2004 - the two quotes
        raise BadPath(f"{piece!r} is no name in single quotes")
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), piece[1:-1])


def _step(schema: dict[str, Any], name: str) -> dict[str, Any]:
    properties = mapping(schema.get("properties"))
    if properties and name not in properties:
        raise BadPath(f"there is no field {name!r}")
    values = schema.get("additionalProperties")
    if not properties and values is None:
        raise BadPath(f"there is no field {name!r}")
    return mapping(properties[name] if properties else values)
