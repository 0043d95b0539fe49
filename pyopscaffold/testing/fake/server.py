"""Requests in, answers out: the API's addresses and verbs over the store.

Nothing here waits: a request is done when ``handle`` returns.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pyopscaffold.runtime.client.transport import Response
from pyopscaffold.testing.fake import calls, discovery, scale, selection
from pyopscaffold.testing.fake.failure import (
    Cause,
    Failure,
    NotSimulatedError,
    bad_request,
    conflict,
    expired,
    invalid,
    not_found,
)
from pyopscaffold.testing.fake.garbage import CRD_FINALIZER, CRDS, Collector
from pyopscaffold.testing.fake.kinds import Kinds, Resource, resources_of
from pyopscaffold.testing.fake.patch import json_patch, merge_patch
from pyopscaffold.testing.fake.store import Store, path_of
from pyopscaffold.testing.fake.watching import Watch
from pyopscaffold.testing.fake.writes import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.runtime.client.transport import Request
    from pyopscaffold.testing.fake.calls import Call

Json = dict[str, Any]

_PATCHES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "application/merge-patch+json": merge_patch,
    "application/json-patch+json": json_patch,
}
_POLICIES: Final = frozenset(("Foreground", "Background", "Orphan"))


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
        return discovery.answer(self.kinds, parts) or calls.read(self.kinds, request, parts)

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
            case "deletecollection":
                body = self._delete_collection(call)
            case _:
                self.watch(call).end()
                raise NotSimulatedError("watches that are not read as they come")
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
            (key, obj)
            for key, obj in self.store.select(resource.table, call.namespace, at=version)
            if chosen.holds(obj)
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
        made = self._writer.create(call.resource, call.namespace, call.object(), call.options(warnings))
        return self._after(call, made)

    def _change(self, call: Call, warnings: list[str]) -> tuple[int, Json]:
        options = call.options(warnings)
        if call.is_apply:
            if not call.query.get("fieldManager"):
                cause = Cause("fieldManager", "FieldValueRequired", "Required value: is required for apply patch")
                raise Failure(422, "Invalid", "PatchOptions.meta.k8s.io is invalid", {"causes": [vars(cause)]})
            if call.subresource == "scale":
                raise NotSimulatedError("server-side apply of scale")
            key = (call.namespace, call.name)
            force = call.query.get("force") == "true"
            made, new = self._writer.apply(call.resource, key, call.object(), options, force=force)
            return 201 if new else 200, self._after(call, made)
        old = self._found(call)
        new_object = self._put(call) if call.verb == "update" else self._patched(call, old)
        if call.subresource == "scale":
            changed = self._writer.update(call.resource, old, scale.applied(call.resource, old, new_object), options)
            return 200, scale.of(call.resource, changed)
        return 200, self._after(call, self._writer.update(call.resource, old, new_object, options))

    def _put(self, call: Call) -> Json:
        body, kind = call.object(), call.resource.kind
        metadata, old = body["metadata"], self._found(call)["metadata"]
        if not metadata.get("name"):
            raise bad_request("name must be provided")
        if metadata.get("uid", old["uid"]) != old["uid"]:
            why = f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta: {old['uid']}"
            raise conflict(kind, call.name, why)
        if call.resource.version_needed and not metadata.get("resourceVersion") and call.subresource != "scale":
            why = "Invalid value: 0: must be specified for an update"
            raise invalid(kind, call.name, [Cause("metadata.resourceVersion", "FieldValueInvalid", why)])
        return body

    def _patched(self, call: Call, old: Json) -> Json:
        if call.content_type not in _PATCHES:
            if call.resource.custom:
                accepted = ", ".join((*_PATCHES, "application/apply-patch+yaml"))
                message = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
                raise Failure(415, "UnsupportedMediaType", message)
            raise NotSimulatedError("strategic merge patches")
        target = scale.of(call.resource, old) if call.subresource == "scale" else old
        patched = _PATCHES[call.content_type](target, msgspec.json.decode(call.body))
        call.check_names(patched)
        return dict(patched)

    def _delete(self, call: Call) -> Json:
        old, options = self._found(call), call.delete_options()
        policy = options["propagationPolicy"]
        if policy not in _POLICIES:
            cause = Cause("propagationPolicy", "FieldValueNotSupported", f'Unsupported value: "{policy}"')
            raise Failure(422, "Invalid", "DeleteOptions.meta.k8s.io is invalid", {"causes": [vars(cause)]})
        metadata, kind = old["metadata"], call.resource.kind
        for name, field in (("UID", "uid"), ("ResourceVersion", "resourceVersion")):
            wanted = options["preconditions"].get(field)
            if wanted and wanted != metadata[field]:
                why = f"the {name} in the precondition ({wanted}) does not match the {name} in record"
                raise conflict(kind, call.name, f"{why} ({metadata[field]})")
        left = self._writer.delete(call.resource, old, policy, dry_run=options["dryRun"])
        if left is not None:
            return left
        details = {"name": call.name, "group": kind.group, "kind": kind.plural, "uid": metadata["uid"]}
        named = {key: value for key, value in details.items() if value}
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": named}

    def _delete_collection(self, call: Call) -> Json:
        chosen, options = selection.of(call.resource, call.namespace, call.query), call.delete_options()
        answer = self._list(call)
        for _, obj in self.store.select(call.resource.table, call.namespace):
            if chosen.holds(obj):
                self._writer.delete(call.resource, obj, options["propagationPolicy"], dry_run=options["dryRun"])
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


def _render(resource: Resource, obj: Json) -> Json:
    """Give an object the version that was asked for; versions differ in nothing else."""
    wanted = resource.kind.api_version
    return obj if obj["apiVersion"] == wanted else {**obj, "apiVersion": wanted}


def _item(resource: Resource, obj: Json) -> Json:
    """Return an object as an item of a list: those of built-in kinds don't say their kind."""
    if resource.custom:
        return _render(resource, obj)
    return {name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}
