"""Predicates: which changes of an object are worth a reconcile.

A predicate takes a Delta, and those made here compare an object before and after: additions and deletions always
count. Predicates are joined by ``any_of``, ``all_of`` and ``none_of``, and given to ``@controller(predicates=[…])`` and
``Watch(predicate=…)``. One of your own may look at ``delta.old`` and ``delta.new``, at their ``meta`` or all of their
``raw`` JSON text; either may be None. Of a controller's own kind, an addition that it does not accept is never looked
at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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


def label_changed(key: str) -> Predicate:
    """Make a predicate of one label: it came, went or changed."""
    return on_update(lambda old, new: old.labels.get(key) != new.labels.get(key))


def annotation_changed(key: str) -> Predicate:
    """Make a predicate of one annotation: it came, went or changed."""
    return on_update(lambda old, new: old.annotations.get(key) != new.annotations.get(key))


def finalizer_lost(name: str) -> Predicate:
    """Somebody took the finalizer away; that it was added does not count."""
    return on_update(lambda old, new: name in old.finalizers and name not in new.finalizers)


def any_of(*predicates: Predicate) -> Predicate:
    """One of the predicates accepts."""
    return lambda delta: any(accepts(delta) for accepts in predicates)


def all_of(*predicates: Predicate) -> Predicate:
    """All of the predicates accept."""
    return lambda delta: all(accepts(delta) for accepts in predicates)


def none_of(*predicates: Predicate) -> Predicate:
    """None of the predicates accepts; additions and deletions count as ever."""
    return lambda delta: delta.old is None or delta.new is None or not any(accepts(delta) for accepts in predicates)


def primary(
    finalizer: str = "",
    *,
    annotations: Iterable[str] = (),
    labels: Iterable[str] = (),
    wanted: Sequence[Predicate] = (),
) -> Predicate:
    """Accept what counts for the kind that a controller is for: everything but writes of the status.

    With ``wanted``, what all of these accept; then, of updates, what the framework needs to know counts besides: a
    deletion, and changes of its ``annotations`` and ``labels``.
    """
    lost = (finalizer_lost(finalizer),) if finalizer else ()
    if not wanted:
        return any_of(generation_changed, labels_changed, annotations_changed, deletion_asked, *lost)
    ours = any_of(deletion_asked, *map(annotation_changed, annotations), *map(label_changed, labels), *lost)
    theirs = all_of(version_changed, *wanted)

    def accepts(delta: Delta) -> bool:
        is_update = delta.old is not None and delta.new is not None
        return (is_update and ours(delta)) or theirs(delta)

    return accepts


def both(delta: Delta) -> tuple[Stored, ...]:
    """Return the old and the new object, as far as there are."""
    return tuple(stored for stored in (delta.old, delta.new) if stored is not None)
