"""What a server says it serves, and what is made of answers that are none."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.errors import ClientError, NotFound
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.runtime.client.api import ApiClient
from pyopscaffold.runtime.client.kinds import ApiGroup, ApiResource
from pyopscaffold.runtime.client.transport import Request, Response

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from pyopscaffold.runtime.client.transport import Stream


def _resource(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "namespaced": True, "verbs": ["get", "list"], **more}


_SERVED: dict[str, Any] = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {
        "kind": "APIGroupList",
        "groups": [
            {
                "name": "shop.example.com",
                "versions": [{"version": "v2"}, {"version": "v1"}],
                "preferredVersion": {"version": "v2"},
            }
        ],
    },
    "/api/v1": {"resources": [_resource("configmaps", "ConfigMap", shortNames=["cm"])]},
    "/apis/shop.example.com/v2": {"resources": [_resource("carts", "Cart"), _resource("carts/status", "Cart")]},
    "/apis/shop.example.com/v1": {"resources": [_resource("carts", "Cart"), _resource("tills", "Till")]},
}


@dataclass
class Answers:
    """A transport that knows some documents, or gives the same text to all requests."""

    text: bytes = b""
    status: int = 200
    asked: list[str] = field(default_factory=list)

    async def request(self, request: Request) -> Response:
        """Answer."""
        self.asked.append(request.path)
        if self.text:
            return Response(self.status, {}, self.text)
        if request.path in _SERVED:
            return Response(200, {}, json.dumps(_SERVED[request.path]).encode())
        return Response(404, {}, b"404 page not found\n")

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """Nothing is watched here."""
        raise AssertionError(request)

    async def close(self) -> None:
        """Nothing is open."""


async def test_groups() -> None:
    """Groups come with their versions, the core group first."""
    assert await ApiClient(Answers()).discovery.groups() == [
        ApiGroup("", ("v1",), "v1"),
        ApiGroup("shop.example.com", ("v2", "v1"), "v2"),
    ]


async def test_resources() -> None:
    """Kinds come with what can be done with them, without their subresources; a version not served has none."""
    discovery = ApiClient(Answers()).discovery
    found = await discovery.resources("v1")
    assert found == [ApiResource(GroupVersionKind("", "v1", "ConfigMap"), ("get", "list"), ("cm",))]
    assert [resource.kind.plural for resource in await discovery.resources("shop.example.com/v2")] == ["carts"]
    assert await discovery.resources("nowhere.example.com/v1") == []


async def test_preferred_versions() -> None:
    """A kind is found in the preferred version, one that only an older version has in that; else it is unknown."""
    discovery = ApiClient(Answers()).discovery
    assert (await discovery.preferred("shop.example.com", "Cart")).version == "v2"
    assert (await discovery.preferred("shop.example.com", "Till")).api_version == "shop.example.com/v1"
    assert (await discovery.preferred("", "ConfigMap")).plural == "configmaps"
    with pytest.raises(NotFound, match=r"no kind Nothing in the group 'shop\.example\.com'; is its CRD installed"):
        await discovery.preferred("shop.example.com", "Nothing")


@pytest.mark.parametrize(
    "text", [b"<html>Please log in</html>", b'{"groups": [', b"[]", b'{"groups": 1}', b"\xff\xfe", b"{}"]
)
async def test_answers_of_something_else(text: bytes) -> None:
    """A login page, or JSON that is cut or of another shape, is a ClientError that says so, whatever was asked."""
    discovery = ApiClient(Answers(text)).discovery
    with pytest.raises(ClientError, match="the answer is not the API server's"):
        await discovery.groups()
    with pytest.raises(ClientError, match="the answer is not the API server's"):
        await discovery.of({"apiVersion": "shop.example.com/v1", "kind": "Cart"})


async def test_a_gateway_that_fails() -> None:
    """A gateway's page keeps its status and the start of its text."""
    with pytest.raises(ClientError, match="GET /api: <h1>Bad Gateway</h1>") as caught:
        await ApiClient(Answers(b"<h1>Bad Gateway</h1>", 502)).discovery.groups()
    assert getattr(caught.value, "code", 0) == 502


async def test_kinds_of_mappings_are_asked_once() -> None:
    """The kind of a plain object is looked up once for each version, and built-in kinds never."""
    answers = Answers()
    discovery = ApiClient(answers).discovery
    for kind in ("Cart", "Till", "Cart"):
        await discovery.of({"apiVersion": "shop.example.com/v1", "kind": kind})
    await discovery.of({"apiVersion": "v1", "kind": "ConfigMap"})
    assert answers.asked == ["/apis/shop.example.com/v1"]
