from __future__ import annotations

import pytest

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing import binaries


@pytest.mark.parametrize(
    ("asked", "full"),
    [(None, "1.37.2"), ("1.36", "1.36.3"), ("v1.35", "1.35.4"), ("1.34.1", "1.34.1"), ("v1.36.1", "1.36.1")],
)
def test_a_version_may_be_a_minor_or_have_a_v(asked: str | None, full: str) -> None:
    """Every spelling that people use for a version means one full version."""
    assert binaries.resolve(asked) == full


@pytest.mark.parametrize("asked", ["latest", "1", "1.36.x", "../1.36.3", ""])
def test_what_is_no_version_is_refused(asked: str) -> None:
    """A value that is no version is refused, with an example of one."""
    with pytest.raises(EnvtestError, match="is not a Kubernetes version") as refused:
        binaries.resolve(asked)
    assert "1.37" in (refused.value.hint or "")


def test_a_minor_without_a_pinned_release_lists_those_that_have_one() -> None:
    """A minor that is not pinned needs its patch release, and the hint lists the minors that don't."""
    with pytest.raises(EnvtestError, match=r"no patch release of Kubernetes 1\.20") as refused:
        binaries.resolve("1.20")
    assert "1.37, 1.36, 1.35" in (refused.value.hint or "")
