"""Mistakes in rules that concern more than one field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.loader.projects import FIRST, told

if TYPE_CHECKING:
    from pathlib import Path


def test_rule_of_a_class(tmp_path: Path) -> None:
    """A mistake in @cel is told once, at the class, however often the class is used."""
    said = told(
        tmp_path,
        """\
        @cel("true", reason="Because")
        @dataclass(kw_only=True)
        class Spec:
            x: int

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec
            other: Spec
        """,
    )
    assert [line.partition("; ")[0] for line in said] == [
        f"acme/api/kind.py:{FIRST + 2}: Spec: CEL has no reason 'Because'"
    ]


def test_transition_rules_below_lists(tmp_path: Path) -> None:
    """A rule in a dataclass is refused where some list has it without keys; those that read no old value are not."""
    said = told(
        tmp_path,
        """\
        @cel("self.name != 'oldSelf'")
        @cel("has(self.note) || !has(oldSelf.note)")
        @dataclass(kw_only=True)
        class Item:
            name: Annotated[str, CEL("self.oldSelf != ''")]
            note: Annotated[str | None, Immutable()] = None

        @dataclass(kw_only=True)
        class Spec:
            keyed: Annotated[list[Item], ListMap("name")]
            by_name: dict[str, Item]
            loose: list[dict[str, Item]]

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec
        """,
    )
    lost = "but the items of Spec.loose have no key to find it by; write ListMap there, or put the rule above it"
    assert said == [
        f"acme/api/kind.py:{FIRST + 3}: Item: CEL reads the old value, {lost}",
        f"acme/api/kind.py:{FIRST + 5}: Item.note: Immutable reads the old value, {lost}",
    ]
