"""FakeCluster and the real API server answer alike: replacing, patching, status, scale, deletion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.kube.builtin import CONFIG_MAP
from tests.cluster.fake_conformance import GROUP, gizmo

if TYPE_CHECKING:
    from tests.cluster.fake_conformance import Api, Json


async def _made(api: Api, name: str, **metadata: Any) -> Json:
    answer = await api.create(gizmo(name, **metadata))
    assert answer.code == 201
    found: Json = answer.body
    return found


async def test_replace(fake_or_real: Api) -> None:
    """A PUT with the version at hand changes the spec, bumps the generation, and leaves the status alone."""
    obj = await _made(fake_or_real, "put", labels={"a": "b"})
    obj["spec"] = {"size": 2}
    obj["status"] = {"replicas": 3}
    del obj["metadata"]["labels"]
    put = await fake_or_real.put(obj)
    assert (put.code, put.body["spec"]) == (200, {"size": 2, "replicas": 1})
    assert (put.metadata["generation"], "labels" in put.metadata, "status" in put.body) == (2, False, False)
    assert int(put.version) > int(obj["metadata"]["resourceVersion"])


async def test_replace_keeps_what_is_the_servers(fake_or_real: Api) -> None:
    """A PUT can't change times or the generation."""
    obj = await _made(fake_or_real, "keeps")
    obj["metadata"] |= {"generation": 77, "creationTimestamp": "2020-01-01T00:00:00Z"}
    put = await fake_or_real.put(obj)
    assert put.code == 200
    assert put.metadata["generation"] == 1
    assert put.metadata["creationTimestamp"] != "2020-01-01T00:00:00Z"


async def test_stale_writes(fake_or_real: Api) -> None:
    """An old version is a Conflict, by PUT as by patch; another uid is one by PUT."""
    obj = await _made(fake_or_real, "stale")
    await fake_or_real.merge("stale", {"spec": {"size": 2}})
    old = {"metadata": {"resourceVersion": obj["metadata"]["resourceVersion"]}}
    answers = [
        await fake_or_real.put(obj),
        await fake_or_real.put(obj, "status"),
        await fake_or_real.merge("stale", {**old, "spec": {"size": 3}}),
        await fake_or_real.merge("stale", {**old, "status": {"replicas": 3}}, "status"),
        await fake_or_real.apply(gizmo("stale", **old["metadata"])),
        await fake_or_real.put(gizmo("stale", uid="other", resourceVersion=obj["metadata"]["resourceVersion"])),
    ]
    assert [answer.said for answer in answers] == [(409, "Conflict")] * len(answers)
    assert "the object has been modified" in answers[0].body["message"]
    assert answers[0].body["details"] == {"name": "stale", "group": GROUP, "kind": "gizmos"}


async def test_a_version_is_needed(fake_or_real: Api) -> None:
    """A custom object is not replaced unseen."""
    await _made(fake_or_real, "blind")
    refused = await fake_or_real.put(gizmo("blind"))
    assert (refused.said, refused.causes) == (
        (422, "Invalid"),
        {("metadata.resourceVersion", "FieldValueInvalid")},
    )


async def test_writes_that_change_nothing(fake_or_real: Api) -> None:
    """They leave the version as it is."""
    obj = await _made(fake_or_real, "same", labels={"a": "b"})
    version = obj["metadata"]["resourceVersion"]
    answers = [
        await fake_or_real.put(obj),
        await fake_or_real.merge("same", {"spec": {"size": 1}}),
        await fake_or_real.merge("same", {"metadata": {"labels": {"a": "b"}}}),
        await fake_or_real.json_patch("same", {"op": "test", "path": "/spec/size", "value": 1}),
        await fake_or_real.merge("same", {"spec": {"size": 5}}, "status"),
        await fake_or_real.merge("same", {"status": {"replicas": 5}}),
    ]
    assert {answer.version for answer in answers} == {version}


async def test_true_is_not_one(fake_or_real: Api) -> None:
    """A change of a value's type only is a change."""
    await fake_or_real.create(gizmo("types", {"size": 1, "any": {"x": 1, "y": [1]}}))
    changed = await fake_or_real.merge("types", {"spec": {"any": {"x": True}}})
    assert (changed.body["spec"]["any"]["x"], changed.metadata["generation"]) == (True, 2)
    again = await fake_or_real.merge("types", {"spec": {"any": {"y": [True]}}}, fieldManager="other")
    assert (again.body["spec"]["any"]["y"], again.metadata["generation"]) == ([True], 3)
    assert {entry["manager"] for entry in again.metadata["managedFields"]} == {"other", "pyopscaffold"}


async def test_metadata_is_no_new_generation(fake_or_real: Api) -> None:
    """Labels and annotations change the version, not the generation."""
    obj = await _made(fake_or_real, "labels")
    changed = await fake_or_real.merge("labels", {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}})
    assert (changed.metadata["labels"], changed.metadata["annotations"]) == ({"a": "b"}, {"c": "d"})
    assert changed.metadata["generation"] == 1
    assert changed.version != obj["metadata"]["resourceVersion"]
    bare = await fake_or_real.merge("labels", {"metadata": {"labels": {"a": None}}})
    assert bare.metadata.get("labels", {}) == {}


IMMUTABLE = {"uid": "x", "deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 3}


@pytest.mark.parametrize("field", IMMUTABLE)
async def test_patches_of_immutable_metadata(fake_or_real: Api, field: str) -> None:
    """They are Invalid."""
    await _made(fake_or_real, f"immutable-{field.lower()}")
    refused = await fake_or_real.merge(f"immutable-{field.lower()}", {"metadata": {field: IMMUTABLE[field]}})
    assert (refused.said, refused.causes) == ((422, "Invalid"), {(f"metadata.{field}", "FieldValueInvalid")})


async def test_patches_of_what_is_the_servers(fake_or_real: Api) -> None:
    """The creationTimestamp and generation stay, without a word."""
    obj = await _made(fake_or_real, "servers")
    changed = await fake_or_real.merge("servers", {"metadata": {"creationTimestamp": None, "generation": 9}})
    assert changed.body == obj


async def test_merge_patch(fake_or_real: Api) -> None:
    """Maps are merged, lists and scalars replaced, nulls removed, and defaults come back."""
    spec = {"size": 1, "replicas": 4, "map": {"a": "1", "b": "2"}, "list": ["a"], "inner": {"a": 1, "b": 2}}
    await fake_or_real.create(gizmo("merge", spec))
    patch = {"replicas": None, "map": {"a": None, "c": "3"}, "list": ["x", "y"], "inner": {"b": None}, "nope": 1}
    changed = await fake_or_real.merge("merge", {"spec": patch})
    assert changed.body["spec"] == {
        "size": 1,
        "replicas": 1,
        "map": {"b": "2", "c": "3"},
        "list": ["x", "y"],
        "inner": {"a": 1, "b": 7},
    }
    assert (await fake_or_real.merge("merge", {"spec": {"size": 0}})).said == (422, "Invalid")


async def test_json_patch(fake_or_real: Api) -> None:
    """Operations are done in order, with escapes, indexes and '-'."""
    await fake_or_real.create(gizmo("json", {"size": 1, "list": ["a"], "map": {"a/b": "1", "c~d": "2"}}))
    changed = await fake_or_real.json_patch(
        "json",
        {"op": "test", "path": "/spec/map/a~1b", "value": "1"},
        {"op": "add", "path": "/spec/list/-", "value": "z"},
        {"op": "replace", "path": "/spec/list/0", "value": "y"},
        {"op": "move", "from": "/spec/map/c~0d", "path": "/spec/map/e"},
        {"op": "copy", "from": "/spec/size", "path": "/spec/replicas"},
        {"op": "remove", "path": "/spec/map/a~1b"},
    )
    assert changed.body["spec"] == {"size": 1, "replicas": 1, "list": ["y", "z"], "map": {"e": "2"}}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/spec/size", "value": 9},
        {"op": "remove", "path": "/spec/nope"},
        {"op": "replace", "path": "/spec/list/7", "value": "a"},
        {"op": "add", "path": "/spec/nope/deep", "value": 1},
    ],
    ids=lambda operation: operation["op"],
)
async def test_operations_that_can_not_be(fake_or_real: Api, operation: Json) -> None:
    """They are Invalid, and nothing is changed."""
    name = f"json-{operation['op']}"
    await fake_or_real.create(gizmo(name, {"size": 1, "list": ["a"]}))
    refused = await fake_or_real.json_patch(name, {"op": "add", "path": "/spec/size", "value": 5}, operation)
    assert refused.said == (422, "Invalid")
    assert (await fake_or_real.get(name)).body["spec"]["size"] == 1


async def test_patches_of_no_known_type(fake_or_real: Api) -> None:
    """Custom objects have no strategic merge patch; a JSON patch is a list."""
    await _made(fake_or_real, "patches")
    path = fake_or_real.path("patches")
    strategic = "application/strategic-merge-patch+json"
    refused = await fake_or_real.ask("PATCH", path, {"spec": {"size": 3}}, content_type=strategic)
    assert refused.said == (415, "UnsupportedMediaType")
    json_patch = "application/json-patch+json"
    assert (await fake_or_real.ask("PATCH", path, {"x": 1}, content_type=json_patch)).said == (400, "BadRequest")


async def test_status(fake_or_real: Api) -> None:
    """Through /status nothing else is changed, and no generation counted."""
    obj = await _made(fake_or_real, "status", labels={"a": "b"})
    obj |= {"status": {"replicas": 3, "nope": 1}, "spec": {"size": 9}}
    obj["metadata"]["labels"] = {"x": "y"}
    put = await fake_or_real.put(obj, "status")
    assert (put.body["status"], put.body["spec"]["size"]) == ({"replicas": 3}, 1)
    assert (put.metadata["labels"], put.metadata["generation"]) == ({"a": "b"}, 1)
    merged = await fake_or_real.merge("status", {"status": {"phase": "Done"}, "spec": {"size": 7}}, "status")
    assert (merged.body["status"], merged.body["spec"]["size"]) == ({"replicas": 3, "phase": "Done"}, 1)
    refused = await fake_or_real.merge("status", {"status": {"phase": 1}}, "status")
    assert (refused.said, refused.causes) == ((422, "Invalid"), {("status.phase", "FieldValueTypeInvalid")})
    whole = await fake_or_real.merge("status", {"spec": {"size": 2}, "status": {"replicas": 9}})
    assert (whole.body["status"]["replicas"], whole.metadata["generation"]) == (3, 2)
    assert (await fake_or_real.get("status", "status")).body == whole.body


async def test_scale(fake_or_real: Api) -> None:
    """Scale tells and changes the replicas by their paths."""
    obj = await _made(fake_or_real, "scale")
    await fake_or_real.merge("scale", {"status": {"replicas": 3}}, "status")
    told = await fake_or_real.get("scale", "scale")
    assert (told.body["kind"], told.body["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert (told.body["spec"], told.body["status"]) == ({"replicas": 1}, {"replicas": 3})
    changed = await fake_or_real.merge("scale", {"spec": {"replicas": 5}}, "scale")
    assert changed.body["spec"] == {"replicas": 5}
    told.body["spec"]["replicas"] = 7
    assert (await fake_or_real.put({**told.body, "metadata": {"name": "scale"}}, "scale")).body["spec"]["replicas"] == 7
    found = await fake_or_real.get("scale")
    assert (found.body["spec"]["replicas"], found.metadata["generation"]) == (7, 3)
    assert found.version != obj["metadata"]["resourceVersion"]


async def test_deletion(fake_or_real: Api) -> None:
    """An object that nothing holds is gone at once; the answer names it."""
    obj = await _made(fake_or_real, "gone")
    answer = await fake_or_real.delete("gone", propagationPolicy="Background")
    assert (answer.code, answer.body["status"]) == (200, "Success")
    uid = obj["metadata"]["uid"]
    assert answer.body["details"] == {"name": "gone", "group": GROUP, "kind": "gizmos", "uid": uid}
    assert (await fake_or_real.get("gone")).code == 404
    again = await _made(fake_or_real, "gone")
    assert again["metadata"]["uid"] != uid


async def test_preconditions(fake_or_real: Api) -> None:
    """A deletion of another uid or version is a Conflict."""
    obj = await _made(fake_or_real, "guarded")
    for wrong in ({"uid": "x"}, {"resourceVersion": "1"}):
        refused = await fake_or_real.delete("guarded", preconditions=wrong)
        assert refused.said == (409, "Conflict")
        assert f"in the precondition ({next(iter(wrong.values()))})" in refused.body["message"]
    right = {name: obj["metadata"][name] for name in ("uid", "resourceVersion")}
    assert (await fake_or_real.delete("guarded", preconditions=right)).code == 200


async def test_unknown_policies(fake_or_real: Api) -> None:
    """A propagation policy is one of three."""
    await _made(fake_or_real, "policy")
    refused = await fake_or_real.delete("policy", propagationPolicy="Bad")
    assert (refused.said, refused.causes) == ((422, "Invalid"), {("propagationPolicy", "FieldValueNotSupported")})


async def test_finalizers_hold(fake_or_real: Api) -> None:
    """A held object is marked, can be changed, gets no new finalizers, and goes with the last one."""
    await _made(fake_or_real, "held", finalizers=["example.com/one", "example.com/two"])
    marked = await fake_or_real.delete("held")
    assert marked.metadata["deletionGracePeriodSeconds"] == 0
    assert (marked.code, marked.metadata["generation"]) == (200, 2)
    again = await fake_or_real.delete("held")
    assert again.body == marked.body
    refused = await fake_or_real.merge("held", {"metadata": {"finalizers": ["example.com/one", "example.com/new"]}})
    assert (refused.said, refused.causes) == ((422, "Invalid"), {("metadata.finalizers", "FieldValueForbidden")})
    changed = await fake_or_real.merge("held", {"spec": {"size": 4}})
    assert (changed.code, changed.metadata["generation"]) == (200, 3)
    await fake_or_real.merge("held", {"metadata": {"finalizers": ["example.com/one"]}})
    last = await fake_or_real.merge("held", {"metadata": {"finalizers": None}})
    assert (last.code, "finalizers" in last.metadata) == (200, False)
    assert (await fake_or_real.get("held")).code == 404


async def test_collections_are_deleted(fake_or_real: Api) -> None:
    """What the selectors select goes, and is listed in the answer."""
    for name, color in (("a", "x"), ("b", "x"), ("c", "y")):
        body = {"metadata": {"name": f"many-{name}", "labels": {"many": color}}}
        await fake_or_real.create({"apiVersion": "v1", "kind": "ConfigMap", **body}, kind=CONFIG_MAP)
    path = fake_or_real.path(kind=CONFIG_MAP)
    gone = await fake_or_real.ask("DELETE", path, labelSelector="many=x")
    assert [item["metadata"]["name"] for item in gone.body["items"]] == ["many-a", "many-b"]
    left = await fake_or_real.ask("GET", path, labelSelector="many")
    assert [item["metadata"]["name"] for item in left.body["items"]] == ["many-c"]
