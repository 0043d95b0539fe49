from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from pyopscaffold.api import Object, Watch, resource
from pyopscaffold.kube.builtin import CONFIG_MAP, SECRET
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.runtime import predicate
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.handler import by_map, handler, in_turns, takes_both, to_owner, to_self
from pyopscaffold.runtime.objects import Delta, Stored, parse
from pyopscaffold.runtime.queue import WorkQueue
from pyopscaffold.runtime.reconcile import Request

THING = GroupVersionKind("example.com", "v1", "Thing")


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Settings(Object):
    """A watched kind with a class."""

    target: str = ""


def child(owner: str = "", *, version: str = "1", **reference: Any) -> Stored:
    """Make a ConfigMap that a Thing of this name controls."""
    thing = {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "name": owner,
        "uid": "u",
        "controller": True,
        **reference,
    }
    metadata: dict[str, Any] = {"name": "child", "namespace": "ns", "uid": "c", "resourceVersion": version}
    metadata |= {"ownerReferences": [thing]} if owner else {}
    return parse(CONFIG_MAP, msgspec.json.encode({"metadata": metadata}))


@pytest.fixture
def queue() -> WorkQueue[Request]:
    """Give an empty queue."""
    return WorkQueue(clock=ManualClock())


def fail(error: Exception) -> None:
    """Let an error of a mapper or predicate end the test."""
    raise error


def waiting(queue: WorkQueue[Request]) -> dict[int, int]:
    """How many requests wait, by priority."""
    return dict(queue.depth())


def test_a_child_asks_for_its_controller() -> None:
    """The controller owner of the right group and kind is asked for, whatever the version."""
    mapper = to_owner(THING)
    assert list(mapper(child("one"))) == [Request("ns", "one")]
    assert list(mapper(child("one", apiVersion="example.com/v1beta1"))) == [Request("ns", "one")]
    assert list(mapper(child("one", apiVersion="other.com/v1"))) == []
    assert list(mapper(child("one", kind="Other"))) == []
    assert list(mapper(child("one", controller=False))) == []
    assert list(mapper(child())) == []


def test_child_of_a_cluster_scoped_owner() -> None:
    """A cluster-scoped owner is asked for without namespace."""
    mapper = to_owner(GroupVersionKind("example.com", "v1", "Thing", namespaced=False))
    assert list(mapper(child("one"))) == [Request("", "one")]


async def test_old_and_new_owner_are_asked_for(queue: WorkQueue[Request]) -> None:
    """A child that moves from one owner to another concerns both."""
    handle = handler(queue, to_owner(THING), accepts=predicate.version_changed, failed=fail)
    handle(Delta(child("one"), child("two", version="2")))
    assert {await queue.get(), await queue.get()} == {Request("ns", "one"), Request("ns", "two")}


async def test_deleted_child_asks_for_its_owner(queue: WorkQueue[Request]) -> None:
    """Of a deletion only the old object is there."""
    handler(queue, to_owner(THING), accepts=predicate.version_changed, failed=fail)(Delta(child("one"), None))
    assert await queue.get() == Request("ns", "one")


def test_initial_objects_are_less_urgent(queue: WorkQueue[Request]) -> None:
    """What was there when watching began has the low priority."""
    handle = handler(queue, to_self, accepts=predicate.version_changed, failed=fail)
    handle(Delta(None, child(), initial=True))
    assert waiting(queue) == {-100: 1}


def test_a_map_that_raises_is_reported(queue: WorkQueue[Request]) -> None:
    """The author's map function may fail: it is reported, and the informer goes on."""
    failures: list[Exception] = []
    mapper = by_map(Watch(kind=CONFIG_MAP, map=lambda changed: [changed["nothing"]]))
    handler(queue, mapper, accepts=predicate.version_changed, failed=failures.append)(Delta(None, child()))
    assert isinstance(failures[0], KeyError)
    assert waiting(queue) == {}


def test_a_map_gets_what_it_was_promised() -> None:
    """A class in Watch gives instances, a GroupVersionKind gives mappings."""
    secret = parse(SECRET, b'{"metadata": {"name": "s", "namespace": "ns"}}')
    by_mapping = by_map(Watch(kind=SECRET, map=lambda changed: [("ns", changed["metadata"]["name"])]))
    assert list(by_mapping(secret)) == [Request("ns", "s")]
    settings = parse(Settings.gvk, b'{"metadata": {"name": "s"}, "target": "one"}')
    by_class = by_map(Watch(kind=Settings, map=lambda changed: [("ns", changed.target)]))
    assert list(by_class(settings)) == [Request("ns", "one")]


def test_a_map_of_two_gets_both(queue: WorkQueue[Request]) -> None:
    """A map function that takes two is asked once, for old and new; None stands for what was or is not there."""
    asked: list[tuple[str, str]] = []

    def versions(old: Any, new: Any) -> list[tuple[str, str]]:
        was, now = (obj["metadata"]["resourceVersion"] if obj else "-" for obj in (old, new))
        asked.append((was, now))
        return [("ns", "one")]

    watch = Watch(kind=CONFIG_MAP, map=versions)
    assert takes_both(watch.map)
    handle = handler(queue, by_map(watch), accepts=predicate.version_changed, failed=fail, together=True)
    for delta in (
        Delta(None, child()),
        Delta(child(), child(version="2")),
        Delta(child(version="2"), child(version="2")),
        Delta(child(version="2"), None),
    ):
        handle(delta)
    assert asked == [("-", "1"), ("1", "2"), ("2", "-")]


def test_what_takes_both() -> None:
    """Only a second argument that has to be given makes a map function one of two."""

    class Mapping:
        def of(self, old: Any, new: Any) -> list[tuple[str, str]]:
            return [(old, new)]

    def with_default(obj: Any, prefix: str = "") -> list[tuple[str, str]]:
        return [(obj, prefix)]

    assert takes_both(Mapping().of)
    for of_one in (with_default, list, lambda *objs: objs, lambda obj, *, key=1: (obj, key)):
        assert not takes_both(of_one)


def test_a_map_gets_metadata_as_mapping() -> None:
    """Of a kind watched by its metadata the class can't be made: the map function gets a mapping."""
    stored = parse(Settings.gvk, b'{"metadata": {"name": "s"}, "target": "one"}', metadata_only=True)
    watch = Watch(kind=Settings, map=lambda changed: [(changed["kind"], "".join(sorted(changed)))], metadata_only=True)
    assert list(by_map(watch)(stored)) == [Request("Settings", "apiVersionkindmetadata")]


def test_a_predicate_that_raises_is_reported(queue: WorkQueue[Request]) -> None:
    """A change on which the author's predicate fails counts: better one look too many."""
    failures: list[Exception] = []
    handler(queue, to_self, accepts=lambda delta: delta.nothing, failed=failures.append)(Delta(None, child()))  # type: ignore[attr-defined]  # the mistake
    assert isinstance(failures[0], AttributeError)
    assert waiting(queue) == {0: 1}


async def test_many_objects_are_gone_through_in_turns() -> None:
    """To look at all objects holds up nobody, however many there are."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    running = asyncio.create_task(other())
    assert [item async for item in in_turns(range(5000))] == list(range(5000))
    assert turns >= 5
    running.cancel()
