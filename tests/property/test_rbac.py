"""The least role, whatever was granted and asked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pyopscaffold.generate.rbac import PolicyRule
from pyopscaffold.testing.audit import AuditRecord, OwnerReference
from pyopscaffold.testing.rbac import compare, needed, permissions

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
GROUPS = ("", "apps", "example.com")
RESOURCES = ("things", "gadgets")
NAMES = ("one", "two")

owners = st.builds(
    OwnerReference,
    group=st.sampled_from(GROUPS),
    kind=st.sampled_from(["Thing", "Gadget"]),
    name=st.sampled_from(NAMES),
    blocking=st.booleans(),
)
on_resources = st.builds(
    AuditRecord,
    user=st.just("operator"),
    verb=st.sampled_from(VERBS),
    uri=st.just("/apis"),
    code=st.sampled_from([200, 201, 403, 404]),
    stage=st.just("ResponseComplete"),
    time=st.just(""),
    user_agent=st.just(""),
    group=st.sampled_from(GROUPS),
    version=st.just("v1"),
    resource=st.sampled_from(RESOURCES),
    subresource=st.sampled_from(["", "", "status"]),
    namespace=st.just("ns"),
    name=st.sampled_from(["", *NAMES]),
    decision=st.sampled_from(["allow", "forbid"]),
    owners=st.lists(owners, max_size=2).map(tuple),
)
on_urls = st.builds(
    AuditRecord,
    **{name: st.just("") for name in ("user", "stage", "time", "user_agent", "group", "version", "resource")},
    **{name: st.just("") for name in ("subresource", "namespace", "name")},
    verb=st.sampled_from(["get", "post"]),
    uri=st.sampled_from(["/metrics", "/logs/a?b=c"]),
    code=st.just(200),
)
records = st.lists(st.one_of(on_resources, on_urls), max_size=8)


def some(values: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    """Draw some of the values, at least one."""
    return st.lists(st.sampled_from(values), min_size=1, unique=True).map(tuple)


rules = st.lists(
    st.builds(
        PolicyRule,
        groups=some((*GROUPS, "*")),
        resources=some((*RESOURCES, "things/status", "things/finalizers", "*")),
        verbs=some((*VERBS, "*")),
        names=st.one_of(st.just(()), some(NAMES)),
    ),
    max_size=4,
)


@given(rules, records)
def test_the_least_role_grants_the_requests_and_nothing_else(
    granted: list[PolicyRule], asked: list[AuditRecord]
) -> None:
    """Each need is granted, and each permission has a need."""
    least = permissions(compare(granted, asked).least)
    needs = {need for record in asked for need in needed(record, {})}
    assert all(any(one.covers(need) for one in least) for need in needs)
    assert all(any(one.covers(need) for need in needs) for one in least)


@given(rules, records)
def test_the_least_role_is_exact(granted: list[PolicyRule], asked: list[AuditRecord]) -> None:
    """Held against the same requests, as far as RBAC had allowed them, it has nothing unused, and stays as it is."""
    least = compare(granted, asked).least
    again = compare(least, asked)
    assert again.unused == ()
    assert again.least == least


@given(rules, records)
def test_unused_permissions_can_go(granted: list[PolicyRule], asked: list[AuditRecord]) -> None:
    """A role without what is told to be unused grants every need that it granted before."""
    before = permissions(granted)
    unused = {one for one in compare(granted, asked).unused if "*" not in one.verb + one.group + one.resource}
    after = [one for one in before if one not in unused]
    for need in {need for record in asked for need in needed(record, {})}:
        assert any(one.covers(need) for one in after) == any(one.covers(need) for one in before)
