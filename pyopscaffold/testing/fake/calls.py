"""Requests, as they are understood: address, verb, body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pyopscaffold.testing.fake.apply import Manager
from pyopscaffold.testing.fake.failure import NotSimulatedError, bad_request, not_found, not_served
from pyopscaffold.testing.fake.kinds import Kinds, Resource
from pyopscaffold.testing.fake.writes import Options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyopscaffold.runtime.client.transport import Request

Json = dict[str, Any]

_APPLY: Final = "application/apply-patch+yaml"
_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_MANAGER: Final = "pyopscaffold"
"""Who writes without saying so; a real server takes the user agent."""


@dataclass(frozen=True)
class Call:
    """A request; ``verb`` is that of RBAC."""

    verb: str
    resource: Resource
    namespace: str
    name: str
    subresource: str
    query: Mapping[str, str]
    body: bytes
    content_type: str

    @property
    def is_apply(self) -> bool:
        """Whether it is a server-side apply."""
        return self.verb == "patch" and self.content_type == _APPLY

    def options(self, warnings: list[str]) -> Options:
        """Return how to write; ``warnings`` takes those for the client."""
        api_version = self.resource.kind.api_version
        name = self.query.get("fieldManager") or _MANAGER
        validation = self.query.get("fieldValidation", "Warn")
        return Options(
            Manager(name, "Apply" if self.is_apply else "Update", self.subresource, api_version),
            dry_run=self.query.get("dryRun") == "All",
            strict=validation == "Strict",
            subresource=self.subresource,
            warnings=warnings if validation == "Warn" else None,
        )

    def delete_options(self) -> Json:
        """Return the DeleteOptions, those of the query included."""
        said: Json = msgspec.json.decode(self.body) if self.body else {}
        policy = said.get("propagationPolicy") or self.query.get("propagationPolicy") or "Background"
        dry_run = bool(said.get("dryRun")) or self.query.get("dryRun") == "All"
        return {"preconditions": {}, **said, "propagationPolicy": policy, "dryRun": dry_run}

    def object(self) -> Json:
        """Read the body, and hold it against the address that it was sent to; raises Failure."""
        try:
            body = msgspec.json.decode(self.body, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise bad_request(f"the object provided is unrecognized: {error}") from error
        kind = self.resource.kind
        if self.subresource == "scale":
            return body
        if self.resource.custom and not body.get("kind"):
            said = f"the object provided is unrecognized (must be of type {kind.kind}): Object 'Kind' is missing"
            raise bad_request(said)
        body = {"apiVersion": kind.api_version, "kind": kind.kind, **body, "metadata": body.get("metadata") or {}}
        if body["apiVersion"] != kind.api_version:
            said = f"the API version in the data ({body['apiVersion']}) does not match the expected API version"
            raise bad_request(f"{said} ({kind.api_version})")
        if body["kind"] != kind.kind:
            raise bad_request(f"{body['kind']} in version {kind.version} cannot be handled as a {kind.kind}")
        self.check_names(body)
        return body

    def check_names(self, obj: Json) -> None:
        """Raise Failure where an object bears another name than its address."""
        metadata = obj.get("metadata") or {}
        name, namespace = metadata.get("name"), metadata.get("namespace")
        if self.name and name and name != self.name:
            raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({self.name})")
        if namespace and self.resource.kind.namespaced and namespace != self.namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


def read(kinds: Kinds, request: Request, parts: Sequence[str]) -> Call:
    """Understand a request to a path of these parts; raises Failure and NotSimulatedError."""
    prefix = 2 if parts[0] == "api" else 3
    if parts[0] not in ("api", "apis") or len(parts) <= prefix:
        raise NotSimulatedError(f"{request.method} {request.path}")
    group, version = ("", parts[1]) if parts[0] == "api" else (parts[1], parts[2])
    rest, namespace = list(parts[prefix:]), ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):  # noqa: PLR2004
        namespace, rest = rest[1], rest[2:]
    resource = kinds.find(group, version, rest[0])
    if resource is None:
        raise not_served()
    name, subresource = [*rest[1:], "", ""][:2]
    if subresource and not _has(resource, subresource):
        if not resource.custom and subresource != "status":
            raise NotSimulatedError(f"the subresource {subresource} of {resource.kind.plural}")
        raise not_found(resource.kind, name) if resource.custom else not_served()
    verb = _verb(request, name)
    if verb == "create" and name:
        raise NotSimulatedError(f"POST to {request.path}")
    return Call(verb, resource, namespace, name, subresource, request.query, request.body, request.content_type)


def _verb(request: Request, name: str) -> str:
    if request.method == "GET":
        if name:
            return "get"
        return "watch" if request.query.get("watch") in ("true", "1") else "list"
    if request.method == "DELETE":
        return "delete" if name else "deletecollection"
    return _VERBS[request.method]


def _has(resource: Resource, subresource: str) -> bool:
    return resource.status if subresource == "status" else subresource == "scale" and resource.scale is not None
