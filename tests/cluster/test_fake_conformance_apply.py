"""FakeCluster and the real API server answer alike: server-side apply and the owners of fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.kube.builtin import CONFIG_MAP, STATEFUL_SET
from tests.cluster.fake_conformance import gizmo

if TYPE_CHECKING:
    from tests.cluster.fake_conformance import Answer, Api, Json


def _owners(answer: Answer) -> dict[str, Any]:
    """Return what each manager owns: ``name/operation/subresource`` → FieldsV1."""
    return {
        f"{entry['manager']}/{entry['operation']}/{entry.get('subresource', '')}": entry["fieldsV1"]
        for entry in answer.metadata.get("managedFields", ())
    }


async def test_apply_makes_objects(fake_or_real: Api) -> None:
    """The first apply creates; a manager owns what it has named, and no defaults."""
    made = await fake_or_real.apply(gizmo("new", {"size": 2, "inner": {"a": 1}}, labels={"l": "1"}))
    assert (made.code, made.metadata["generation"]) == (201, 1)
    assert made.body["spec"] == {"size": 2, "replicas": 1, "inner": {"a": 1, "b": 7}}
    assert _owners(made) == {
        "one/Apply/": {
            "f:metadata": {"f:labels": {"f:l": {}}},
            "f:spec": {"f:size": {}, "f:inner": {"f:a": {}}},
        }
    }


async def test_the_same_again_changes_nothing(fake_or_real: Api) -> None:
    """An apply of what is there leaves the version as it is."""
    made = await fake_or_real.apply(gizmo("same"))
    assert (await fake_or_real.apply(gizmo("same"))).body == made.body
    shared = await fake_or_real.apply(gizmo("same"), by="two")
    assert shared.version != made.version
    assert {*_owners(shared)} == {"one/Apply/", "two/Apply/"}


async def test_what_is_no_longer_named_goes(fake_or_real: Api) -> None:
    """A field goes when its only owner drops it; one that somebody else owns stays."""
    await fake_or_real.apply(gizmo("drop", {"size": 1, "color": "red", "map": {"a": "1", "b": "2"}, "inner": {"a": 1}}))
    await fake_or_real.apply(gizmo("drop", {"size": 1, "map": {"b": "2"}}), by="two")
    left = await fake_or_real.apply(gizmo("drop", {"size": 1, "map": {"c": "3"}}))
    assert left.body["spec"] == {"size": 1, "replicas": 1, "map": {"b": "2", "c": "3"}}
    assert left.metadata["generation"] == 2


async def test_conflicts(fake_or_real: Api) -> None:
    """What another manager has set otherwise is a Conflict that names fields and managers; force takes it."""
    await fake_or_real.apply(gizmo("contested", {"size": 1, "list": ["a"], "map": {"k": "1"}}))
    wanted = gizmo("contested", {"size": 2, "list": ["b"], "map": {"k": "2", "free": "3"}})
    refused = await fake_or_real.apply(wanted, by="two")
    assert refused.said == (409, "Conflict")
    assert refused.causes == {(field, "FieldManagerConflict") for field in (".spec.size", ".spec.list", ".spec.map.k")}
    assert {cause["message"] for cause in refused.body["details"]["causes"]} == {'conflict with "one"'}
    taken = await fake_or_real.apply(wanted, by="two", force=True)
    assert taken.body["spec"] == {"size": 2, "replicas": 1, "list": ["b"], "map": {"k": "2", "free": "3"}}
    assert {*_owners(taken)} == {"two/Apply/"}


async def test_one_conflict_is_told_in_a_line(fake_or_real: Api) -> None:
    """The message has manager and field."""
    await fake_or_real.apply(gizmo("line"))
    refused = await fake_or_real.apply(gizmo("line", {"size": 2}), by="two")
    assert refused.body["message"] == 'Apply failed with 1 conflict: conflict with "one": .spec.size'


async def test_lists_by_key(fake_or_real: Api) -> None:
    """Items of a list of type map are merged by their keys, and owned field by field."""
    await fake_or_real.apply(gizmo("keyed", {"size": 1, "ports": [{"port": 1, "name": "a"}, {"port": 2}]}))
    merged = await fake_or_real.apply(
        gizmo("keyed", {"size": 1, "ports": [{"port": 3}, {"port": 2, "name": "b"}]}), by="two"
    )
    assert merged.code == 200
    assert [(item["port"], item.get("name")) for item in merged.body["spec"]["ports"]] == [
        (1, "a"),
        (3, None),
        (2, "b"),
    ]
    refused = await fake_or_real.apply(gizmo("keyed", {"size": 1, "ports": [{"port": 2, "name": "c"}]}))
    assert refused.causes == {(".spec.ports[port=2].name", "FieldManagerConflict")}
    left = await fake_or_real.apply(gizmo("keyed", {"size": 1, "ports": [{"port": 2}]}))
    assert [(item["port"], item["protocol"]) for item in left.body["spec"]["ports"]] == [(3, "TCP"), (2, "TCP")]


async def test_sets(fake_or_real: Api) -> None:
    """Items of a set have owners of their own."""
    await fake_or_real.apply(gizmo("sets", {"size": 1, "set": ["a", "b"]}, finalizers=["example.com/a"]))
    both = await fake_or_real.apply(gizmo("sets", {"size": 1, "set": ["b", "c"]}, finalizers=["example.com/b"]), by="2")
    assert (both.body["spec"]["set"], both.metadata["finalizers"]) == (
        ["a", "b", "c"],
        ["example.com/a", "example.com/b"],
    )
    left = await fake_or_real.apply(gizmo("sets", {"size": 1, "set": ["c"]}))
    assert (left.body["spec"]["set"], left.metadata["finalizers"]) == (["b", "c"], ["example.com/b"])
    await fake_or_real.merge("sets", {"metadata": {"finalizers": None}})


async def test_atomic_values_have_one_owner(fake_or_real: Api) -> None:
    """Atomic maps and lists are replaced as a whole."""
    await fake_or_real.apply(gizmo("atomic", {"size": 1, "whole": {"a": "1"}, "list": ["a"]}))
    refused = await fake_or_real.apply(gizmo("atomic", {"size": 1, "whole": {"b": "2"}}), by="two")
    assert refused.causes == {(".spec.whole", "FieldManagerConflict")}
    taken = await fake_or_real.apply(gizmo("atomic", {"size": 1, "whole": {"b": "2"}}), by="two", force=True)
    assert taken.body["spec"]["whole"] == {"b": "2"}


async def test_updates_own_what_they_change(fake_or_real: Api) -> None:
    """A PUT or patch takes fields without asking; an apply has to ask it, too."""
    await fake_or_real.apply(gizmo("updated", {"size": 1, "map": {"a": "1"}}))
    changed = await fake_or_real.merge("updated", {"spec": {"size": 2, "map": {"b": "2"}}}, fieldManager="hand")
    assert _owners(changed) == {
        "one/Apply/": {"f:spec": {"f:map": {"f:a": {}}}},
        "hand/Update/": {"f:spec": {"f:size": {}, "f:map": {"f:b": {}}}},
    }
    refused = await fake_or_real.apply(gizmo("updated", {"size": 3}))
    assert refused.causes == {(".spec.size", "FieldManagerConflict")}
    assert "fake.example.com/v1" in refused.body["message"]
    removed = await fake_or_real.json_patch("updated", {"op": "remove", "path": "/spec/map/a"}, fieldManager="hand")
    assert "one/Apply/" not in _owners(removed)


async def test_created_fields_are_the_creators(fake_or_real: Api) -> None:
    """Who creates owns all, defaults as well; the status is nobody's."""
    made = await fake_or_real.create({**gizmo("creator"), "status": {"phase": "x"}}, fieldManager="maker")
    assert _owners(made) == {"maker/Update/": {"f:spec": {".": {}, "f:size": {}, "f:replicas": {}}}}


@pytest.mark.usefixtures("newest_kubernetes")  # 1.35 counts the labels that it leaves as they were
async def test_status_is_owned_apart(fake_or_real: Api) -> None:
    """An apply of the status owns nothing else, and one of the whole leaves the status alone."""
    await fake_or_real.create(gizmo("apart"))
    body = {**gizmo("apart", {"size": 9}, labels={"a": "b"}), "status": {"replicas": 3}}
    applied = await fake_or_real.apply(body, by="s", subresource="status")
    assert applied.code == 200
    assert (applied.body["spec"]["size"], applied.body["status"], "labels" in applied.metadata) == (
        1,
        {"replicas": 3},
        False,
    )
    assert _owners(applied)["s/Apply/status"] == {"f:status": {"f:replicas": {}}}
    assert applied.metadata["generation"] == 1
    refused = await fake_or_real.apply({**body, "status": {"replicas": 4}}, by="t", subresource="status")
    assert refused.causes == {(".status.replicas", "FieldManagerConflict")}
    assert refused.body["details"]["causes"][0]["message"] == 'conflict with "s" with subresource "status"'
    whole = await fake_or_real.apply({**body, "status": {"replicas": 9}}, by="w", force=True)
    assert (whole.body["status"], whole.body["spec"]["size"]) == ({"replicas": 3}, 9)


async def test_what_an_apply_empties_is_null(fake_or_real: Api) -> None:
    """A map that loses its last field is null, which no schema takes unless it says so."""
    await fake_or_real.apply(gizmo("emptied", {"size": 1, "map": {"a": "1"}}))
    refused = await fake_or_real.apply(gizmo("emptied", {"size": 1, "map": {}}))
    assert (refused.said, refused.causes) == ((422, "Invalid"), {("spec.map", "FieldValueTypeInvalid")})
    gone = await fake_or_real.apply(gizmo("emptied"))
    assert "map" not in gone.body["spec"]


async def test_unknown_fields_are_refused(fake_or_real: Api) -> None:
    """An apply of a field that the schema lacks fails, unlike any other write."""
    refused = await fake_or_real.apply(gizmo("unknown", {"size": 1, "nope": 1}))
    assert refused.code == 500
    assert ".spec.nope: field not declared in schema" in refused.body["message"]


async def test_applies_are_validated(fake_or_real: Api) -> None:
    """What the schema refuses is Invalid."""
    refused = await fake_or_real.apply(gizmo("valid", {"size": 0}))
    assert (refused.said, refused.causes) == ((422, "Invalid"), {("spec.size", "FieldValueInvalid")})
    assert (await fake_or_real.get("valid")).code == 404


async def test_uids_of_objects_that_are_not_there(fake_or_real: Api) -> None:
    """An apply with a uid does not make an object; with another one, it is Invalid."""
    refused = await fake_or_real.apply(gizmo("uid", uid="x"))
    assert refused.said == (409, "Conflict")
    assert "uid mismatch" in refused.body["message"]
    await fake_or_real.apply(gizmo("uid"))
    wrong = await fake_or_real.apply(gizmo("uid", uid="x"))
    assert (wrong.said, wrong.causes) == ((422, "Invalid"), {("metadata.uid", "FieldValueInvalid")})


async def test_owner_references_are_merged_by_uid(fake_or_real: Api) -> None:
    """Managers own single owner references."""
    owners: list[Json] = [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": name} for name in ("a", "b")]
    await fake_or_real.apply(gizmo("owners", ownerReferences=owners[:1]), dryRun="All")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owners"}}
    real = await fake_or_real.create({**body, "metadata": {"name": "owner"}}, kind=CONFIG_MAP)
    other = await fake_or_real.create({**body, "metadata": {"name": "other"}}, kind=CONFIG_MAP)
    owners = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": found.metadata["name"], "uid": found.metadata["uid"]}
        for found in (real, other)
    ]
    await fake_or_real.apply(gizmo("owners", ownerReferences=owners[:1]))
    both = await fake_or_real.apply(gizmo("owners", ownerReferences=owners[1:]), by="two")
    assert both.metadata["ownerReferences"] == owners
    left = await fake_or_real.apply(gizmo("owners"))
    assert left.metadata["ownerReferences"] == owners[1:]


async def test_lists_of_kubernetes_own_kinds(fake_or_real: Api) -> None:
    """The lists of a StatefulSet's pod template are merged by their keys, too."""
    labels = {"app": "x"}

    def body(container: Json) -> Json:
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"selector": {"matchLabels": labels}, "serviceName": "s", "template": template}
        return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "lists"}, "spec": spec}

    one: Json = {"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}]}
    await fake_or_real.apply(body(one), kind=STATEFUL_SET)
    two: Json = {"name": "c", "env": [{"name": "B", "value": "2"}], "ports": [{"containerPort": 80}]}
    merged = await fake_or_real.apply(body(two), by="two", kind=STATEFUL_SET)
    container = merged.body["spec"]["template"]["spec"]["containers"][0]
    assert (merged.code, container["image"]) == (200, "i")
    assert [item["name"] for item in container["env"]] == ["A", "B"]
    assert [item["containerPort"] for item in container["ports"]] == [80]
