"""What a reconciler raises comes out of its thread, and is told, whatever it is; on FakeCluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.api import Object, controller, resource
from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.runtime import Context, Reconciler, Result

if TYPE_CHECKING:
    from pyopscaffold.testing import FakeCluster


@dataclass(kw_only=True)
class JobSpec:
    pass


@resource(group="threads.example.com", version="v1")
@dataclass(kw_only=True)
class Job(Object):
    """An object that is looked at in a thread."""

    spec: JobSpec = field(default_factory=JobSpec)


def job() -> Job:
    """Make a Job."""
    made = Job()
    made.metadata.name, made.metadata.namespace = "one", "default"
    return made


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (StopIteration(), "raised StopIteration"),
        (concurrent.futures.CancelledError(), "CancelledError of a task of its own"),
        (asyncio.CancelledError(), "CancelledError of a task of its own"),
        (LookupError("nothing"), "LookupError: nothing"),
    ],
)
async def test_what_a_thread_raises_is_a_failure(fake_cluster: FakeCluster, raised: BaseException, said: str) -> None:
    """Also what asyncio has no place for: it costs neither the worker its life nor the object its next look."""

    @controller(Job, timeout=60.0)
    class Raises(Reconciler[Job]):
        def reconcile(self, ctx: Context, obj: Job) -> Result:
            raise raised

    fake_cluster.serve(Job)
    async with asyncio.timeout(30):
        verdict = await fake_cluster.reconcile(Raises, job())
    assert verdict.failure is not None
    assert (verdict.failure.retry, said in verdict.failure.message) == ("backoff", True)


async def test_a_worker_does_not_end_without_a_word(fake_cluster: FakeCluster) -> None:
    """Code that cancels the very task it runs in looks like a stop: then it is one, and the process says why."""

    @controller(Job, timeout=60.0, workers=2)
    class Cancels(Reconciler[Job]):
        async def reconcile(self, ctx: Context, obj: Job) -> Result:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(0)
            return Result()

    fake_cluster.serve(Job)
    await fake_cluster.client.create(job(), field_manager="tests")
    with pytest.raises(PyopscaffoldError, match="job was cancelled from within"):
        async with fake_cluster.operating(Cancels):
            pass


async def test_the_loop_does_not_wait_for_itself(fake_cluster: FakeCluster) -> None:
    """An async function that waits as a plain one does is told so, and does not block all others until its timeout."""

    @controller(Job, timeout=60.0)
    class Waits(Reconciler[Job]):
        async def reconcile(self, ctx: Context, obj: Job) -> Result:
            ctx.wait(ctx.client.list(Job))
            return Result()

    fake_cluster.serve(Job)
    verdict = await fake_cluster.reconcile(Waits, job())
    assert verdict.failure is not None
    assert "here, await" in verdict.failure.message


async def test_a_thread_may_have_a_loop_of_its_own(fake_cluster: FakeCluster) -> None:
    """What runs a library's coroutines in a loop that is not the operator's may wait there: it holds up nobody."""

    @controller(Job, timeout=60.0)
    class Runs(Reconciler[Job]):
        def reconcile(self, ctx: Context, obj: Job) -> Result:
            async def read() -> list[Job]:
                return ctx.wait(ctx.client.list(Job))

            assert len(asyncio.run(read())) == 1
            return Result()

    fake_cluster.serve(Job)
    assert (await fake_cluster.reconcile(Runs, job())).failure is None
