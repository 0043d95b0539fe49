"""What the framework says in a status, and when it writes one; the server is a list of what was applied."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from pyopscaffold import codec
from pyopscaffold.api import Conditions, Object, int64, resource
from pyopscaffold.runtime import conditions, status
from pyopscaffold.runtime.outcome import Failure

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
FAILURE = Failure(reason="Broken", message="it is broken")


@dataclass(kw_only=True)
class ThingStatus:
    """Has what the framework fills in, and one field of its own."""

    observed_generation: int64 | None = None
    size: int64 = 0
    conditions: Conditions = field(default_factory=list)


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    """Has a status."""

    status: ThingStatus = field(default_factory=ThingStatus)


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Bare(Object):
    """Has no status."""


class Server:
    """Keeps one Thing, and takes applies of its status."""

    def __init__(self) -> None:
        metadata = {"name": "one", "namespace": "ns", "uid": "u1", "generation": 1}
        self.raw: dict[str, Any] = {"metadata": metadata, "status": {"observedGeneration": -1}}
        self.applied: list[dict[str, Any]] = []

    async def apply(self, body: dict[str, Any], *, field_manager: str, subresource: str) -> dict[str, Any]:
        """See Client."""
        assert subresource == "status"
        self.applied.append(body)
        theirs = {key: value for key, value in self.raw["status"].items() if key == "theirs"}
        self.raw["status"] = theirs | body["status"]
        return self.raw

    async def look(self, reconcile: Any, *, waiting: bool = False) -> bool:
        """Do what the framework does around a reconcile; ``reconcile`` may return a Failure."""
        obj = codec.decode(Thing, self.raw)
        before = status.begin(obj, self.raw)
        failure = reconcile(obj)
        if isinstance(failure, Failure):
            status.fail(obj, failure)
        else:
            status.succeed(obj, before, waiting=waiting)
        client: Any = self
        return await status.StatusWriter(client, Thing.gvk, field_manager="thing").write(obj, before, now=NOW)

    def conditions(self) -> dict[str, tuple[str, str]]:
        """Status and reason of each condition."""
        return {item["type"]: (item["status"], item["reason"]) for item in self.raw["status"]["conditions"]}


def nothing(_: Thing) -> None:
    """Reconcile without a word."""


def failing(_: Thing) -> Failure:
    """Fail."""
    return FAILURE


def ready(obj: Thing) -> None:
    """Say that all is well."""
    conditions.set(obj, "Ready", "True", reason="AllWell")


@pytest.fixture
def server() -> Server:
    """Give a server with a new Thing."""
    return Server()


async def test_first_look_fills_everything_in(server: Server) -> None:
    """A reconciler without a word gives Ready=True for the generation, in whole seconds."""
    assert await server.look(nothing)
    assert server.raw["status"] == {
        "observedGeneration": 1,
        "size": 0,
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "Reconciled",
                "message": "",
                "observedGeneration": 1,
                "lastTransitionTime": "2026-01-02T03:04:05Z",
            }
        ],
    }
    assert server.applied[0]["metadata"] == {"name": "one", "namespace": "ns", "uid": "u1"}


async def test_nothing_new_is_not_written(server: Server) -> None:
    """A second look that says the same writes nothing, nor do fields of other writers cause a write."""
    await server.look(ready)
    server.raw["status"]["theirs"] = {"a": 1}
    assert not await server.look(ready)


async def test_status_that_somebody_emptied_is_written_again(server: Server) -> None:
    """What the server lost of our status is put back."""
    await server.look(ready)
    del server.raw["status"]["size"]
    assert await server.look(ready)
    assert server.raw["status"]["size"] == 0


async def test_default_of_the_class_overwrites_nothing(server: Server) -> None:
    """A field that the reconciler does not touch stays what the server has, whatever its default."""
    server.raw["status"]["size"] = 5
    await server.look(ready)
    assert server.raw["status"]["size"] == 5


async def test_failure_is_reconciling_until_it_works(server: Server) -> None:
    """A passing failure is Reconciling and not Ready; the next success clears both without the author's help."""
    await server.look(failing)
    assert server.conditions() == {"Ready": ("False", "Broken"), "Reconciling": ("True", "Broken")}
    await server.look(nothing)
    assert server.conditions() == {"Ready": ("True", "Reconciled")}


async def test_stalled_failure(server: Server) -> None:
    """A failure that only a change can mend is Stalled."""
    await server.look(lambda _: Failure(reason="Broken", message="", stalled=True))
    assert server.conditions() == {"Ready": ("False", "Broken"), "Stalled": ("True", "Broken")}
    assert server.raw["status"]["observedGeneration"] == 1


async def test_ready_of_the_author_stays(server: Server) -> None:
    """A Ready=False that the author set is not overruled by a reconcile that does not touch it."""
    await server.look(lambda obj: conditions.set(obj, "Ready", "False", reason="Starting"))
    await server.look(nothing)
    assert server.conditions() == {"Ready": ("False", "Starting")}


async def test_waiting_is_not_ready(server: Server) -> None:
    """A reconcile that wants to look again, or says that it is reconciling, is not declared ready."""
    await server.look(nothing, waiting=True)
    assert server.raw["status"]["conditions"] == []
    await server.look(lambda obj: conditions.set(obj, "Reconciling", "True", reason="Starting"))
    assert server.conditions() == {"Reconciling": ("True", "Starting")}


async def test_reconciling_goes_when_it_is_not_said_again(server: Server) -> None:
    """Each call starts without Reconciling and Stalled: kstatus wants them there only while they are true."""
    await server.look(lambda obj: conditions.set(obj, "Reconciling", "True", reason="Starting"))
    await server.look(ready)
    assert server.conditions() == {"Ready": ("True", "AllWell")}


async def test_transition_time_survives_a_change_of_reason(server: Server) -> None:
    """The transition time moves with the status, also for conditions that are cleared before each call."""
    await server.look(failing)
    for condition in server.raw["status"]["conditions"]:
        condition["lastTransitionTime"] = "2020-01-01T00:00:00Z"
    await server.look(lambda _: Failure(reason="Other", message="differently broken"))
    times = {item["type"]: item["lastTransitionTime"] for item in server.raw["status"]["conditions"]}
    assert times == {"Ready": "2020-01-01T00:00:00Z", "Reconciling": "2020-01-01T00:00:00Z"}


async def test_kind_without_status_is_left_alone(server: Any) -> None:
    """Where a kind has no status, nothing is written and nothing fails."""
    bare = Bare()
    before = status.begin(bare, {"metadata": {}})
    status.succeed(bare, before, waiting=False)
    status.fail(bare, FAILURE)
    assert not await status.StatusWriter(server, Bare.gvk, field_manager="thing").write(bare, before, now=NOW)
    assert server.applied == []
