"""What a reconcile itself has written need not reconcile again; what others wrote must, in whatever order news come."""

from __future__ import annotations

from itertools import product
from typing import Any

import msgspec
import pytest

from pyopscaffold.errors import ConnectionFailed
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.runtime import predicate
from pyopscaffold.runtime.cache import Informer
from pyopscaffold.runtime.children import Children, Owner
from pyopscaffold.runtime.client.protocols import Write
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.handler import handler, to_owner
from pyopscaffold.runtime.objects import parse
from pyopscaffold.runtime.queue import WorkQueue
from pyopscaffold.runtime.reconcile import Request
from pyopscaffold.runtime.sight import Sight

THING = GroupVersionKind("example.com", "v1", "Thing")
OWNER = Owner(kind=THING, name="one", namespace="ns", uid="u1")
OTHER = Owner(kind=THING, name="two", namespace="ns", uid="u2")
CHILD = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "child"}}


def fail(error: Exception) -> None:
    """Let an error of a mapper end the test."""
    raise error


class Server:
    """The child's versions in order; of these ours is the answer, and ``early`` of them overtake it in the watch."""

    def __init__(self, *, last: int = 0, ours: int = 0, early: int = 0, owner: Owner = OWNER) -> None:
        self.last, self.ours, self.early, self.owner = last, ours, early, owner
        self.queue: WorkQueue[Request] = WorkQueue(clock=ManualClock())
        self.informer = Informer(self, CONFIG_MAP, clock=ManualClock())  # type: ignore[arg-type]  # it never runs
        self.children = Children(
            self,  # type: ignore[arg-type]  # all that an apply asks for
            {CONFIG_MAP: self.informer},
            field_manager="thing",
            owns=[CONFIG_MAP],
            again=lambda owner: self.queue.add(Request(owner.namespace, owner.name)),
        )
        told = handler(
            self.queue,
            to_owner(THING),
            accepts=predicate.version_changed,
            failed=fail,
            skips=lambda delta, request: self.children.expects(CONFIG_MAP, delta.new, request.namespace, request.name),
        )
        self.informer.add_handler(told)

    def body(self, version: int) -> bytes:
        """Give the child as the server had it."""
        metadata = {"name": "child", "namespace": "ns", "uid": "c", "resourceVersion": str(version)}
        return msgspec.json.encode({**CHILD, "metadata": {**metadata, "ownerReferences": [self.owner.reference()]}})

    def watch(self, first: int, last: int) -> None:
        """Have the watch bring these versions."""
        for version in range(first, last + 1):
            self.informer.put(parse(CONFIG_MAP, self.body(version)))

    async def apply(self, desired: dict[str, Any], *, field_manager: str) -> Any:
        """See Client; some of the news come before the answer, or instead of one."""
        assert (desired["metadata"]["name"], field_manager) == ("child", "thing")
        self.watch(1, self.early)
        if not self.ours:
            raise ConnectionFailed("no answer")
        self.informer.wrote(Write(CONFIG_MAP, "ns", "child", body=self.body(self.ours)))
        return msgspec.json.decode(self.body(self.ours))

    async def waiting(self) -> list[Request]:
        """Whom the queue would hand out."""
        return [
            request for request in [await self.queue.get() for _ in range(sum(self.queue.depth().values()))] if request
        ]


ORDERS = [
    (last, ours, early) for last, ours, early in product(range(1, 5), range(1, 5), range(5)) if max(ours, early) <= last
]


@pytest.mark.parametrize(("last", "ours", "early"), ORDERS)
async def test_only_what_is_newer_than_the_answer(last: int, ours: int, early: int) -> None:
    """The owner is asked for exactly if somebody wrote the child after what the reconcile got to know of it."""
    server = Server(last=last, ours=ours, early=early)
    await server.children.apply(OWNER, CHILD, sight=Sight())
    server.watch(early + 1, last)
    assert await server.waiting() == ([Request("ns", "one")] if last > ours else [])


async def test_a_reconcile_that_has_looked_is_told() -> None:
    """Whoever has read the cluster before may have to act on its own write: it is called again."""
    server = Server(last=1, ours=1)
    await server.children.apply(OWNER, CHILD, sight=Sight(looked=True))
    assert await server.waiting() == [Request("ns", "one")]


async def test_a_reconcile_that_looks_meanwhile_is_told() -> None:
    """Whoever reads the cluster while an apply is under way may have read what is held back, or what was before it."""
    server, sight = Server(last=2, ours=2, early=1), Sight()
    apply = server.apply

    async def look_meanwhile(desired: dict[str, Any], *, field_manager: str) -> Any:
        sight.looked = True
        return await apply(desired, field_manager=field_manager)

    server.apply = look_meanwhile
    await server.children.apply(OWNER, CHILD, sight=sight)
    assert await server.waiting() == [Request("ns", "one")]


async def test_a_child_applied_twice_brings_on_no_other_look() -> None:
    """A reconcile that brings a child there in two steps, each time, would else never end: the last answer counts."""
    server, sight = Server(last=1, ours=1), Sight()
    await server.children.apply(OWNER, CHILD, sight=sight)
    server.early, server.ours = 2, 3
    await server.children.apply(OWNER, {**CHILD, "data": {"key": "value"}}, sight=sight)
    assert await server.waiting() == []


@pytest.mark.parametrize("early", [0, 1])
async def test_news_without_an_answer(early: int) -> None:
    """When no answer comes, what was held back is told."""
    server = Server(last=1, early=early)
    with pytest.raises(ConnectionFailed):
        await server.children.apply(OWNER, CHILD, sight=Sight())
    assert len(await server.waiting()) == early


async def test_another_owner_is_told() -> None:
    """A child that turns out to be another owner's meanwhile asks for that one."""
    server = Server(last=2, ours=2, early=1, owner=OTHER)
    await server.children.apply(OWNER, CHILD, sight=Sight())
    assert await server.waiting() == [Request("ns", "two")]


async def test_deletion_is_never_held_back() -> None:
    """A child that is deleted while it is applied asks for its owner."""
    server = Server(last=2, ours=2)
    server.watch(1, 1)
    await server.waiting()
    server.queue.done(Request("ns", "one"))

    async def apply(desired: dict[str, Any], *, field_manager: str) -> Any:
        server.informer.remove(parse(CONFIG_MAP, server.body(2)))
        return msgspec.json.decode(server.body(2))

    server.apply = apply
    await server.children.apply(OWNER, CHILD, sight=Sight())
    assert await server.waiting() == [Request("ns", "one")]


async def test_a_child_that_is_gone_is_forgotten() -> None:
    """Names with a hash of the content never come again: what was remembered of them goes with the child."""
    server = Server(last=1, ours=1)
    await server.children.apply(OWNER, CHILD)
    assert server.children.remembered == 1
    server.children.forget_child(CONFIG_MAP, parse(CONFIG_MAP, server.body(1)))
    assert server.children.remembered == 0
