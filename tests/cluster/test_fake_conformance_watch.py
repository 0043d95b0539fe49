"""FakeCluster and the real API server answer alike: lists, pages, selectors, watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyopscaffold.kube.builtin import CONFIG_MAP
from tests.cluster.fake_conformance import gizmo, take

if TYPE_CHECKING:
    from tests.cluster.fake_conformance import Answer, Api, Json

FROM_START = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}


def _names(answer: Answer) -> list[str]:
    return [item["metadata"]["name"] for item in answer.body["items"]]


async def _list(api: Api, **query: str) -> Answer:
    return await api.ask("GET", api.path(), **query)


async def _four(api: Api, group: str) -> None:
    for name, color in (("b", "red"), ("a", "blue"), ("d", "red"), ("c", "blue")):
        spec = {"size": 1, "color": color}
        made = await api.create(gizmo(f"{group}-{name}", spec, labels={"group": group, "letter": name}))
        assert made.code == 201


LABELS = {
    "{},letter=a": ["a"],
    "{},letter in (a, b)": ["a", "b"],
    "{},letter notin (a, b)": ["c", "d"],
    "{},letter!=a": ["b", "c", "d"],
    "{},!letter": [],
    "{},letter": ["a", "b", "c", "d"],
}


@pytest.mark.parametrize("selector", LABELS)
async def test_labels(fake_or_real: Api, selector: str) -> None:
    """Label selectors select, and lists are in order of names."""
    group = f"labels-{list(LABELS).index(selector)}"
    await _four(fake_or_real, group)
    found = await _list(fake_or_real, labelSelector=selector.format(f"group={group}"))
    assert _names(found) == [f"{group}-{letter}" for letter in LABELS[selector]]
    assert (found.body["kind"], bool(found.body["metadata"]["resourceVersion"])) == ("GizmoList", True)


async def test_fields(fake_or_real: Api) -> None:
    """Field selectors know names, and the fields that a CRD names."""
    await _four(fake_or_real, "fields")
    named = await _list(fake_or_real, fieldSelector="metadata.name=fields-a")
    assert _names(named) == ["fields-a"]
    colored = await _list(fake_or_real, labelSelector="group=fields", fieldSelector="spec.color=red")
    assert _names(colored) == ["fields-b", "fields-d"]
    others = await _list(fake_or_real, labelSelector="group=fields", fieldSelector="spec.color!=red")
    assert _names(others) == ["fields-a", "fields-c"]
    refused = await _list(fake_or_real, fieldSelector="spec.size=1")
    assert (refused.said, refused.body["message"]) == (
        (400, "BadRequest"),
        "field label not supported: spec.size",
    )
    assert (await _list(fake_or_real, labelSelector="a!!")).said == (400, "BadRequest")


async def test_pages(fake_or_real: Api) -> None:
    """Pages show one version: what is changed meanwhile comes as it was."""
    await _four(fake_or_real, "pages")
    first = await _list(fake_or_real, labelSelector="group=pages", limit="3")
    assert _names(first) == ["pages-a", "pages-b", "pages-c"]
    await fake_or_real.create(gizmo("pages-e", labels={"group": "pages"}))
    await fake_or_real.delete("pages-d")
    token = first.body["metadata"]["continue"]
    second = await _list(fake_or_real, labelSelector="group=pages", limit="3", continue_=token)
    assert (_names(second), second.body["metadata"].get("continue", "")) == (["pages-d"], "")
    assert second.body["metadata"]["resourceVersion"] == first.body["metadata"]["resourceVersion"]
    assert (await _list(fake_or_real, limit="3", continue_="nonsense")).said == (400, "BadRequest")


async def test_what_is_left(fake_or_real: Api) -> None:
    """A page without selectors says how many objects follow."""
    await _four(fake_or_real, "left")
    whole = len((await _list(fake_or_real)).body["items"])
    page = await _list(fake_or_real, limit="1")
    assert page.body["metadata"]["remainingItemCount"] == whole - 1


async def test_watch_from_a_version(fake_or_real: Api) -> None:
    """A watch tells what has happened after a version, and what happens."""
    begin = (await _list(fake_or_real)).body["metadata"]["resourceVersion"]
    await fake_or_real.create(gizmo("watched"))
    await fake_or_real.merge("watched", {"spec": {"size": 2}})
    async with fake_or_real.watch(resourceVersion=begin) as events:
        assert await take(events, 2) == [("ADDED", "watched"), ("MODIFIED", "watched")]
        await fake_or_real.merge("watched", {"spec": {"size": 2}})  # changes nothing: no event
        await fake_or_real.merge("watched", {"status": {"replicas": 1}}, "status")
        await fake_or_real.delete("watched")
        modified, deleted = await anext(events), await anext(events)
    assert (modified["type"], modified["object"]["status"]) == ("MODIFIED", {"replicas": 1})
    assert (deleted["type"], deleted["object"]["status"]) == ("DELETED", {"replicas": 1})
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in (modified, deleted)]
    assert versions[0] < versions[1]


async def test_watch_of_held_objects(fake_or_real: Api) -> None:
    """The deletion of a held object is a modification, and the last finalizer's removal the end, as it was before."""
    await fake_or_real.create(gizmo("hold", finalizers=["example.com/hold"]))
    begin = (await _list(fake_or_real)).body["metadata"]["resourceVersion"]
    await fake_or_real.delete("hold")
    await fake_or_real.merge("hold", {"metadata": {"finalizers": None}})
    async with fake_or_real.watch(resourceVersion=begin) as events:
        modified, deleted = await anext(events), await anext(events)
    assert (modified["type"], "deletionTimestamp" in modified["object"]["metadata"]) == ("MODIFIED", True)
    assert (deleted["type"], "finalizers" in deleted["object"]["metadata"]) == ("DELETED", True)


async def test_streaming_list(fake_or_real: Api) -> None:
    """A streaming list brings what is there, marks its end, and goes on."""
    await _four(fake_or_real, "stream")
    async with fake_or_real.watch(labelSelector="group=stream", **FROM_START) as events:
        assert await take(events, 4) == [("ADDED", f"stream-{letter}") for letter in "abcd"]
        end = await anext(events)
        assert (end["type"], end["object"]["kind"]) == ("BOOKMARK", "Gizmo")
        assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        await fake_or_real.delete("stream-a")
        assert await take(events, 1) == [("DELETED", "stream-a")]


async def test_streaming_lists_have_to_match(fake_or_real: Api) -> None:
    """A streaming list without resourceVersionMatch is Invalid."""
    refused = await _list(fake_or_real, watch="true", sendInitialEvents="true")
    assert (refused.said, refused.causes) == ((422, "Invalid"), {("resourceVersionMatch", "FieldValueForbidden")})


async def test_watch_from_anywhere(fake_or_real: Api) -> None:
    """A watch without a version begins with what is there."""
    await _four(fake_or_real, "any")
    async with fake_or_real.watch(labelSelector="group=any") as events:
        assert {name for _, name in await take(events, 4)} == {f"any-{letter}" for letter in "abcd"}


async def test_moving_through_a_selector(fake_or_real: Api) -> None:
    """An object that begins to be selected is ADDED, one that ceases to is DELETED, as it was."""
    await fake_or_real.create(gizmo("moving"))
    begin = (await _list(fake_or_real)).body["metadata"]["resourceVersion"]
    await fake_or_real.merge("moving", {"metadata": {"labels": {"in": "yes"}}, "spec": {"size": 2}})
    await fake_or_real.merge("moving", {"metadata": {"labels": {"in": "no"}}, "spec": {"size": 3}})
    async with fake_or_real.watch(resourceVersion=begin, labelSelector="in=yes") as events:
        added, deleted = await anext(events), await anext(events)
    assert [added["type"], deleted["type"]] == ["ADDED", "DELETED"]
    assert deleted["object"]["spec"]["size"] == 2
    assert int(deleted["object"]["metadata"]["resourceVersion"]) > int(added["object"]["metadata"]["resourceVersion"])


async def test_watch_by_field(fake_or_real: Api) -> None:
    """A watch of one object hears of no other."""
    begin = (await _list(fake_or_real)).body["metadata"]["resourceVersion"]
    async with fake_or_real.watch(resourceVersion=begin, fieldSelector="metadata.name=just-me") as events:
        await fake_or_real.create(gizmo("not-me"))
        await fake_or_real.create(gizmo("just-me"))
        assert await take(events, 1) == [("ADDED", "just-me")]


async def test_versions_that_are_forgotten(fake_or_real: Api) -> None:
    """A watch from too old a version is told so in the stream: Expired, 410."""
    await fake_or_real.create(gizmo("old"))
    if fake_or_real.fake:
        fake_or_real.fake.compact()
    async with fake_or_real.watch(resourceVersion="1") as events:
        error: Json = await anext(events)
        assert [event async for event in events] == []
    assert (error["type"], error["object"]["code"], error["object"]["reason"]) == ("ERROR", 410, "Expired")


async def test_watch_of_other_kinds(fake_or_real: Api) -> None:
    """A watch of ConfigMaps has whole objects, and nothing of other kinds."""
    begin = (await fake_or_real.ask("GET", fake_or_real.path(kind=CONFIG_MAP))).body["metadata"]["resourceVersion"]
    async with fake_or_real.watch(CONFIG_MAP, resourceVersion=begin) as events:
        await fake_or_real.create(gizmo("other-kind"))
        await fake_or_real.create({"metadata": {"name": "told"}, "data": {"a": "b"}}, kind=CONFIG_MAP)
        event = await anext(events)
    assert (event["type"], event["object"]["kind"], event["object"]["data"]) == ("ADDED", "ConfigMap", {"a": "b"})


async def test_namespaces_are_apart(fake_or_real: Api) -> None:
    """The list of all namespaces has what one has."""
    await fake_or_real.create(gizmo("everywhere"))
    path = fake_or_real.path().replace(f"/namespaces/{fake_or_real.namespace}", "")
    found = await fake_or_real.ask("GET", path, fieldSelector=f"metadata.namespace={fake_or_real.namespace}")
    assert "everywhere" in _names(found)
    elsewhere = fake_or_real.path().replace(fake_or_real.namespace, "kube-public")
    assert _names(await fake_or_real.ask("GET", elsewhere)) == []
