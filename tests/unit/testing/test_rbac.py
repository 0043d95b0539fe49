"""What a role grants against what was asked: values in, values out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyopscaffold.generate.rbac import PolicyRule
from pyopscaffold.testing.audit import AuditRecord, OwnerReference
from pyopscaffold.testing.rbac import EVENTS, EVERYBODY, Permission, compare, permissions

GET = AuditRecord(
    user="system:serviceaccount:ns:operator",
    verb="get",
    uri="/api/v1/namespaces/ns/configmaps/one",
    code=200,
    stage="ResponseComplete",
    time="2026-01-01T00:00:00Z",
    user_agent="operator",
    group="",
    version="v1",
    resource="configmaps",
    subresource="",
    namespace="ns",
    name="one",
    decision="allow",
)
OWNER = OwnerReference(group="db.example.com", kind="MyDatabase", name="shop", blocking=True)
APPLY = replace(GET, verb="patch", owners=(OWNER,))


def rule(group: str, resources: str, verbs: str, names: str = "") -> PolicyRule:
    """Write a rule shortly: words are lists."""
    parts = (tuple(part.split()) for part in (resources, verbs, names))
    found, allowed, named = parts
    return PolicyRule(groups=(group,), resources=found, verbs=allowed, names=named)


def texts(found: object) -> list[str]:
    """Show permissions as users see them."""
    return [str(one) for one in found]  # type: ignore[attr-defined]  # tuples and mappings alike


def least(*records: AuditRecord, granted: tuple[PolicyRule, ...] = ()) -> list[str]:
    """Show what the records take, permission by permission."""
    return texts(permissions(compare(granted, records).least))


def test_what_was_asked_for_is_used() -> None:
    """A permission with a request is used, one without is not, each verb by itself."""
    found = compare([rule("", "configmaps secrets", "get list")], [GET])
    assert texts(found.unused) == ["list configmaps", "get secrets", "list secrets"]
    assert not found.exact


def test_an_exact_role() -> None:
    """A role that grants the requests, and them alone, is its own least one."""
    role = (rule("", "configmaps", "get"),)
    found = compare(role, [GET, GET])
    assert found.exact
    assert found.least == role


def test_refused_requests_are_counted() -> None:
    """What the role lacks is told, with how many times it was refused, and is in the least role."""
    refused = replace(GET, verb="list", name="", code=403, decision="forbid")
    found = compare([rule("", "configmaps", "get")], [GET, refused, refused])
    assert {str(one): count for one, count in found.refused.items()} == {"list configmaps": 2}
    assert found.least == (rule("", "configmaps", "get list"),)


def test_a_policy_that_refuses_is_no_affair_of_the_role() -> None:
    """What RBAC allowed and a quota or a policy refused lacks no permission."""
    role = [rule("", "configmaps", "create")]
    assert compare(role, [replace(GET, verb="create", code=403)]).exact


@pytest.mark.parametrize("verb", ["patch", "update"])
def test_a_write_that_makes_its_object_takes_create(verb: str) -> None:
    """An apply or update that is answered 201 was checked for create too; one that is answered 200 was not."""
    assert least(replace(GET, verb=verb, code=201)) == ["create configmaps", f"{verb} configmaps"]
    assert least(replace(GET, verb=verb)) == [f"{verb} configmaps"]


def test_owner_references_take_what_admission_checks() -> None:
    """An apply with an owner takes delete on the child and update on the owner's finalizers."""
    assert least(APPLY) == ["delete configmaps", "patch configmaps", "update mydatabases.db.example.com/finalizers"]


def test_an_owner_that_blocks_nothing_takes_no_finalizers() -> None:
    """Only blockOwnerDeletion is checked against the owner."""
    applied = replace(APPLY, owners=(replace(OWNER, blocking=False),))
    assert least(applied) == ["delete configmaps", "patch configmaps"]


def test_a_plural_of_its_own() -> None:
    """The resource of an owner may have another name than the kind's English plural."""
    found = compare([], [APPLY], plurals={("db.example.com", "MyDatabase"): "dbs"})
    assert "update dbs.db.example.com/finalizers" in texts(permissions(found.least))


@pytest.mark.parametrize(
    ("missing", "granted"),
    [
        (
            "create configmaps",
            [rule("", "configmaps", "patch delete"), rule("db.example.com", "*/finalizers", "update")],
        ),
        (
            "delete configmaps",
            [rule("", "configmaps", "patch create"), rule("db.example.com", "*/finalizers", "update")],
        ),
        ("update mydatabases.db.example.com/finalizers", [rule("", "configmaps", "patch create delete")]),
    ],
)
def test_a_write_refused_by_admission_names_what_lacks(missing: str, granted: list[PolicyRule]) -> None:
    """Where RBAC allows the patch and the answer is 403, what lacks is told, not the patch."""
    assert texts(compare(granted, [replace(APPLY, code=403)]).refused) == [missing]


def test_subresources_are_resources_of_their_own() -> None:
    """A right on statefulsets/status is none on statefulsets."""
    status = replace(GET, verb="patch", subresource="status", code=201, owners=(OWNER,))
    assert least(status) == ["patch configmaps/status"]
    assert texts(compare([rule("", "configmaps", "patch")], [status]).unused) == ["patch configmaps"]


@pytest.mark.parametrize("wide", [rule("*", "configmaps", "get"), rule("", "*", "get"), rule("", "configmaps", "*")])
def test_wildcards_are_never_exact(wide: PolicyRule) -> None:
    """A wildcard grants what is asked, and is told as wider than that."""
    found = compare([wide], [GET])
    assert found.refused == {}
    assert len(found.unused) == 1
    assert found.least == (rule("", "configmaps", "get"),)


def test_names_stay_where_the_role_has_them() -> None:
    """A permission for one object by name is used by a request for that one, and the least role keeps the name."""
    role = (rule("", "configmaps", "get", "one two"),)
    found = compare(role, [GET])
    assert texts(found.unused) == ["get configmaps two"]
    assert found.least == (rule("", "configmaps", "get", "one"),)
    assert compare([rule("", "configmaps", "get")], [GET]).least == (rule("", "configmaps", "get"),)


def test_a_name_beside_all_names_is_said_once() -> None:
    """Where one name was granted and another is needed too, the least role grants all names, and no name besides."""
    other = replace(GET, name="two", code=403, decision="forbid")
    assert least(GET, other, granted=(rule("", "configmaps", "get", "one"),)) == ["get configmaps"]


def test_a_name_does_not_grant_create() -> None:
    """RBAC can't limit a create by name: the name is in the body, which it does not see."""
    made = replace(GET, verb="create", code=403, decision="forbid")
    assert texts(compare([rule("", "configmaps", "create", "one")], [made]).refused) == ["create configmaps"]


def test_urls() -> None:
    """Requests for no resource are compared by path, with a star at the end."""
    asked = replace(GET, uri="/metrics/cadvisor?x=1", resource="", name="")
    granted = PolicyRule(urls=("/logs", "/metrics/*"), verbs=("get",))
    found = compare([granted], [asked])
    assert texts(found.unused) == ["get /logs"]
    assert found.least == (PolicyRule(urls=("/metrics/cadvisor",), verbs=("get",)),)


def test_what_others_grant_is_left_out() -> None:
    """Discovery, which everybody may do, is neither refused nor in the least role."""
    asked = replace(GET, uri="/apis/apps/v1", resource="", name="")
    found = compare([], [asked], elsewhere=EVERYBODY)
    assert found.exact
    assert found.least == ()


def test_standing_permissions_need_no_use() -> None:
    """What is for failures is not told as unused, and is in the least role if the role has it."""
    found = compare(EVENTS, [], standing=EVENTS)
    assert found.exact
    assert found.least == EVENTS
    assert compare([], [], standing=EVENTS).least == ()
    assert texts(compare(EVENTS, []).unused) == ["create events.events.k8s.io", "patch events.events.k8s.io"]


def test_permissions_of_a_rule() -> None:
    """A rule is every combination of its parts."""
    parts = permissions([rule("apps", "a b", "get list")])
    assert parts == tuple(
        Permission(group="apps", resource=resource, verb=verb) for resource in "ab" for verb in ("get", "list")
    )
