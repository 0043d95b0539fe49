"""Shorter descriptions for a CRD: embedded pods push it past what fits into an annotation, or into etcd.

The cuts are those of controller-gen's ``maxDescLen`` (controller-tools pkg/crd/desc_visitor.go), but for a full stop of
more than one byte, which it cuts through.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyopscaffold.schema import Schema

# Unicode's Sentence_Terminal, as far as its scripts are in wide use; controller-gen looks for no space after it.
_SENTENCE = re.compile(
    r".+[.!?\u0589\u061f\u06d4\u0964\u0965\u104b\u1362\u203c\u2047-\u2049\u3002\ufe56\ufe57\uff01\uff0e\uff1f\uff61]",
    re.DOTALL,
)
_WORD = re.compile(r"(.+)[^\S\x1c-\x1f]", re.DOTALL)  # the spaces of Unicode, which the four are not


def trimmed(schema: Schema, limit: int) -> Schema:
    """Return the schema with descriptions of at most ``limit`` bytes each; 0 is for none at all."""
    return schema.rewritten(lambda node: node.having(description=shortened(node.description, limit)))


def shortened(text: str, limit: int) -> str:
    """Return whole sentences of ``text`` up to ``limit`` bytes, else whole words and three dots."""
    if not limit or len(text.encode()) <= limit:
        return text if limit else ""
    start = text.encode()[:limit].decode(errors="ignore")
    if sentences := _SENTENCE.match(start):
        return sentences[0]
    words = _WORD.match(start)
    return f"{words[1] if words else start}..."
