"""A thread with an event loop of its own, for what must go on while the operator's loop is busy or blocked."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from concurrent.futures import Future
    from types import TracebackType

R = TypeVar("R")

_log = logging.getLogger("pyopscaffold.manager")


class SideThread:
    """Runs coroutines on its loop while the ``with`` block lasts."""

    def __init__(self, name: str = "side") -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine there and wait for it here; cancelling this cancels that."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def spawn(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Start a coroutine there; it is cancelled when the block ends. What it raises is logged."""
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).add_done_callback(_report)


def _report(ended: Future[Any]) -> None:
    if not ended.cancelled() and (error := ended.exception()) is not None:
        _log.error("a task of the side thread failed", exc_info=error)


async def _cancel_others() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
