"""Children as a set: applied, pruned, adopted or refused, deleted in order; on FakeCluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from pyopscaffold.api import Conditions, Object, controller, resource
from pyopscaffold.api.declarations import gvk_of
from pyopscaffold.errors import Conflict, Forbidden, Invalid, NotFound, PyopscaffoldError, ServerError, TerminalError
from pyopscaffold.kube.builtin import CONFIG_MAP, EVENT, SECRET, SERVICE
from pyopscaffold.runtime import Context, Reconciler, Result
from pyopscaffold.runtime.cache import Informer
from pyopscaffold.runtime.children import Children, Owner
from pyopscaffold.runtime.client.api import ApiClient
from pyopscaffold.runtime.objects import parse
from pyopscaffold.runtime.outcome import classify

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pyopscaffold.errors import ClientError
    from pyopscaffold.testing import FakeCluster

GROUP = "sets.example.com"


@dataclass(kw_only=True)
class ThingStatus:
    conditions: Conditions = field(default_factory=list)


@resource(group=GROUP, version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    status: ThingStatus = field(default_factory=ThingStatus)


@controller(Thing, owns=[CONFIG_MAP, SECRET])
class ThingReconciler(Reconciler[Thing]):
    """Does what a test asks for; finalizes if it is told how."""

    def __init__(self, work: Callable[[Context], Awaitable[Any]]) -> None:
        self.work = work

    async def reconcile(self, ctx: Context, obj: Thing) -> Result:
        """Do it."""
        await self.work(ctx)
        return Result()


@controller(Thing, owns=[CONFIG_MAP, SECRET])
class Ending(ThingReconciler):
    """Takes its children down one kind after the other."""

    async def finalize(self, ctx: Context, obj: Thing) -> Result | None:
        """See above."""
        return await ctx.delete_owned()


@pytest.fixture
def things(fake_cluster: FakeCluster) -> FakeCluster:
    """Give a cluster that serves Things."""
    fake_cluster.serve(Thing)
    return fake_cluster


def thing() -> Thing:
    """Make a Thing."""
    made = Thing()
    made.metadata.name, made.metadata.namespace = "one", "default"
    return made


def child(kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    """Make a child."""
    metadata = {"name": name, **metadata}
    if kind == "Service":
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": {"ports": [{"port": 80}]}}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


async def look(cluster: FakeCluster, work: Callable[[Context], Awaitable[Any]]) -> Any:
    """Reconcile once; what was raised, or None."""
    failure = (await cluster.reconcile(ThingReconciler(work), thing())).failure
    return failure and (failure.reason, failure.message)


async def there(cluster: FakeCluster, *kinds: Any) -> list[str]:
    """Name what is there."""
    found = [item for kind in kinds or (CONFIG_MAP, SECRET) for item in await cluster.client.list(kind)]
    return [f"{item['kind']} {item['metadata']['name']}" for item in found]


def writes(cluster: FakeCluster) -> list[str]:
    """All writes so far to children."""
    return [str(item) for item in cluster.requests if item.is_write and item.kind not in (Thing.gvk, EVENT)]


async def test_children_are_applied_in_the_order_of_their_kinds(things: FakeCluster) -> None:
    """What others need comes first, whatever the order given; the answers are in the order given."""
    answers: list[Any] = []

    async def work(ctx: Context) -> None:
        given = [child("Service", "s"), child("ConfigMap", "b"), child("ServiceAccount", "a"), child("Secret", "c")]
        answers[:] = await ctx.apply_all(given)

    assert await look(things, work) is None
    assert [answer["metadata"]["name"] for answer in answers] == ["s", "b", "a", "c"]
    asked = [line.rsplit("/", 1)[1] for line in writes(things)]
    assert (asked[0], set(asked[1:3]), asked[3]) == ("a", {"b", "c"}, "s")


async def test_a_set_that_is_applied_brings_on_no_other_look(things: FakeCluster) -> None:
    """What a look has applied side by side, and pruned by, is no news to it; and a second look asks nothing."""
    looks: list[str] = []

    async def work(ctx: Context) -> None:
        looks.append(ctx.request.name)
        kept = await ctx.apply_all([child(kind, name) for kind in ("ConfigMap", "Secret") for name in "abc"])
        await ctx.prune(kept=kept)

    async with things.operating(ThingReconciler(work)) as manager:
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
        assert (looks, len(writes(things))) == (["one"], 6)
        change = {"metadata": {"labels": {"look": "again"}}}
        await things.client.patch(Thing, "one", change, namespace="default", field_manager="test")
        await things.settle(manager)
        assert (looks, len(writes(things))) == (["one", "one"], 6)


async def test_each_child_that_fails_is_told(things: FakeCluster) -> None:
    """One failure neither hides another nor stops what needs nothing of it; what comes after their kinds waits."""
    caught: list[ExceptionGroup[Any]] = []

    async def work(ctx: Context) -> None:
        try:
            names = [("ConfigMap", "a"), ("ConfigMap", "b"), ("Secret", "c"), ("Service", "s")]
            await ctx.apply_all([child(kind, name) for kind, name in names])
        except ExceptionGroup as group:
            caught.append(group)
            raise

    things.fail(ServerError("a is away"), kind=CONFIG_MAP, name="a", verb="patch")
    things.fail(ServerError("b is away"), kind=CONFIG_MAP, name="b", verb="patch")
    reason, message = await look(things, work)
    assert reason == "InternalError"
    assert ["a is away" in part or "b is away" in part for part in message.split("; ")] == [True, True]
    assert caught[0].message == "2 of 4 children not applied"
    assert await there(things, CONFIG_MAP, SECRET, SERVICE) == ["Secret c"]


async def test_a_child_twice_is_a_mistake(things: FakeCluster) -> None:
    """Two contents for one child would take turns for ever."""

    async def work(ctx: Context) -> None:
        await ctx.apply_all([child("ConfigMap", "a"), child("Secret", "a"), child("ConfigMap", "a")])

    assert await look(things, work) == ("PyopscaffoldError", "ConfigMap a is among the children 2 times")
    assert writes(things) == []


async def test_prune_by_label(things: FakeCluster) -> None:
    """A selector spares what it does not select; what another controls, or nobody, is spared anyway."""
    for name, owners in (("theirs", [await other_owner(things)]), ("nobodys", [])):
        body = child("ConfigMap", name, namespace="default", labels={"part": "web"}, ownerReferences=owners)
        await things.client.create(body, field_manager="test")

    async def work(ctx: Context) -> None:
        await ctx.apply_all([child("ConfigMap", name, labels={"part": "web"}) for name in ("a", "b")])
        await ctx.apply(child("ConfigMap", "c", labels={"part": "db"}))
        await ctx.prune(kept=[child("ConfigMap", "a")], labels="part=web")

    assert await look(things, work) is None
    assert await there(things) == ["ConfigMap a", "ConfigMap c", "ConfigMap nobodys", "ConfigMap theirs"]


async def test_prune_asks_the_server_where_the_cache_is_behind(things: FakeCluster) -> None:
    """While a kind can't be watched, what is pruned is what the server has; while it can't be listed, nothing is."""
    names = ["a", "b", "c"]
    somebody = ApiClient(things.transport, clock=things.clock)  # what it writes the operator does not see

    async def work(ctx: Context) -> None:
        kept = await ctx.apply_all([child("ConfigMap", name) for name in names])
        await ctx.prune(kept=kept)

    async def look_again(times: str) -> None:
        change = {"metadata": {"labels": {"look": times}}}
        await things.client.patch(Thing, "one", change, namespace="default", field_manager="test")
        await things.settle(manager)

    handed_over = {"metadata": {"ownerReferences": [await other_owner(things)]}}
    async with things.operating(ThingReconciler(work)) as manager:
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
        things.fail(ServerError("away"), verb="watch", kind=CONFIG_MAP, times=1000)
        things.cut_watches(CONFIG_MAP)
        await somebody.patch(CONFIG_MAP, "b", handed_over, namespace="default", field_manager="test")
        of_one = (await somebody.get(CONFIG_MAP, "a", namespace="default"))["metadata"]["ownerReferences"]
        unseen = child("ConfigMap", "unseen", namespace="default", ownerReferences=of_one)
        await somebody.create(unseen, field_manager="test")
        names[:] = ["a"]
        things.fail(ServerError("away"), verb="list", kind=CONFIG_MAP, times=4)
        await look_again("once")
        await look_again("twice")
        assert await there(things) == ["ConfigMap a", "ConfigMap b"]


async def other_owner(cluster: FakeCluster) -> dict[str, Any]:
    """Refer to a Thing that controls what is not our Thing's."""
    other = thing()
    other.metadata.name = "two"
    other.metadata.annotations = {f"{GROUP}/paused": "true"}
    made = await cluster.client.create(other, field_manager="test")
    about = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "name": "two", "uid": made.metadata.uid}
    return {**about, "controller": True}


@pytest.mark.parametrize("kind", ["ConfigMap", "Service"])
async def test_an_orphan_is_adopted_or_refused(things: FakeCluster, kind: str) -> None:
    """An object that was there before becomes the child, unless it is not to; whether its kind is cached or not."""
    await things.client.create(child(kind, "a", namespace="default"), field_manager="test")

    async def refuse(ctx: Context) -> None:
        await ctx.apply_all([child(kind, "a"), child(kind, "new")], adopt=False)

    async def adopt(ctx: Context) -> None:
        await ctx.apply_all([child(kind, "a")])

    failure = (await things.reconcile(ThingReconciler(refuse), thing())).failure
    assert failure is not None
    assert (failure.reason, failure.message) == ("NotAdopted", f"{kind} a was there before, and is not to be adopted")
    gvk = SERVICE if kind == "Service" else CONFIG_MAP
    found = {item["metadata"]["name"]: item["metadata"] for item in await things.client.list(gvk)}
    assert "ownerReferences" not in found["a"]
    assert found["new"]["ownerReferences"][0]["name"] == "one"
    assert await look(things, adopt) is None
    assert await look(things, refuse) is None  # it is ours now


@pytest.mark.parametrize("may_read", [True, False])
async def test_a_second_controller_is_refused_by_the_server(things: FakeCluster, may_read: bool) -> None:
    """Of a kind that is not cached, who controls the child is asked for after the refusal; who may not, hears that."""
    theirs = child("Service", "s", namespace="default", ownerReferences=[await other_owner(things)])
    await things.client.create(theirs, field_manager="test")
    if not may_read:
        things.fail(Forbidden("services are not yours"), verb="list", kind=SERVICE)

    async def work(ctx: Context) -> None:
        await ctx.apply(child("Service", "s"))

    reason, message = await look(things, work)
    assert reason == ("AlreadyOwned" if may_read else "Invalid")
    assert ("Service s is controlled by Thing two" in message) == may_read


async def test_children_go_kind_by_kind(things: FakeCluster) -> None:
    """Those of the next kind are deleted when all of the one before are gone, and the owner only then."""

    async def work(ctx: Context) -> None:
        held = {"finalizers": ["example.org/slow"]}
        await ctx.apply_all([child("Secret", "s"), child("ConfigMap", "a", **held), child("ConfigMap", "b", **held)])

    async def let_go(name: str) -> None:
        await things.client.patch(CONFIG_MAP, name, {"metadata": {"finalizers": None}}, namespace="default")
        await things.settle(manager)

    class Ordered(Ending):
        async def finalize(self, ctx: Context, obj: Thing) -> Result | None:
            return await ctx.delete_owned(CONFIG_MAP, SECRET, again=60)

    async with things.operating(controller(Thing, owns=[CONFIG_MAP, SECRET])(Ordered)(work)) as manager:
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
        await things.client.delete(Thing, "one", namespace="default")
        await things.settle(manager)
        assert await there(things) == ["ConfigMap a", "ConfigMap b", "Secret s"]
        assert [line for line in writes(things) if line.startswith("delete")] == [
            "delete configmaps default/a",
            "delete configmaps default/b",
        ]
        await let_go("a")
        assert await there(things) == ["ConfigMap b", "Secret s"]
        await let_go("b")
        assert await there(things) == []
        assert await things.client.list(Thing) == []


async def test_children_go_against_the_order_of_their_making(things: FakeCluster) -> None:
    """Without a word on the order the last that were made go first, in one call if nothing holds them."""

    @controller(Thing, owns=[SERVICE, CONFIG_MAP])
    class Whole(Ending):
        pass

    async def work(ctx: Context) -> None:
        await ctx.apply_all([child("Service", "s"), child("ConfigMap", "a")])

    async with things.operating(Whole(work)) as manager:
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
        await things.client.delete(Thing, "one", namespace="default")
        await things.settle(manager)
        with pytest.raises(NotFound):
            await things.client.get(Thing, "one", namespace="default")
    assert writes(things)[-2:] == ["delete services default/s", "delete configmaps default/a"]


async def test_an_outage_holds_up_no_object(things: FakeCluster) -> None:
    """However many objects the server has failed, all are done soon after it is back: none waits for others' turns."""
    objects = 200

    async def work(ctx: Context) -> None:
        await ctx.apply(child("Secret", ctx.request.name))

    things.fail(ServerError("away"), verb="patch", kind=SECRET, times=objects)
    async with things.operating(ThingReconciler(work)) as manager:
        for number in range(objects):
            made = thing()
            made.metadata.name = f"thing-{number}"
            await things.client.create(made, field_manager="test")
        await things.settle(manager, seconds=1.0)
    assert len(await there(things, SECRET)) == objects


INVALID, CONFLICT, AWAY = (
    Invalid("no good", reason="Invalid"),
    Conflict("moved on", reason="Conflict"),
    ServerError("away"),
)


@pytest.mark.parametrize(
    ("errors", "retry", "stalled", "quiet", "reason"),
    [
        ([INVALID, INVALID], "longest", True, False, "Invalid"),
        ([INVALID, CONFLICT], "backoff", False, False, "Invalid"),
        ([CONFLICT, AWAY], "backoff", False, False, "ServerError"),
        ([CONFLICT, CONFLICT], "backoff", False, True, "Conflict"),
        ([TerminalError("never", reason="Bad"), INVALID], "longest", True, False, "Bad"),
        ([TerminalError("never", reason="Bad")], "never", True, False, "Bad"),
    ],
)
def test_failures_together_are_judged_as_one(
    errors: list[ClientError], retry: str, stalled: bool, quiet: bool, reason: str
) -> None:
    """What may pass is tried again soon, and an object is stalled only if nothing of it can pass."""
    failure = classify(ExceptionGroup("some", [ExceptionGroup("inner", errors)]), failures=0)
    assert (failure.retry, failure.stalled, failure.quiet, failure.reason) == (retry, stalled, quiet, reason)
    assert failure.live == (CONFLICT in errors)


async def test_only_owned_kinds_go(things: FakeCluster) -> None:
    """To delete the children of a kind that is not owned says what to declare."""

    async def work(ctx: Context) -> None:
        with pytest.raises(PyopscaffoldError, match="Service is not among the kinds"):
            await ctx.delete_owned(SERVICE)

    assert await look(things, work) is None


MEANWHILE: dict[str, dict[str, Any] | None] = {
    "made anew": None,
    "let go of": {"ownerReferences": None},
    "selected no more": {"labels": {"part": "db"}},
    "changed": {"annotations": {"seen": "true"}},
    "as known": {},
}


@pytest.mark.parametrize("how", MEANWHILE)
async def test_prune_goes_by_what_the_server_has(fake_cluster: FakeCluster, how: str) -> None:
    """Deletion is for good: what the cache has not yet heard of a child counts, so only what is to go goes."""
    client, change = fake_cluster.client, MEANWHILE[how]
    owner = Owner(kind=gvk_of(Thing), name="one", namespace="default", uid="u1")
    informer = Informer(client, CONFIG_MAP, clock=fake_cluster.clock)
    children = Children(client, {CONFIG_MAP: informer}, field_manager="thing", owns=[CONFIG_MAP])
    made = await children.apply(owner, child("ConfigMap", "a", labels={"part": "web"}))
    informer.replace("", [parse(CONFIG_MAP, msgspec.json.encode(made))], int(made["metadata"]["resourceVersion"]))
    informer.reflectors[""].synced.set()
    if change is None:
        await client.delete(CONFIG_MAP, "a", namespace="default")
        await client.create({**made, "metadata": {"name": "a", "namespace": "default"}}, field_manager="tests")
    else:
        await client.patch(CONFIG_MAP, "a", {"metadata": change}, namespace="default")
    await children.prune(owner, [], labels="part=web")
    left = await client.list(CONFIG_MAP, namespace="default", fields="metadata.name=a")
    assert len(left) == (0 if how in {"changed", "as known"} else 1)
