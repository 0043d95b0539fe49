"""Requests in, answers out: the API's addresses and verbs over the store.

Nothing here waits: a request is done when ``handle`` returns.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pyopscaffold.runtime.client.transport import Response
from pyopscaffold.testing.fake import discovery, scale, selection
from pyopscaffold.testing.fake.apply import Manager
from pyopscaffold.testing.fake.failure import (
    Cause,
    Failure,
    NotSimulatedError,
    bad_request,
    conflict,
    expired,
    invalid,
    not_found,
    not_served,
)
from pyopscaffold.testing.fake.garbage import CRD_FINALIZER, CRDS, Collector
from pyopscaffold.testing.fake.kinds import Kinds, Resource, resources_of
from pyopscaffold.testing.fake.patch import json_patch, merge_patch
from pyopscaffold.testing.fake.store import Store, path_of
from pyopscaffold.testing.fake.watching import Watch
from pyopscaffold.testing.fake.writes import Options, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyopscaffold.runtime.client.transport import Request

Json = dict[str, Any]

_APPLY: Final = "application/apply-patch+yaml"
_PATCHES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "application/merge-patch+json": merge_patch,
    "application/json-patch+json": json_patch,
}
_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_POLICIES: Final = frozenset(("Foreground", "Background", "Orphan"))
_MANAGER: Final = "pyopscaffold"
"""Who writes without saying so; a real server takes the user agent."""


@dataclass(frozen=True)
class Call:
    """A request as it is understood; ``verb`` is that of RBAC."""

    verb: str
    resource: Resource
    namespace: str
    name: str
    subresource: str
    query: Mapping[str, str]
    body: bytes
    content_type: str

    @property
    def kind(self) -> str:
        """The kind's name."""
        return self.resource.kind.kind


class Server:
    """Serves one store; ``ignore_rules`` takes CRDs with CEL rules, which are not evaluated."""

    def __init__(self, now: Callable[[], str], *, ignore_rules: bool) -> None:
        self.store = Store()
        self.kinds = Kinds()
        self._now = now
        self._ignore_rules = ignore_rules
        self._writer = Writer(self.store, now)
        self._collector = Collector(self.store, self.kinds, self._writer)

    def read(self, request: Request) -> Call | Response:
        """Understand a request, or answer one for discovery; raises Failure and NotSimulatedError."""
        parts = request.path.strip("/").split("/")
        if found := discovery.answer(self.kinds, parts):
            return found
        prefix = 2 if parts[0] == "api" else 3
        if parts[0] not in ("api", "apis") or len(parts) <= prefix:
            raise NotSimulatedError(f"{request.method} {request.path}")
        group, version = ("", parts[1]) if parts[0] == "api" else (parts[1], parts[2])
        rest, namespace = parts[prefix:], ""
        if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):  # noqa: PLR2004
            namespace, rest = rest[1], rest[2:]
        resource = self.kinds.find(group, version, rest[0])
        if resource is None:
            raise not_served()
        name, subresource = [*rest[1:], "", ""][:2]
        if subresource and not _has(resource, subresource):
            if not resource.custom and subresource != "status":
                raise NotSimulatedError(f"the subresource {subresource} of {resource.kind.plural}")
            raise not_found(resource.kind, name) if resource.custom else not_served()
        query = request.query
        verb = _VERBS.get(request.method, "")
        if request.method == "GET":
            verb = "get" if name else "watch" if query.get("watch") in ("true", "1") else "list"
        elif request.method == "DELETE":
            verb = "delete" if name else "deletecollection"
        return Call(verb, resource, namespace, name, subresource, query, request.body, request.content_type)

    def handle(self, call: Call) -> Response:
        """Do what is asked; raises Failure and NotSimulatedError."""
        warnings: list[str] = []
        code, body = 200, {}
        match call.verb:
            case "get":
                body = self._get(call)
            case "list":
                body = self._list(call)
            case "create":
                code, body = 201, self._create(call, warnings)
            case "update" | "patch":
                code, body = self._change(call, warnings)
            case "delete":
                body = self._delete(call)
            case _:
                body = self._delete_collection(call)
        if call.verb not in ("get", "list"):
            self._collector.collect()
        headers = {"warning": ", ".join(f"299 - {json.dumps(text)}" for text in warnings)} if warnings else {}
        return Response(code, headers, msgspec.json.encode(body))

    def watch(self, call: Call) -> Watch:
        """Open a watch."""
        query = call.query
        initial = query.get("sendInitialEvents") == "true"
        if initial and query.get("resourceVersionMatch") != "NotOlderThan":
            cause = Cause("resourceVersionMatch", "FieldValueForbidden", "sendInitialEvents requires NotOlderThan")
            raise Failure(422, "Invalid", "ListOptions.meta.k8s.io is invalid", {"causes": [vars(cause)]})
        chosen = selection.of(call.resource, call.namespace, query)
        watch = Watch(
            self.store,
            call.resource,
            chosen,
            lambda obj: _render(call.resource, obj),
            bookmarks=query.get("allowWatchBookmarks") == "true",
        )
        watch.start(query.get("resourceVersion", ""), initial=initial)
        return watch

    def _found(self, call: Call) -> Json:
        found = self.store.get(call.resource.table, (call.namespace, call.name))
        if found is None:
            raise not_found(call.resource.kind, call.name)
        return _render(call.resource, found)

    def _get(self, call: Call) -> Json:
        found = self._found(call)
        return scale.of(call.resource, found) if call.subresource == "scale" else found

    def _list(self, call: Call) -> Json:
        resource, query = call.resource, call.query
        if query.get("resourceVersionMatch") == "Exact":
            raise NotSimulatedError("lists of an exact version")
        chosen = selection.of(resource, call.namespace, query)
        version, after = self._continued(query.get("continue", ""))
        objects = [
            (key, obj) for key, obj in self.store.list(resource.table, call.namespace, at=version) if chosen.holds(obj)
        ]
        left = [(key, obj) for key, obj in objects if path_of(key) > after]
        limit = int(query.get("limit", "0"))
        metadata: Json = {"resourceVersion": str(version)}
        if limit and len(left) > limit:
            token = json.dumps([version, path_of(left[limit - 1][0])])
            metadata["continue"] = base64.urlsafe_b64encode(token.encode()).decode()
            if not chosen.is_partial:
                metadata["remainingItemCount"] = len(left) - limit
            left = left[:limit]
        kind = resource.kind
        items = [_item(resource, obj) for _, obj in left]
        return {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata, "items": items}

    def _continued(self, token: str) -> tuple[int, str]:
        if not token:
            return self.store.version, ""
        try:
            version, after = json.loads(base64.urlsafe_b64decode(token))
        except ValueError as error:
            raise bad_request(f"invalid continue token: {error}") from error
        if version < self.store.forgotten:
            raise expired("The provided continue parameter is too old to display a consistent list result.")
        return version, after

    def _create(self, call: Call, warnings: list[str]) -> Json:
        if call.name:
            raise NotSimulatedError(f"POST to {call.resource.kind.plural}/{call.name}")
        body = _body(call)
        made = self._writer.create(call.resource, call.namespace, body, _options(call, warnings))
        return self._after(call, made)

    def _change(self, call: Call, warnings: list[str]) -> tuple[int, Json]:
        options = _options(call, warnings)
        if call.content_type == _APPLY and call.verb == "patch":
            if not call.query.get("fieldManager"):
                cause = Cause("fieldManager", "FieldValueRequired", "Required value: is required for apply patch")
                raise Failure(422, "Invalid", "PatchOptions.meta.k8s.io is invalid", {"causes": [vars(cause)]})
            if call.subresource == "scale":
                raise NotSimulatedError("server-side apply of scale")
            key = (call.namespace, call.name)
            force = call.query.get("force") == "true"
            made, new = self._writer.apply(call.resource, key, _body(call), options, force=force)
            return 201 if new else 200, self._after(call, made)
        old = self._found(call)
        new_object = self._put(call) if call.verb == "update" else self._patched(call, old)
        if call.subresource == "scale":
            changed = self._writer.update(call.resource, old, scale.applied(call.resource, old, new_object), options)
            return 200, scale.of(call.resource, changed)
        return 200, self._after(call, self._writer.update(call.resource, old, new_object, options))

    def _put(self, call: Call) -> Json:
        body, kind = _body(call), call.resource.kind
        metadata, old = body["metadata"], self._found(call)["metadata"]
        if not metadata.get("name"):
            raise bad_request("name must be provided")
        if metadata.get("uid", old["uid"]) != old["uid"]:
            why = f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta: {old['uid']}"
            raise conflict(kind, call.name, why)
        if call.resource.version_needed and not metadata.get("resourceVersion") and call.subresource != "scale":
            why = "Invalid value: 0: must be specified for an update"
            raise invalid(kind, call.name, [Cause("metadata.resourceVersion", "FieldValueInvalid", why)])
        # times that the server has set are not the client's to change by a PUT
        for name in ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
            metadata.pop(name, None)
        return body

    def _patched(self, call: Call, old: Json) -> Json:
        if call.content_type not in _PATCHES:
            if call.resource.custom:
                accepted = ", ".join((*_PATCHES, _APPLY))
                message = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
                raise Failure(415, "UnsupportedMediaType", message)
            raise NotSimulatedError("strategic merge patches")
        target = scale.of(call.resource, old) if call.subresource == "scale" else old
        patched = _PATCHES[call.content_type](target, msgspec.json.decode(call.body))
        _check_names(call, patched)
        return dict(patched)

    def _delete(self, call: Call) -> Json:
        old = self._found(call)
        options = msgspec.json.decode(call.body) if call.body else {}
        policy = options.get("propagationPolicy") or call.query.get("propagationPolicy") or "Background"
        if policy not in _POLICIES:
            cause = Cause("propagationPolicy", "FieldValueNotSupported", f'Unsupported value: "{policy}"')
            raise Failure(422, "Invalid", "DeleteOptions.meta.k8s.io is invalid", {"causes": [vars(cause)]})
        metadata, kind = old["metadata"], call.resource.kind
        for name, field in (("UID", "uid"), ("ResourceVersion", "resourceVersion")):
            wanted = options.get("preconditions", {}).get(field)
            if wanted and wanted != metadata[field]:
                why = f"the {name} in the precondition ({wanted}) does not match the {name} in record"
                raise conflict(kind, call.name, f"{why} ({metadata[field]})")
        dry_run = bool(options.get("dryRun")) or call.query.get("dryRun") == "All"
        left = self._writer.delete(call.resource, old, policy, dry_run=dry_run)
        if left is not None:
            return left
        details = {"name": call.name, "group": kind.group, "kind": kind.plural, "uid": metadata["uid"]}
        named = {key: value for key, value in details.items() if value}
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": named}

    def _delete_collection(self, call: Call) -> Json:
        chosen = selection.of(call.resource, call.namespace, call.query)
        options = msgspec.json.decode(call.body) if call.body else {}
        dry_run = bool(options.get("dryRun")) or call.query.get("dryRun") == "All"
        policy = options.get("propagationPolicy") or call.query.get("propagationPolicy") or "Background"
        answer = self._list(call)
        for _, obj in self.store.list(call.resource.table, call.namespace):
            if chosen.holds(obj):
                self._writer.delete(call.resource, obj, policy, dry_run=dry_run)
        return answer

    def _after(self, call: Call, obj: Json) -> Json:
        """Serve what a CRD declares, once it is stored."""
        if call.resource.table == CRDS and not call.query.get("dryRun") and "deletionTimestamp" not in obj["metadata"]:
            self._establish(obj)
        return _render(call.resource, obj)

    def _establish(self, crd: Json) -> None:
        served = list(resources_of(crd, ignore_rules=self._ignore_rules))
        self.kinds.serve(crd, served)
        conditions = [
            {"type": name, "status": "True", "reason": reason, "message": message, "lastTransitionTime": self._now()}
            for name, reason, message in (
                ("NamesAccepted", "NoConflicts", "no conflicts found"),
                ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
            )
        ]
        stored = [version["name"] for version in crd["spec"]["versions"] if version.get("storage")]
        status = {"conditions": conditions, "acceptedNames": crd["spec"]["names"], "storedVersions": stored}
        if "status" not in crd:
            metadata = {**crd["metadata"], "finalizers": [CRD_FINALIZER]}
            self.store.put(CRDS, ("", metadata["name"]), {**crd, "metadata": metadata, "status": status})


def _has(resource: Resource, subresource: str) -> bool:
    return resource.status if subresource == "status" else subresource == "scale" and resource.scale is not None


def _render(resource: Resource, obj: Json) -> Json:
    """Give an object the version that was asked for; versions differ in nothing else."""
    wanted = resource.kind.api_version
    return obj if obj["apiVersion"] == wanted else {**obj, "apiVersion": wanted}


def _item(resource: Resource, obj: Json) -> Json:
    """Return an object as an item of a list: those of built-in kinds don't say their kind."""
    if resource.custom:
        return _render(resource, obj)
    return {name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}


def _body(call: Call) -> Json:
    """Read an object, and hold it against the address that it was sent to."""
    try:
        body = msgspec.json.decode(call.body, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from error
    kind = call.resource.kind
    if call.subresource == "scale":
        return body
    if call.resource.custom and not body.get("kind"):
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind.kind}): Object 'Kind' is missing"
        )
    body.setdefault("apiVersion", kind.api_version)
    body.setdefault("kind", kind.kind)
    if body["apiVersion"] != kind.api_version:
        raise bad_request(
            f"the API version in the data ({body['apiVersion']}) does not match the expected API version "
            f"({kind.api_version})"
        )
    if body["kind"] != kind.kind:
        raise bad_request(f"{body['kind']} in version {kind.version} cannot be handled as a {kind.kind}")
    body["metadata"] = body.get("metadata") or {}
    _check_names(call, body)
    return body


def _check_names(call: Call, body: Any) -> None:
    metadata = body.get("metadata") or {}
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if call.name and name and name != call.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    if namespace and call.resource.kind.namespaced and namespace != call.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


def _options(call: Call, warnings: list[str]) -> Options:
    operation = "Apply" if call.content_type == _APPLY and call.verb == "patch" else "Update"
    name = call.query.get("fieldManager") or _MANAGER
    manager = Manager(name, operation, call.subresource, call.resource.kind.api_version)
    validation = call.query.get("fieldValidation", "Warn")
    return Options(
        manager,
        dry_run=call.query.get("dryRun") == "All",
        strict=validation == "Strict",
        subresource=call.subresource,
        warnings=warnings if validation == "Warn" else None,
    )
