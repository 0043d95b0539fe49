"""Where a kind lives on the server: paths for known kinds, discovery for all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold.errors import ClientError, NotFound
from pyopscaffold.kube import builtin
from pyopscaffold.kube.gvk import GroupVersionKind, split_api_version
from pyopscaffold.runtime.client import wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping


@dataclass(frozen=True)
class ApiGroup:
    """An API group that the server serves; '' is the core group."""

    name: str
    versions: tuple[str, ...]
    preferred_version: str


@dataclass(frozen=True)
class ApiResource:
    """A kind that the server serves, and what can be done with it."""

    kind: GroupVersionKind
    verbs: tuple[str, ...] = ()
    short_names: tuple[str, ...] = ()


class _Resource(msgspec.Struct, rename="camel"):
    name: str
    kind: str
    namespaced: bool
    verbs: list[str] = []
    short_names: list[str] = []


class _Resources(msgspec.Struct):
    resources: list[_Resource] | None  # Go's nil


class _Version(msgspec.Struct):
    version: str


class _Group(msgspec.Struct, rename="camel"):
    name: str
    versions: list[_Version]
    preferred_version: _Version


class _Groups(msgspec.Struct):
    groups: list[_Group] | None


class _CoreVersions(msgspec.Struct):
    versions: list[str] | None


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
    """What the server serves, and the addressing of an object that carries no more than apiVersion and kind."""

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
            for found in await self.resources(api_version):
                self._known.setdefault(found.kind, found.kind)
        if wanted not in self._known:
            raise _unknown(f"{wanted.kind} in {wanted.api_version}")
        return self._known[wanted]

    async def groups(self) -> list[ApiGroup]:
        """Return all groups that the server serves, the core group first."""
        core = wire.read_as(_CoreVersions, await self._fetch("/api")).versions or []
        found = wire.read_as(_Groups, await self._fetch("/apis")).groups or []
        named = [
            ApiGroup(group.name, tuple(v.version for v in group.versions), group.preferred_version.version)
            for group in found
        ]
        return [ApiGroup("", tuple(core), core[0]), *named] if core else named

    async def resources(self, api_version: str) -> list[ApiResource]:
        """Return all kinds of a version such as ``apps/v1``; none where it is not served."""
        group, version = split_api_version(api_version)
        try:
            body = await self._fetch(version_path(GroupVersionKind(group, version, "Any")))
        except NotFound:
            return []
        return [
            ApiResource(
                GroupVersionKind(group, version, item.kind, plural=item.name, namespaced=item.namespaced),
                tuple(item.verbs),
                tuple(item.short_names),
            )
            for item in wire.read_as(_Resources, body).resources or ()
            if "/" not in item.name  # a slash marks subresources
        ]

    async def preferred(self, group: str, kind: str) -> GroupVersionKind:
        """Find a kind in the version that the server prefers, else in the next that has it; raises NotFound."""
        for served in await self.groups():
            if served.name == group:
                for version in dict.fromkeys((served.preferred_version, *served.versions)):
                    for found in await self.resources(f"{group}/{version}" if group else version):
                        if found.kind.kind == kind:
                            return found.kind
        raise _unknown(f"{kind} in the group {group!r}")


def _unknown(what: str) -> NotFound:
    return NotFound(f"the server knows no kind {what}; is its CRD installed?", code=404, reason="NotFound")
