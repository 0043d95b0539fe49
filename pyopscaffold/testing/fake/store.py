"""The objects, their history, and who follows it: what etcd is to an API server.

Objects in the store are never changed, only replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
Key: TypeAlias = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True)
class Change:
    """One step of the history; ``new`` of a removal is the state before, at the version of the removal."""

    version: int
    table: str
    key: Key
    old: Json | None
    new: Json
    removed: bool = False


class Store:
    """Objects by table and key. ``version`` grows with every change; ``forgotten`` is the newest one compacted away."""

    def __init__(self) -> None:
        self.version = 1
        self.forgotten = 0
        self.followers: list[Callable[[Change], None]] = []
        self._tables: dict[str, dict[Key, Json]] = {}
        self._history: list[Change] = []

    def get(self, table: str, key: Key) -> Json | None:
        """Return an object, or None."""
        return self._tables.get(table, {}).get(key)

    def all(self) -> Iterator[tuple[str, Key, Json]]:
        """Yield every object, as they are now."""
        for table, objects in list(self._tables.items()):
            for key, obj in list(objects.items()):
                yield table, key, obj

    def select(self, table: str, namespace: str, *, at: int | None = None) -> list[tuple[Key, Json]]:
        """Return the objects of a namespace ('' means all) in order, as of a version that is not forgotten."""
        objects = self._tables.get(table, {})
        if at is not None and at < self.version:
            objects = dict(objects)
            for change in reversed(self._history):
                if change.version <= at:
                    break
                if change.table != table:
                    continue
                if change.old is None:
                    objects.pop(change.key, None)
                else:
                    objects[change.key] = change.old
        found = [(key, obj) for key, obj in objects.items() if namespace in ("", key[0])]
        return sorted(found, key=lambda item: path_of(item[0]))

    def since(self, version: int, table: str) -> list[Change]:
        """Return the changes of a table after a version."""
        return [change for change in self._history if change.version > version and change.table == table]

    def put(self, table: str, key: Key, obj: Json) -> Json:
        """Store an object under a new version, and return it."""
        stored = self._stamped(obj)
        old = self.get(table, key)
        self._tables.setdefault(table, {})[key] = stored
        self._record(Change(self.version, table, key, old, stored))
        return stored

    def remove(self, table: str, key: Key) -> None:
        """Remove an object; followers are shown the state that was stored last, at the version of the removal."""
        old = self._tables[table].pop(key)
        self._record(Change(self.version + 1, table, key, old, self._stamped(old), removed=True))

    def compact(self) -> None:
        """Forget the history up to now."""
        self.version += 1  # so that the version that followers have last heard of is too old
        self.forgotten = self.version
        self._history.clear()

    def _stamped(self, obj: Json) -> Json:
        self.version += 1
        return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}

    def _record(self, change: Change) -> None:
        self._history.append(change)
        for follower in list(self.followers):
            follower(change)


def path_of(key: Key) -> str:
    """Return what objects are sorted by."""
    return "/".join(part for part in key if part)
