"""What a simulated cluster needs besides the control plane is got from the official site or by Go."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing import binaries
from pyopscaffold.testing.binaries import DEFAULT, SIMULATED, releases, store
from tests.unit.testing.mirror import SCRIPT, Mirror, programs
from tests.unit.testing.test_gobuild import fake_go

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def here(cache: Path, mirror: Mirror) -> Path:
    """Have the control plane's own programs in the store."""
    mirror.publish(programs())
    return binaries.ensure(index=mirror.index).directory


@pytest.fixture
def record(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a `go` too, which records how it is called."""
    return fake_go(tmp_path, monkeypatch)


def release(mirror: Mirror, monkeypatch: pytest.MonkeyPatch, *, checksum: str | None = None) -> None:
    """Serve the official programs of the default version, for Linux on this machine's processor."""
    monkeypatch.setattr(releases, "target", lambda: ("linux", store.target()[1]))
    monkeypatch.setenv(releases.RELEASES_VARIABLE, mirror.url)
    for name in releases.PROGRAMS:
        path = f"/v{DEFAULT}/bin/linux/{store.target()[1]}/{name}"
        mirror.files[path] = SCRIPT
        mirror.files[f"{path}.sha256"] = (checksum or hashlib.sha256(SCRIPT).hexdigest()).encode()


def test_official_programs_join_the_store(record: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Linux the controllers and the scheduler are downloaded, and only kwok is built."""
    release(mirror, monkeypatch)
    found = binaries.ensure(simulated=True)
    assert found.simulate
    assert {path.name for path in found.directory.iterdir()} == {*binaries.PROGRAMS, *SIMULATED, ".source"}
    calls = record.read_text().splitlines()
    assert len(calls) == 1
    assert calls[0].startswith("0 install -trimpath ")
    assert calls[0].endswith(" sigs.k8s.io/kwok/cmd/kwok@v0.8.0")


def test_a_wrong_checksum_is_refused(record: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is not what was published does not reach the store, nor does what came before it."""
    release(mirror, monkeypatch, checksum="0" * 64)
    with pytest.raises(EnvtestError, match="kube-controller-manager has a wrong checksum"):
        binaries.ensure(simulated=True)
    assert store.missing(store.directory_of(DEFAULT), SIMULATED) == SIMULATED
    assert binaries.find().version == DEFAULT


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_go_builds_what_cannot_be_downloaded(record: Path, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    """Where the site is out of reach, or has nothing for this system, Go builds all three, and the user sees why."""
    monkeypatch.setattr(releases, "target", lambda: (system, store.target()[1]))
    said: list[str] = []
    found = binaries.ensure(simulated=True, report=said.append)
    assert found.simulate
    assert any(("no official" if system == "darwin" else "out of reach") in line for line in said)
    built = [call.split()[-1] for call in record.read_text().splitlines() if call.startswith("0 build")]
    assert built == ["k8s.io/kubernetes/cmd/kube-controller-manager", "k8s.io/kubernetes/cmd/kube-scheduler"]


def test_what_is_here_is_not_got_again(record: Path) -> None:
    """A second set-up calls nobody."""
    binaries.ensure(simulated=True)
    calls = record.read_text()
    assert binaries.ensure(simulated=True).simulate
    assert record.read_text() == calls


def test_without_go_the_api_server_is_there_alone(here: Path) -> None:
    """Without Go the error says that kwok needs it and what there is without; the API server stays usable."""
    with pytest.raises(EnvtestError, match="kwok is built with Go, and there is no `go` on PATH") as refused:
        binaries.ensure(simulated=True)
    assert "the API server alone" in (refused.value.hint or "")
    assert binaries.find().directory == here
    with pytest.raises(EnvtestError, match="the simulated cluster of Kubernetes"):
        binaries.find(simulated=True)


def test_an_assets_folder_is_passed_over_unless_it_has_all(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of envtest's three programs does not do for a simulated cluster; one with all six does."""
    assets = tmp_path / "assets"
    assets.mkdir()
    for name in binaries.PROGRAMS:
        (assets / name).write_bytes(SCRIPT)
        (assets / name).chmod(0o755)
    monkeypatch.setenv(binaries.ASSETS_VARIABLE, str(assets))
    stored = binaries.ensure(simulated=True)
    assert stored.directory == store.directory_of(DEFAULT)
    for name in SIMULATED:
        (assets / name).write_bytes(SCRIPT)
        (assets / name).chmod(0o755)
    assert binaries.ensure(simulated=True).directory == assets.resolve()
