from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing import binaries
from pyopscaffold.testing.binaries import store
from tests.unit.testing.mirror import SCRIPT, Mirror, programs

if TYPE_CHECKING:
    from pathlib import Path

ENSURE = "import sys; from pyopscaffold.testing import binaries; binaries.ensure(index=sys.argv[1], report=print)"


def fill(folder: Path, answer: str = "Kubernetes v1.37.2") -> Path:
    """Make a folder of programs that print ``answer``."""
    folder.mkdir(parents=True)
    for name in store.PROGRAMS:
        (folder / name).write_text(f"#!/bin/sh\necho {answer}\n")
        (folder / name).chmod(0o755)
    return folder


def test_the_assets_folder_comes_first(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """KUBEBUILDER_ASSETS is used as it is, with nothing fetched and nothing stored."""
    folder = fill(tmp_path / "assets")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    assert binaries.ensure().directory == folder
    assert not cache.exists()


def test_the_assets_folder_serves_only_its_own_version(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that is asked for by name is not taken from assets of another."""
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(fill(tmp_path / "assets")))
    assert binaries.find("1.37").source == "KUBEBUILDER_ASSETS"
    with pytest.raises(EnvtestError, match=r"1\.36\.3 is not on this machine"):
        binaries.find("1.36")


def test_an_assets_folder_that_lacks_a_program_is_named(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken KUBEBUILDER_ASSETS is an error, not silently passed over."""
    folder = fill(tmp_path / "assets")
    (folder / "etcd").unlink()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    with pytest.raises(EnvtestError, match=r"no executable etcd$"):
        binaries.find()


def test_a_version_that_is_not_here_says_how_to_get_it(cache: Path) -> None:
    """Finding never fetches; it says which command does."""
    with pytest.raises(EnvtestError, match=r"1\.36\.3 is not on this machine") as refused:
        binaries.find("1.36")
    assert "pyopscaffold envtest setup --version 1.36" in (refused.value.hint or "")


def test_two_processes_fetch_once(mirror: Mirror, cache: Path) -> None:
    """Of processes that want the same version at once, one fetches and the others wait for it."""
    mirror.publish(programs())
    with store.locked(binaries.DEFAULT, print):
        waiting = [
            subprocess.Popen([sys.executable, "-c", ENSURE, mirror.index], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for process in waiting:
            assert process.stdout is not None
            assert "waiting for it" in process.stdout.readline()
        assert mirror.asked == []
    for process in waiting:
        process.communicate(timeout=30)
        assert process.returncode == 0
    assert len(mirror.asked) == 2  # the index and the archive, once each
    assert binaries.find().kubectl.read_bytes() == SCRIPT


def test_a_killed_process_leaves_no_lock(cache: Path) -> None:
    """A holder that dies without a word does not block the next one."""
    script = (
        "import os; from pyopscaffold.testing.binaries import store\nwith store.locked('1.37.2', print): os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    said: list[str] = []
    with store.locked("1.37.2", said.append):
        assert said == []


def test_a_failure_while_filling_leaves_the_store_as_it_was(cache: Path) -> None:
    """A half-made folder is never seen, and does not stay."""

    def fill_half() -> None:
        with store.placing("1.37.2", source="go") as folder:
            (folder / "etcd").write_bytes(SCRIPT)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fill_half()
    assert list(cache.iterdir()) == []
    assert binaries.installed() == ()


@pytest.mark.skipif(os.name != "posix", reason="control planes need POSIX")
def test_a_store_that_cannot_be_written_is_named(cache: Path, mirror: Mirror) -> None:
    """A file where the store's folder should be is one clear error with its path."""
    mirror.publish(programs())
    cache.parent.mkdir(parents=True)
    cache.write_text("in the way")
    with pytest.raises(EnvtestError, match=f"cannot write the store of control-plane binaries, {cache}"):
        binaries.ensure(index=mirror.index)


def test_installed_versions_are_listed_newest_first(cache: Path) -> None:
    """The list is by number, so that 1.9 comes after 1.10."""
    for version in ("1.9.0", "1.37.2", "1.10.1"):
        fill(store.directory_of(version))
    assert [found.version for found in binaries.installed()] == ["1.37.2", "1.10.1", "1.9.0"]
