"""The client against a real API server."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from pyopscaffold import errors
from pyopscaffold.api import Object, int32, resource
from pyopscaffold.k8s.coordination.v1 import Lease, LeaseSpec
from pyopscaffold.kube.builtin import CONFIG_MAP, NAMESPACE
from pyopscaffold.runtime.client.protocols import Propagation, Scale
from tests.cluster.gadgets import GROUP, Gadget, GadgetSpec, GadgetStatus

if TYPE_CHECKING:
    from pyopscaffold.runtime.client.http import HttpClient


def _config_map(name: str, namespace: str, **data: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "data": data,
    }


async def test_life_of_a_mapping(client: HttpClient, namespace: str) -> None:
    """A ConfigMap is made, read, listed, patched in three ways, and deleted."""
    made = await client.create(_config_map("a", namespace, key="1"), field_manager="tests")
    assert made["metadata"]["uid"]
    assert await client.get(CONFIG_MAP, "a", namespace=namespace) == made
    with pytest.raises(errors.AlreadyExists):
        await client.create(_config_map("a", namespace), field_manager="tests")
    merged = await client.patch(CONFIG_MAP, "a", {"data": {"key": "2"}}, namespace=namespace)
    assert merged["data"] == {"key": "2"}
    operations = [{"op": "test", "path": "/data/key", "value": "2"}, {"op": "add", "path": "/data/more", "value": "x"}]
    patched = await client.patch(CONFIG_MAP, "a", operations, namespace=namespace, patch_type="json")
    assert patched["data"] == {"key": "2", "more": "x"}
    strategic = {"data": {"more": None}}
    cut = await client.patch(CONFIG_MAP, "a", strategic, namespace=namespace, patch_type="strategic")
    assert cut["data"] == {"key": "2"}
    assert [obj["metadata"]["name"] for obj in await client.list(CONFIG_MAP, namespace=namespace, labels="app=a")] == [
        "a"
    ]
    assert await client.list(CONFIG_MAP, namespace=namespace, labels="app=b") == []
    await client.delete(CONFIG_MAP, "a", namespace=namespace, uid=made["metadata"]["uid"])
    with pytest.raises(errors.NotFound):
        await client.get(CONFIG_MAP, "a", namespace=namespace)


async def test_pages_hold_the_whole(client: HttpClient, namespace: str) -> None:
    """Pages add up to the whole list."""
    for number in range(5):
        await client.create(_config_map(f"page-{number}", namespace), field_manager="tests")
    names, token, pages = set(), "", 0
    while True:
        page = await client.list_page(CONFIG_MAP, namespace=namespace, limit=2, continue_=token)
        names |= {bytes(item) for item in page.items}
        pages += 1
        if not (token := page.continue_):
            break
    assert (len(names), pages) == (5, 3)


async def test_preconditions(client: HttpClient, namespace: str) -> None:
    """A delete for another uid or version is a Conflict, and the object stays."""
    await client.create(_config_map("kept", namespace), field_manager="tests")
    with pytest.raises(errors.Conflict):
        await client.delete(CONFIG_MAP, "kept", namespace=namespace, uid=str(uuid.uuid4()))
    with pytest.raises(errors.Conflict):
        await client.delete(CONFIG_MAP, "kept", namespace=namespace, resource_version="1")
    assert await client.get(CONFIG_MAP, "kept", namespace=namespace)


async def test_apply_owns_what_it_names(client: HttpClient, namespace: str) -> None:
    """Server-side apply merges with other managers' fields, drops what one no longer names, and conflicts unforced."""
    await client.apply(_config_map("shared", namespace, mine="1", old="x"), field_manager="one")
    await client.apply(_config_map("shared", namespace, other="2"), field_manager="two")
    merged = await client.apply(_config_map("shared", namespace, mine="1"), field_manager="one")
    assert merged["data"] == {"mine": "1", "other": "2"}
    with pytest.raises(errors.FieldConflict) as caught:
        await client.apply(_config_map("shared", namespace, mine="3"), field_manager="two", force=False)
    assert caught.value.managers == {"one": (".data.mine",)}
    taken = await client.apply(_config_map("shared", namespace, mine="3"), field_manager="two")
    assert taken["data"]["mine"] == "3"


async def test_dry_runs_change_nothing(client: HttpClient, namespace: str) -> None:
    """A dry run is validated and answered, and leaves nothing behind."""
    await client.create(_config_map("real", namespace, key="1"), field_manager="tests")
    await client.create(_config_map("dry", namespace), field_manager="tests", dry_run=True)
    await client.apply(_config_map("real", namespace, key="2"), field_manager="tests", dry_run=True)
    await client.delete(CONFIG_MAP, "real", namespace=namespace, dry_run=True)
    found = {obj["metadata"]["name"]: obj.get("data") for obj in await client.list(CONFIG_MAP, namespace=namespace)}
    assert found.get("real") == {"key": "1"}
    assert "dry" not in found


async def test_typed_resource_and_status(client: HttpClient, gadgets: None, namespace: str) -> None:
    """A dataclass travels both ways; spec and status are written apart."""
    gadget = Gadget(spec=GadgetSpec(size=2, storage="1Gi"))
    gadget.metadata.name, gadget.metadata.namespace = "g", namespace
    gadget.status.ready = 5
    made = await client.create(gadget, field_manager="tests")
    assert (made.spec, made.status.ready) == (gadget.spec, 0)
    made.status.ready = 2
    status = await client.apply(made, field_manager="tests", subresource="status")
    assert (status.status.ready, status.metadata.generation) == (2, 1)
    merged = await client.patch(Gadget, "g", {"status": {"ready": 3}}, namespace=namespace, subresource="status")
    assert merged.status.ready == 3
    scaled = await client.patch(Gadget.gvk, "g", {"spec": {"replicas": 4}}, namespace=namespace, subresource="scale")
    assert scaled["kind"] == "Scale"
    assert [found.spec.size for found in await client.list(Gadget, namespace=namespace)] == [4]


async def test_invalid_names_the_fields(client: HttpClient, gadgets: None, namespace: str) -> None:
    """What the schema refuses is Invalid, with the path of each cause."""
    gadget = Gadget(spec=GadgetSpec(size=0))
    gadget.metadata.name, gadget.metadata.namespace = "bad", namespace
    with pytest.raises(errors.Invalid) as caught:
        await client.create(gadget, field_manager="tests")
    assert [(cause.reason, cause.field) for cause in caught.value.causes] == [("FieldValueInvalid", "spec.size")]
    assert caught.value.details == errors.StatusDetails(name="bad", group=GROUP, kind="Gadget")


async def test_number_for_a_quantity(client: HttpClient, gadgets: None, namespace: str) -> None:
    """A quantity that somebody wrote as a number is read as text."""
    await client.create(
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Gadget",
            "metadata": {"name": "n", "namespace": namespace},
            "spec": {"size": 1, "storage": 5},
        },
        field_manager="tests",
    )
    assert (await client.get(Gadget, "n", namespace=namespace)).spec.storage == "5"


@resource(group=GROUP, version="v1", kind="Gadget")
@dataclass(kw_only=True)
class OldGadget(Object):
    """A Gadget as a class saw it that knows fewer fields."""

    spec: OldGadgetSpec


@dataclass(kw_only=True)
class OldGadgetSpec:
    size: int32 = 1


async def test_unknown_fields_outlive_a_write(client: HttpClient, gadgets: None, namespace: str) -> None:
    """Who reads, changes and writes an object loses nothing of what its class does not know."""
    gadget = Gadget(spec=GadgetSpec(size=2, storage="1Gi"))
    gadget.metadata.name, gadget.metadata.namespace = "rich", namespace
    gadget.metadata.annotations = {"a": "b"}
    await client.create(gadget, field_manager="another")
    await client.patch(Gadget, "rich", {"status": {"ready": 3}}, namespace=namespace, subresource="status")
    old = await client.get(OldGadget, "rich", namespace=namespace)
    old.spec.size = 5
    await client.apply(old, field_manager="tests")
    await client.patch(OldGadget, "rich", {"metadata": {"labels": {"x": "y"}}}, namespace=namespace)
    found = await client.get(Gadget, "rich", namespace=namespace)
    assert (found.spec, found.status) == (GadgetSpec(size=5, storage="1Gi"), GadgetStatus(ready=3))
    assert (found.metadata.annotations, found.metadata.labels) == ({"a": "b"}, {"x": "y"})


async def test_whole_floats(client: HttpClient, gadgets: None, namespace: str) -> None:
    """The server takes 2.0 for an integer and stores 2, so the codec, which takes no float, never meets one."""
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "spec": {"weight": 2.0}}
    made = await client.create({**body, "metadata": {"name": "whole", "namespace": namespace}}, field_manager="tests")
    assert type(made["spec"]["weight"]) is int
    found = await client.get(Gadget, "whole", namespace=namespace)
    assert found.spec.weight == 2


async def test_micro_times(client: HttpClient, namespace: str) -> None:
    """A Lease's times have the six digits that the server demands, of a whole second too."""
    lease = Lease(spec=LeaseSpec(holder_identity="a", renew_time=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)))
    lease.metadata.name, lease.metadata.namespace = "held", namespace
    made = await client.create(lease, field_manager="tests")
    assert made.spec == lease.spec


async def test_unknown_kind(client: HttpClient, namespace: str) -> None:
    """A mapping of a kind that the server does not serve is a NotFound that says so."""
    with pytest.raises(errors.NotFound, match=r"no kind Nothing in nowhere\.example\.com/v1; is its CRD installed"):
        await client.create(
            {"apiVersion": "nowhere.example.com/v1", "kind": "Nothing", "metadata": {"name": "x"}},
            field_manager="tests",
        )


async def test_streaming_list_and_watch(client: HttpClient, namespace: str) -> None:
    """A streaming list brings what is there, marks its end, and goes on with what happens."""
    await client.create(_config_map("there", namespace), field_manager="tests")
    seen = []
    async with (
        asyncio.timeout(20),
        aclosing(
            client.watch(CONFIG_MAP, namespace=namespace, labels="app in (there, later)", initial_events=True)
        ) as events,
    ):
        async for event in events:
            seen.append(event.type)
            if event.type == "BOOKMARK" and b'"k8s.io/initial-events-end":"true"' in bytes(event.object):
                await client.create(_config_map("later", namespace), field_manager="tests")
                await client.delete(CONFIG_MAP, "there", namespace=namespace)
            if event.type == "DELETED":
                break
    assert seen == ["ADDED", "BOOKMARK", "ADDED", "DELETED"]


async def test_replacing_a_whole(client: HttpClient, namespace: str) -> None:
    """A mapping takes the place of what was read, also where it lacks something; a version gone by is a Conflict."""
    read = await client.create(_config_map("whole", namespace, kept="1", dropped="2"), field_manager="tests")
    changed = {**read, "data": {"kept": "3"}}
    assert (await client.replace(changed, field_manager="tests", dry_run=True))["data"] == {"kept": "3"}
    assert (await client.replace(changed, field_manager="tests"))["data"] == {"kept": "3"}
    with pytest.raises(errors.Conflict):
        await client.replace({**read, "data": {}}, field_manager="tests")
    assert (await client.get(CONFIG_MAP, "whole", namespace=namespace))["data"] == {"kept": "3"}


async def test_scale(client: HttpClient, gadgets: None, namespace: str) -> None:
    """Replicas are read and set through the scale subresource, whatever fields of the object they are."""
    gadget = Gadget(spec=GadgetSpec(size=2))
    gadget.metadata.name, gadget.metadata.namespace = "scaled", namespace
    await client.create(gadget, field_manager="tests")
    await client.patch(Gadget, "scaled", {"status": {"ready": 1}}, namespace=namespace, subresource="status")
    assert await client.get_scale(Gadget, "scaled", namespace=namespace) == Scale(wanted=2, present=1)
    tried = await client.set_scale(Gadget, "scaled", 7, namespace=namespace, field_manager="tests", dry_run=True)
    assert tried.wanted == 7
    scaled = await client.set_scale(Gadget, "scaled", 4, namespace=namespace, field_manager="tests")
    assert scaled == Scale(wanted=4, present=1)
    assert (await client.get(Gadget, "scaled", namespace=namespace)).spec.size == 4
    with pytest.raises(errors.NotFound):
        await client.get_scale(CONFIG_MAP, "none", namespace=namespace)


async def test_deleting_a_collection(client: HttpClient, namespace: str) -> None:
    """All that a selector selects is deleted, in that namespace only, and nothing in a dry run."""
    for name in ("a", "b", "c"):
        await client.create(_config_map(name, namespace), field_manager="tests")
    selected = "app in (a, b)"

    async def names() -> set[str]:
        found = await client.list(CONFIG_MAP, namespace=namespace, labels="app")
        return {obj["metadata"]["name"] for obj in found}

    await client.delete_collection(CONFIG_MAP, namespace=namespace, labels=selected, dry_run=True)
    assert await names() == {"a", "b", "c"}
    await client.delete_collection(CONFIG_MAP, namespace=namespace, labels=selected)
    assert await names() == {"c"}
    await client.delete_collection(CONFIG_MAP, namespace=namespace, fields="metadata.name=c")
    assert await names() == set()


@pytest.mark.parametrize(("propagation", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")])
async def test_propagation(client: HttpClient, namespace: str, propagation: Propagation, finalizer: str) -> None:
    """What happens to the dependents is asked for: the server marks the object for whoever collects them."""
    await client.create(_config_map("owner", namespace), field_manager="tests")
    await client.delete(CONFIG_MAP, "owner", namespace=namespace, propagation=propagation)
    assert (await client.get(CONFIG_MAP, "owner", namespace=namespace))["metadata"]["finalizers"] == [finalizer]
    await client.patch(CONFIG_MAP, "owner", {"metadata": {"finalizers": None}}, namespace=namespace)
    with pytest.raises(errors.NotFound):
        await client.get(CONFIG_MAP, "owner", namespace=namespace)


async def test_following_a_kind(client: HttpClient, gadgets: None, namespace: str) -> None:
    """What there is, then what happens to it, as instances of the class."""
    gadget = Gadget(spec=GadgetSpec(size=1))
    gadget.metadata.name, gadget.metadata.namespace = "followed", namespace
    await client.create(gadget, field_manager="tests")
    async with asyncio.timeout(20), aclosing(client.follow(Gadget, namespace=namespace, initial=True)) as events:
        seen = []
        async for kind_of_event, found in events:
            seen.append((kind_of_event, found.spec.size))
            if kind_of_event == "ADDED":
                await client.patch(Gadget, "followed", {"spec": {"size": 2}}, namespace=namespace)
            elif kind_of_event == "MODIFIED":
                await client.delete(Gadget, "followed", namespace=namespace)
            else:
                break
    assert seen == [("ADDED", 1), ("MODIFIED", 2), ("DELETED", 2)]


async def test_discovery(client: HttpClient, gadgets: None) -> None:
    """Groups, kinds and the preferred version are those that the server has, our own CRD's among them."""
    groups = {group.name: group for group in await client.discovery.groups()}
    assert {groups[name].preferred_version for name in ("", "apps", GROUP)} == {"v1"}
    assert groups["autoscaling"].versions == ("v2", "v1")
    found = await client.discovery.preferred(GROUP, "Gadget")
    assert (found, found.plural, found.namespaced) == (Gadget.gvk, "gadgets", True)
    namespaces = [each for each in await client.discovery.resources("v1") if each.kind == NAMESPACE]
    assert [(each.kind.namespaced, each.short_names) for each in namespaces] == [(False, ("ns",))]
    assert "deletecollection" not in namespaces[0].verbs


async def test_warnings(client: HttpClient, gadgets: None, namespace: str, caplog: pytest.LogCaptureFixture) -> None:
    """What the server warns of is logged, once."""
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "spec": {"size": 1, "sise": 1}}
    for name in ("one", "two"):
        await client.create({**body, "metadata": {"name": name, "namespace": namespace}}, field_manager="tests")
    assert [record.message for record in caplog.records if record.name == "pyopscaffold.runtime.client"] == [
        'the API server warns: unknown field "spec.sise"'
    ]
