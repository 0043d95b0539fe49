"""Wait for what another process will do, without guessing how long it takes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

from pyopscaffold.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

    T = TypeVar("T")

_EVERY_SECONDS = 0.05


def eventually(check: Callable[[], T], *, within: float = 15.0) -> T:
    """Call ``check`` until it gives something true, and give that.

    An assertion or a client error in it counts as "not yet"; after ``within`` seconds the last one is raised.

    Raises:
        AssertionError: ``check`` gave nothing true in time.

    """
    deadline = time.monotonic() + within
    while True:
        result, error = _attempt(check)
        if result:
            return result
        if time.monotonic() > deadline:
            raise error or AssertionError(f"still {result!r} after {within:g} s")
        time.sleep(_EVERY_SECONDS)


async def eventually_async(check: Callable[[], T], *, within: float = 15.0) -> T:
    """Do the same beside an operator in the event loop: ``check`` runs in a thread, so that it may block."""
    return await asyncio.to_thread(eventually, check, within=within)


def _attempt(check: Callable[[], T]) -> tuple[T | None, Exception | None]:
    try:
        return check(), None
    except (AssertionError, ClientError) as error:
        return None, error
