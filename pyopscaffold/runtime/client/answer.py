"""An HTTP/1.1 answer taken apart as it comes in: RFC 9112. Nothing here knows of sockets."""

from __future__ import annotations

import re

_HEAD_MAX = 2**18
_LINE_MAX = 2**10
_NO_BODY = frozenset({204, 304})
_FINAL = 200  # below it are answers that only announce one

# int() would take signs, blanks and underscores too
_STATUS = re.compile(r"[1-9][0-9]{2}(?: |$)")
_LENGTH = re.compile(r"[0-9]+")
_CHUNK = re.compile(rb"([0-9A-Fa-f]+)[ \t]*(?:;.*)?", re.DOTALL)


class Answer:
    """``status`` is 0 until the head is there; ``pieces`` are the body's, for the reader to take; names in lower case.

    ``done`` says that all is there, and ``keeps`` that the connection may be used for another exchange.
    """

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.done = False
        self.keeps = True
        self._buffer = bytearray()
        self._left = 0  # bytes of the body, or of the present chunk; -1: until the connection ends
        self._chunked = False
        self._line_feed = False  # that of a chunk is due
        self._last = False  # the last chunk has come, and trailers follow

    @property
    def begun(self) -> bool:
        """Whether anything has come."""
        return bool(self.status or self._buffer)

    def feed(self, data: bytes | memoryview) -> bool:
        """Take what has come; whether all is there. Raises ValueError where it is no HTTP."""
        self._buffer += data
        if self.status or self._read_head():
            if self._chunked:
                self._read_chunks()
            else:
                self._read_rest()
        if self.done and self._buffer:
            self.keeps = False  # nobody asked for what follows, and it would be taken for the next answer
        return self.done

    def end(self) -> bool:
        """Take it that the connection has ended; whether that is how the answer ends."""
        if self.status and self._left < 0:
            self.done = True
        return self.done

    def _read_head(self) -> bool:
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > _HEAD_MAX:
                    raise ValueError("its head is too long")
                return False
            first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
            del self._buffer[: end + 4]
            version, _, rest = first.partition(" ")
            if not version.startswith("HTTP/1."):
                raise ValueError(f"it begins with {first[:40]!r}")
            if not _STATUS.match(rest):
                raise ValueError(f"its status is {rest[:40]!r}")
            if (status := int(rest[:3])) >= _FINAL:
                break
        self.status = status
        for line in lines:
            name, _, value = line.partition(":")
            name, value = name.lower(), value.strip()
            self.headers[name] = f"{self.headers[name]}, {value}" if name in self.headers else value
        self._frame(version)
        return True

    def _frame(self, version: str) -> None:
        """Find out how the body ends: section 6.3."""
        headers = self.headers
        options = {option.strip() for option in headers.get("connection", "").lower().split(",")}
        self.keeps = version == "HTTP/1.1" and "close" not in options
        if self.status in _NO_BODY:
            return
        self._chunked = "chunked" in headers.get("transfer-encoding", "").lower()
        length = headers.get("content-length")
        if self._chunked:
            self.keeps = self.keeps and length is None  # section 6.1: somebody may believe the other one
        elif length is not None:
            if not _LENGTH.fullmatch(length):
                raise ValueError(f"its length is {length[:40]!r}")
            self._left = int(length)
        else:
            self._left, self.keeps = -1, False

    def _read_rest(self) -> None:
        if self._left < 0:
            self._take(len(self._buffer))
        else:
            self._left -= self._take(min(self._left, len(self._buffer)))
            self.done = not self._left

    def _read_chunks(self) -> None:
        """Each is its length in hexadecimal, a line feed, the data, a line feed; one of no length is the last."""
        while self._buffer and not self.done:
            if self._left:
                self._left -= self._take(min(self._left, len(self._buffer)))
                self._line_feed = not self._left
            elif (line := self._line()) is None:
                return
            elif self._line_feed:
                if line:
                    raise ValueError("a chunk is longer than it says")
                self._line_feed = False
            elif self._last:
                self.done = not line  # else a trailer
            else:
                if not (size := _CHUNK.fullmatch(line)):
                    raise ValueError(f"a chunk's length is {line[:40]!r}")
                self._left = int(size[1], 16)
                self._last = not self._left

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\r\n")
        if end < 0:
            if len(self._buffer) > _LINE_MAX:
                raise ValueError("a line of it is too long")
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line

    def _take(self, count: int) -> int:
        if count:
            self.pieces.append(bytes(self._buffer[:count]))
            del self._buffer[:count]
        return count
