"""The law of the whole cache: whatever happens on the way, it ends with what the server has."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pyopscaffold import errors
from pyopscaffold.kube.builtin import CONFIG_MAP, NAMESPACE
from pyopscaffold.runtime.cache import Cache, Delta, Informer
from pyopscaffold.runtime.client.api import ApiClient
from pyopscaffold.testing import FakeCluster

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from pyopscaffold.errors import ClientError
    from pyopscaffold.kube.gvk import GroupVersionKind

Key = tuple[str, str]

_NAMES, _NAMESPACES = st.sampled_from(("a", "b")), st.sampled_from(("one", "two"))
_REFUSALS: tuple[ClientError, ...] = (
    errors.BadRequest("no streaming lists here"),
    errors.Unauthorized("a token of yesterday"),
    errors.Forbidden("no role"),
    errors.NotFound("no CRD"),
    errors.Expired("too old"),
    errors.TooManyRequests("not now", retry_after=2.0),
    errors.ServerError("oh"),
    errors.ConnectionFailed("nobody there"),
)
_CALM = 60


class Follower:
    """Knows of an informer what its handlers are told."""

    def __init__(self, informer: Informer, labels: dict[str, str]) -> None:
        self.informer = informer
        self.labels = labels
        self.known: dict[Key, str] = {}
        self.seen: dict[str, int] = {}
        informer.add_handler(self.hear)

    def hear(self, delta: Delta) -> None:
        """Take a change, which has to fit what was told before."""
        old, new = delta.old, delta.new
        if new is None:
            assert old is not None
            assert self.known.pop((old.meta.namespace, old.meta.name)) == old.meta.uid
            self.seen.pop(old.meta.uid, None)  # a namespace that is chosen again brings back what it had
            return
        key = (new.meta.namespace, new.meta.name)
        assert self.known.get(key) == (None if old is None else new.meta.uid)
        assert new.version > self.seen.get(new.meta.uid, 0), "an object went back in time"
        self.known[key], self.seen[new.meta.uid] = new.meta.uid, new.version

    def held(self) -> dict[Key, Any]:
        """Return what the informer holds, decoded."""
        return {(item.meta.namespace, item.meta.name): msgspec.json.decode(item.raw) for item in self.informer.list()}


class CacheFollowsServer(RuleBasedStateMachine):
    """Others write, we write, namespaces are chosen and not, and everything between server and cache goes wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.truth: dict[Key, dict[str, Any]] = {}
        self.chosen = {"one"}
        self.run(self.begin())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Let everything run until some work is done."""
        return self.loop.run_until_complete(work)

    async def begin(self) -> None:
        """Make a cluster with two namespaces, and start a cache of those that are chosen."""
        self.cluster = FakeCluster()
        self.others = ApiClient(self.cluster.transport, clock=self.cluster.clock)
        for name in ("one", "two"):
            self.cluster.add_namespace(name)
        await self.others.patch(NAMESPACE, "one", {"metadata": {"labels": {"team": "a"}}})
        cache = Cache(self.cluster.client, clock=self.cluster.clock, namespace_labels="team=a")
        self.followers = (
            Follower(cache.informer(CONFIG_MAP), {}),
            Follower(cache.informer(CONFIG_MAP, labels="on=yes"), {"on": "yes"}),
        )
        self.running = asyncio.create_task(cache.run())

    @rule(name=_NAMES, namespace=_NAMESPACES, on=st.booleans(), ours=st.booleans())
    def write(self, name: str, namespace: str, *, on: bool, ours: bool) -> None:
        """Create or change an object, ourselves or as somebody else."""
        self.run(self._write(name, namespace, on=on, ours=ours))

    @rule(name=_NAMES, namespace=_NAMESPACES, ours=st.booleans(), again=st.booleans())
    def delete(self, name: str, namespace: str, *, ours: bool, again: bool) -> None:
        """Delete an object; it may come again, under its name and with another uid."""
        if (namespace, name) in self.truth:
            client = self.cluster.client if ours else self.others
            self.run(client.delete(CONFIG_MAP, name, namespace=namespace))
            del self.truth[namespace, name]
            if again:
                self.run(self._write(name, namespace, on=True, ours=False))

    @rule(cleanly=st.booleans(), kind=st.sampled_from((CONFIG_MAP, NAMESPACE)))
    def watches_end(self, *, cleanly: bool, kind: GroupVersionKind) -> None:
        """End the watches of a kind, in peace or not."""
        self.cluster.cut_watches(kind, cleanly=cleanly)

    @rule()
    def history_is_forgotten(self) -> None:
        """Have everybody who comes back told 410."""
        self.cluster.compact()

    @rule(
        error=st.sampled_from(_REFUSALS),
        verb=st.sampled_from(("watch", "list")),
        kind=st.sampled_from((CONFIG_MAP, NAMESPACE)),
        times=st.integers(1, 3),
    )
    def refused(self, error: ClientError, verb: str, kind: GroupVersionKind, times: int) -> None:
        """Have the next lists or watches refused."""
        self.cluster.fail(error, verb=verb, kind=kind, times=times)

    @rule(which=st.integers(0, 1))
    def relist(self, which: int) -> None:
        """List anew."""

        async def ask() -> None:
            self.followers[which].informer.relist()

        self.run(ask())

    @rule(namespace=_NAMESPACES)
    def choose(self, namespace: str) -> None:
        """Give a namespace the label, or take it away."""
        self.chosen ^= {namespace}
        team = "a" if namespace in self.chosen else None
        self.run(self.others.patch(NAMESPACE, namespace, {"metadata": {"labels": {"team": team}}}))

    @rule(seconds=st.sampled_from((0.5, 2.0, 35.0, 61.0, 601.0)), turns=st.integers(0, 30))
    def time_passes(self, seconds: float, turns: int) -> None:
        """Let retries come, and bookmarks, and watches end by their time."""
        self.cluster.clock.advance(seconds)
        self.run(_turns(turns))

    @precondition(lambda self: self.truth)
    @rule()
    def settles(self) -> None:
        """With nothing new, cache and server agree soon."""
        self.run(self._settle())

    @invariant()
    def handlers_know_what_is_held(self) -> None:
        """Whoever follows the changes has the same objects as the informer."""
        for follower in self.followers:
            held = {(item.meta.namespace, item.meta.name): item.meta.uid for item in follower.informer.list()}
            assert follower.known == held

    def teardown(self) -> None:
        """In the end cache and server agree, and nothing is left running."""
        try:
            self.run(self._settle())
        finally:
            self.running.cancel()
            self.run(asyncio.wait([self.running]))
            left = asyncio.all_tasks(self.loop)
            self.loop.close()
        assert not left

    async def _write(self, name: str, namespace: str, *, on: bool, ours: bool) -> None:
        labels = {"on": "yes" if on else "no"}
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "data": {"count": str(len(self.cluster.requests))},
        }
        client = self.cluster.client if ours else self.others
        self.truth[namespace, name] = await client.apply(body, field_manager="tests")

    async def _settle(self) -> None:
        for _ in range(_CALM):
            if all(follower.held() == self._expected(follower.labels) for follower in self.followers):
                return
            await _turns(20)
            self.cluster.clock.advance(31.0)
        for follower in self.followers:
            assert follower.held() == self._expected(follower.labels)

    def _expected(self, labels: dict[str, str]) -> dict[Key, Any]:
        expected = {}
        for key, obj in self.truth.items():
            metadata = {name: value for name, value in obj["metadata"].items() if name != "managedFields"}
            if key[0] in self.chosen and labels.items() <= metadata["labels"].items():
                expected[key] = {**obj, "metadata": metadata}
        return expected


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


TestCacheFollowsServer = CacheFollowsServer.TestCase
TestCacheFollowsServer.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
