"""What FakeCluster gives to tests of reconcilers; its answers are held against the real API server in tests/cluster."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import pytest

from pyopscaffold import errors
from pyopscaffold.api import CEL, Conditions, Object, ObjectMeta, controller, int32, int64, resource
from pyopscaffold.kube.builtin import CONFIG_MAP, EVENT, NAMESPACE, STATEFUL_SET
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.runtime import Context, Reconciler, Result, conditions
from pyopscaffold.runtime.cache import Cache
from pyopscaffold.runtime.finalizer import finalizer_name
from pyopscaffold.testing.fake import NotSimulatedError, UnsettledError
from pyopscaffold.testing.fake.crds import crd_of

if TYPE_CHECKING:
    from pyopscaffold.testing import FakeCluster

GROUP = "fake.unit.example.com"


@dataclass(kw_only=True)
class NoteSpec:
    text: str = "hello"
    copies: int32 = 1


@dataclass(kw_only=True)
class NoteStatus:
    observed_generation: int64 | None = None
    copies: int32 | None = None
    conditions: Conditions = field(default_factory=list)


@resource(group=GROUP, version="v1")
@dataclass(kw_only=True)
class Note(Object):
    spec: NoteSpec = field(default_factory=NoteSpec)
    status: NoteStatus = field(default_factory=NoteStatus)


@controller(Note, owns=[CONFIG_MAP])
class NoteReconciler(Reconciler[Note]):
    """Keeps as many ConfigMaps as the spec asks for."""

    def __init__(self) -> None:
        self.looks = 0

    async def reconcile(self, ctx: Context, obj: Note) -> Result:
        """Apply and prune."""
        self.looks += 1
        if obj.spec.text == "bad":
            raise errors.TerminalError("the text is bad", reason="BadText")
        kept = []
        for number in range(obj.spec.copies):
            name = f"{obj.metadata.name}-{number}"
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"t": obj.spec.text}}
            kept.append(await ctx.apply(body))
        await ctx.prune(kept=kept)
        obj.status.copies = len(kept)
        conditions.set(obj, "Ready", "True", reason="Applied")
        return Result(requeue_after=3600)

    async def finalize(self, ctx: Context, obj: Note) -> None:
        """Let go."""
        ctx.event("Normal", "Cleaned", f"{obj.metadata.name} is cleaned up")


def note(name: str = "n", **spec: Any) -> Note:
    """Make a Note."""
    made = Note(spec=NoteSpec(**spec))
    made.metadata.name, made.metadata.namespace = name, "default"
    return made


@pytest.fixture
def notes(fake_cluster: FakeCluster) -> FakeCluster:
    """Give a cluster that serves Notes."""
    fake_cluster.serve(Note)
    return fake_cluster


async def _maps(cluster: FakeCluster) -> list[str]:
    found = await cluster.client.list(CONFIG_MAP, namespace="default")
    return [item["metadata"]["name"] for item in found]


async def test_one_reconcile(notes: FakeCluster) -> None:
    """A look makes children, status, finalizer; the object is made first, if it is not there."""
    verdict = await notes.reconcile(NoteReconciler, note(copies=2))
    assert (verdict.requeue_after, verdict.failure) == (3600, None)
    assert await _maps(notes) == ["n-0", "n-1"]
    found = await notes.client.get(Note, "n", namespace="default")
    assert (found.status.copies, found.status.observed_generation) == (2, 1)
    assert found.metadata.finalizers == [finalizer_name(Note.gvk, "note")]
    assert found.metadata.creation_timestamp == notes.clock.now()
    await notes.client.patch(Note, "n", {"spec": {"copies": 1}}, namespace="default")
    await notes.reconcile(NoteReconciler, note())
    assert await _maps(notes) == ["n-0"]


async def test_one_reconcile_that_fails(notes: FakeCluster) -> None:
    """What is raised is told by the verdict, the conditions and an event."""
    verdict = await notes.reconcile(NoteReconciler, note(text="bad"))
    assert verdict.failure is not None
    assert (verdict.failure.reason, verdict.failure.message) == ("BadText", "the text is bad")
    found = await notes.client.get(Note, "n", namespace="default")
    stalled = conditions.get(found, "Stalled")
    assert (stalled and stalled.status) == "True"
    assert [event["reason"] for event in await notes.client.list(EVENT)] == ["BadText"]


async def test_a_whole_life(notes: FakeCluster) -> None:
    """A manager runs as it does on a cluster: made, changed, deleted; children go with their owner."""
    async with notes.operating(NoteReconciler) as manager:
        await notes.client.create(note(copies=2), field_manager="test")
        await notes.settle(manager)
        assert await _maps(notes) == ["n-0", "n-1"]
        await notes.client.patch(Note, "n", {"spec": {"copies": 1}}, namespace="default")
        await notes.settle(manager)
        assert await _maps(notes) == ["n-0"]
        await notes.client.delete(Note, "n", namespace="default")
        await notes.settle(manager)
        assert await notes.client.list(Note) == []
        assert await _maps(notes) == []
    assert [event["reason"] for event in await notes.client.list(EVENT)] == ["Cleaned"]


async def test_at_rest_nothing_is_asked(notes: FakeCluster) -> None:
    """An operator that has settled reads and writes nothing, for as long as nobody asks it to."""
    reconciler = NoteReconciler()
    async with notes.operating(reconciler) as manager:
        await notes.client.create(note(), field_manager="test")
        await notes.settle(manager)
        before, looks = len(notes.requests), reconciler.looks
        await notes.settle(manager, seconds=200)
        assert [str(asked) for asked in notes.requests[before:]] == []
        await notes.settle(manager, seconds=3500)
        assert reconciler.looks == looks + 1
        assert not [asked for asked in notes.requests[before:] if asked.is_write]


async def test_children_come_back(notes: FakeCluster) -> None:
    """Somebody else's change of a child is undone."""
    async with notes.operating(NoteReconciler) as manager:
        await notes.client.create(note(), field_manager="test")
        await notes.settle(manager)
        await notes.client.patch(CONFIG_MAP, "n-0", {"data": {"t": "other"}}, namespace="default")
        await notes.settle(manager)
        assert (await notes.client.get(CONFIG_MAP, "n-0", namespace="default"))["data"] == {"t": "hello"}
        await notes.client.delete(CONFIG_MAP, "n-0", namespace="default")
        await notes.settle(manager)
        assert await _maps(notes) == ["n-0"]


@pytest.mark.parametrize(
    "error",
    [
        errors.Conflict("somebody was faster"),
        errors.ServerError("etcd is away"),
        errors.TooManyRequests("slowly", retry_after=1),
        errors.ConnectionFailed("reset"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_failures_on_demand(notes: FakeCluster, error: errors.ClientError) -> None:
    """A failing request is the reconciler's to get over: by the clock, it takes no time."""
    notes.fail(error, verb="patch", kind=CONFIG_MAP, times=2)
    async with notes.operating(NoteReconciler) as manager:
        await notes.client.create(note(), field_manager="test")
        await notes.settle(manager, seconds=5)
        assert await _maps(notes) == ["n-0"]
    asked = [asked for asked in notes.requests if (asked.verb, asked.kind) == ("patch", CONFIG_MAP)]
    assert len(asked) == 3


async def test_failures_are_the_clients_errors(fake_cluster: FakeCluster) -> None:
    """A fault arrives with class, code, reason and message, for the request that it is meant for, so many times."""
    await fake_cluster.client.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}, field_manager="t"
    )
    fake_cluster.fail(errors.Forbidden("not you"), verb="get", kind=CONFIG_MAP, name="a")
    assert await fake_cluster.client.list(CONFIG_MAP)
    with pytest.raises(errors.Forbidden, match="not you") as caught:
        await fake_cluster.client.get(CONFIG_MAP, "a", namespace="default")
    assert (caught.value.code, caught.value.reason) == (403, "Forbidden")
    assert await fake_cluster.client.get(CONFIG_MAP, "a", namespace="default")


@pytest.mark.parametrize("error", [errors.Expired, errors.Forbidden, errors.ServerError, errors.ConnectionFailed])
async def test_watches_that_fail(notes: FakeCluster, error: type[errors.ClientError]) -> None:
    """An operator whose watches are refused comes back, and sees what has happened."""
    async with notes.operating(NoteReconciler) as manager:
        notes.fail(error("not now"), verb="watch", kind=Note, times=2)
        notes.cut_watches(Note)
        await notes.client.create(note(), field_manager="test")
        await notes.settle(manager, seconds=60)
        assert await _maps(notes) == ["n-0"]


@pytest.mark.parametrize("cleanly", [True, False])
async def test_cut_watches(notes: FakeCluster, cleanly: bool) -> None:
    """After a cut, and with the history forgotten, the operator lists anew and sees what it has missed."""
    async with notes.operating(NoteReconciler) as manager:
        await notes.client.create(note(), field_manager="test")
        await notes.settle(manager)
        notes.cut_watches(cleanly=cleanly)
        notes.compact()
        await notes.client.delete(CONFIG_MAP, "n-0", namespace="default")
        await notes.settle(manager, seconds=2)
        assert await _maps(notes) == ["n-0"]


async def test_a_cache_follows(notes: FakeCluster) -> None:
    """A cache alone runs on it, too."""
    cache = Cache(notes.client, clock=notes.clock)
    informer = cache.informer(Note)
    running = asyncio.create_task(cache.run())
    await cache.wait_synced()
    await notes.client.create(note(), field_manager="test")
    assert (await cache.reader.get(Note, "n", namespace="default")).spec.text == "hello"
    assert len(informer.list()) == 1
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_restless_operators(notes: FakeCluster) -> None:
    """A reconciler that changes something each time is told, not waited for."""

    @controller(Note)
    class Restless(Reconciler[Note]):
        async def reconcile(self, ctx: Context, obj: Note) -> None:
            copies = obj.spec.copies + 1
            await ctx.client.patch(Note, obj.metadata.name, {"spec": {"copies": copies}}, namespace="default")

    await notes.client.create(note(), field_manager="test")
    with pytest.raises(UnsettledError, match=r"does not come to rest: \d+ times patch notes"):
        async with notes.operating(Restless):
            pass


async def test_blocking_reconcilers(notes: FakeCluster) -> None:
    """A plain def runs in its thread, and is waited for."""

    @controller(Note)
    class Blocking(Reconciler[Note]):
        def reconcile(self, ctx: Context, obj: Note) -> None:
            obj.status.copies = len(ctx.wait(ctx.client.list(Note)))

    await notes.client.create(note(), field_manager="test")
    async with notes.operating(Blocking):
        assert (await notes.client.get(Note, "n", namespace="default")).status.copies == 1


async def test_runs_are_alike(fake_cluster: FakeCluster) -> None:
    """uids, times, versions and generated names are the same in every run."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "a-", "namespace": "default"}}
    made = [await type(fake_cluster)().client.create(body, field_manager="test") for _ in range(2)]
    assert made[0] == made[1]


@dataclass(kw_only=True)
class RuledSpec:
    low: Annotated[int32, CEL("self < 10", message="too much")] = 1


@resource(group=GROUP, version="v1")
@dataclass(kw_only=True)
class Ruled(Object):
    spec: RuledSpec = field(default_factory=RuledSpec)


async def test_rules_are_not_passed_over_in_silence(fake_cluster: FakeCluster) -> None:
    """A kind with CEL rules is refused, unless the test does without them."""
    with pytest.raises(NotSimulatedError, match=r"CEL rules, which Ruled has at spec\.low"):
        fake_cluster.serve(Ruled)
    served = type(fake_cluster)(Ruled, ignore_rules=True)
    ruled = Ruled(spec=RuledSpec(low=50))
    ruled.metadata.name, ruled.metadata.namespace = "r", "default"
    assert (await served.client.create(ruled, field_manager="test")).spec.low == 50


async def test_schemas_are_the_generators(notes: FakeCluster) -> None:
    """A kind is served by the CRD that `generate` makes: a wrong type is Invalid, a default is filled in."""
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Note", "metadata": {"name": "n", "namespace": "default"}}
    with pytest.raises(errors.Invalid) as caught:
        await notes.client.create({**body, "spec": {"copies": "x"}}, field_manager="test")
    assert [cause.field for cause in caught.value.causes] == ["spec.copies"]
    made = await notes.client.create({**body, "spec": {}}, field_manager="test")
    assert made["spec"] == {"text": "hello", "copies": 1}


async def test_versions_of_a_kind(fake_cluster: FakeCluster) -> None:
    """One object is read and written in every version that its CRD serves."""
    crd = crd_of([Note])
    second = {**crd["spec"]["versions"][0], "name": "v2", "storage": False}
    fake_cluster.serve({**crd, "spec": {**crd["spec"], "versions": [*crd["spec"]["versions"], second]}})
    body = {"apiVersion": f"{GROUP}/v2", "kind": "Note", "metadata": {"name": "n", "namespace": "default"}}
    made = await fake_cluster.client.create(note(), field_manager="test")
    kind = GroupVersionKind(GROUP, "v2", "Note")
    assert (await fake_cluster.client.get(kind, "n", namespace="default"))["apiVersion"] == f"{GROUP}/v2"
    applied = await fake_cluster.client.apply(body, field_manager="test")
    assert (applied["metadata"]["generation"], applied["metadata"]["uid"]) == (1, made.metadata.uid)
    assert (await fake_cluster.client.get(Note, "n", namespace="default")).spec.text == "hello"


async def test_a_kind_of_others(fake_cluster: FakeCluster) -> None:
    """A class that describes another's API, as import writes it, is served like one of the project's own."""

    @resource(group=GROUP, version="v1", skip=True)
    @dataclass(kw_only=True)
    class Foreign(Object):
        spec: NoteSpec

    fake_cluster.serve(Foreign)
    foreign = Foreign(metadata=ObjectMeta(name="a", namespace="default"), spec=NoteSpec(copies=3))
    assert (await fake_cluster.client.create(foreign, field_manager="test")).spec.copies == 3


async def test_what_is_not_simulated_says_so(fake_cluster: FakeCluster) -> None:
    """Strategic merge patches, unknown kinds of Kubernetes, logs: an error that points to the real server."""
    client = fake_cluster.client
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
    await client.create(body, field_manager="test")
    with pytest.raises(NotSimulatedError, match="strategic merge patches") as caught:
        await client.patch(CONFIG_MAP, "a", {}, namespace="default", patch_type="strategic")
    assert caught.value.hint == "test it on a real API server: the fixture api_server"
    with pytest.raises(NotSimulatedError, match=r"clusterroles in rbac\.authorization\.k8s\.io/v1"):
        await client.list(GroupVersionKind("rbac.authorization.k8s.io", "v1", "ClusterRole", namespaced=False))
    with pytest.raises(NotSimulatedError, match=r"the field selector data\.a of configmaps"):
        await client.list(CONFIG_MAP, fields="data.a=b")
    with pytest.raises(errors.NotFound):
        await client.list(GroupVersionKind("nowhere.example.com", "v1", "Nothing"))
    webhook = {"strategy": "Webhook"}
    crd: dict[str, Any] = {"spec": {"conversion": webhook, "names": {"kind": "X", "plural": "xs"}, "group": "g.io"}}
    with pytest.raises(NotSimulatedError, match="conversion webhooks"):
        fake_cluster.serve({**crd, "metadata": {"name": "xs.g.io"}, "spec": {**crd["spec"], "versions": []}})


async def test_what_a_reconciler_asks_in_vain(notes: FakeCluster) -> None:
    """A reconciler's errors are caught and retried, but not this one: the test hears of it."""

    @controller(Note)
    class Strategic(Reconciler[Note]):
        async def reconcile(self, ctx: Context, obj: Note) -> None:
            await ctx.client.patch(CONFIG_MAP, obj.metadata.name, {}, namespace="default", patch_type="strategic")

    await notes.client.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "namespace": "default"}}, field_manager="t"
    )
    with pytest.raises(NotSimulatedError, match="strategic merge patches"):
        await notes.reconcile(Strategic, note())
    with pytest.raises(NotSimulatedError, match="strategic merge patches"):
        async with notes.operating(Strategic):
            pass


async def test_the_whole_client(notes: FakeCluster) -> None:
    """What the client has beyond the reconciler's daily needs: replace, collections, discovery, scale."""
    client = notes.client
    await client.create(note(), field_manager="test")
    made = await client.get(Note.gvk, "n", namespace="default")
    made["spec"]["copies"] = 3
    assert (await client.replace(made, field_manager="test"))["metadata"]["generation"] == 2
    with pytest.raises(errors.Conflict):
        await client.replace(made, field_manager="test")
    served = client.discovery
    assert (await served.preferred(GROUP, "Note")).plural == "notes"
    assert {group.name for group in await served.groups()} >= {"", "apps", GROUP}
    await client.create(note("m"), field_manager="test")
    await client.delete_collection(Note, namespace="default", fields="metadata.name=m")
    assert [found.metadata.name for found in await client.list(Note)] == ["n"]
    replicas = await client.apply(_stateful_set(), field_manager="test")
    assert replicas["spec"]["replicas"] == 1
    assert (await client.set_scale(STATEFUL_SET, "x", 3, namespace="default", field_manager="test")).wanted == 3
    assert (await client.get_scale(STATEFUL_SET, "x", namespace="default")).wanted == 3


async def test_crds_come_and_go(notes: FakeCluster) -> None:
    """A CRD that is deleted takes its objects along; those that are held hold it."""
    await notes.client.create(note(), field_manager="test")
    await notes.client.patch(Note, "n", {"metadata": {"finalizers": ["example.com/a"]}}, namespace="default")
    crds = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", namespaced=False)
    name = f"notes.{GROUP}"
    established = (await notes.client.get(crds, name))["status"]["conditions"]
    assert {item["type"]: item["status"] for item in established} == {"NamesAccepted": "True", "Established": "True"}
    await notes.client.delete(crds, name)
    assert (await notes.client.get(Note, "n", namespace="default")).metadata.deletion_timestamp
    await notes.client.patch(Note, "n", {"metadata": {"finalizers": []}}, namespace="default")
    with pytest.raises(errors.NotFound, match="could not find the requested resource"):
        await notes.client.list(Note)
    assert await notes.client.list(crds) == []


async def test_namespaces_are_made(fake_cluster: FakeCluster) -> None:
    """Nothing is made in a namespace that nobody has made; one that is held waits."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}}
    with pytest.raises(errors.NotFound, match='namespaces "shop" not found'):
        await fake_cluster.client.create(body, field_manager="test")
    fake_cluster.add_namespace("shop")
    held = {**body, "metadata": {**body["metadata"], "finalizers": ["example.com/a"]}}  # type: ignore[dict-item]
    await fake_cluster.client.create(held, field_manager="test")
    await fake_cluster.client.delete(NAMESPACE, "shop")
    assert (await fake_cluster.client.get(NAMESPACE, "shop"))["status"]["phase"] == "Terminating"
    await fake_cluster.client.patch(CONFIG_MAP, "a", {"metadata": {"finalizers": None}}, namespace="shop")
    with pytest.raises(errors.NotFound):
        await fake_cluster.client.get(NAMESPACE, "shop")


def _stateful_set() -> dict[str, Any]:
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}}
    spec = {"selector": {"matchLabels": labels}, "serviceName": "x", "replicas": 1, "template": template}
    metadata = {"name": "x", "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec}


async def test_stateful_sets_are_told_their_status(fake_cluster: FakeCluster) -> None:
    """No controller runs: the test plays its part, and the generation is counted as everywhere."""
    await fake_cluster.client.apply(_stateful_set(), field_manager="test")
    status = {"status": {"replicas": 1, "readyReplicas": 1}}
    told = await fake_cluster.client.patch(STATEFUL_SET, "x", status, namespace="default", subresource="status")
    assert (told["status"]["readyReplicas"], told["metadata"]["generation"]) == (1, 1)


async def test_bookmarks_and_ends(fake_cluster: FakeCluster) -> None:
    """A watch gets a bookmark each minute, and ends when its time is up."""
    watch = fake_cluster.client.watch(CONFIG_MAP, resource_version="1", timeout=130)
    seen: list[str] = []

    async def follow() -> None:
        seen.extend([event.type async for event in watch])

    following = asyncio.create_task(follow())
    for _ in range(4):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        fake_cluster.clock.advance(60)
    await asyncio.wait_for(following, 5)
    assert seen == ["BOOKMARK", "BOOKMARK"]
