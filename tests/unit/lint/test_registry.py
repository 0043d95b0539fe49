from __future__ import annotations

import pytest

from pyopscaffold.errors import UsageError
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.rule import Profile

RULES = builtin()


def ids(
    *,
    profile: Profile = Profile.CHECKLIST,
    select: tuple[str, ...] = (),
    extend_select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
) -> set[str]:
    """Choose, and give the ids."""
    chosen = RULES.choose(profile=profile, select=select, extend_select=extend_select, ignore=ignore)
    return {rule.id for rule in chosen}


def test_each_profile_holds_the_ones_before() -> None:
    """Apiserver is a part of checklist, checklist of strict, and each adds something."""
    assert ids(profile=Profile.APISERVER) < ids(profile=Profile.CHECKLIST) < ids(profile=Profile.STRICT)


def test_selection_replaces_the_profile() -> None:
    """Selected rules run whatever profile they are of."""
    assert ids(profile=Profile.APISERVER, select=("DE01", "SU01")) == {"DE01", "SU01"}


def test_a_prefix_selects_what_is_in_no_profile_too() -> None:
    """As in ruff: it is all that begin so, and what is not wanted is ignored."""
    assert {"VA02", "VA13"} == ids(select=("VA",)) - ids(profile=Profile.STRICT)
    assert "VA02" not in ids(select=("VA",), ignore=("VA02",))


def test_a_name_is_as_good_as_an_id() -> None:
    """Names are what people remember; one that is ignored takes a selected family's rule away."""
    assert ids(select=("String-Constraint", "co04"), ignore=("condition-list-map",)) == {"VA01"}


def test_extending_adds_to_the_profile_and_to_the_selection() -> None:
    """Rules of a larger profile can be had one by one; ignoring a family of them is less exact, so they stay."""
    assert "DE02" not in ids()
    assert ids(extend_select=("DE02",)) == ids() | {"DE02"}
    assert ids(select=("CO04",), extend_select=("DE02",)) == {"CO04", "DE02"}
    assert ids(select=("CO04",), extend_select=("DE02",), ignore=("DE", "CO04")) == {"DE02"}


def test_ignored_rules_leave_the_profile() -> None:
    """A prefix ignores a family."""
    left = {rule_id for rule_id in ids() if not rule_id.startswith("ST")} - {"UX01"}
    assert ids(ignore=("ST", "ux01")) == left < ids()


@pytest.mark.parametrize(
    ("select", "ignore", "chosen"),
    [
        (("DE01", "DE02"), ("DE02",), {"DE01"}),
        (("DE02",), ("DE",), {"DE02"}),
        (("DE01",), ("DE01",), set()),
        (("D", "DE01"), ("DE",), {"DE01"}),
    ],
)
def test_the_longer_selector_counts(select: tuple[str, ...], ignore: tuple[str, ...], chosen: set[str]) -> None:
    """As in ruff, the more specific of two selectors wins, and ignoring wins a draw."""
    assert ids(select=select, ignore=ignore) == chosen


@pytest.mark.parametrize(
    ("selector", "meant"),
    [("string-constrain", "did you mean string-constraint?"), ("VVA01", "did you mean VA01?"), ("XX", "--list-rules")],
)
def test_unknown_selectors_are_refused(selector: str, meant: str) -> None:
    """A typing error would switch a rule off in silence otherwise."""
    with pytest.raises(UsageError) as caught:
        ids(ignore=(selector,))
    assert str(caught.value) == f"no rule {selector!r}"
    assert meant in str(caught.value.hint)
