"""The order of starting and stopping, and what a failure does to it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.runtime.runnable import Stages
from tests.unit.runtime.fake_api_server import until

if TYPE_CHECKING:
    from collections.abc import Coroutine


class Diary:
    """Notes when a task starts and when it has ended, which takes it some turns of the loop."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def task(self, name: str) -> None:
        """Run until cancelled."""
        self.lines.append(f"+{name}")
        try:
            await asyncio.Future()
        finally:
            for _ in range(3):
                await asyncio.sleep(0)
            self.lines.append(f"-{name}")


async def _raises(error: BaseException) -> None:
    raise error


async def _run(stages: Stages, *steps: dict[str, Coroutine[Any, Any, Any]]) -> None:
    async with stages:
        for step in steps:
            stages.start(step)
            await stages.during(asyncio.sleep(0))
        await stages.during(asyncio.sleep(3600))


async def test_stages_stop_in_reverse() -> None:
    """A stage stops when the later ones have ended; tasks of one stage stop together."""
    diary, stages = Diary(), Stages()
    stages.grace = 5.0
    steps = [{"a": diary.task("a")}, {"b": diary.task("b"), "c": diary.task("c")}, {"d": diary.task("d")}]
    running = asyncio.ensure_future(_run(stages, *steps))
    await until(lambda: len(diary.lines) == 4)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert diary.lines[4:] in (["-d", "-b", "-c", "-a"], ["-d", "-c", "-b", "-a"])


async def test_a_failure_stops_all() -> None:
    """What a task raises is raised, after everything has stopped in order."""
    diary, stages = Diary(), Stages()
    stages.grace = 5.0
    with pytest.raises(ValueError, match="broken"):
        await _run(stages, {"a": diary.task("a")}, {"b": _raises(ValueError("broken"))})
    assert diary.lines == ["+a", "-a"]


async def test_a_failure_breaks_off_a_start() -> None:
    """While one step of the start is waited for, a task of an earlier stage may fail: nothing waits on."""
    stages = Stages()

    async def start() -> None:
        async with stages:
            stages.start({"a": _raises(ValueError("broken"))})
            await stages.during(asyncio.Future())

    with pytest.raises(ValueError, match="broken"):
        await start()


async def test_a_task_may_end() -> None:
    """A task that has nothing more to do costs the others nothing."""
    diary, stages = Diary(), Stages()
    async with stages:
        stages.start({"a": asyncio.sleep(0), "b": diary.task("b")})
        assert await stages.during(asyncio.sleep(0, "step")) == "step"
        for _ in range(5):
            await stages.during(asyncio.sleep(0))
        assert diary.lines == ["+b"]


async def test_a_task_that_cancels_itself_is_a_failure() -> None:
    """A CancelledError out of a task that nobody cancelled must not look like a stop in order."""
    stages = Stages()
    with pytest.raises(PyopscaffoldError, match="odd was cancelled from within"):
        await _run(stages, {"odd": _raises(asyncio.CancelledError())})


async def test_a_task_that_does_not_stop_is_left_behind(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time is over for all at once: what ignores its cancellation is named, and the others are stopped all the same."""
    monkeypatch.setattr("pyopscaffold.runtime.runnable._LATE", 0.01)
    diary, stages, release = Diary(), Stages(), asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async with stages:
        stages.start({"a": diary.task("a")})
        stages.start({"stubborn": stubborn()})
        await stages.during(asyncio.sleep(0))
    assert diary.lines == ["+a", "-a"]
    assert "stubborn does not stop" in caplog.text
    release.set()
    await asyncio.sleep(0)
