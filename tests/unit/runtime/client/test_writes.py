"""What the client sends where something is written."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import Object, ObjectMeta, resource
from pyopscaffold.errors import ClientError
from pyopscaffold.runtime.client.api import ApiClient
from pyopscaffold.runtime.client.transport import Request, Response

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from pyopscaffold.runtime.client.transport import Stream


@dataclass(kw_only=True)
class Spec:
    size: int = 1


@resource(group="writes.tests.example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec


@dataclass
class Recorder:
    """Answers each request with an object that has more than the class knows, and keeps the request."""

    sent: list[Request] = field(default_factory=list)

    async def request(self, request: Request) -> Response:
        """Keep the request."""
        self.sent.append(request)
        metadata = {"name": "a", "namespace": "b", "uid": "u", "resourceVersion": "1"}
        body = {"apiVersion": "writes.tests.example.com/v1", "kind": "Thing", "metadata": metadata}
        return Response(200, {}, json.dumps({**body, "spec": {"size": 3, "unknown": 1}}).encode())

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """Nothing is watched here."""
        raise AssertionError(request)

    async def close(self) -> None:
        """Nothing is open."""


async def test_no_instance_ever_replaces() -> None:
    """No write sends an instance in the place of the stored object, so what a class does not know is never lost."""
    recorder = Recorder()
    client = ApiClient(recorder)
    thing = Thing(metadata=ObjectMeta(name="a", namespace="b"), spec=Spec())
    thing = await client.create(thing, field_manager="tests")
    thing.spec.size += 1
    await client.apply(thing, field_manager="tests")
    await client.apply(thing, field_manager="tests", subresource="status")
    await client.patch(Thing, "a", {"spec": {"size": 5}}, namespace="b")
    await client.delete(Thing, "a", namespace="b")
    assert [request.method for request in recorder.sent] == ["POST", "PATCH", "PATCH", "PATCH", "DELETE"]
    applied: Any = json.loads(recorder.sent[1].body)
    assert (recorder.sent[1].content_type, applied["spec"]) == ("application/apply-patch+yaml", {"size": 4})
    with pytest.raises(ClientError, match="a Thing can't replace: it may lack fields that its class does not know"):
        await client.replace(thing, field_manager="tests")
    assert len(recorder.sent) == 5


async def test_replacing_needs_the_version() -> None:
    """A mapping that does not say which version it replaces is not sent: it would undo what others have written."""
    recorder = Recorder()
    with pytest.raises(ClientError, match=r"ConfigMap needs the metadata\.resourceVersion that it was read at"):
        await ApiClient(recorder).replace(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}},
            field_manager="tests",
        )
    assert recorder.sent == []


async def test_a_collection_is_of_one_namespace() -> None:
    """Objects of all namespaces are never deleted at once, as the server has no such request."""
    recorder = Recorder()
    with pytest.raises(ClientError, match="things are deleted in one namespace at a time, and none was given"):
        await ApiClient(recorder).delete_collection(Thing, labels="app=web")
    assert recorder.sent == []
