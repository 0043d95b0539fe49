"""A cache that holds no more than it is asked to, and indexes of what it holds."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import Index, Object, resource
from pyopscaffold.errors import PyopscaffoldError, UsageError
from pyopscaffold.kube.builtin import CONFIG_MAP, POD
from pyopscaffold.runtime.cache import Cache
from pyopscaffold.runtime.cache.index import add_to
from pyopscaffold.testing import FakeCluster
from tests.unit.runtime.fake_api_server import client_of, fake_api_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping


@resource(group="", version="v1")
@dataclass(kw_only=True)
class ConfigMap(Object):
    """A ConfigMap with a class."""

    data: dict[str, str]


@pytest.fixture
async def cluster() -> FakeCluster:
    """Give a cluster with three ConfigMaps."""
    cluster = FakeCluster()
    for name, app in (("a", "web"), ("b", "web"), ("c", "db")):
        await cluster.client.create(config_map(name, app), field_manager="tests")
    return cluster


def config_map(name: str, app: str = "web") -> dict[str, Any]:
    """Make one whose data tells its name."""
    metadata = {"name": name, "namespace": "default", "labels": {"app": app}, "annotations": {"note": "long"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"name": name, "app": app}}


@asynccontextmanager
async def running(cluster: FakeCluster, **options: Any) -> AsyncIterator[Cache]:
    """Run a cache for the length of a block."""
    cache = Cache(cluster.client, clock=cluster.clock, **options)
    task = asyncio.create_task(cache.run())
    try:
        yield cache
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def names(found: list[dict[str, Any]]) -> list[str]:
    """Return the names of objects in JSON form."""
    return sorted(obj["metadata"]["name"] for obj in found)


async def test_field_selector(cluster: FakeCluster) -> None:
    """What a field selector does not select is not held, nor after a write of our own."""
    async with running(cluster) as cache:
        cache.informer(CONFIG_MAP, fields="metadata.name=a", labels="app=web")
        found = await cache.reader.list(CONFIG_MAP, fields="metadata.name=a", labels="app=web")
        assert names(found) == ["a"]
        await cluster.client.patch(CONFIG_MAP, "b", {"data": {"more": "x"}}, namespace="default")
        assert names(await cache.reader.list(CONFIG_MAP, fields="metadata.name=a", labels="app=web")) == ["a"]


async def test_metadata_only(cluster: FakeCluster) -> None:
    """Of objects watched by their metadata no more is held; whole reads of them are refused, not answered in part."""
    async with running(cluster) as cache:
        informer = cache.informer(CONFIG_MAP, metadata_only=True)
        found = await cache.reader.metadata(CONFIG_MAP, labels="app=db")
        assert [sorted(obj) for obj in found] == [["apiVersion", "kind", "metadata"]]
        assert (found[0]["kind"], found[0]["metadata"]["name"]) == ("ConfigMap", "c")
        await cluster.client.patch(CONFIG_MAP, "c", {"data": {"more": "x"}}, namespace="default")
        assert all(b'"data"' not in item.raw for item in informer.list())
        with pytest.raises(PyopscaffoldError, match="metadata only"):
            await cache.reader.get(CONFIG_MAP, "c", namespace="default")


async def test_metadata_of_what_is_held_whole(cluster: FakeCluster) -> None:
    """Metadata is read out of whole objects where these are held."""
    async with running(cluster) as cache:
        cache.informer(CONFIG_MAP)
        assert {tuple(sorted(obj)) for obj in await cache.reader.metadata(CONFIG_MAP)} == {
            ("apiVersion", "kind", "metadata")
        }


async def test_metadata_is_asked_for() -> None:
    """The server is asked for metadata only, in lists and in watches; one that can't gives the whole."""
    async with fake_api_server() as server, client_of(server) as client:
        server.put("a")
        await client.list_page(CONFIG_MAP, metadata_only=True)
        cache = Cache(client)
        cache.informer(CONFIG_MAP, metadata_only=True)
        task = asyncio.create_task(cache.run())
        await cache.wait_synced()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        asked = [headers["Accept"].split(";")[1] for headers in server.headers]
        assert asked == ["as=PartialObjectMetadataList", "as=PartialObjectMetadata"]
        assert all(headers["Accept"].endswith(",application/json") for headers in server.headers)


async def test_transform(cluster: FakeCluster) -> None:
    """A transform cuts what the watch brings and what we write; managedFields go anyway."""

    def without_data(obj: dict[str, Any]) -> Mapping[str, Any]:
        del obj["data"]
        obj["metadata"].pop("annotations", None)
        return obj

    async with running(cluster, transforms={ConfigMap: without_data}) as cache:
        informer = cache.informer(CONFIG_MAP)
        await cache.wait_synced()
        await cluster.client.create(config_map("d"), field_manager="tests")
        assert sorted(item.meta.name for item in informer.list()) == ["a", "b", "c", "d"]
        assert all(b"data:" not in item.raw and b'"data"' not in item.raw for item in informer.list())
        assert all(item.meta.annotations == {} and b"managedFields" not in item.raw for item in informer.list())


@pytest.mark.parametrize("wrong", [lambda obj: obj["nothing"], lambda obj: {**obj, "metadata": {"name": "other"}}])
async def test_wrong_transform_costs_nothing(
    cluster: FakeCluster, wrong: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A transform that raises, or makes another object, leaves the object whole and is logged."""
    async with running(cluster, transforms={CONFIG_MAP: wrong}) as cache:
        cache.informer(CONFIG_MAP)
        assert (await cache.reader.get(CONFIG_MAP, "a", namespace="default"))["data"]["name"] == "a"
        assert "transform" in caplog.text


async def test_index_by_function(cluster: FakeCluster) -> None:
    """Objects are found by what a function says of them, typed or plain, also after a change."""
    async with running(cluster) as cache:
        add_to(cache.informer(CONFIG_MAP), Index(kind=ConfigMap, name="app", values=lambda obj: [obj.data["app"]]))
        await cache.wait_synced()
        assert names(await cache.reader.by_index(CONFIG_MAP, "app", "web")) == ["a", "b"]
        await cluster.client.patch(CONFIG_MAP, "a", {"data": {"app": "db"}}, namespace="default")
        found = await cache.reader.by_index(ConfigMap, "app", "db", namespace="default")
        assert sorted(obj.metadata.name for obj in found) == ["a", "c"]
        assert await cache.reader.by_index(CONFIG_MAP, "app", "db", namespace="other") == []
        with pytest.raises(PyopscaffoldError, match="no index 'size' of ConfigMap: name it in indexes="):
            await cache.reader.by_index(CONFIG_MAP, "size", "1")


async def test_index_by_label(cluster: FakeCluster) -> None:
    """An index of a label changes no answer: what is selected beside it counts as ever."""
    selectors = ("app=web", "app in (db, web),!gone", "app!=web", "app", "app=web,note=x", "app=none")
    async with running(cluster) as cache:
        plain, indexed = cache.informer(CONFIG_MAP, labels="app"), cache.informer(CONFIG_MAP)
        add_to(indexed, Index(kind=CONFIG_MAP, label="app"))
        await cache.wait_synced()
        for text in selectors:
            found = await cache.reader.list(CONFIG_MAP, labels=text)
            assert names(found) == names(await cluster.client.list(CONFIG_MAP, labels=text, namespace="default")), text
        assert len(plain.list()) == len(indexed.by_index("label app", "web")) + 1


async def test_index_by_owner(cluster: FakeCluster) -> None:
    """Objects are found by the uid of an owner."""
    uid = (await cluster.client.get(CONFIG_MAP, "a", namespace="default"))["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": uid}
    child = config_map("child")
    child["metadata"]["ownerReferences"] = [owner]
    async with running(cluster) as cache:
        cache.informer(CONFIG_MAP)
        await cluster.client.create(child, field_manager="tests")
        await cache.wait_synced()
        assert names(await cache.reader.by_owner(CONFIG_MAP, uid)) == ["child"]
        assert await cache.reader.by_owner(CONFIG_MAP, "another") == []


async def test_failing_index_costs_no_object(cluster: FakeCluster, caplog: pytest.LogCaptureFixture) -> None:
    """An object on which an index function raises is held, and not found by it."""
    async with running(cluster) as cache:
        add_to(cache.informer(CONFIG_MAP), Index(kind=CONFIG_MAP, name="size", values=lambda obj: [obj["size"]]))
        assert len(await cache.reader.list(CONFIG_MAP)) == 3
        assert await cache.reader.by_index(CONFIG_MAP, "size", "1") == []
        assert "the index 'size' failed" in caplog.text


@pytest.mark.parametrize("found", [[["web"]], [1], "web", None])
async def test_an_index_of_no_texts_costs_no_object(
    cluster: FakeCluster, caplog: pytest.LogCaptureFixture, found: Any
) -> None:
    """An index function that returns anything but texts counts as one that raises."""
    async with running(cluster) as cache:
        add_to(cache.informer(CONFIG_MAP), Index(kind=CONFIG_MAP, name="app", values=lambda _: found))
        assert len(await cache.reader.list(CONFIG_MAP)) == 3
        assert await cache.reader.by_index(CONFIG_MAP, "app", "w") == []
        assert f"it returned {found!r}, not a list of texts" in caplog.text


async def test_two_indexes_of_one_name(cluster: FakeCluster) -> None:
    """Controllers share an index that is the same; another one of its name is refused."""
    informer = Cache(cluster.client).informer(POD)
    index = Index(kind=POD, name="node", values=lambda pod: [pod["spec"]["nodeName"]])
    add_to(informer, index)
    add_to(informer, index)
    with pytest.raises(UsageError, match="Pod has two indexes called 'node'"):
        add_to(informer, Index(kind=POD, name="node", values=lambda _: []))


async def test_list_of_all_that_is_watched(cluster: FakeCluster) -> None:
    """A list without a namespace is of all namespaces that the cache has, and not of fewer."""
    async with running(cluster, namespace=["default", "other"]) as cache:
        cache.informer(CONFIG_MAP)
        assert names(await cache.reader.list(CONFIG_MAP)) == ["a", "b", "c"]
    async with running(cluster) as cache:
        cache.informer(CONFIG_MAP, namespace="default")
        with pytest.raises(PyopscaffoldError, match="only for namespace=default"):
            await cache.reader.list(CONFIG_MAP)
