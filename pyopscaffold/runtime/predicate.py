"""Predicates: which changes of an object are worth a reconcile.

A predicate takes a Delta whose object was there before and after; additions and deletions always count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.runtime.cache import Delta, Meta, Stored

Predicate: TypeAlias = "Callable[[Delta], bool]"


def on_update(check: Callable[[Meta, Meta], bool]) -> Predicate:
    """Make a predicate of a comparison of old and new metadata."""

    def accepts(delta: Delta) -> bool:
        old, new = delta.old, delta.new
        return old is None or new is None or check(old.meta, new.meta)

    return accepts


generation_changed = on_update(lambda old, new: old.generation != new.generation)
"""The spec changed; a write of the status does not count."""

labels_changed = on_update(lambda old, new: old.labels != new.labels)
annotations_changed = on_update(lambda old, new: old.annotations != new.annotations)
deletion_asked = on_update(lambda old, new: old.deleting != new.deleting)
version_changed = on_update(lambda old, new: old.resource_version != new.resource_version)
"""Anything changed; what a relist brings again unchanged does not count."""


def finalizer_lost(name: str) -> Predicate:
    """Somebody took the finalizer away; that it was added does not count."""
    return on_update(lambda old, new: name in old.finalizers and name not in new.finalizers)


def any_of(*predicates: Predicate) -> Predicate:
    """One of the predicates accepts."""
    return lambda delta: any(accepts(delta) for accepts in predicates)


def all_of(*predicates: Predicate) -> Predicate:
    """All of the predicates accept."""
    return lambda delta: all(accepts(delta) for accepts in predicates)


def primary(finalizer: str = "") -> Predicate:
    """Accept what counts for the kind that a controller is for: everything but writes of the status."""
    lost = (finalizer_lost(finalizer),) if finalizer else ()
    return any_of(generation_changed, labels_changed, annotations_changed, deletion_asked, *lost)


def both(delta: Delta) -> tuple[Stored, ...]:
    """Return the old and the new object, as far as there are."""
    return tuple(stored for stored in (delta.old, delta.new) if stored is not None)
