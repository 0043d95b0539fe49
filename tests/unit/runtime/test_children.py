"""What a child may look like, and when it counts as unchanged; applying itself is tested on a real API server."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pyopscaffold.errors import Conflict, FieldConflict, PyopscaffoldError, StatusCause
from pyopscaffold.kube.builtin import CONFIG_MAP, NAMESPACE
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.runtime.children import CONTESTED, PUT_BACK_AGAIN, PUT_BACKS, Children, Owner, restrict
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.objects import Stored, parse

OWNER = Owner(kind=GroupVersionKind("example.com", "v1", "Thing"), name="one", namespace="ns", uid="u1")
CHILD = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "child"}, "data": {"size": "1000m"}}


class Server:
    """Answers an apply as a server does that normalises ``size``, and holds the answer as the cache would."""

    def __init__(self) -> None:
        self.applied: list[dict[str, Any]] = []
        self.state: dict[str, Any] | None = None
        self.rival = ""

    async def apply(self, child: dict[str, Any], *, field_manager: str, force: bool = True) -> dict[str, Any]:
        """See Client; ``rival`` owns the data whatever is applied by force."""
        self.applied.append(child)
        if self.rival and not force:
            cause = StatusCause("FieldManagerConflict", f'conflict with "{self.rival}" using v1', ".data.size")
            raise FieldConflict("one conflict", code=409, causes=[cause])
        normal = {key: value.replace("000m", "") for key, value in child["data"].items()}
        self.change(metadata=child["metadata"], data=normal | {"defaulted": "yes"})
        assert self.state is not None
        return self.state

    def change(self, *, data: dict[str, Any], **changes: Any) -> None:
        """Let somebody write the object."""
        base = self.state or {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}
        metadata = base["metadata"] | changes.pop("metadata", {})
        version = str(int(metadata.get("resourceVersion", "0")) + 1)
        self.state = {**base, **changes, "data": data, "metadata": metadata | {"uid": "c1", "resourceVersion": version}}

    def get(self, namespace: str, name: str) -> Stored | None:
        """See Informer."""
        return None if self.state is None else parse(CONFIG_MAP, msgspec.json.encode(self.state))

    synced, failure = True, None

    def by_owner(self, uid: str) -> list[Stored]:
        """See Informer."""
        there = self.get("ns", "child")
        return [there] if there and uid in [owner.uid for owner in there.meta.owner_references] else []


@pytest.fixture
def server() -> Server:
    """Give a server without the child."""
    return Server()


@pytest.fixture
def children(server: Any) -> Children:
    """Give the children of a controller that owns ConfigMaps and, wrongly, Namespaces."""
    return Children(server, {CONFIG_MAP: server}, field_manager="thing", owns=[CONFIG_MAP, NAMESPACE])


async def test_child_gets_namespace_and_owner(children: Children, server: Server) -> None:
    """What the author leaves out is filled in, and the author's own mapping stays as it is."""
    before = msgspec.json.encode(CHILD)
    await children.apply(OWNER, CHILD)
    metadata = server.applied[0]["metadata"]
    assert metadata["namespace"] == "ns"
    assert metadata["ownerReferences"] == [OWNER.reference()]
    assert msgspec.json.encode(CHILD) == before


async def test_unchanged_child_makes_no_request(children: Children, server: Server) -> None:
    """The same content again is answered from the cache, although the server keeps it in another form."""
    first = await children.apply(OWNER, CHILD)
    assert await children.apply(OWNER, CHILD) == first
    assert len(server.applied) == 1


async def test_changes_of_others_make_no_request(children: Children, server: Server) -> None:
    """A new version of the child in which our fields stand as we left them needs no apply."""
    await children.apply(OWNER, CHILD)
    server.change(data={"size": "1", "theirs": "yes"}, status={"ready": True})
    answer = await children.apply(OWNER, CHILD)
    assert answer["data"] == {"size": "1", "theirs": "yes"}
    assert len(server.applied) == 1


@pytest.mark.parametrize("edited", [{"size": "2"}, {}, {"size": "1000m "}])
async def test_edit_of_our_field_is_applied_over(children: Children, server: Server, edited: dict[str, str]) -> None:
    """A field of ours that was changed or removed is applied again."""
    await children.apply(OWNER, CHILD)
    server.change(data=edited)
    await children.apply(OWNER, CHILD)
    assert len(server.applied) == 2


async def test_other_content_is_applied(children: Children, server: Server) -> None:
    """New desired content is applied, also when it only takes something away."""
    await children.apply(OWNER, CHILD)
    await children.apply(OWNER, {**CHILD, "data": {}})
    assert server.applied[1]["data"] == {}


async def test_forgotten_owner_starts_anew(children: Children, server: Server) -> None:
    """After its owner is gone nothing is remembered of a child."""
    await children.apply(OWNER, CHILD)
    children.forget("u1")
    await children.apply(OWNER, CHILD)
    assert len(server.applied) == 2


async def test_child_that_another_controls_is_refused(children: Children, server: Server) -> None:
    """A child of another owner, or of an earlier one of the same name, is a Conflict that names it."""
    earlier = Owner(kind=OWNER.kind, name="one", namespace="ns", uid="u0")
    await children.apply(earlier, CHILD)
    with pytest.raises(Conflict, match=r"ConfigMap child is controlled by Thing one \(uid u0\)"):
        await children.apply(OWNER, CHILD)


@pytest.mark.parametrize(
    ("child", "named"),
    [
        ({"kind": "ConfigMap", "metadata": {"name": "x"}}, "'apiVersion' is missing"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}, "'name' is missing"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "other"}}, "namespace, ns"),
        ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}, "namespace, ns"),
    ],
)
async def test_impossible_children_are_named(children: Children, child: dict[str, Any], named: str) -> None:
    """A child that can't be one says why before any request."""
    with pytest.raises(PyopscaffoldError, match=named):
        await children.apply(OWNER, child)


def test_undeclared_kind_is_named(children: Children) -> None:
    """Asking for owned objects of a kind that the controller does not own says what to declare."""
    with pytest.raises(PyopscaffoldError, match=r"Secret is not among the kinds that @controller\(owns=…\) names"):
        children.owned(OWNER, GroupVersionKind("", "v1", "Secret"))


@pytest.mark.parametrize(
    ("actual", "shape", "rest"),
    [
        ({"a": 1, "b": 2}, {"a": 0}, {"a": 1}),
        ({"b": 2}, {"a": 0}, {}),
        ({"a": [{"x": 1, "y": 2}]}, {"a": [{"x": 0}]}, {"a": [{"x": 1}]}),
        ([1, 2, 3], [1], [1, 2, 3]),
        ([{"x": 1, "y": 2}, {"x": 3}], [{"x": 0}], [{"x": 1}, {"x": 3}]),
        ({"a": "1"}, {"a": {"b": 1}}, {"a": "1"}),
    ],
)
def test_restrict_keeps_what_the_shape_has(actual: Any, shape: Any, rest: Any) -> None:
    """Fields that were not asked for are cut away, items of lists are not."""
    assert restrict(actual, shape) == rest


async def test_a_rival_is_fought_for_a_while_then_named(server: Any) -> None:
    """What somebody undoes all the time is put back some times, then once a minute; asking who it is costs nothing."""
    clock = ManualClock()
    children = Children(server, {CONFIG_MAP: server}, field_manager="thing", owns=[CONFIG_MAP], clock=clock)
    await children.apply(OWNER, CHILD)
    server.rival = "rival"
    for _ in range(PUT_BACKS):
        server.change(data={"size": "theirs"})
        assert (await children.apply(OWNER, CHILD))["data"]["size"] == "1"
    server.change(data={"size": "theirs"})
    for _ in range(2):
        with pytest.raises(Conflict, match=r"changed again and again: rival sets \.data\.size") as caught:
            await children.apply(OWNER, CHILD)
        assert caught.value.reason == CONTESTED
    clock.advance(PUT_BACK_AGAIN)
    await children.apply(OWNER, CHILD)
    server.change(data={"size": "theirs"})
    server.rival = ""
    assert (await children.apply(OWNER, CHILD))["data"]["size"] == "1"


async def test_what_the_owner_itself_changes_is_no_fight(children: Children, server: Server) -> None:
    """However often the author wants something else, it is applied by force."""
    server.rival = "rival"
    for number in range(3 * PUT_BACKS):
        await children.apply(OWNER, {**CHILD, "data": {"size": str(number)}})
    assert len(server.applied) == 3 * PUT_BACKS
