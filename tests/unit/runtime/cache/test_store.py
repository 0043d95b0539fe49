"""The rules by which the store tells news from old news, one by one; tests/property has them all at once."""

from __future__ import annotations

from pyopscaffold.runtime.cache.store import Store
from pyopscaffold.runtime.objects import Delta, Meta, Stored


def _item(version: int, *, name: str = "a", uid: str = "1") -> Stored:
    return Stored(Meta(name=name, namespace="n", uid=uid, resource_version=str(version)), b"{}", version)


def _store(*items: Stored) -> Store:
    store = Store()
    for item in items:
        store.put(item)
    return store


def test_older_and_equal_versions_change_nothing() -> None:
    """An event that an own write has overtaken is no change."""
    store = _store(_item(5))
    assert store.put(_item(4)) == []
    assert store.put(_item(5)) == []
    assert store.put(_item(6)) == [Delta(_item(5), _item(6))]


def test_versions_that_are_no_numbers_always_count() -> None:
    """Where versions can't be compared, the last word counts."""
    store = _store(_item(0))
    assert store.put(_item(0)) == [Delta(_item(0), _item(0))]


def test_new_uid_is_a_deletion_and_an_addition() -> None:
    """A name that has passed to another object is told as such."""
    old, new = _item(5), _item(6, uid="2")
    assert _store(old).put(new) == [Delta(old, None), Delta(None, new)]


def test_deletion_of_a_predecessor_spares_the_successor() -> None:
    """The late deletion of an object does not remove the one that has its name now."""
    store = _store(_item(5), _item(7, uid="2"))
    assert store.remove(_item(6)) == []
    assert store.get("n", "a") == _item(7, uid="2")


def test_gone_stays_gone() -> None:
    """After a deletion of our own, late events of the object are ignored; its successor is not."""
    store = _store(_item(5))
    assert store.forget("n", "a", "1") == [Delta(_item(5), None)]
    assert store.put(_item(6)) == []
    assert store.put(_item(8, uid="2")) == [Delta(None, _item(8, uid="2"))]


def test_list_keeps_what_is_newer() -> None:
    """A list removes what it lacks, but nothing that was written after it was taken."""
    store = _store(_item(5, name="old", uid="o"), _item(9, name="new", uid="n"))
    deltas = store.replace("", [_item(6, name="other", uid="x")], 7, initial=True)
    assert [(delta.old and delta.old.meta.name, delta.new and delta.new.meta.name) for delta in deltas] == [
        (None, "other"),
        ("old", None),
    ]
    assert all(delta.initial for delta in deltas)


def test_list_of_a_namespace_spares_the_others() -> None:
    """A list of one namespace says nothing about another."""
    store = _store(_item(5))
    assert store.replace("elsewhere", [], 9, initial=False) == []
    assert len(store) == 1


def test_answer_that_a_list_has_overtaken() -> None:
    """A late answer to our write does not bring back what was deleted before the last list."""
    store = _store()
    store.replace("", [], 7, initial=True)
    assert store.answered(_item(6)) == []
    assert store.answered(_item(8)) == [Delta(None, _item(8))]
