"""Managers that can't be: each is a mistake that is named, with the way out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import Object, controller, resource
from pyopscaffold.errors import UsageError
from pyopscaffold.runtime import Context, Manager, Options, Reconciler, Result

if TYPE_CHECKING:
    from pyopscaffold.testing import FakeCluster


@dataclass(kw_only=True)
class BoltSpec:
    pass


@resource(group="bolts.example.com", version="v1")
@dataclass(kw_only=True)
class Bolt(Object):
    """An object."""

    spec: BoltSpec = field(default_factory=BoltSpec)


class Plain(Reconciler[Bolt]):
    """Is under no decorator."""

    async def reconcile(self, ctx: Context, obj: Bolt) -> Result:
        """Do nothing."""
        return Result()


@controller(Bolt, name="bolt")
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
