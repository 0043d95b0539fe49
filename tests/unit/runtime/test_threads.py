"""Plain functions as reconcilers: what they raise comes out of their thread, whatever it is; on FakeCluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.api import Object, controller, resource
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
    job = Job()
    job.metadata.name, job.metadata.namespace = "one", "default"
    async with asyncio.timeout(30):
        verdict = await fake_cluster.reconcile(Raises, job)
    assert verdict.failure is not None
    assert (verdict.failure.retry, said in verdict.failure.message) == ("backoff", True)
