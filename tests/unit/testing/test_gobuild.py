from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing import binaries, eventually
from pyopscaffold.testing.binaries import gobuild

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    SetUp = tuple[subprocess.Popen[str], int]

UPSTREAM = """\
module k8s.io/kubernetes

go 1.26.0

require (
\tgo.etcd.io/etcd/client/v3 v3.7.0
\tk8s.io/api v0.0.0
)

replace (
\tk8s.io/api => ./staging/src/k8s.io/api
\tk8s.io/kubelet => ./staging/src/k8s.io/kubelet
\texample.com/other => example.com/other v1.0.0
)
"""

FAKE_GO = """\
#!/bin/sh
echo "$CGO_ENABLED $*" >> {record}
case "$1 $2" in
"mod download") echo '{{"GoMod": "{upstream}"}}' ;;
"mod tidy") cp go.mod {record}.mod; {tidy} ;;
"install "*) printf '#!/bin/sh\\n' > "$GOBIN/kwok"; chmod +x "$GOBIN/kwok" ;;
*)  while [ "$1" != -o ]; do shift; done
    printf '#!/bin/sh\\n' > "$2"; chmod +x "$2" ;;
esac
"""


@pytest.fixture
def record(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a `go` on PATH that writes its arguments to a file, and give that file."""
    return fake_go(tmp_path, monkeypatch)


def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, tidy: str = ":") -> Path:
    """Install the fake toolchain; ``tidy`` is what its `go mod tidy` runs."""
    upstream, record, folder = tmp_path / "upstream.mod", tmp_path / "record", tmp_path / "bin"
    upstream.write_text(UPSTREAM)
    folder.mkdir()
    (folder / "go").write_text(FAKE_GO.format(record=record, upstream=upstream, tidy=tidy))
    (folder / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return record


def test_the_module_pins_staging_and_etcd_as_upstream_does() -> None:
    """Each staging module is replaced by its release, and etcd is the one that Kubernetes itself names."""
    lines = gobuild.module_file("1.37.2", UPSTREAM).splitlines()
    assert "go 1.26.0" in lines
    assert "require k8s.io/kubernetes v1.37.2" in lines
    assert "require go.etcd.io/etcd/server/v3 v3.7.0" in lines
    assert [line for line in lines if line.startswith("replace")] == [
        "replace k8s.io/api => k8s.io/api v0.37.2",
        "replace k8s.io/kubelet => k8s.io/kubelet v0.37.2",
    ]


def test_a_module_of_another_shape_is_refused() -> None:
    """A go.mod without staging modules is not built from by guesswork."""
    with pytest.raises(EnvtestError, match=r"go\.mod of k8s\.io/kubernetes v1\.37\.2 is not as expected"):
        gobuild.module_file("1.37.2", "module k8s.io/kubernetes\n")


def test_every_program_is_built_static_and_with_its_version(record: Path) -> None:
    """Go is called once a program, without cgo, with the flags that give the server its version."""
    found = binaries.ensure("1.36", source="go")
    calls = record.read_text().splitlines()
    assert calls[:2] == ["0 mod download -json k8s.io/kubernetes@v1.36.3", "0 mod tidy"]
    version = "k8s.io/component-base/version."
    flags = f"-s -w -X {version}gitVersion=v1.36.3 -X {version}gitMajor=1 -X {version}gitMinor=36"
    assert [call.startswith(f"0 build -trimpath -ldflags {flags} -o ") for call in calls[2:]] == [True] * 3
    assert [call.split()[-1] for call in calls[2:]] == [
        "go.etcd.io/etcd/server/v3",
        "k8s.io/kubernetes/cmd/kube-apiserver",
        "k8s.io/kubernetes/cmd/kubectl",
    ]
    assert found.source == "go"
    assert {path.name for path in found.directory.iterdir()} == {*binaries.PROGRAMS, ".source"}


def test_without_a_network_the_automatic_choice_builds(record: Path) -> None:
    """An archive that is out of reach is no error where Go is at hand, and the user sees why it takes long."""
    said: list[str] = []
    assert binaries.ensure(report=said.append).source == "go"
    assert "out of reach" in said[0]
    assert "building kube-apiserver (2 of 3)" in said


def test_a_failing_step_shows_what_go_said(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go's last words are in the error, and nothing is stored."""
    fake_go(tmp_path, monkeypatch, tidy="echo 'go: proxy is down' >&2; exit 1")
    with pytest.raises(EnvtestError, match=r"go mod tidy\) failed: go: proxy is down") as refused:
        binaries.ensure(source="go")
    assert "GOPROXY" in (refused.value.hint or "")
    assert binaries.installed() == ()


def test_an_answer_of_another_shape_is_an_error(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A toolchain that answers something else is named with its answer."""
    fake_go(tmp_path, monkeypatch)
    (tmp_path / "bin" / "go").write_text(f"#!/bin/sh\necho '{json.dumps({'Path': 'x'})}'\n")
    with pytest.raises(EnvtestError, match="answered unexpectedly"):
        binaries.ensure(source="go")


@pytest.fixture
def endless(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start a set-up that does not end; give its process and the process id of its Go."""
    mark = tmp_path / "pid"
    fake_go(tmp_path, monkeypatch, tidy=f"echo $$ > {mark}.new; mv {mark}.new {mark}; exec sleep 1000")
    command = [sys.executable, "-m", "pyopscaffold", "envtest", "setup", "--source", "go"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as setup:
        yield setup, int(eventually(lambda: mark.exists() and mark.read_text()) or 0)


@pytest.mark.parametrize("to_group", [True, False])
def test_an_interrupted_build_leaves_nothing(cache: Path, endless: SetUp, *, to_group: bool) -> None:
    """Ctrl-C ends Go, whether or not the terminal told it as well, and the half-made folder goes."""
    setup, go = endless
    (os.killpg if to_group else os.kill)(setup.pid, signal.SIGINT)
    _, said = setup.communicate(timeout=30)
    assert setup.returncode == 130
    assert said.endswith("interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.kill(go, 0)
    assert [path.name for path in cache.iterdir()] == [".locks"]


def test_an_orphaned_build_keeps_the_lock(cache: Path, endless: SetUp) -> None:
    """When the set-up is killed and its Go goes on, the next one waits for that Go."""
    setup, go = endless
    setup.kill()
    setup.wait(10)
    (lock,) = (cache / ".locks").iterdir()
    with lock.open("w") as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.kill(go, signal.SIGKILL)
        fcntl.flock(file, fcntl.LOCK_EX)
