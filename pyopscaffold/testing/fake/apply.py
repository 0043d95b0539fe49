"""Field managers: who owns which fields, what an apply makes of an object, and whose fields it may not touch.

Source: sigs.k8s.io/structured-merge-diff, merge/update.go and typed/merge.go;
k8s.io/apimachinery/pkg/util/managedfields.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from pyopscaffold.testing.fake import fields
from pyopscaffold.testing.fake.failure import Cause, owned_by_others
from pyopscaffold.testing.fake.fields import Path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyopscaffold.schema import Schema

Json = dict[str, Any]

_NOBODYS: Final = frozenset(
    {
        ("f:apiVersion",),
        ("f:kind",),
        ("f:metadata",),
        *(
            ("f:metadata", f"f:{name}")
            for name in (
                "name",
                "namespace",
                "uid",
                "creationTimestamp",
                "deletionTimestamp",
                "deletionGracePeriodSeconds",
                "generation",
                "managedFields",
                "resourceVersion",
                "selfLink",
            )
        ),
    }
)
"""Fields that nobody owns: they are the server's, or the object's name."""


@dataclass(frozen=True)
class Manager:
    """Who writes, and how."""

    name: str
    operation: Literal["Apply", "Update"]
    subresource: str = ""
    api_version: str = ""

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What makes two entries of managedFields the same manager's."""
        return (self.name, self.operation, self.subresource, "" if self.operation == "Apply" else self.api_version)


@dataclass(frozen=True)
class Entry:
    """One entry of managedFields; ``time`` is when the fields were last other ones."""

    manager: Manager
    fields: frozenset[Path]
    time: str


class Ledger:
    """The managedFields of one object, by manager."""

    def __init__(self, managed: Iterable[Mapping[str, Any]] = ()) -> None:
        self._entries: dict[tuple[str, str, str, str], Entry] = {}
        for item in managed:
            operation: Literal["Apply", "Update"] = "Apply" if item["operation"] == "Apply" else "Update"
            manager = Manager(item["manager"], operation, item.get("subresource", ""), item["apiVersion"])
            owned = fields.from_json(item.get("fieldsV1", {}))
            self._entries[manager.identity] = Entry(manager, owned, item.get("time", ""))

    def to_json(self) -> list[Json]:
        """Return the JSON form, sorted as the server sorts it."""
        found = [entry for entry in self._entries.values() if entry.fields]
        found.sort(key=lambda entry: (entry.manager.operation, entry.time, *entry.manager.identity))
        return [_entry_json(entry) for entry in found]

    def fields_of(self, manager: Manager) -> frozenset[Path]:
        """Return what a manager owns."""
        entry = self._entries.get(manager.identity)
        return entry.fields if entry else frozenset()

    def all_fields(self) -> set[Path]:
        """Return what anybody owns."""
        return {path for entry in self._entries.values() for path in entry.fields}

    def give(self, manager: Manager, owned: frozenset[Path], now: str) -> None:
        """Have a manager own these fields and no others."""
        old = self._entries.get(manager.identity)
        time = old.time if old is not None and old.fields == owned else now
        self._entries[manager.identity] = Entry(manager, owned, time)

    def take_from_others(
        self, manager: Manager, changed: set[Path], removed: set[Path], now: str, *, force: bool
    ) -> None:
        """Have others lose what a manager changes; raises Failure where it may not."""
        causes = []
        for identity, entry in list(self._entries.items()):
            if identity == manager.identity:
                continue
            contested = entry.fields & changed
            causes += [Cause(fields.show(path), "FieldManagerConflict", _conflict(entry)) for path in contested]
            left = entry.fields - changed - removed
            if left != entry.fields:
                self._entries[identity] = replace(entry, fields=left, time=now)
        if causes and not force:
            raise owned_by_others(causes)


def updated(
    old: Json | None, new: Json, schema: Schema | None, manager: Manager, now: str, *, ignored: frozenset[str]
) -> list[Json]:
    """Return the managedFields after a create or an update; ``ignored`` are top-level fields that it leaves alone."""
    ledger = Ledger((old or {}).get("metadata", {}).get("managedFields", ()))
    changed, removed = _difference(fields.of(old or {}, schema), fields.of(new, schema), ignored)
    ledger.take_from_others(manager, changed, removed, now, force=True)
    ledger.give(manager, frozenset((ledger.fields_of(manager) - removed) | changed), now)
    return ledger.to_json()


def applied(
    live: Json,
    config: Json,
    schema: Schema | None,
    manager: Manager,
    now: str,
    *,
    force: bool,
    ignored: frozenset[str],
) -> tuple[Json, list[Json]]:
    """Return what an apply makes of an object, and its managedFields; raises Failure on a conflict."""
    ledger = Ledger(live.get("metadata", {}).get("managedFields", ()))
    last = ledger.fields_of(manager)
    wanted = fields.owned(config, schema)
    ledger.give(manager, frozenset(_owned(wanted, ignored)), now)
    result = _pruned(merge(live, config, schema), schema, last, ledger.all_fields() | wanted)
    changed, removed = _difference(fields.of(live, schema), fields.of(result, schema), ignored)
    ledger.take_from_others(manager, changed, removed, now, force=force)
    return result, ledger.to_json()


def _pruned(merged: Any, schema: Schema | None, last: Iterable[Path], managed: set[Path]) -> Any:
    """Take out what a manager has owned last and nobody owns now, and what nobody ever owned in it."""
    members, last = _members(merged, schema), fields.with_named_parents(last, schema)
    kept = _members(fields.without(merged, schema, last), schema) | fields.with_named_parents(managed, schema)
    left = _members(fields.without(merged, schema, members - kept), schema)
    return fields.without(merged, schema, (members - left) & last)


def _members(value: Any, schema: Schema | None) -> set[Path]:
    return fields.with_named_parents(fields.owned(value, schema), schema)


def merge(live: Any, config: Any, schema: Schema | None) -> Any:
    """Lay a configuration over a value."""
    if isinstance(live, dict) and isinstance(config, dict) and not fields.is_atomic(schema):
        laid = {
            name: merge(live[name], item, fields.below(schema, name)) if name in live else item
            for name, item in config.items()
        }
        return {**live, **laid}
    if isinstance(live, list) and isinstance(config, list) and fields.is_keyed(schema):
        return _merge_lists(live, config, schema)
    return config


def _merge_lists(live: list[Any], config: list[Any], schema: Schema | None) -> list[Any]:
    """Merge by key: the configuration's order holds for its items, and live ones keep their place before the next."""
    inner = schema.items if schema else None
    theirs = {fields.step_of(item, schema): item for item in live}
    ours = {fields.step_of(item, schema): item for item in config}
    shared = [step for step in ours if step in theirs]
    left, right, out = list(theirs), list(ours), []
    while left or right:
        if left and left[0] not in ours:
            out.append(theirs[left.pop(0)])
        elif left and right and left[0] != right[0] and shared and left[0] != shared[0]:
            left.pop(0)  # one of ours, whose turn is another
        elif right:
            step = right.pop(0)
            out.append(merge(theirs[step], ours[step], inner) if step in theirs else ours[step])
            if shared and shared[0] == step:
                shared.pop(0)
            if left and left[0] == step:
                left.pop(0)
        else:
            left.pop(0)
    return out


def _difference(old: dict[Path, Any], new: dict[Path, Any], ignored: frozenset[str]) -> tuple[set[Path], set[Path]]:
    """Return the fields that were added or have another value, and those that are gone."""
    before, after = fields.with_parents(old), fields.with_parents(new)
    changed = {path for path, value in new.items() if path in old and not _same(old[path], value)}
    return _owned(changed | (after - before), ignored), _owned(before - after, ignored)


def _same(old: Any, new: Any) -> bool:
    """Whether a field is unchanged; one that others lie in is that also when it is emptied or filled."""
    values = [value for value in (old, new) if value is not fields.INNER]
    if len(values) < 2:  # noqa: PLR2004 - both of them
        return all(value in (None, {}) for value in values)
    if fields.EMPTY in values:
        return old is new
    return fields.equal(old, new)


def _owned(found: Iterable[Path], ignored: frozenset[str]) -> set[Path]:
    return {path for path in found if path not in _NOBODYS and path[0].removeprefix("f:") not in ignored}


def _conflict(entry: Entry) -> str:
    manager = entry.manager
    if manager.operation == "Apply" and not manager.subresource:
        return f'conflict with "{manager.name}"'
    subresource = f' with subresource "{manager.subresource}"' if manager.subresource else ""
    using = f" using {manager.api_version}" if manager.operation == "Update" else ""
    return f'conflict with "{manager.name}"{subresource}{using}'


def _entry_json(entry: Entry) -> Json:
    body = {
        "manager": entry.manager.name,
        "operation": entry.manager.operation,
        "apiVersion": entry.manager.api_version,
        "time": entry.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields.to_json(entry.fields),
    }
    return {**body, "subresource": entry.manager.subresource} if entry.manager.subresource else body
