from __future__ import annotations

import hashlib
import socket
import time
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing import binaries
from tests.unit.testing.mirror import ARCHIVE, SCRIPT, Mirror, programs

if TYPE_CHECKING:
    from pathlib import Path


def get(mirror: Mirror) -> binaries.Binaries:
    """Get the default version from the mirror."""
    return binaries.ensure(source="archive", index=mirror.index)


def stored(cache: Path) -> list[str]:
    """List what the store shows, complete or not, save its locks."""
    return sorted(path.name for path in cache.iterdir() if path.name != ".locks")


def test_an_archive_is_fetched_verified_and_stored(mirror: Mirror, cache: Path) -> None:
    """The three programs of a good archive end up executable in the user's store."""
    mirror.publish(programs())
    found = get(mirror)
    assert found.directory.parent == cache
    assert found.source == "archive"
    for program in (found.etcd, found.kube_apiserver, found.kubectl):
        assert program.read_bytes() == SCRIPT
        assert program.stat().st_mode & 0o111
    assert binaries.find() == found


def test_a_stored_version_is_not_fetched_again(mirror: Mirror, cache: Path) -> None:
    """What is in the store needs no network."""
    mirror.publish(programs())
    first = get(mirror)
    mirror.asked.clear()
    assert get(mirror) == first
    assert mirror.asked == []


def test_a_wrong_checksum_stores_nothing(mirror: Mirror, cache: Path) -> None:
    """An archive that is not the one of the index is thrown away."""
    mirror.publish(programs(), sha512="0" * 128)
    with pytest.raises(EnvtestError, match=f"{ARCHIVE} has a wrong checksum"):
        get(mirror)
    assert stored(cache) == []


def test_a_wrong_checksum_is_not_worked_around(mirror: Mirror, cache: Path) -> None:
    """A changed archive stops the automatic choice too: it does not go on to build with Go."""
    mirror.publish(programs(), sha512="0" * 128)
    with pytest.raises(EnvtestError, match="wrong checksum"):
        binaries.ensure(index=mirror.index)


def test_a_download_that_is_cut_says_so(mirror: Mirror, cache: Path) -> None:
    """A connection that ends too early is told from a wrong checksum."""
    mirror.publish(programs())
    mirror.cut.add(f"/files/{ARCHIVE}")
    with pytest.raises(EnvtestError, match="broke off"):
        get(mirror)
    assert stored(cache) == []


def test_a_path_of_the_archive_is_never_used(mirror: Mirror, cache: Path) -> None:
    """Members that point out of the folder are taken by their base name, or not at all."""
    mirror.publish({"../../../evil": b"x", "/etc/evil": b"x", **programs("../../")})
    found = get(mirror)
    everything = {path.relative_to(cache) for path in cache.rglob("*") if path.is_file() and ".locks" not in path.parts}
    folder = found.directory.relative_to(cache)
    assert everything == {folder / name for name in (*binaries.PROGRAMS, ".source")}


def test_an_archive_without_a_program_is_refused(mirror: Mirror, cache: Path) -> None:
    """An archive that lacks a program does not become a half-filled store."""
    mirror.publish({"controller-tools/envtest/etcd": SCRIPT})
    with pytest.raises(EnvtestError, match="no kube-apiserver, kubectl"):
        get(mirror)
    assert stored(cache) == []


def test_what_is_no_archive_is_refused(mirror: Mirror, cache: Path) -> None:
    """Bytes that match the index's sum but are no tar archive are named as such."""
    junk = b"not an archive"
    mirror.publish({}, sha512=hashlib.sha512(junk).hexdigest())
    mirror.files[f"/files/{ARCHIVE}"] = junk
    with pytest.raises(EnvtestError, match="not a gzipped tar archive"):
        get(mirror)


def test_a_missing_archive_names_its_address(mirror: Mirror, cache: Path) -> None:
    """An index that names a file which is gone leads to an error with that file's address."""
    mirror.publish(programs())
    del mirror.files[f"/files/{ARCHIVE}"]
    with pytest.raises(EnvtestError, match=rf"{mirror.url}/files/{ARCHIVE}: HTTP 404"):
        get(mirror)


def test_a_version_that_is_not_in_the_index_is_named(mirror: Mirror, cache: Path) -> None:
    """A version without an archive for this platform is told from a missing network."""
    mirror.publish(programs())
    with pytest.raises(EnvtestError, match=r"has no envtest-v1\.2\.3-"):
        binaries.ensure("1.2.3", source="archive", index=mirror.index)


@pytest.mark.parametrize("text", [b"- a list", b"{", b"releases: 3", b"", b"releases: {v1.37.2: 4}"])
def test_what_is_no_index_is_refused(mirror: Mirror, cache: Path, text: bytes) -> None:
    """A page of another kind in place of the index is one clear error."""
    mirror.files["/index.yaml"] = text
    with pytest.raises(EnvtestError, match="is not an index of envtest archives"):
        get(mirror)


def test_no_network_and_no_go_is_one_error(cache: Path) -> None:
    """Without any source the error says what each lacked, and all ways out."""
    with pytest.raises(EnvtestError, match=r"out of reach.*refused.*no `go` on PATH") as refused:
        binaries.ensure()
    hint = refused.value.hint or ""
    assert "KUBEBUILDER_ASSETS" in hint
    assert "Go" in hint


def test_an_index_that_never_answers_is_given_up(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that accepts and says nothing costs a few seconds, not minutes."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/index.yaml"
        began = time.monotonic()
        with pytest.raises(EnvtestError, match="out of reach"):
            binaries.ensure(source="archive", index=address)
    assert time.monotonic() - began < 60  # idle, 5
