"""The client against a real API server."""

from __future__ import annotations

import asyncio
import json
import uuid
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from pyopscaffold import errors
from pyopscaffold.api import Object, Quantity, int32, resource
from pyopscaffold.k8s.coordination.v1 import Lease, LeaseSpec
from pyopscaffold.kube.builtin import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, NAMESPACE
from pyopscaffold.runtime.client import config
from pyopscaffold.runtime.client.http import HttpClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

_GROUP = "client.tests.example.com"


@dataclass(kw_only=True)
class GadgetSpec:
    size: int32 = 1
    storage: Quantity | None = None
    weight: int32 | None = None


@dataclass(kw_only=True)
class GadgetStatus:
    ready: int32 = 0


@resource(group=_GROUP, version="v1")
@dataclass(kw_only=True)
class Gadget(Object):
    spec: GadgetSpec
    status: GadgetStatus = field(default_factory=GadgetStatus)


_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"gadgets.{_GROUP}"},
    "spec": {
        "group": _GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.ready"},
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "minimum": 1},
                                    "weight": {"type": "integer"},
                                    "storage": {
                                        "x-kubernetes-int-or-string": True,
                                        "anyOf": [{"type": "integer"}, {"type": "string"}],
                                    },
                                },
                            },
                            "status": {"type": "object", "properties": {"ready": {"type": "integer"}}},
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture
async def client(kubeconfig: Path) -> AsyncIterator[HttpClient]:
    """Give a client of the shared API server."""
    client = HttpClient(config.load(kubeconfig))
    yield client
    await client.close()


@pytest.fixture
async def gadgets(client: HttpClient) -> None:
    """Have the Gadget CRD served; tests side by side share it."""
    await client.apply(_CRD, field_manager="tests")
    name = f"metadata.name=gadgets.{_GROUP}"
    async with (
        asyncio.timeout(20),
        aclosing(client.watch(CUSTOM_RESOURCE_DEFINITION, fields=name, initial_events=True)) as events,
    ):
        async for event in events:
            conditions = json.loads(bytes(event.object)).get("status", {}).get("conditions") or []
            if {"Established": "True"}.items() <= {found["type"]: found["status"] for found in conditions}.items():
                return


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
    with pytest.raises(errors.Conflict) as caught:
        await client.apply(_config_map("shared", namespace, mine="3"), field_manager="two", force=False)
    assert [cause.field for cause in caught.value.causes] == [".data.mine"]
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
    assert [cause.field for cause in caught.value.causes] == ["spec.size"]


async def test_number_for_a_quantity(client: HttpClient, gadgets: None, namespace: str) -> None:
    """A quantity that somebody wrote as a number is read as text."""
    await client.create(
        {
            "apiVersion": f"{_GROUP}/v1",
            "kind": "Gadget",
            "metadata": {"name": "n", "namespace": namespace},
            "spec": {"size": 1, "storage": 5},
        },
        field_manager="tests",
    )
    assert (await client.get(Gadget, "n", namespace=namespace)).spec.storage == "5"


@resource(group=_GROUP, version="v1", kind="Gadget")
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
    body = {"apiVersion": f"{_GROUP}/v1", "kind": "Gadget", "spec": {"weight": 2.0}}
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


async def test_no_trust_without_the_ca(kubeconfig: Path) -> None:
    """A server whose certificate no known authority has signed is not talked to."""
    client = HttpClient(replace(config.load(kubeconfig), ca=b""))
    with pytest.raises(errors.ConnectionFailed, match="certificate verify failed"):
        await client.list(NAMESPACE)
    await client.close()


async def test_skipping_the_check(kubeconfig: Path) -> None:
    """insecure-skip-tls-verify talks to it all the same."""
    client = HttpClient(replace(config.load(kubeconfig), ca=b"", insecure=True))
    assert await client.list(NAMESPACE)
    await client.close()


async def test_impersonation(kubeconfig: Path, namespace: str) -> None:
    """Requests are made in the name of the user that the configuration acts as."""
    someone = replace(config.load(kubeconfig), impersonate_user="someone", impersonate_groups=("a", "b"))
    client = HttpClient(someone)
    with pytest.raises(errors.Forbidden, match='User "someone" cannot list resource "configmaps"'):
        await client.list(CONFIG_MAP, namespace=namespace)
    await client.close()
