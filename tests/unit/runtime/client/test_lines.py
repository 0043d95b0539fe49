"""Lines out of chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from pyopscaffold.runtime.client.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


async def _lines(chunks: list[bytes]) -> list[bytes]:
    async def source() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [line async for batch in split_lines(source()) for line in batch]


@given(st.lists(st.binary(max_size=5).map(lambda text: text.replace(b"b", b"\n")), max_size=20))
async def test_chunks_do_not_matter(chunks: list[bytes]) -> None:
    """However the text is cut, its whole lines come out."""
    assert await _lines(chunks) == b"".join(chunks).split(b"\n")[:-1]


async def test_rest_is_dropped() -> None:
    """A line that breaks off is lost."""
    assert await _lines([b"one\ntw", b"o\nthr"]) == [b"one", b"two"]
