"""Predicates: which changes of an object are worth a reconcile.

A predicate takes a Delta, and those made here compare an object before and after: additions and deletions always
count. Predicates are joined by ``any_of``, ``all_of`` and ``none_of``, and given to ``@controller(predicates=[…])`` and
``Watch(predicate=…)``. One of your own may look at ``delta.old`` and ``delta.new``, at their ``meta`` or all of their
``raw`` JSON text; either may be None. Of a controller's own kind, an object whose addition it does not accept is looked
at when it is deleted only, if it has the controller's finalizer.
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


def other_annotations_changed(key: str) -> Predicate:
    """Make a predicate of all annotations but one."""
    return on_update(lambda old, new: {**old.annotations, key: ""} != {**new.annotations, key: ""})


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
    stamp: str = "",
) -> Predicate:
    """Accept what counts for the kind that a controller is for: all but writes of the status, and of our own ``stamp``.

    With ``wanted``, what all of these accept; then, what the framework needs to know counts besides: of updates, a
    deletion, and changes of its ``annotations`` and ``labels``; of additions, that the object waits for ``finalizer``.
    """
    lost = (finalizer_lost(finalizer),) if finalizer else ()
    if not wanted:
        annotated = other_annotations_changed(stamp) if stamp else annotations_changed
        return any_of(generation_changed, labels_changed, annotated, deletion_asked, *lost)
    ours = any_of(deletion_asked, *map(annotation_changed, annotations), *map(label_changed, labels), *lost)
    theirs = all_of(version_changed, *wanted)

    def waits(new: Stored) -> bool:
        return new.meta.deleting and finalizer in new.meta.finalizers

    def accepts(delta: Delta) -> bool:
        new = delta.new
        return (new is not None and (ours(delta) if delta.old else waits(new))) or theirs(delta)

    return accepts


def both(delta: Delta) -> tuple[Stored, ...]:
    """Return the old and the new object, as far as there are."""
    return tuple(stored for stored in (delta.old, delta.new) if stored is not None)
