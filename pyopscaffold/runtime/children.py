"""An object's children: apply them, find them, prune them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from pyopscaffold import codec
from pyopscaffold.api import GroupVersionKind, Object
from pyopscaffold.api.declarations import gvk_of
from pyopscaffold.errors import ClientError, Conflict, FieldConflict, Invalid, NotFound, PyopscaffoldError
from pyopscaffold.kube import install_order, selector
from pyopscaffold.kube.gvk import split_api_version
from pyopscaffold.runtime.budget import Budgets
from pyopscaffold.runtime.clock import SystemClock
from pyopscaffold.runtime.objects import parse

if TYPE_CHECKING:
    from pyopscaffold.api.declarations import Kind
    from pyopscaffold.runtime.cache import Informer, Stored
    from pyopscaffold.runtime.client.protocols import Client, Propagation
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.objects import Meta
    from pyopscaffold.runtime.sight import Sight

ChildKey: TypeAlias = tuple[GroupVersionKind, str, str]

CONTESTED = "Contested"
"""Reason of the Conflict that tells of another writer who does not let go of a child's fields."""
PUT_BACKS = 10
PUT_BACK_AGAIN = 60.0
"""So often a child is put back at once, and once more for so many seconds: two who insist would write for ever."""
_REMOVALS = 5  # attempts, each on what the server has told after the one before
_ALL = selector.parse("")


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


class _Applied(msgspec.Struct, frozen=True, gc=False):
    """What an apply asked for and left: digests, so that thousands of children cost little."""

    wanted: bytes
    left: bytes
    uid: str
    version: str


@dataclass
class _Flight:
    """An apply under way, and the newest version of the child that was seen meanwhile."""

    owner: Owner
    seen: int = 0


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
        again: Callable[[Owner], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._informers = informers
        self._field_manager = field_manager
        self._owns = {gvk: gvk for gvk in map(gvk_of, owns)}
        self._named = {(gvk.api_version, gvk.kind): gvk for gvk in self._owns}
        self._again = again
        self._applied: dict[str, dict[ChildKey, _Applied]] = {}
        self._flights: dict[ChildKey, _Flight] = {}
        self._put_backs: Budgets[ChildKey] = Budgets(
            burst=PUT_BACKS, refill=PUT_BACK_AGAIN, clock=clock or SystemClock()
        )

    @property
    def remembered(self) -> int:
        """Of how many children it is known what was applied."""
        return sum(map(len, self._applied.values()))

    async def apply(
        self, owner: Owner, child: Object | Mapping[str, Any], *, sight: Sight | None = None, adopt: bool = True
    ) -> Any:
        """See Context.apply; ``sight``: what the reconcile has looked at; without it, anything.

        What a blind apply writes need not reconcile the owner again. The only other thing that the reconcile could
        know of the child, by then or when called again, is what this returns: the child at the answer's version, with
        all that others did to it up to there. So news of the child are held back until the answer is there, and tell
        the owner only if they are newer, if there is no answer, or if the reconcile has looked around meanwhile.
        """
        return await self._bring(owner, child, *self._complete(owner, child), sight=sight, adopt=adopt)

    async def apply_all(
        self,
        owner: Owner,
        children: Iterable[Object | Mapping[str, Any]],
        *,
        sight: Sight | None = None,
        adopt: bool = True,
    ) -> list[Any]:
        """See Context.apply_all."""
        whole = [(child, *self._complete(owner, child)) for child in children]
        for key, times in Counter(_key(kind, desired) for _, kind, desired in whole).items():
            if times > 1:
                raise PyopscaffoldError(f"{key[0].group_kind} {key[2]} is among the children {times} times")
        answers: list[Any] = [None] * len(whole)
        for wave in sorted({install_order.wave(kind.kind) for _, kind, _ in whole}):
            these = [index for index, (_, kind, _) in enumerate(whole) if install_order.wave(kind.kind) == wave]
            bringing = (self._bring(owner, *whole[index], sight=sight, adopt=adopt) for index in these)
            found = await asyncio.gather(*bringing, return_exceptions=True)
            if errors := [answer for answer in found if isinstance(answer, Exception)]:
                raise ExceptionGroup(f"{len(errors)} of {len(whole)} children not applied", errors)
            for index, answer in zip(these, found, strict=True):
                answers[index] = answer
        return answers

    async def _bring(
        self,
        owner: Owner,
        child: Object | Mapping[str, Any],
        kind: GroupVersionKind,
        desired: dict[str, Any],
        *,
        sight: Sight | None,
        adopt: bool,
    ) -> Any:
        key = _key(kind, desired)
        wanted = _digest(desired)
        informer = self._informers.get(kind)
        there = informer.get(*key[1:]) if informer is not None else None
        if there is not None and self._stands(owner, key, wanted, there, desired):
            return _decode(_as(child, kind), there.raw)
        if there is None and not adopt:
            there = await self._live(key)
        if there is not None:
            _refuse(owner, kind, there, adopt=adopt)
        try:
            if there is not None and self._contested(owner, key, wanted, there):
                answer = await self._yield(key, desired)
            elif sight is None or sight.looked:
                answer = await self._send(desired)
            else:
                answer = await self._fly(owner, key, desired, sight)
        except Invalid as error:
            await self._name_controller(owner, key, error)
            raise
        if informer is not None:
            metadata = answer["metadata"]
            applied = _Applied(wanted, _digest(restrict(answer, desired)), metadata["uid"], metadata["resourceVersion"])
            self._applied.setdefault(owner.uid, {})[key] = applied
        return codec.decode(type(child), answer) if isinstance(child, Object) else answer

    def expects(self, kind: GroupVersionKind, new: Stored | None, namespace: str, owner: str) -> bool:
        """Whether a change of a child is to wait for the answer to an apply that this owner's reconcile has sent."""
        if new is None or not new.version:
            return False
        flight = self._flights.get((kind, new.meta.namespace, new.meta.name))
        if flight is None or (flight.owner.namespace, flight.owner.name) != (namespace, owner):
            return False
        flight.seen = max(flight.seen, new.version)
        return True

    async def delete(self, kind: Kind, name: str, *, namespace: str) -> None:
        """See Context.delete."""
        gvk = self._owns.get(gvk_of(kind), gvk_of(kind))
        with suppress(NotFound):
            await self._client.delete(gvk, name, namespace=namespace if gvk.namespaced else "")

    def owned(self, owner: Owner, kind: Kind) -> list[Any]:
        """See Context.owned."""
        return [
            _decode(kind, stored.raw) for stored in _controlled(owner, self._informer(gvk_of(kind)).by_owner(owner.uid))
        ]

    async def prune(self, owner: Owner, kept: Iterable[Object | Mapping[str, Any]], *, labels: str = "") -> None:
        """See Context.prune."""
        keep = {_key(*self._complete(owner, child)) for child in kept}
        selected = selector.parse(labels)
        for kind in self._last_first():
            for meta in [stored.meta for stored in await self._sure(owner, kind)]:
                if (kind, meta.namespace, meta.name) not in keep:
                    await self._remove(owner, kind, meta, selected=selected)

    async def delete_owned(self, owner: Owner, kinds: Iterable[Kind], *, propagation: Propagation) -> bool:
        """See Context.delete_owned; whether all are gone."""
        for kind in map(gvk_of, kinds) if kinds else self._last_first():
            for meta in [stored.meta for stored in await self._sure(owner, kind)]:
                await self._remove(owner, kind, meta, propagation=propagation)
            if await self._sure(owner, kind):
                return False
        return True

    def forget(self, owner_uid: str) -> None:
        """Drop what is remembered of the children of an owner that is gone."""
        self._applied.pop(owner_uid, None)

    def forget_child(self, kind: GroupVersionKind, gone: Stored) -> None:
        """Drop what is remembered of a child that is gone: names with a hash of the content never come again."""
        controller = gone.meta.controller
        known = self._applied.get(controller.uid) if controller is not None else None
        if known is not None:
            known.pop((kind, gone.meta.namespace, gone.meta.name), None)
            if not known and controller is not None:
                del self._applied[controller.uid]

    async def _send(self, desired: dict[str, Any]) -> dict[str, Any]:
        return await self._client.apply(desired, field_manager=self._field_manager)

    def _contested(self, owner: Owner, key: ChildKey, wanted: bytes, there: Stored) -> bool:
        """Whether to write the same once more is to fight with somebody who has undone it too often."""
        last = self._applied.get(owner.uid, {}).get(key)
        put_back = last is not None and (last.wanted, last.uid) == (wanted, there.meta.uid)
        return put_back and not self._put_backs.take(key)

    async def _yield(self, key: ChildKey, desired: dict[str, Any]) -> dict[str, Any]:
        """Apply without force: so the server tells who is in the way; if nobody is any more, all is well."""
        try:
            return await self._client.apply(desired, field_manager=self._field_manager, force=False)
        except FieldConflict as error:
            others = "; ".join(f"{name} sets {', '.join(fields)}" for name, fields in sorted(error.managers.items()))
            message = f"{key[0].group_kind} {key[2]} is changed again and again: {others}"
            raise Conflict(message, code=409, reason=CONTESTED, causes=error.causes) from error

    async def _fly(self, owner: Owner, key: ChildKey, desired: dict[str, Any], sight: Sight) -> dict[str, Any]:
        """Send an apply, and hold back the news of the child meanwhile; see ``apply``."""
        if key in self._flights:
            return await self._send(desired)  # what this one leaves is newer than the other's answer, or part of it
        flight = self._flights[key] = _Flight(owner)
        told = 0
        try:
            answer = await self._send(desired)
            version = answer["metadata"]["resourceVersion"]
            told = int(version) if version.isdecimal() else 0
        finally:
            del self._flights[key]
            if (flight.seen > told or (flight.seen and sight.looked)) and self._again is not None:
                self._again(owner)
        return answer

    def _informer(self, kind: GroupVersionKind) -> Informer:
        if kind not in self._informers:
            raise PyopscaffoldError(f"{kind.group_kind} is not among the kinds that @controller(owns=…) names")
        return self._informers[kind]

    def _last_first(self) -> list[GroupVersionKind]:
        return sorted(self._owns, key=lambda kind: install_order.wave(kind.kind), reverse=True)

    async def _sure(self, owner: Owner, kind: GroupVersionKind) -> list[Stored]:
        """Return the children of a kind, from the server where the cache may have missed some: deletion is for good."""
        informer = self._informer(kind)
        if informer.synced and informer.failure is None:
            return _controlled(owner, informer.by_owner(owner.uid))
        gvk = self._owns.get(kind, kind)
        listed = await self._client.list(gvk, namespace=owner.namespace if gvk.namespaced else "")
        return _controlled(owner, [parse(gvk, msgspec.json.encode(item)) for item in listed])

    async def _remove(
        self,
        owner: Owner,
        kind: GroupVersionKind,
        meta: Meta,
        *,
        selected: selector.LabelSelector = _ALL,
        propagation: Propagation = "Background",
    ) -> None:
        """Delete a child as it is known; if it has changed meanwhile, only what still is our owner's, and selected."""
        gvk, name, namespace, uid = self._owns.get(kind, kind), meta.name, meta.namespace, meta.uid
        for attempt in range(_REMOVALS):
            if meta.deleting or not selected.matches(meta.labels):
                return
            known = meta.resource_version
            try:
                await self._client.delete(
                    gvk, name, namespace=namespace, uid=uid, resource_version=known, propagation=propagation
                )
            except NotFound:
                return
            except Conflict:
                there = await self._live((gvk, namespace, name))
                if there is None or there.meta.uid != uid or not _controlled(owner, [there]):
                    return
                if attempt + 1 == _REMOVALS:
                    raise
                meta = there.meta
            else:
                return

    async def _live(self, key: ChildKey) -> Stored | None:
        """Read a child past the cache, by a list of one: the role needs no further verb for it."""
        kind, namespace, name = key
        found = await self._client.list(kind, namespace=namespace, fields=f"metadata.name={name}")
        return parse(kind, msgspec.json.encode(found[0])) if found else None

    async def _name_controller(self, owner: Owner, key: ChildKey, error: Invalid) -> None:
        """Say whose the child is, where the server refuses a second controller of one that the cache does not know."""
        if not any(cause.field.startswith("metadata.ownerReferences") for cause in error.causes):
            return
        try:
            there = await self._live(key)
        except ClientError:
            return
        if there is not None:
            _refuse(owner, key[0], there, adopt=True)

    def _complete(self, owner: Owner, child: Object | Mapping[str, Any]) -> tuple[GroupVersionKind, dict[str, Any]]:
        """Return the child's kind, and the child with the owner's namespace and owner reference."""
        body = codec.to_mapping(child) if isinstance(child, Object) else dict(child)
        try:
            named = (body["apiVersion"], body["kind"])
            metadata = dict(body["metadata"])
            name = metadata["name"]
        except KeyError as missing:
            raise PyopscaffoldError(f"a child needs apiVersion, kind and metadata.name; {missing} is missing") from None
        kind = self._named.get(named) or GroupVersionKind(*split_api_version(named[0]), named[1])
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
    if isinstance(actual, dict) and isinstance(shape, Mapping):
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


def _controlled(owner: Owner, found: Iterable[Stored]) -> list[Stored]:
    mine = [stored for stored in found if stored.meta.controller and stored.meta.controller.uid == owner.uid]
    return sorted(mine, key=lambda stored: stored.meta.name)


def _refuse(owner: Owner, kind: GroupVersionKind, there: Stored, *, adopt: bool) -> None:
    """Leave alone what another object controls; it may be an earlier one of our owner's name, soon to be collected."""
    other, what = there.meta.controller, f"{kind.group_kind} {there.meta.name}"
    if other is None and not adopt:
        raise Conflict(f"{what} was there before, and is not to be adopted", code=409, reason="NotAdopted")
    if other is not None and other.uid != owner.uid:
        message = f"{what} is controlled by {other.kind} {other.name} (uid {other.uid})"
        raise Conflict(message, code=409, reason="AlreadyOwned")
