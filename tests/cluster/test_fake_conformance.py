"""FakeCluster and the real API server answer alike: objects, their validation, changes and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.kube.builtin import CONFIG_MAP, NAMESPACE, SECRET, STATEFUL_SET
from tests.cluster.fake_conformance import GROUP, PLAIN, gizmo

if TYPE_CHECKING:
    from tests.cluster.fake_conformance import Api, Json


def config_map(name: str, **data: str) -> Json:
    """Make a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def test_created_objects_are_complete(fake_or_real: Api) -> None:
    """The server fills in its own metadata and the schema's defaults, and drops status, nulls and unknown fields."""
    sent = gizmo("made", {"size": 2, "nope": 1, "color": None, "maybe": None, "inner": {"x": 1}}, nonsense=1)
    made = await fake_or_real.create({**sent, "status": {"replicas": 4}})
    assert made.code == 201
    assert made.body["spec"] == {"size": 2, "replicas": 1, "maybe": None, "inner": {"b": 7}}
    assert "status" not in made.body
    metadata = made.metadata
    assert {*metadata} == {"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"} | {
        "managedFields"
    }
    assert metadata["generation"] == 1
    assert {f'unknown field "{path}"' in made.warning.replace("\\", "") for path in ("spec.nope", "spec.inner.x")} == {
        True
    }
    assert (await fake_or_real.get("made")).body == made.body


async def test_preserved_fields_keep_nulls(fake_or_real: Api) -> None:
    """What a schema leaves open is kept as it is."""
    made = await fake_or_real.create(gizmo("open", {"size": 1, "any": {"n": None, "deep": {"a": [1]}}}))
    assert made.body["spec"]["any"] == {"n": None, "deep": {"a": [1]}}


async def test_generated_names(fake_or_real: Api) -> None:
    """A generateName gets a suffix of five letters and digits."""
    made = await fake_or_real.create(gizmo(generateName="abc-"))
    assert made.metadata["name"].startswith("abc-")
    assert len(made.metadata["name"]) == len("abc-") + 5
    assert made.metadata["generateName"] == "abc-"


async def test_the_clients_metadata_is_not_trusted(fake_or_real: Api) -> None:
    """uid, times and generation of a new object are the server's."""
    claims: dict[str, Any] = {"uid": "x", "creationTimestamp": "2020-01-01T00:00:00Z", "generation": 7}
    claims["deletionTimestamp"] = "2020-01-01T00:00:00Z"
    made = await fake_or_real.create(gizmo("claims", **claims))
    assert made.metadata["uid"] != "x"
    assert made.metadata["creationTimestamp"] != "2020-01-01T00:00:00Z"
    assert made.metadata["generation"] == 1
    assert "deletionTimestamp" not in made.metadata


MISFITS: dict[str, tuple[dict[str, Any], set[tuple[str, str]]]] = {
    "minimum": ({"size": 0}, {("spec.size", "FieldValueInvalid")}),
    "missing": ({}, {("spec.size", "FieldValueRequired")}),
    "type": ({"size": "x"}, {("spec.size", "FieldValueTypeInvalid")}),
    "enum": ({"size": 1, "color": "green"}, {("spec.color", "FieldValueNotSupported")}),
    "length": ({"size": 1, "name": "toolong"}, {("spec.name", "FieldValueTooLong")}),
    "pattern": ({"size": 1, "name": "AB"}, {("spec.name", "FieldValueInvalid")}),
    "items": ({"size": 1, "list": ["a", "b", "c"]}, {("spec.list", "FieldValueTooMany")}),
    "set": ({"size": 1, "set": ["a", "a"]}, {("spec.set[1]", "FieldValueDuplicate")}),
    "keys": ({"size": 1, "ports": [{"port": 1}, {"port": 1}]}, {("spec.ports[1]", "FieldValueDuplicate")}),
    "format": ({"size": 1, "when": "now"}, {("spec.when", "FieldValueTypeInvalid")}),
    "map": ({"size": 1, "map": {"a": 1}}, {("spec.map.a", "FieldValueTypeInvalid")}),
    "nested": ({"size": 1, "ports": [{"name": "x"}]}, {("spec.ports[0].port", "FieldValueRequired")}),
    "open": ({"size": 1, "any": 3}, {("spec.any", "FieldValueTypeInvalid")}),
    "two": ({"size": 0, "color": "x"}, {("spec.size", "FieldValueInvalid"), ("spec.color", "FieldValueNotSupported")}),
}


@pytest.mark.parametrize("case", MISFITS)
async def test_misfits(fake_or_real: Api, case: str) -> None:
    """What the schema refuses is Invalid, with the field and the reason of each cause."""
    spec, causes = MISFITS[case]
    refused = await fake_or_real.create(gizmo("misfit", spec))
    assert (refused.said, refused.causes) == ((422, "Invalid"), causes)
    assert refused.body["details"]["name"] == "misfit"
    assert (refused.body["details"]["group"], refused.body["details"]["kind"]) == (GROUP, "Gizmo")


OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u", "controller": True}
METADATA: dict[str, tuple[dict[str, Any], str, str]] = {
    "name": ({"name": "Bad_Name"}, "metadata.name", "FieldValueInvalid"),
    "label": ({"labels": {"a b": "c"}}, "metadata.labels", "FieldValueInvalid"),
    "label-value": ({"labels": {"a": "c d"}}, "metadata.labels", "FieldValueInvalid"),
    "annotation": ({"annotations": {"a b": "c"}}, "metadata.annotations", "FieldValueInvalid"),
    "finalizer": ({"finalizers": ["b!d"]}, "metadata.finalizers", "FieldValueInvalid"),
    "owner": ({"ownerReferences": [{**OWNER, "uid": ""}]}, "metadata.ownerReferences[0].uid", "FieldValueRequired"),
    "owners": ({"ownerReferences": [OWNER, {**OWNER, "uid": "v"}]}, "metadata.ownerReferences", "FieldValueInvalid"),
}


@pytest.mark.parametrize("case", METADATA)
async def test_metadata(fake_or_real: Api, request: pytest.FixtureRequest, case: str) -> None:
    """Metadata of a wrong form is Invalid."""
    if case == "owner":  # 1.36 names another field
        request.getfixturevalue("newest_kubernetes")
    metadata, field, reason = METADATA[case]
    refused = await fake_or_real.create(gizmo(**{"name": "metadata", **metadata}))
    assert (refused.said, refused.causes) == ((422, "Invalid"), {(field, reason)})


async def test_no_name(fake_or_real: Api) -> None:
    """An object without a name is Invalid."""
    refused = await fake_or_real.create(gizmo())
    assert (refused.said, refused.causes) == ((422, "Invalid"), {("metadata.name", "FieldValueRequired")})


async def test_names_are_taken_once(fake_or_real: Api) -> None:
    """A second object of the name is AlreadyExists."""
    await fake_or_real.create(gizmo("taken"))
    refused = await fake_or_real.create(gizmo("taken"))
    assert refused.said == (409, "AlreadyExists")
    assert refused.body["message"] == f'gizmos.{GROUP} "taken" already exists'
    assert refused.body["details"] == {"name": "taken", "group": GROUP, "kind": "gizmos"}


async def test_what_is_not_there(fake_or_real: Api) -> None:
    """Reading, changing and deleting nothing is NotFound, with the same words."""
    answers = [
        await fake_or_real.get("none"),
        await fake_or_real.put(gizmo("none", resourceVersion="1")),
        await fake_or_real.merge("none", {"spec": {"size": 2}}),
        await fake_or_real.apply({**gizmo("none"), "status": {}}, subresource="status"),
        await fake_or_real.delete("none"),
    ]
    assert {answer.said for answer in answers} == {(404, "NotFound")}
    assert {answer.body["message"] for answer in answers} == {f'gizmos.{GROUP} "none" not found'}
    missing = await fake_or_real.get("none", kind=CONFIG_MAP)
    assert missing.body["message"] == 'configmaps "none" not found'


async def test_addresses_that_nobody_serves(fake_or_real: Api) -> None:
    """Unknown resources, versions and subresources are 404."""
    for path in ("/apis/nowhere.example.com/v1", f"/apis/{GROUP}/v1/nothings", fake_or_real.path("x", "nope")):
        assert (await fake_or_real.ask("GET", path)).code == 404
    named = await fake_or_real.ask("GET", fake_or_real.path("x", "status", kind=CONFIG_MAP))
    assert named.said == (404, "NotFound")


async def test_discovery(fake_or_real: Api) -> None:
    """Discovery tells names, kinds, scopes and subresources."""
    told = await fake_or_real.ask("GET", f"/apis/{GROUP}/v1")
    found = {item["name"]: (item["kind"], item["namespaced"], {*item["verbs"]}) for item in told.body["resources"]}
    whole = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
    assert found["gizmos"] == ("Gizmo", True, whole)
    assert found["gizmos/status"] == ("Gizmo", True, {"get", "patch", "update"})
    assert [item["shortNames"] for item in told.body["resources"] if item["name"] == "gizmos"] == [["gi"]]
    assert found["gizmos/scale"] == ("Scale", True, {"get", "patch", "update"})


async def test_bodies_for_other_addresses(fake_or_real: Api) -> None:
    """A body that does not fit its address is a BadRequest."""
    await fake_or_real.create(gizmo("address"))
    answers = [
        await fake_or_real.create(gizmo("elsewhere", namespace="elsewhere")),
        await fake_or_real.create({**gizmo("other"), "apiVersion": "v1"}),
        await fake_or_real.create({**gizmo("other"), "kind": ""}),
        await fake_or_real.ask("PUT", fake_or_real.path("address"), gizmo("another", resourceVersion="1")),
        await fake_or_real.merge("address", {"metadata": {"name": "another"}}),
        await fake_or_real.apply({**gizmo("address"), "metadata": {"name": "address", "managedFields": [{}]}}),
    ]
    assert [answer.said for answer in answers] == [(400, "BadRequest")] * len(answers)


async def test_a_version_is_not_for_new_objects(fake_or_real: Api) -> None:
    """A new object with a resourceVersion is refused, in the server's odd way."""
    refused = await fake_or_real.create(gizmo("early", resourceVersion="5"))
    assert refused.code == 500
    assert refused.body["message"] == "resourceVersion should not be set on objects to be created"


async def test_namespaces_have_to_be(fake_or_real: Api) -> None:
    """Nothing is made in a namespace that is not there, or is going."""
    path = fake_or_real.path().replace(fake_or_real.namespace, "nowhere")
    missing = await fake_or_real.ask("POST", path, gizmo("x"))
    assert (missing.said, missing.body["message"]) == ((404, "NotFound"), 'namespaces "nowhere" not found')
    made = await fake_or_real.create({"metadata": {"generateName": "going-"}}, kind=NAMESPACE)
    name = made.metadata["name"]
    assert made.metadata["labels"] == {"kubernetes.io/metadata.name": name}
    assert (made.body["spec"], made.body["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})
    kept = path.replace("nowhere", name)
    await fake_or_real.ask("POST", kept, gizmo("keeper", finalizers=["example.com/keep"]))
    gone = await fake_or_real.delete(name, kind=NAMESPACE)
    assert (gone.code, gone.body["status"]["phase"]) == (200, "Terminating")
    refused = await fake_or_real.ask("POST", kept, gizmo("x"))
    assert (refused.said, refused.causes) == (
        (403, "Forbidden"),
        {("metadata.namespace", "NamespaceTerminating")},
    )


async def test_strict_validation(fake_or_real: Api) -> None:
    """With fieldValidation=Strict an unknown field is a BadRequest; with Ignore nobody hears of it."""
    refused = await fake_or_real.create(gizmo("strict", {"size": 1, "nope": 1}), fieldValidation="Strict")
    assert refused.said == (400, "BadRequest")
    assert refused.body["message"].endswith('strict decoding error: unknown field "spec.nope"')
    made = await fake_or_real.create(gizmo("strict", {"size": 1, "nope": 1}), fieldValidation="Ignore")
    assert (made.code, made.warning) == (201, "")


async def test_kinds_of_kubernetes(fake_or_real: Api) -> None:
    """Built-in kinds live by the same rules: a ConfigMap has no generation and needs no version to be replaced."""
    made = await fake_or_real.create(config_map("built-in", a="1"), kind=CONFIG_MAP)
    assert (made.body["kind"], "generation" in made.metadata) == ("ConfigMap", False)
    put = await fake_or_real.put(config_map("built-in", a="2"), kind=CONFIG_MAP)
    assert (put.code, put.body["data"]) == (200, {"a": "2"})
    listed = await fake_or_real.ask("GET", fake_or_real.path(kind=CONFIG_MAP), fieldSelector="metadata.name=built-in")
    assert (listed.body["kind"], "kind" in listed.body["items"][0]) == ("ConfigMapList", False)


async def test_secrets_are_encoded(fake_or_real: Api) -> None:
    """Plain text of a Secret becomes data, over what data says; nulls are nothing."""
    body: Json = {"metadata": {"name": "plain"}, "data": {"a": "eA==", "b": "eA=="}, "stringData": {"a": "y"}}
    made = await fake_or_real.create({**body, "immutable": None}, kind=SECRET)
    assert (made.code, made.body["data"]) == (201, {"a": "eQ==", "b": "eA=="})
    assert not {"stringData", "immutable"} & {*made.body}
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "plain"}, "stringData": {"c": "z"}}
    applied = await fake_or_real.apply(body, kind=SECRET)
    assert applied.body["data"] == {"a": "eQ==", "b": "eA==", "c": "eg=="}


async def test_workloads_count_generations(fake_or_real: Api) -> None:
    """A StatefulSet has a generation that its status does not move, and a scale."""
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "serviceName": "s", "template": template}
    body = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "set"}, "spec": spec}
    made = await fake_or_real.create(body, kind=STATEFUL_SET)
    made.body["status"] = {"replicas": 1, "observedGeneration": 1}
    status = await fake_or_real.put(made.body, "status", kind=STATEFUL_SET)
    assert (status.metadata["generation"], status.body["status"]["replicas"]) == (1, 1)
    path = fake_or_real.path("set", "scale", kind=STATEFUL_SET)
    merge = "application/merge-patch+json"
    scaled = await fake_or_real.ask("PATCH", path, {"spec": {"replicas": 5}}, content_type=merge)
    assert (scaled.body["kind"], scaled.body["spec"]) == ("Scale", {"replicas": 5})
    found = await fake_or_real.get("set", kind=STATEFUL_SET)
    assert (found.metadata["generation"], found.body["spec"]["replicas"]) == (2, 5)


async def test_without_a_status_subresource(fake_or_real: Api) -> None:
    """Where a kind has no status subresource, its status is a field as any other."""
    plain = {"apiVersion": PLAIN.api_version, "kind": "Plain", "metadata": {"name": "plain"}, "status": {"a": 1}}
    made = await fake_or_real.create(plain, kind=PLAIN)
    assert made.body["status"] == {"a": 1}
    made.body["status"] = {"a": 2}
    assert (await fake_or_real.put(made.body, kind=PLAIN)).metadata["generation"] == 2
    assert (await fake_or_real.put(made.body, "status", kind=PLAIN)).code == 404


async def test_dry_run(fake_or_real: Api) -> None:
    """A dry run is validated and answered, and changes nothing."""
    dry = await fake_or_real.create(gizmo("dry"), dryRun="All")
    assert (dry.code, "resourceVersion" in dry.metadata, bool(dry.metadata["uid"])) == (201, False, True)
    assert (await fake_or_real.get("dry")).code == 404
    made = await fake_or_real.create(gizmo("real"))
    assert (await fake_or_real.create(gizmo("bad", {}), dryRun="All")).code == 422
    changed = await fake_or_real.merge("real", {"spec": {"size": 9}}, dryRun="All")
    assert (changed.body["spec"]["size"], changed.metadata["generation"]) == (9, 2)
    applied = await fake_or_real.apply(gizmo("real", {"size": 8}), force=True, dryRun="All")
    assert applied.body["spec"]["size"] == 8
    assert (await fake_or_real.delete("real", dryRun=["All"])).body["status"] == "Success"
    assert (await fake_or_real.get("real")).body == made.body
