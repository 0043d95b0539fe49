"""Lines out of chunks, of any length: a watch event may well exceed the limits of HTTP libraries' own line readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator


async def split_lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[list[bytes]]:
    """Yield, for each chunk that ends one, the lines it completes; a last line without newline is dropped.

    A stream that breaks off within a line has lost the rest of it, so the piece is of no use.
    """
    pending: list[bytes] = []
    async for chunk in chunks:
        if b"\n" not in chunk:
            pending.append(chunk)
            continue
        lines = chunk.split(b"\n")
        if pending:
            pending.append(lines[0])
            lines[0] = b"".join(pending)
            pending = []
        if last := lines.pop():
            pending.append(last)
        yield lines
