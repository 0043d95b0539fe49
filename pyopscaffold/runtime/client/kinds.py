"""Where a kind lives on the server: paths for known kinds, discovery for the kinds of plain mappings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold.errors import ClientError, NotFound
from pyopscaffold.kube import builtin
from pyopscaffold.kube.gvk import GroupVersionKind, split_api_version

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping


class _Resource(msgspec.Struct):
    name: str
    kind: str
    namespaced: bool


class _Resources(msgspec.Struct):
    resources: list[_Resource] = []


def version_path(kind: GroupVersionKind) -> str:
    """Return ``/apis/apps/v1``, or ``/api/v1`` for the core group."""
    return f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"


def collection_path(kind: GroupVersionKind, namespace: str) -> str:
    """Return ``/apis/apps/v1/namespaces/shop/statefulsets``; without namespace: of all namespaces."""
    scope = f"/namespaces/{namespace}" if namespace and kind.namespaced else ""
    return f"{version_path(kind)}{scope}/{kind.plural}"


def object_path(kind: GroupVersionKind, namespace: str, name: str, subresource: str = "") -> str:
    """Return the path of one object, or of its subresource; raises ClientError where the address is incomplete."""
    if kind.namespaced and not namespace:
        raise ClientError(f"{kind.group_kind} {name!r} lives in a namespace, and none was given")
    if not name:
        raise ClientError(f"no name was given for a {kind.group_kind}")
    path = f"{collection_path(kind, namespace)}/{name}"
    return f"{path}/{subresource}" if subresource else path


class Kinds:
    """Finds the addressing of an object that carries no more than apiVersion and kind."""

    def __init__(self, fetch: Callable[[str], Awaitable[bytes]]) -> None:
        self._fetch = fetch
        self._known = {kind: kind for kind in vars(builtin).values() if isinstance(kind, GroupVersionKind)}

    async def of(self, obj: Mapping[str, Any]) -> GroupVersionKind:
        """Return the kind of a plain object, asking the server's discovery once for each unknown version."""
        api_version, name = obj.get("apiVersion"), obj.get("kind")
        if not api_version or not name:
            raise ClientError("an object needs apiVersion and kind to be written")
        wanted = GroupVersionKind(*split_api_version(api_version), name)
        if wanted not in self._known:
            await self._discover(wanted)
        return self._known[wanted]

    async def _discover(self, wanted: GroupVersionKind) -> None:
        try:
            body = await self._fetch(version_path(wanted))
        except NotFound:
            body = b"{}"
        for item in msgspec.json.decode(body, type=_Resources).resources:
            if "/" not in item.name:  # a slash marks subresources
                kind = GroupVersionKind(
                    wanted.group, wanted.version, item.kind, plural=item.name, namespaced=item.namespaced
                )
                self._known.setdefault(kind, kind)
        if wanted not in self._known:
            raise NotFound(
                f"the server knows no kind {wanted.kind} in {wanted.api_version}; is its CRD installed?",
                code=404,
                reason="NotFound",
            )
