"""Changes of a whole CRD: its versions, its names, and what lies between the versions it serves."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.compat.change import Grade
from pyopscaffold.compat.crd import compare
from pyopscaffold.compat.report import to_json, to_markdown

if TYPE_CHECKING:
    from collections.abc import Callable

C, R, B = Grade.COMPATIBLE, Grade.RISKY, Grade.BREAKING


def version(name: str, fields: dict[str, Any], *, served: bool = True, storage: bool = False) -> dict[str, Any]:
    """Make a version whose spec has these fields."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    return {"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": schema}}


def crd(*versions: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """Make a CRD."""
    names = {"kind": "Widget", "plural": "widgets", "shortNames": ["wi"], "categories": ["all"]}
    return {"spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": list(versions), **spec}}


SIZE = {"size": {"type": "integer"}}
ONE = crd(version("v1", SIZE, storage=True) | {"subresources": {"status": {}, "scale": {"specReplicasPath": ".a"}}})
HOOK = {"conversion": {"strategy": "Webhook", "webhook": {}}}


def changed(change: Callable[[dict[str, Any]], object]) -> list[tuple[Grade, str]]:
    """Change the one version's CRD, and compare."""
    new = deepcopy(ONE)
    change(new["spec"])
    return [(found.grade, found.message) for found in compare(ONE, new)]


@pytest.mark.parametrize(
    ("change", "grade", "message"),
    [
        (lambda spec: spec.update(scope="Cluster"), B, "scope was Namespaced and is Cluster now"),
        (lambda spec: spec.update(group="other.com"), B, "group was example.com"),
        (lambda spec: spec["names"].update(kind="Gadget"), B, "kind was Widget and is Gadget now"),
        (lambda spec: spec["names"].update(plural="wigets"), B, "plural was widgets"),
        (lambda spec: spec["names"].update(shortNames=[]), R, "the short name wi is gone"),
        (lambda spec: spec["names"].pop("categories"), R, "the category all is gone"),
        (lambda spec: spec["versions"].clear(), B, "version v1 is gone, though objects are stored in it"),
        (lambda spec: spec["versions"][0].update(served=False), B, "version v1 is not served any more"),
        (lambda spec: spec["versions"][0].update(deprecated=True), C, "version v1 is deprecated now"),
        (lambda spec: spec["versions"][0]["subresources"].pop("status"), B, "has no status subresource any more"),
        (lambda spec: spec["versions"][0]["subresources"].pop("scale"), B, "has no scale subresource any more"),
        (lambda spec: spec["versions"][0]["subresources"].update(scale={}), R, "is scaled by other fields now"),
        (lambda spec: spec["versions"].append(version("v2", SIZE)), C, "version v2 is new"),
    ],
)
def test_what_is_outside_of_schemas_is_graded(
    change: Callable[[dict[str, Any]], object], grade: Grade, message: str
) -> None:
    """Each change of the manifest is told once."""
    ((found, said),) = changed(change)
    assert found is grade
    assert message in said


def test_other_changes_of_versions() -> None:
    """The storage version, a status subresource that comes, and selectable fields that go."""
    old = crd(
        version("v1", SIZE, storage=True) | {"selectableFields": [{"jsonPath": ".spec.size"}]}, version("v2", SIZE)
    )
    new = crd(version("v1", SIZE), version("v2", SIZE, storage=True) | {"subresources": {"status": {}}})
    assert [change.message for change in compare(old, new)] == [
        "version v1 can't be selected by .spec.size any more",
        "version v2 has a status subresource now: a status that is written with the spec is dropped",
        "version v2 is the one that objects are stored in now",
    ]


def test_a_new_version_may_be_the_stored_one() -> None:
    """That is told beside that it is new."""
    new = crd(version("v1", SIZE), version("v2", SIZE, storage=True))
    assert [change.message for change in compare(crd(version("v1", SIZE, storage=True)), new)] == [
        "version v2 is the one that objects are stored in now",
        "version v2 is new",
    ]


def test_a_version_that_nobody_could_use_may_go() -> None:
    """One neither served nor stored breaks nobody, unless the server remembers that objects are stored in it."""
    old = crd(version("v1", SIZE, storage=True), version("v0", SIZE, served=False))
    assert [change.grade for change in compare(old, ONE)][-1] is Grade.COMPATIBLE
    remembered = {**old, "status": {"storedVersions": ["v0", "v1"]}}
    assert "version v0 is gone, though objects are stored" in compare(remembered, ONE)[0].message


def test_a_new_version_is_compared_with_the_others() -> None:
    """Without a webhook an object that was written as v1 is read as v2, and the other way round."""
    new = crd(version("v1", SIZE, storage=True), version("v2", {"size": {"type": "string"}}))
    found = [change for change in compare(crd(version("v1", SIZE, storage=True)), new) if change.before]
    assert [(one.before, one.version, one.field, one.grade) for one in found] == [
        ("v2", "v1", ".spec.size", B),
        ("v1", "v2", ".spec.size", B),
    ]
    assert [
        one for one in compare(crd(version("v1", SIZE, storage=True)), {"spec": new["spec"] | HOOK}) if one.before
    ] == []


def test_what_lay_between_versions_before_is_no_change() -> None:
    """Only what the change brought is told, and only once."""
    other = {"size": {"type": "string"}}
    old = crd(version("v1", SIZE, storage=True), version("v2", other))
    assert compare(old, deepcopy(old)) == ()
    new = crd(version("v1", SIZE, storage=True), version("v2", {"size": {"type": "string", "maxLength": 3}}))
    assert [(one.before, one.message) for one in compare(old, new)] == [
        ("", ".spec.size must be at most 3 characters long now")
    ]


def test_a_webhook_that_goes_leaves_all_differences() -> None:
    """What it had converted is told from then on."""
    versions = (version("v1", SIZE, storage=True), version("v2", {"count": {"type": "integer"}}))
    messages = [change.message for change in compare(crd(*versions, **HOOK), crd(*versions))]
    assert "no webhook converts the versions any more" in messages
    assert ".spec.size is gone; what is stored is dropped" in messages


def test_the_release_note() -> None:
    """People read what breaks first; what Markdown would take for its own is escaped."""
    old = crd(version("v1", {"a": {"type": "string"}, "b": {"type": "string"}}, storage=True))
    new = crd(version("v1", {"a": {"type": "string", "pattern": "^[a-z]*_$"}, "c": {"type": "string"}}, storage=True))
    assert to_markdown({"widgets.example.com": compare(old, new), "same.example.com": ()}) == (
        "## widgets.example.com\n\n"
        "### Breaking\n\n"
        "- `v1` `.spec.a` must match ^\\[a-z\\]\\*\\_$ now\n"
        "- `v1` `.spec.b` is gone; what is stored is dropped\n\n"
        "### Compatible\n\n"
        "- `v1` `.spec.c` is new\n"
    )
    assert to_markdown({"same.example.com": ()}) == "Nothing changed that an API client could notice.\n"
    content = json.loads(to_json({"widgets.example.com": compare(old, new)}))
    assert content["summary"] == {"breaking": 2, "risky": 0, "compatible": 1}
    assert content["crds"]["widgets.example.com"][0]["path"][:4] == ["spec", "versions", 0, "schema"]


@pytest.mark.parametrize("odd", [{}, {"spec": 3}, {"spec": {"versions": [3, {"name": []}], "names": "a"}}])
def test_what_is_no_crd_is_borne(odd: dict[str, Any]) -> None:
    """Whatever stands there, the comparison ends."""
    assert [change.grade for change in (*compare(odd, ONE), *compare(ONE, odd))]
