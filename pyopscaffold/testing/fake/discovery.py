"""What is served, as clients ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold.runtime.client.transport import Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyopscaffold.testing.fake.kinds import Kinds, Resource

Json = dict[str, Any]

_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


def answer(kinds: Kinds, parts: Sequence[str]) -> Response | None:
    """Answer a request for ``/api``, ``/apis`` or a version below them; None for any other."""
    match parts:
        case ["api"]:
            return _ok({"kind": "APIVersions", "versions": ["v1"]})
        case ["apis"]:
            return _ok({"kind": "APIGroupList", "apiVersion": "v1", "groups": list(_groups(kinds))})
        case ["api", version]:
            return _version(kinds, "", version)
        case ["apis", group, version]:
            return _version(kinds, group, version)
    return None


def _ok(body: Json) -> Response:
    return Response(200, {}, msgspec.json.encode(body))


def _groups(kinds: Kinds) -> Iterator[Json]:
    found = sorted({(resource.kind.group, resource.kind.version) for resource in kinds if resource.kind.group})
    for group in dict.fromkeys(group for group, _ in found):
        versions = [
            {"groupVersion": f"{group}/{version}", "version": version} for name, version in found if name == group
        ]
        yield {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _version(kinds: Kinds, group: str, version: str) -> Response:
    served = [found for found in kinds if (found.kind.group, found.kind.version) == (group, version)]
    if not served:
        return Response(404, {}, b"404 page not found\n")
    return _ok(
        {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": served[0].kind.api_version,
            "resources": [entry for resource in served for entry in _entries(resource)],
        }
    )


def _entries(resource: Resource) -> Iterator[Json]:
    kind = resource.kind
    common = {"namespaced": kind.namespaced, "kind": kind.kind}
    entry = {"name": kind.plural, "singularName": resource.singular, **common, "verbs": _VERBS}
    yield {**entry, "shortNames": list(resource.short_names)} if resource.short_names else entry
    changes = ["get", "patch", "update"]
    if resource.status:
        yield {"name": f"{kind.plural}/status", "singularName": "", **common, "verbs": changes}
    if resource.scale:
        scale = {**common, "group": "autoscaling", "version": "v1", "kind": "Scale"}
        yield {"name": f"{kind.plural}/scale", "singularName": "", **scale, "verbs": changes}
