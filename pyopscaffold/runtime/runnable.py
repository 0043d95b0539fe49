"""What runs beside the controllers, and the order in which all of it starts and stops."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from pyopscaffold.errors import PyopscaffoldError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from types import TracebackType

    from pyopscaffold.runtime.manager import Manager

    Run: TypeAlias = Callable[[Manager], Awaitable[None]]

R = TypeVar("R")

_LATE = 1.0
"""Seconds that a task has to end in once its time is over: controllers keep to ``grace`` themselves."""

_log = logging.getLogger("pyopscaffold.manager")


@dataclass(frozen=True)
class Runnable:
    """An async function that runs beside the controllers until it is cancelled, such as a server or a collector.

    It is given the manager, whose ``client``, ``cache`` (filled by then) and ``metrics`` it may use. With ``leader`` it
    runs only while this replica leads. It may return early; what it raises ends the process.
    """

    run: Run
    leader: bool = True
    name: str = ""

    def __str__(self) -> str:
        return self.name or getattr(self.run, "__name__", repr(self.run))


class Stages:
    """Tasks in stages: started in order, stopped in reverse, each stage within what is left of ``grace`` seconds."""

    def __init__(self) -> None:
        self.grace = 0.0
        self._stages: list[set[asyncio.Task[Any]]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ends = time.monotonic() + self.grace
        while self._stages:
            stage = self._stages.pop()
            for task in stage:
                task.cancel()
            if not stage:
                continue
            done, late = await asyncio.wait(stage, timeout=max(0.0, ends - time.monotonic()) + _LATE)
            for task in late:
                _log.warning("%s does not stop", task.get_name())
            for task in done:
                if not task.cancelled() and (failure := task.exception()) not in (None, error):
                    _log.error("%s failed", task.get_name(), exc_info=failure)

    def start(self, coroutines: dict[str, Coroutine[Any, Any, Any]]) -> None:
        """Start one stage: coroutines by name."""
        self._stages.append({asyncio.create_task(coroutine, name=name) for name, coroutine in coroutines.items()})

    async def during(self, step: Awaitable[R]) -> R:
        """Wait for ``step``; a task that fails meanwhile breaks it off with its error."""
        waited = asyncio.ensure_future(step)
        try:
            while True:
                running = {task for stage in self._stages for task in stage}
                done, _ = await asyncio.wait({waited, *running}, return_when=asyncio.FIRST_COMPLETED)
                for task in done & running:
                    if task.cancelled():
                        raise PyopscaffoldError(f"{task.get_name()} was cancelled from within")
                    task.result()
                if waited in done:
                    return waited.result()
                for stage in self._stages:
                    stage.difference_update(done)
        finally:
            waited.cancel()
