from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.runtime import predicate
from pyopscaffold.runtime.objects import Delta, Stored, parse

if TYPE_CHECKING:
    from pyopscaffold.runtime.predicate import Predicate

THING = GroupVersionKind("example.com", "v1", "Thing")


def stored(**metadata: Any) -> Stored:
    """Make an object of this metadata."""
    head = {"name": "one", "namespace": "ns", "uid": "u1", "generation": 1, "resourceVersion": "1"}
    return parse(THING, msgspec.json.encode({"metadata": head | metadata}))


def accepts(check: Predicate, old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether the predicate accepts the change from old to new metadata."""
    return check(Delta(stored(**old), stored(**new)))


def test_status_write_does_not_count() -> None:
    """For the primary kind a new resourceVersion alone, as a status write leaves it, is no reason to reconcile."""
    assert not accepts(predicate.primary(), {}, {"resourceVersion": "2"})


def test_what_counts_for_the_primary() -> None:
    """Generation, labels, annotations and a request for deletion each count."""
    for change in (
        {"generation": 2},
        {"labels": {"a": "b"}},
        {"annotations": {"a": "b"}},
        {"deletionTimestamp": "2026-01-01T00:00:00Z"},
    ):
        assert accepts(predicate.primary(), {}, change), change


def test_only_the_loss_of_the_own_finalizer_counts() -> None:
    """That the framework adds its finalizer does not count, nor what others do with theirs."""
    check = predicate.primary("example.com/thing-finalizer")
    mine, other = ["example.com/thing-finalizer"], ["example.org/other"]
    assert accepts(check, {"finalizers": mine + other}, {"finalizers": other})
    assert not accepts(check, {"finalizers": other}, {"finalizers": mine + other})
    assert not accepts(check, {"finalizers": mine + other}, {"finalizers": mine})


def test_additions_and_deletions_always_count() -> None:
    """A predicate compares: where there is nothing to compare, it accepts."""
    assert predicate.primary()(Delta(None, stored()))
    assert predicate.primary()(Delta(stored(), None))


def test_relisted_child_does_not_count() -> None:
    """What a relist brings again with the same resourceVersion is no change."""
    assert not accepts(predicate.version_changed, {}, {})
    assert accepts(predicate.version_changed, {}, {"resourceVersion": "2"})


def test_predicates_combine() -> None:
    """Predicates are joined by any_of and all_of."""
    both = predicate.all_of(predicate.labels_changed, predicate.generation_changed)
    either = predicate.any_of(predicate.labels_changed, predicate.generation_changed)
    assert accepts(both, {}, {"generation": 2, "labels": {"a": "b"}})
    assert not accepts(both, {}, {"generation": 2})
    assert accepts(either, {}, {"generation": 2})
