"""An object's children: apply them, find them, prune them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from pyopscaffold import codec
from pyopscaffold.api import GroupVersionKind, Object
from pyopscaffold.api.declarations import gvk_of
from pyopscaffold.errors import Conflict, NotFound, PyopscaffoldError
from pyopscaffold.kube.gvk import split_api_version

if TYPE_CHECKING:
    from pyopscaffold.api.declarations import Kind
    from pyopscaffold.runtime.cache import Informer, Stored
    from pyopscaffold.runtime.client.protocols import Client

ChildKey: TypeAlias = tuple[GroupVersionKind, str, str]


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Who controls a child."""

    kind: GroupVersionKind
    name: str
    namespace: str
    uid: str

    def reference(self) -> dict[str, Any]:
        """Return the controller owner reference, in JSON form."""
        return {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }


@dataclass(frozen=True)
class _Applied:
    """What an apply asked for and left: digests, so that thousands of children cost little."""

    wanted: bytes
    left: bytes
    uid: str
    version: str


class Children:
    """The children of all objects of one controller.

    It remembers of each child what was asked for and what the server made of it, *in the shape of what was asked
    for*: defaults and normal forms (``1000m`` → ``1``) are the server's, so only its own answer tells whether a
    later state still is the one we left. The memory is lost in a restart; then each child is applied once more,
    which changes nothing on the server.
    """

    def __init__(
        self,
        client: Client,
        informers: Mapping[GroupVersionKind, Informer],
        *,
        field_manager: str,
        owns: Iterable[Kind],
    ) -> None:
        self._client = client
        self._informers = informers
        self._field_manager = field_manager
        self._owns = {gvk: gvk for gvk in map(gvk_of, owns)}
        self._applied: dict[str, dict[ChildKey, _Applied]] = {}

    async def apply(self, owner: Owner, child: Object | Mapping[str, Any]) -> Any:
        """See Context.apply."""
        kind, desired = self._complete(owner, child)
        key = _key(kind, desired)
        wanted = _digest(desired)
        cached = self._informers[kind].get(*key[1:]) if kind in self._informers else None
        if cached is not None:
            if self._stands(owner, key, wanted, cached, desired):
                return _decode(_as(child, kind), cached.raw)
            _refuse_foreign(owner, kind, cached)
        answer = await self._client.apply(desired, field_manager=self._field_manager)
        metadata = answer["metadata"]
        applied = _Applied(wanted, _digest(restrict(answer, desired)), metadata["uid"], metadata["resourceVersion"])
        self._applied.setdefault(owner.uid, {})[key] = applied
        return codec.decode(type(child), answer) if isinstance(child, Object) else answer

    async def delete(self, kind: Kind, name: str, *, namespace: str, uid: str = "") -> None:
        """See Context.delete; ``uid`` makes sure that it is that very object."""
        gvk = self._owns.get(gvk_of(kind), gvk_of(kind))
        try:
            await self._client.delete(gvk, name, namespace=namespace if gvk.namespaced else "", uid=uid)
        except NotFound:
            return

    def owned(self, owner: Owner, kind: Kind) -> list[Any]:
        """See Context.owned."""
        return [_decode(kind, stored.raw) for stored in self._controlled(owner, gvk_of(kind))]

    async def prune(self, owner: Owner, kept: Iterable[Object | Mapping[str, Any]]) -> None:
        """See Context.prune."""
        keep = {_key(*self._complete(owner, child)) for child in kept}
        for kind in self._owns:
            for meta in [stored.meta for stored in self._controlled(owner, kind)]:
                if (kind, meta.namespace, meta.name) not in keep and not meta.deleting:
                    await self.delete(kind, meta.name, namespace=meta.namespace, uid=meta.uid)

    def forget(self, owner_uid: str) -> None:
        """Drop what is remembered of the children of an owner that is gone."""
        self._applied.pop(owner_uid, None)

    def _controlled(self, owner: Owner, kind: GroupVersionKind) -> list[Stored]:
        if kind not in self._informers:
            raise PyopscaffoldError(f"{kind.group_kind} is not among the kinds that @controller(owns=…) names")
        found = self._informers[kind].by_owner(owner.uid)
        mine = [stored for stored in found if stored.meta.controller and stored.meta.controller.uid == owner.uid]
        return sorted(mine, key=lambda stored: stored.meta.name)

    def _complete(self, owner: Owner, child: Object | Mapping[str, Any]) -> tuple[GroupVersionKind, dict[str, Any]]:
        """Return the child's kind, and the child with the owner's namespace and owner reference."""
        body = codec.to_mapping(child) if isinstance(child, Object) else dict(child)
        try:
            group, version = split_api_version(body["apiVersion"])
            named = GroupVersionKind(group, version, body["kind"])
            metadata = dict(body["metadata"])
            name = metadata["name"]
        except KeyError as missing:
            raise PyopscaffoldError(f"a child needs apiVersion, kind and metadata.name; {missing} is missing") from None
        kind = self._owns.get(named, named)
        if kind.namespaced and owner.kind.namespaced:
            metadata.setdefault("namespace", owner.namespace)
        if metadata.get("namespace", "") != owner.namespace and owner.namespace:
            raise PyopscaffoldError(
                f"{kind.group_kind} {name}: a child lives in its owner's namespace, {owner.namespace}"
            )
        others = [ref for ref in metadata.get("ownerReferences", ()) if ref["uid"] != owner.uid]
        metadata["ownerReferences"] = [*others, owner.reference()]
        body["metadata"] = metadata
        body.pop("status", None)
        return kind, body

    def _stands(self, owner: Owner, key: ChildKey, wanted: bytes, cached: Stored, desired: Mapping[str, Any]) -> bool:
        """Whether the cached child is what the last apply of the same content left."""
        known = self._applied.get(owner.uid, {})
        last = known.get(key)
        if last is None or last.wanted != wanted or last.uid != cached.meta.uid:
            return False
        if last.version == cached.meta.resource_version:
            return True
        if _digest(restrict(msgspec.json.decode(cached.raw), desired)) != last.left:
            return False
        known[key] = _Applied(wanted, last.left, last.uid, cached.meta.resource_version)
        return True


def restrict(actual: Any, shape: Any) -> Any:
    """Cut a JSON value down to the fields that ``shape`` has.

    Lists are kept whole, their first items cut down to those of the shape's list: whether a list is owned as a whole or
    by item is not known here, so any item more or less counts as a difference.
    """
    if isinstance(actual, Mapping) and isinstance(shape, Mapping):
        return {key: restrict(actual[key], inner) for key, inner in shape.items() if key in actual}
    if isinstance(actual, list) and isinstance(shape, list | tuple):
        return [restrict(item, shape[index]) if index < len(shape) else item for index, item in enumerate(actual)]
    return actual


def _key(kind: GroupVersionKind, body: Mapping[str, Any]) -> ChildKey:
    return kind, body["metadata"].get("namespace", ""), body["metadata"]["name"]


def _digest(value: Any) -> bytes:
    return blake2b(msgspec.json.encode(value, order="sorted"), digest_size=16).digest()


def _as(child: Object | Mapping[str, Any], kind: GroupVersionKind) -> Kind:
    return type(child) if isinstance(child, Object) else kind


def _decode(kind: Kind, raw: bytes) -> Any:
    return msgspec.json.decode(raw) if isinstance(kind, GroupVersionKind) else codec.decode(kind, raw)


def _refuse_foreign(owner: Owner, kind: GroupVersionKind, cached: Stored) -> None:
    """Leave alone what another object controls; it may be an earlier one of our owner's name, soon to be collected."""
    other = cached.meta.controller
    if other is not None and other.uid != owner.uid:
        message = f"{kind.group_kind} {cached.meta.name} is controlled by {other.kind} {other.name} (uid {other.uid})"
        raise Conflict(message, code=409, reason="AlreadyOwned")
