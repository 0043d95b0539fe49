"""One API, twice: in memory and real. What is asked here is asked of both, and has to be answered alike."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.runtime.client.kinds import collection_path, object_path
from pyopscaffold.runtime.client.lines import split_lines
from pyopscaffold.runtime.client.transport import Request, Transport
from pyopscaffold.testing import FakeCluster, eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pyopscaffold.testing import RestClient

Json = dict[str, Any]

GROUP = "fake.example.com"
GIZMO = GroupVersionKind(GROUP, "v1", "Gizmo")
PLAIN = GroupVersionKind(GROUP, "v1", "Plain")
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_PORT = {
    "type": "object",
    "required": ["port"],
    "properties": {"port": _NUMBER, "name": _TEXT, "protocol": {"type": "string", "default": "TCP"}},
}
_SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1},
        "replicas": {"type": "integer", "default": 1},
        "color": {"type": "string", "enum": ["red", "blue"]},
        "name": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
        "list": {"type": "array", "maxItems": 2, "items": _TEXT},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": _TEXT},
        "ports": {
            "type": "array",
            "items": _PORT,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port"],
        },
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "map": {"type": "object", "additionalProperties": _TEXT},
        "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": _TEXT},
        "inner": {"type": "object", "properties": {"a": _NUMBER, "b": {"type": "integer", "default": 7}}},
        "maybe": {"type": "string", "nullable": True},
        "when": {"type": "string", "format": "date-time"},
        "limit": {"x-kubernetes-int-or-string": True},
    },
}
_STATUS = {"type": "object", "properties": {"replicas": _NUMBER, "phase": _TEXT}}


def _crd(kind: GroupVersionKind, schema: Json, **version: Any) -> Json:
    singular = kind.kind.lower()
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.group_resource},
        "spec": {
            "group": kind.group,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "names": {
                "kind": kind.kind,
                "plural": kind.plural,
                "singular": singular,
                "listKind": f"{kind.kind}List",
                "shortNames": [singular[:2]],
            },
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
            ],
        },
    }


CRDS = (
    _crd(
        GIZMO,
        {"type": "object", "required": ["spec"], "properties": {"spec": _SPEC, "status": _STATUS}},
        subresources={
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        },
        selectableFields=[{"jsonPath": ".spec.color"}],
    ),
    _crd(PLAIN, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
)


def install(client: RestClient) -> None:
    """Have the real server serve the kinds."""
    for crd in CRDS:
        name = crd["metadata"]["name"]
        client.apply(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}", crd)
        eventually(partial(client.get, f"/apis/{GROUP}/v1/{name.partition('.')[0]}"))


def gizmo(name: str = "", spec: Json | None = None, **metadata: Any) -> Json:
    """Make a Gizmo of size 1, or of the given spec."""
    named = {"name": name} if name else {}
    return {
        "apiVersion": GIZMO.api_version,
        "kind": "Gizmo",
        "metadata": {**named, **metadata},
        "spec": {"size": 1} if spec is None else spec,
    }


@dataclass
class Answer:
    """What came back."""

    code: int
    body: Any
    warning: str

    @property
    def said(self) -> tuple[int, str]:
        """Code and reason."""
        return self.code, self.body.get("reason", "")

    @property
    def causes(self) -> set[tuple[str, str]]:
        """Fields and reasons of the causes."""
        causes = self.body.get("details", {}).get("causes", ())
        return {(cause["field"], cause["reason"]) for cause in causes}

    @property
    def metadata(self) -> Json:
        """Metadata of an object."""
        found: Json = self.body["metadata"]
        return found

    @property
    def version(self) -> str:
        """The object's resourceVersion."""
        return str(self.metadata["resourceVersion"])


@dataclass
class Api:
    """An API in one namespace of it."""

    transport: Transport
    namespace: str
    fake: FakeCluster | None = None

    def path(self, name: str = "", subresource: str = "", *, kind: GroupVersionKind = GIZMO) -> str:
        """Path of an object, or of all."""
        if not name:
            return collection_path(kind, self.namespace)
        return object_path(kind, self.namespace, name, subresource)

    async def ask(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json", **query: str
    ) -> Answer:
        """Send a request; ``continue_`` stands for ``continue``."""
        named = {name.rstrip("_"): value for name, value in query.items()}
        text = b"" if body is None else msgspec.json.encode(body)
        response = await self.transport.request(Request(method, path, named, text, content_type))
        found = json.loads(response.body) if response.body.startswith(b"{") else {}
        return Answer(response.status, found, response.headers.get("warning", ""))

    async def create(self, obj: Json, *, kind: GroupVersionKind = GIZMO, **query: str) -> Answer:
        """Create an object."""
        return await self.ask("POST", self.path(kind=kind), obj, **query)

    async def get(self, name: str, subresource: str = "", *, kind: GroupVersionKind = GIZMO) -> Answer:
        """Read an object."""
        return await self.ask("GET", self.path(name, subresource, kind=kind))

    async def put(self, obj: Json, subresource: str = "", *, kind: GroupVersionKind = GIZMO, **query: str) -> Answer:
        """Replace an object."""
        return await self.ask("PUT", self.path(obj["metadata"]["name"], subresource, kind=kind), obj, **query)

    async def merge(self, name: str, patch: Json, subresource: str = "", **query: str) -> Answer:
        """Patch by merge."""
        return await self.ask("PATCH", self.path(name, subresource), patch, content_type=MERGE, **query)

    async def json_patch(self, name: str, *operations: Json, **query: str) -> Answer:
        """Patch by operations."""
        return await self.ask("PATCH", self.path(name), list(operations), content_type=JSON, **query)

    async def apply(
        self,
        obj: Json,
        *,
        by: str = "one",
        force: bool = False,
        subresource: str = "",
        kind: GroupVersionKind = GIZMO,
        **query: str,
    ) -> Answer:
        """Apply by a field manager."""
        path = self.path(obj["metadata"]["name"], subresource, kind=kind)
        query |= {"fieldManager": by, "force": "true" if force else "false"}
        return await self.ask("PATCH", path, obj, content_type=APPLY, **query)

    async def delete(self, name: str, *, kind: GroupVersionKind = GIZMO, **options: Any) -> Answer:
        """Delete, with DeleteOptions."""
        return await self.ask("DELETE", self.path(name, kind=kind), options)

    @asynccontextmanager
    async def watch(self, kind: GroupVersionKind = GIZMO, /, **query: str) -> AsyncIterator[AsyncIterator[Json]]:
        """Watch; gives the events."""
        request = Request("GET", self.path(kind=kind), {"watch": "true", "timeoutSeconds": "20", **query})
        async with asyncio.timeout(15), self.transport.stream(request) as stream:
            yield _events(stream.chunks)


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Json]:
    async for lines in split_lines(chunks):
        for line in lines:
            yield json.loads(line)


async def take(events: AsyncIterator[Json], count: int) -> list[tuple[str, str]]:
    """Take so many events: (type, name)."""
    taken = [await anext(events) for _ in range(count)]
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in taken]
