"""The objects of one informer, and the rules by which news and old news are told apart.

News comes by three ways that overtake each other: the watch, lists, and the answers to our own writes. resourceVersions
of one type order in time, so the newest version wins whichever way it came; and since a uid never returns once deleted,
nothing that is known to be gone comes back by a late answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from pyopscaffold.runtime.objects import Delta, Stored

Key: TypeAlias = tuple[str, str]
IndexFunction: TypeAlias = Callable[[Stored], Iterable[str]]

_GRAVES = 4096  # more late news than this can't be under way


class Store:
    """Objects by namespace and name, with indexes. Each change returns the deltas that it made."""

    def __init__(self) -> None:
        self._spaces: dict[str, dict[str, Stored]] = {}
        self._indexes: dict[str, tuple[IndexFunction, dict[str, dict[Key, Stored]]]] = {}
        self._gone: dict[str, float] = {}  # uid → the version from which on it was gone
        self._listed: dict[str, int] = {}  # namespace ('' means all) → version of its last list

    def __len__(self) -> int:
        return sum(map(len, self._spaces.values()))

    def get(self, namespace: str, name: str) -> Stored | None:
        """Return an object, or None."""
        space = self._spaces.get(namespace)
        return None if space is None else space.get(name)

    def all(self, namespace: str = "") -> list[Stored]:
        """Return the objects of a namespace; '' means all."""
        return list(self._iterate(namespace))

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Keep objects findable by the values that a function gives for them."""
        self._indexes[name] = (function, {})
        for item in self._iterate(""):
            self._index(item, name)

    def by_index(self, name: str, value: str) -> list[Stored]:
        """Return the objects for which the index function gave this value; raises KeyError for an unknown index."""
        return list(self._indexes[name][1].get(value, {}).values())

    def put(self, new: Stored) -> list[Delta]:
        """Take an object, unless what is known is as new."""
        meta = new.meta
        if new.version <= self._gone.get(meta.uid, -1):
            return []
        old = self.get(meta.namespace, meta.name)
        if old is not None and old.version and new.version <= old.version:
            return []
        self._set(old, new)
        if old is not None and old.meta.uid != meta.uid:
            self._bury(old.meta.uid, new.version)
            return [Delta(old, None), Delta(None, new)]
        return [Delta(old, new)]

    def answered(self, new: Stored) -> list[Delta]:
        """Take the answer to a write of our own.

        One that a list has overtaken says nothing: if the list lacked the object, the watch will never speak of it.
        """
        overtaken_at = max(self._listed.get("", 0), self._listed.get(new.meta.namespace, 0))
        return [] if new.version <= overtaken_at else self.put(new)

    def remove(self, last: Stored) -> list[Delta]:
        """Take the last state of an object that was deleted or is no longer selected."""
        meta = last.meta
        self._bury(meta.uid, last.version)
        old = self.get(meta.namespace, meta.name)
        if old is None or old.meta.uid != meta.uid or old.version > last.version:
            return []
        self._set(old, None)
        return [Delta(old, None)]

    def forget(self, namespace: str, name: str, uid: str) -> list[Delta]:
        """Take the news, without a version, that the object of this uid is gone."""
        if uid:
            self._bury(uid, math.inf)
        old = self.get(namespace, name)
        if old is None or old.meta.uid != uid:
            return []
        self._set(old, None)
        return [Delta(old, None)]

    def replace(self, namespace: str, items: Iterable[Stored], version: int, *, initial: bool) -> list[Delta]:
        """Take a whole list of a namespace ('' means all) as of ``version``.

        What the list lacks is gone, unless it is newer than the list.
        """
        self._listed[namespace] = version
        deltas: list[Delta] = []
        listed: set[Key] = set()
        for item in items:
            listed.add((item.meta.namespace, item.meta.name))
            deltas += self.put(item)
        for old in self.all(namespace):
            if (old.meta.namespace, old.meta.name) not in listed and (old.version <= version or not version):
                self._bury(old.meta.uid, version)
                self._set(old, None)
                deltas.append(Delta(old, None))
        if initial:
            return [Delta(delta.old, delta.new, initial=True) for delta in deltas]
        return deltas

    def _iterate(self, namespace: str) -> Iterator[Stored]:
        if namespace:
            yield from self._spaces.get(namespace, {}).values()
            return
        for space in self._spaces.values():
            yield from space.values()

    def _set(self, old: Stored | None, new: Stored | None) -> None:
        if old is not None:
            self._unindex(old)
        if new is not None:
            self._spaces.setdefault(new.meta.namespace, {})[new.meta.name] = new
            for name in self._indexes:
                self._index(new, name)
        elif old is not None:
            space = self._spaces[old.meta.namespace]
            del space[old.meta.name]
            if not space:
                del self._spaces[old.meta.namespace]

    def _index(self, item: Stored, name: str) -> None:
        function, found = self._indexes[name]
        for value in function(item):
            found.setdefault(value, {})[item.meta.namespace, item.meta.name] = item

    def _unindex(self, item: Stored) -> None:
        key = (item.meta.namespace, item.meta.name)
        for function, found in self._indexes.values():
            for value in function(item):
                if (entries := found.get(value)) is not None:
                    entries.pop(key, None)
                    if not entries:
                        del found[value]

    def _bury(self, uid: str, version: float) -> None:
        self._gone.pop(uid, None)
        self._gone[uid] = version
        if len(self._gone) > _GRAVES:
            del self._gone[next(iter(self._gone))]
