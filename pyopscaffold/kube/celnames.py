"""The words that CEL keeps for itself, and how the API server spells fields that collide with them."""

from __future__ import annotations

import re
from typing import Final

KEYWORDS: Final = frozenset({"true", "false", "null", "in"})
"""Words that are signs of the grammar: not even a field may be written so."""

RESERVED: Final = KEYWORDS | frozenset(
    """as break const continue else for function if import let loop package namespace return var void while""".split()  # noqa: SIM905 - 17 quoted words are a column of their own
)
"""Words that name no variable and no function; as the name of a field, all but the keywords may be written."""

_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


def escape_field(json_name: str) -> str:
    """Return how CEL spells a field (k8s.io/apiserver/pkg/cel/escaping.go): ``namespace`` is ``__namespace__``."""
    if json_name in RESERVED:
        return f"__{json_name}__"
    return re.sub(r"__|[./-]", lambda found: _ESCAPES[found[0]], json_name)
