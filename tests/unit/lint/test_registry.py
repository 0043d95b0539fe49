from __future__ import annotations

import pytest

from pyopscaffold.errors import UsageError
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.rule import Profile

RULES = builtin()


def ids(
    *, profile: Profile = Profile.CHECKLIST, select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
) -> set[str]:
    """Choose, and give the ids."""
    return {rule.id for rule in RULES.choose(profile=profile, select=select, ignore=ignore)}


def test_each_profile_holds_the_ones_before() -> None:
    """Apiserver is a part of checklist, checklist of strict, and each adds something."""
    assert ids(profile=Profile.APISERVER) < ids(profile=Profile.CHECKLIST) < ids(profile=Profile.STRICT)


def test_selection_replaces_the_profile() -> None:
    """Selected rules run whatever profile they are of."""
    assert ids(profile=Profile.APISERVER, select=("DE",)) == {"DE01", "DE02"}


def test_ignored_rules_leave_the_profile() -> None:
    """A prefix ignores a family."""
    assert ids(ignore=("ST", "ux01")) == ids() - {"ST01", "ST03", "ST04", "ST05", "ST06", "ST12", "UX01"}


@pytest.mark.parametrize(
    ("select", "ignore", "chosen"),
    [
        (("DE",), ("DE02",), {"DE01"}),
        (("DE02",), ("DE",), {"DE02"}),
        (("DE01",), ("DE01",), set()),
        (("D", "DE01"), ("DE",), {"DE01"}),
    ],
)
def test_the_longer_selector_counts(select: tuple[str, ...], ignore: tuple[str, ...], chosen: set[str]) -> None:
    """As in ruff, the more specific of two selectors wins, and ignoring wins a draw."""
    assert ids(select=select, ignore=ignore) == chosen


@pytest.mark.parametrize(
    ("selector", "meant"), [("VA1", "did you mean VA01?"), ("st55", "did you mean ST05?"), ("XX", "the rules are")]
)
def test_unknown_selectors_are_refused(selector: str, meant: str) -> None:
    """A typing error would switch a rule off in silence otherwise."""
    with pytest.raises(UsageError) as caught:
        ids(ignore=(selector,))
    assert str(caught.value) == f"no rule {selector!r}"
    assert meant in str(caught.value.hint)
