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


def test_predicates_are_negated() -> None:
    """None of what is named may have changed; additions and deletions count as ever."""
    check = predicate.none_of(predicate.labels_changed, predicate.annotation_changed("noise"))
    assert accepts(check, {}, {"generation": 2})
    assert not accepts(check, {}, {"labels": {"a": "b"}})
    assert not accepts(check, {}, {"annotations": {"noise": "1"}})
    assert accepts(check, {}, {"annotations": {"signal": "1"}})
    assert check(Delta(None, stored()))
    assert check(Delta(stored(), None))


def test_one_label_or_annotation() -> None:
    """A change of one label or annotation is told from one of another."""
    for check, where in ((predicate.label_changed("a"), "labels"), (predicate.annotation_changed("a"), "annotations")):
        assert accepts(check, {}, {where: {"a": ""}})
        assert accepts(check, {where: {"a": "1"}}, {where: {"a": "2"}})
        assert accepts(check, {where: {"a": "1"}}, {})
        assert not accepts(check, {where: {"a": "1"}}, {where: {"a": "1", "b": "2"}})


def test_what_counts_by_the_authors_word() -> None:
    """The author's predicates take the place of ours, and what the framework has to know counts as ever."""
    check = predicate.primary(
        "example.com/f", annotations=["example.com/paused"], wanted=[predicate.label_changed("x"), lambda _: True]
    )
    version = {"resourceVersion": "2"}
    assert not accepts(check, {}, {"generation": 2, **version})
    assert accepts(check, {}, {"labels": {"x": "1"}, **version})
    assert accepts(check, {}, {"annotations": {"example.com/paused": "true"}, **version})
    assert accepts(check, {}, {"deletionTimestamp": "2026-01-01T00:00:00Z", **version})
    assert accepts(check, {"finalizers": ["example.com/f"]}, version)
    wide = predicate.primary(wanted=[predicate.version_changed])
    assert accepts(wide, {}, version)
    picky = predicate.primary("example.com/f", wanted=[lambda _: False])
    assert not picky(Delta(None, stored()))
    assert not picky(Delta(None, stored(finalizers=["example.com/f"])))
    assert not picky(Delta(None, stored(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["example.com/other"])))
    assert picky(Delta(None, stored(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["example.com/f"])))


def test_our_own_stamp_does_not_count() -> None:
    """That a replica says whose the object is now is no news to it; any other annotation is."""
    check = predicate.primary("example.com/f", stamp="example.com/shard")
    assert not accepts(check, {}, {"annotations": {"example.com/shard": "a"}})
    assert not accepts(check, {"annotations": {"example.com/shard": "a"}}, {"annotations": {"example.com/shard": "b"}})
    assert accepts(check, {}, {"annotations": {"example.com/shard": "a", "x": "1"}})
