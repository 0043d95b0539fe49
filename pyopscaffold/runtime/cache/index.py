"""Indexes that an author declares: objects findable by what a function says of them, or by a label."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyopscaffold.api.declarations import Index
from pyopscaffold.runtime.objects import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.kube.selector import LabelSelector
    from pyopscaffold.runtime.cache.informer import Informer
    from pyopscaffold.runtime.objects import Stored

log = logging.getLogger(__name__)

_LABEL = "label "


@dataclass(frozen=True)
class _Values:
    """An index function; those of equal declarations are equal."""

    index: Index

    def __call__(self, item: Stored) -> Iterable[str]:
        index = self.index
        if index.values is None:
            return (item.meta.labels[index.label],) if index.label in item.meta.labels else ()
        try:
            return _texts(index.values(decode(index.kind, item)))
        except Exception:
            # the author's code must not cost the cache an object
            log.exception("the index %r failed on %s/%s", index.name, item.meta.namespace, item.meta.name)
            return ()


def _texts(found: object) -> list[str]:
    """Return what an author's function gave, if it is texts; a single one would be found by each of its letters."""
    if isinstance(found, Iterable) and not isinstance(found, str):
        values = list(found)
        if all(isinstance(value, str) for value in values):
            return values
    raise TypeError(f"it returned {found!r}, not a list of texts")


def add_to(informer: Informer, index: Index) -> None:
    """Have the informer keep the index; raises UsageError when it has another one of that name."""
    informer.add_index(index.name or _LABEL + index.label, _Values(index))


def by_label(informer: Informer, key: str, value: str) -> list[Stored]:
    """Return the objects that have a label, of which there is an index, with this value."""
    return informer.by_index(_LABEL + key, value)


def candidates(informer: Informer, selected: LabelSelector) -> Iterator[Stored] | None:
    """Return no fewer objects than a label selector selects, by an index of a label, if there is one for it."""
    for term in selected.requirements:
        if term.values is not None and not term.negated and informer.has_index(_LABEL + term.key):
            return (item for value in term.values for item in informer.by_index(_LABEL + term.key, value))
    return None
