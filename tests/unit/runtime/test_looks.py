"""What a look at an object does beside calling the reconciler: pauses, shared conditions, deletions; on FakeCluster."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import Conditions, Object, controller, int64, resource
from pyopscaffold.errors import Conflict, NotFound, TerminalError
from pyopscaffold.kube.builtin import EVENT
from pyopscaffold.runtime import Context, Reconciler, Result, conditions
from pyopscaffold.runtime.finalizer import finalizer_name
from pyopscaffold.testing.fake.crds import crd_of

if TYPE_CHECKING:
    from pyopscaffold.kube.meta import Condition
    from pyopscaffold.testing import FakeCluster

GROUP = "looks.example.com"
THEIRS = {
    "type": "Audited",
    "status": "True",
    "reason": "Seen",
    "message": "",
    "lastTransitionTime": "2020-01-01T00:00:00Z",
}


@dataclass(kw_only=True)
class ThingSpec:
    text: str = "hello"


@dataclass(kw_only=True)
class ThingStatus:
    observed_generation: int64 | None = None
    size: int64 = 0
    conditions: Conditions = field(default_factory=list)


@resource(group=GROUP, version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: ThingSpec = field(default_factory=ThingSpec)
    status: ThingStatus = field(default_factory=ThingStatus)


@controller(Thing)
class ThingReconciler(Reconciler[Thing]):
    """Says of a Thing that it was made, once, and each time that it is ready."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.finalized = 0

    async def reconcile(self, ctx: Context, obj: Thing) -> Result:
        """Report."""
        self.seen.append(obj.spec.text)
        if conditions.get(obj, "Made") is None:
            conditions.set(obj, "Made", "True", reason="Made")
        obj.status.size = len(obj.spec.text)
        conditions.set(obj, "Ready", "True", reason="Applied")
        return Result()

    async def finalize(self, ctx: Context, obj: Thing) -> None:
        """Fail for good, if the text says so."""
        self.finalized += 1
        if obj.spec.text == "stuck":
            raise TerminalError("can't be cleaned up", reason="Uncleanable")


@pytest.fixture
def things(fake_cluster: FakeCluster) -> FakeCluster:
    """Give a cluster that serves Things of any spec."""
    fake_cluster.serve(loose_crd())
    return fake_cluster


def thing(text: str = "hello", **annotations: str) -> Thing:
    """Make a Thing."""
    made = Thing(spec=ThingSpec(text=text))
    made.metadata.name, made.metadata.namespace = "one", "default"
    made.metadata.annotations = {f"{GROUP}/{name.replace('_', '-')}": value for name, value in annotations.items()}
    return made


async def patch(cluster: FakeCluster, change: dict[str, Any], *, subresource: str = "") -> None:
    """Change the Thing as somebody else."""
    await cluster.client.patch(
        Thing.gvk, "one", change, namespace="default", subresource=subresource, field_manager="else"
    )


async def said(cluster: FakeCluster) -> dict[str, Condition]:
    """Conditions of the Thing, by type."""
    found = await cluster.client.get(Thing, "one", namespace="default")
    return {condition.type: condition for condition in found.status.conditions}


def writes(cluster: FakeCluster) -> list[str]:
    """All writes so far, the events' aside."""
    return [str(asked) for asked in cluster.requests if asked.is_write and asked.kind != EVENT]


def reads(cluster: FakeCluster) -> int:
    """How often the Thing was read past the cache."""
    return len(
        [
            asked
            for asked in cluster.requests
            if (asked.verb, asked.kind, asked.namespace) == ("list", Thing.gvk, "default")
        ]
    )


async def test_a_paused_object_says_so_once(things: FakeCluster) -> None:
    """A pause is one condition, written once whatever happens to the object meanwhile; what was said before stands."""
    reconciler = ThingReconciler()
    async with things.operating(reconciler) as manager:
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
        ready = (await said(things))["Ready"]
        await patch(things, {"metadata": {"annotations": {f"{GROUP}/paused": "true"}}})
        await things.settle(manager)
        before, paused = writes(things), (await said(things))["Paused"]
        assert (paused.status, paused.reason, paused.observed_generation) == ("True", "Paused", None)
        assert paused.message == f"by the annotation {GROUP}/paused"
        assert (await said(things))["Ready"] == ready
        await patch(things, {"spec": {"text": "changed"}})
        await things.settle(manager)
        found = await things.client.get(Thing, "one", namespace="default")
        assert (found.metadata.generation, found.status.observed_generation) == (2, 1)
        assert len(writes(things)) == len(before) + 1  # the change of the spec
        await patch(things, {"metadata": {"annotations": {f"{GROUP}/paused": None}}})
        await things.settle(manager)
        assert set(await said(things)) == {"Made", "Ready"}
    assert reconciler.seen == ["hello", "changed"]


async def test_a_paused_object_is_not_finalized(things: FakeCluster) -> None:
    """A deletion waits for the end of a pause."""
    reconciler = ThingReconciler()
    async with things.operating(reconciler) as manager:
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
        await patch(things, {"metadata": {"annotations": {f"{GROUP}/paused": "true"}}})
        await things.client.delete(Thing, "one", namespace="default")
        await things.settle(manager, seconds=60)
        assert reconciler.finalized == 0
        await patch(things, {"metadata": {"annotations": {f"{GROUP}/paused": None}}})
        await things.settle(manager)
        assert await things.client.list(Thing) == []
    assert reconciler.finalized == 1


async def test_a_pause_of_all_is_said_too(things: FakeCluster) -> None:
    """With --paused each object says so, once."""
    await things.client.create(thing(), field_manager="test")
    for _ in range(2):
        async with things.operating(ThingReconciler, paused=True) as manager:
            await things.settle(manager)
    paused = (await said(things))["Paused"]
    assert paused.message == "by the operator's flag --paused"
    assert len(writes(things)) == 2  # the creation, and the one condition


async def test_a_paused_object_that_fits_no_class(things: FakeCluster) -> None:
    """What can't be decoded is left alone as well."""
    await things.client.create({**raw_thing(), "spec": {"text": 5}}, field_manager="test")
    await patch(things, {"metadata": {"annotations": {f"{GROUP}/paused": "true"}}})
    before = writes(things)
    async with things.operating(ThingReconciler) as manager:
        await things.settle(manager)
    assert writes(things) == before


async def test_conditions_of_others_stay_theirs(things: FakeCluster) -> None:
    """A condition that another manager keeps is neither owned nor put back; our own that are not set again stay."""
    async with things.operating(ThingReconciler) as manager:
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
    body = {**raw_thing(), "status": {"conditions": [THEIRS]}}
    await things.client.apply(body, field_manager="auditor", subresource="status")
    async with things.operating(ThingReconciler) as manager:
        before = reads(things)
        for text in ("longer text", "an even longer text"):
            await patch(things, {"spec": {"text": text}})
            await things.settle(manager)
        assert reads(things) == before + 1  # whose it is, is asked once
        assert set(await said(things)) == {"Made", "Ready", "Audited"}
        await things.client.apply({**raw_thing(), "status": {}}, field_manager="auditor", subresource="status")
        await things.settle(manager)
        assert set(await said(things)) == {"Made", "Ready"}


async def test_own_conditions_ask_nothing(things: FakeCluster) -> None:
    """Where a reconciler sets all that there is, no one is asked whose it is."""
    async with things.operating(ThingReconciler) as manager:
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
    assert reads(things) == 0


async def test_after_a_conflict_the_server_is_read(things: FakeCluster) -> None:
    """The next try goes by what the server has, as the cache may be behind."""
    async with things.operating(ThingReconciler) as manager:
        things.fail(Conflict("somebody was faster"), verb="patch", kind=Thing)
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
        assert set(await said(things)) == {"Made", "Ready"}
    assert reads(things) == 1


async def test_an_undecodable_object_leaves_conditions_of_others(things: FakeCluster) -> None:
    """The report that an object fits no class is about our conditions, and is written once."""
    await things.client.create({**raw_thing(), "spec": {"text": 5}}, field_manager="test")
    body = {**raw_thing(), "status": {"conditions": [THEIRS]}}
    await things.client.apply(body, field_manager="auditor", subresource="status")
    for _ in range(2):
        async with things.operating(ThingReconciler) as manager:
            await things.settle(manager)
    applied = [line for line in writes(things) if "status" in line]
    assert len(applied) == 2  # the auditor's, and ours
    await things.client.apply({**raw_thing(), "status": {}}, field_manager="auditor", subresource="status")
    found = (await things.client.list(Thing.gvk))[0]["status"]["conditions"]
    assert {item["type"]: item["reason"] for item in found} == {"Ready": "Undecodable", "Stalled": "Undecodable"}


async def test_an_undecodable_object_can_be_let_go(things: FakeCluster) -> None:
    """An object that fits no class can't be finalized: it says so with the way out, which lets it go."""
    reconciler = ThingReconciler()
    body = {**raw_thing(), "spec": {"text": 5}}
    body["metadata"]["finalizers"] = [finalizer_name(Thing.gvk, "thing"), "example.org/other"]
    async with things.operating(reconciler) as manager:
        await things.client.create(body, field_manager="test")
        await things.settle(manager)
        await things.client.delete(Thing, "one", namespace="default")
        await things.settle(manager)
        notes = [event["note"] for event in await things.client.list(EVENT) if event["reason"] == "Undecodable"]
        assert f"annotate it with {GROUP}/skip-finalize=true" in notes[-1]
        assert "$.spec.text" in notes[-1]
        found = (await things.client.list(Thing.gvk))[0]
        stalled = next(item for item in found["status"]["conditions"] if item["type"] == "Stalled")
        assert stalled["message"].startswith("finalize can't run")
        await patch(things, {"metadata": {"annotations": {f"{GROUP}/skip-finalize": "true"}}})
        await things.settle(manager)
        assert (await things.client.list(Thing.gvk))[0]["metadata"]["finalizers"] == ["example.org/other"]
    assert reconciler.finalized == 0


async def test_an_undecodable_object_of_others_may_go(things: FakeCluster) -> None:
    """An object that is on its way, and that we do not hold, is nothing to report."""
    body = {**raw_thing(), "spec": {"text": 5}}
    body["metadata"]["finalizers"] = ["example.org/other"]
    await things.client.create(body, field_manager="test")
    await things.client.delete(Thing, "one", namespace="default")
    before = len(writes(things))
    async with things.operating(ThingReconciler) as manager:
        await things.settle(manager)
    assert len(writes(things)) == before


async def test_an_object_that_never_is_finalized_can_be_let_go(things: FakeCluster) -> None:
    """The same way out helps where finalize fails for good; it does nothing to an object that lives."""
    reconciler = ThingReconciler()
    async with things.operating(reconciler) as manager:
        await things.client.create(thing("stuck", skip_finalize="false"), field_manager="test")
        await things.settle(manager)
        await things.client.delete(Thing, "one", namespace="default")
        await things.settle(manager)
        assert (await said(things))["Stalled"].reason == "Uncleanable"
        await patch(things, {"metadata": {"annotations": {f"{GROUP}/skip-finalize": "true"}}})
        await things.settle(manager)
        assert await things.client.list(Thing) == []
    assert reconciler.finalized == 1


async def test_a_404_is_not_believed_of_an_object_that_is_there(things: FakeCluster) -> None:
    """Writes that find no object, as while its CRD is away, are made when it is found again: each of the three."""

    def lose() -> None:
        things.fail(NotFound("page not found"), verb="patch", kind=Thing, times=3)
        things.fail(NotFound("page not found"), verb="list", kind=Thing, times=2)

    async with things.operating(ThingReconciler) as manager:
        await things.settle(manager)
        lose()  # the finalizer
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
        await patch(things, {"spec": {"text": "longer than before"}})
        lose()  # the status
        await things.settle(manager)
        found = await things.client.get(Thing, "one", namespace="default")
        assert found.status.observed_generation == found.metadata.generation
        await things.client.delete(Thing, "one", namespace="default")
        lose()  # the finalizer's removal
        await things.settle(manager)
        assert await things.client.list(Thing) == []


@pytest.mark.parametrize("kind_gone", [False, True])
async def test_an_object_that_is_gone_is_left_alone(
    things: FakeCluster, caplog: pytest.LogCaptureFixture, *, kind_gone: bool
) -> None:
    """Where a write finds no object since it is gone, its reconciler is not called again, and nobody complains."""
    calls: list[str] = []

    @controller(Thing)
    class Hasty(ThingReconciler):
        async def reconcile(self, ctx: Context, obj: Thing) -> Result:
            calls.append(obj.metadata.name)
            await patch(things, {"metadata": {"finalizers": None}})
            await ctx.client.delete(Thing, "one", namespace="default")
            if kind_gone:
                things.fail(NotFound("page not found"), verb="list", kind=Thing, times=100)
            return await super().reconcile(ctx, obj)

    async with things.operating(Hasty) as manager:
        await things.client.create(thing(), field_manager="test")
        await things.settle(manager)
    assert calls == ["one"]
    assert not [record for record in caplog.records if record.levelname in {"WARNING", "ERROR"}]


def raw_thing() -> dict[str, Any]:
    """Name the Thing."""
    return {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "one", "namespace": "default"}}


def loose_crd() -> dict[str, Any]:
    """Let Things have any spec."""
    crd = deepcopy(crd_of([Thing]))
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return crd
