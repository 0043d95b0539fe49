"""How a manager is made: what can't be is named, with the way out; and what it hands on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import pytest

from pyopscaffold.api import Object, ObjectMeta, controller, resource
from pyopscaffold.errors import UsageError
from pyopscaffold.runtime import Context, Manager, Options, Reconciler, Result
from pyopscaffold.runtime.clock import ManualClock
from tests.unit.runtime.fake_api_server import fake_api_server, until

if TYPE_CHECKING:
    from pyopscaffold.testing import FakeCluster


@resource(group="", version="v1")
@dataclass(kw_only=True)
class ConfigMap(Object):
    """An object that the fake API server has."""

    data: dict[str, str] = field(default_factory=dict)


class Plain(Reconciler[ConfigMap]):
    """Is under no decorator."""

    async def reconcile(self, ctx: Context, obj: ConfigMap) -> Result:
        """Do nothing."""
        return Result()


@controller(ConfigMap, name="bolt")
class Declared(Plain):
    """Is under one."""


@pytest.mark.parametrize(
    ("reconcilers", "flags", "message", "way_out"),
    [
        ([Plain], [], "Plain is no controller", "put @controller"),
        ([Declared, Declared()], [], "two controllers are called 'bolt'", "another @controller"),
        ([Declared], ["--shard", "--leader-elect"], "--shard and --leader-elect: give one", "all replicas act"),
        ([], ["--shard"], "--shard: there is no controller", "leave --shard off"),
    ],
)
def test_what_cannot_be(reconcilers: list[Any], flags: list[str], message: str, way_out: str) -> None:
    """A class that is no controller, two of one name, options that exclude each other."""
    with pytest.raises(UsageError, match=message) as caught:
        Manager(reconcilers, options=Options.from_args(flags, {}))
    assert way_out in (caught.value.hint or "")


@pytest.mark.parametrize("flag", ["--shard", "--leader-elect", "--metrics-secure"])
def test_a_given_client_is_for_one_event_loop(fake_cluster: FakeCluster, flag: str) -> None:
    """What needs a client on another thread can't be had with one that was given."""
    with pytest.raises(UsageError, match="given client") as caught:
        Manager([Declared], options=Options.from_args([flag], {}), client=fake_cluster.client)
    assert flag.removeprefix("--").replace("-", "_") in (caught.value.hint or "")


@pytest.mark.parametrize("flags", [[], ["--shard"]])
async def test_its_clock_is_its_clients_too(flags: list[str]) -> None:
    """A request that waits as the server has asked waits by the clock that the manager was given."""
    clock, no_ports = ManualClock(), ["--metrics-bind-address=0", "--health-probe-bind-address=0"]
    async with fake_api_server() as server:
        server.refuse("list", 429, Retry_After="8")
        options = Options.from_args([*flags, *no_ports], {})
        running = asyncio.create_task(Manager([Declared], config=server.config, options=options, clock=clock).run())
        await until(clock.sleepers)
        assert (len(server.requests), 8 <= clock.sleepers()[0] <= 10) == (1, True)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


_hints_read: list[str] = []


def _noticed() -> str:
    """Stand in a type hint, and note that it is evaluated."""
    _hints_read.append("text")
    return "noticed"


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Child(Object):
    """Has a hint that tells when it is read."""

    text: Annotated[str, _noticed()] = ""


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Parent(Object):
    """Owns children."""


@controller(Parent, owns=[Child])
class Reader(Reconciler[Parent]):
    """Reads its children, and notes how often hints were read for it."""

    async def reconcile(self, ctx: Context, obj: Parent) -> Result:
        """Have a child, as a mapping, and read it as an instance."""
        await ctx.apply({"apiVersion": "example.com/v1", "kind": "Child", "metadata": {"name": "a"}, "text": "hi"})
        before = len(_hints_read)
        self.read = [child.text for child in await ctx.owned(Child)]
        self.hints_read = len(_hints_read) - before
        return Result()


async def test_classes_are_made_out_before_their_objects_come(fake_cluster: FakeCluster) -> None:
    """No reconcile holds up the event loop by finding out how the classes of its controller are read."""
    fake_cluster.serve(Parent, Child)
    reader = Reader()
    async with fake_cluster.operating(reader) as manager:
        await fake_cluster.client.create(
            Parent(metadata=ObjectMeta(name="p", namespace="default")), field_manager="test"
        )
        await fake_cluster.settle(manager)
    assert (reader.read, reader.hints_read) == (["hi"], 0)
