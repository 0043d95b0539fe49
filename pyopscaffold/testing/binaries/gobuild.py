"""Build the programs with the Go toolchain, from the public modules of Kubernetes, etcd and kwok.

k8s.io/kubernetes replaces its staging modules by folders of its repository, which a module's archive lacks. Each is
released beside it as v0.MINOR.PATCH, so a small module of our own that replaces them by those releases builds the
same code.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing.binaries.store import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pyopscaffold.testing.binaries.store import Report

_ETCD = "go.etcd.io/etcd/server/v3"
_PACKAGES = {
    "etcd": _ETCD,
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
}
_KWOK = "sigs.k8s.io/kwok/cmd/kwok"
_KWOK_VERSION = "v0.8.0"
_ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}
_STAGING = re.compile(r"^\s*(?:replace\s+)?(k8s\.io/\S+) => \./staging/", re.MULTILINE)
_ETCD_VERSION = re.compile(r"^\s*(?:require\s+)?go\.etcd\.io/etcd/client/v3 (v\S+)", re.MULTILINE)
_GO_VERSION = re.compile(r"^go (\S+)", re.MULTILINE)
_TICK_SECONDS = 10.0


def go_program() -> str | None:
    """Path of the Go toolchain, if there is one."""
    return shutil.which("go")


def build(version: str, into: Path, report: Report, *, programs: Sequence[str] = PROGRAMS) -> None:
    """Build ``programs`` of ``version`` into ``into``; about ten minutes on two cores with an empty cache.

    Raises:
        EnvtestError: there is no Go, or one of its steps failed; with Go's own last lines.

    """
    with _workshop(into) as (go, work):
        report(f"building Kubernetes {version} from source with {go}: about ten minutes the first time")
        upstream = _upstream_go_mod(go, version, work, report)
        (work / "go.mod").write_text(module_file(version, upstream, programs))
        _run([go, "mod", "tidy"], work, report, what="resolving modules (go mod tidy)")
        for number, name in enumerate(programs, start=1):
            command = [go, "build", "-trimpath", "-ldflags", _linker_flags(version), "-o", str(into / name)]
            what = f"building {name} ({number} of {len(programs)})"
            _run([*command, _PACKAGES[name]], work, report, what=what)


def build_kwok(into: Path, report: Report) -> None:
    """Build kwok, which has its own versions and publishes no checksums of its binaries.

    Raises:
        EnvtestError: there is no Go, or it failed; with Go's own last lines.

    """
    with _workshop(into) as (go, work):
        flags = f"-s -w -X sigs.k8s.io/kwok/pkg/consts.Version={_KWOK_VERSION}"
        command = [go, "install", "-trimpath", "-ldflags", flags, f"{_KWOK}@{_KWOK_VERSION}"]
        _run(command, work, report, what=f"building kwok {_KWOK_VERSION}", environment={"GOBIN": str(into)})


@contextmanager
def _workshop(into: Path) -> Iterator[tuple[str, Path]]:
    """Give the Go toolchain and a folder to work in, below ``into``; the folder goes afterwards."""
    go = go_program()
    if go is None:
        raise EnvtestError("there is no `go` on PATH", hint="install Go, https://go.dev/dl")
    work = into / ".build"
    work.mkdir()
    try:
        yield go, work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def module_file(version: str, upstream: str, programs: Sequence[str] = PROGRAMS) -> str:
    """Write the go.mod that builds ``programs`` of ``version``, given the go.mod of k8s.io/kubernetes of that version.

    Raises:
        EnvtestError: the upstream file does not have the expected shape.

    """
    go, etcd = _GO_VERSION.search(upstream), _ETCD_VERSION.search(upstream)
    staging = _STAGING.findall(upstream)
    if go is None or etcd is None or not staging:
        raise EnvtestError(f"the go.mod of k8s.io/kubernetes v{version} is not as expected")
    released = f"v0.{version.partition('.')[2]}"
    lines = [
        "module envtest",
        f"go {go[1]}",
        f"require k8s.io/kubernetes v{version}",
        f"require {_ETCD} {etcd[1]}",
        *(f"replace {module} => {module} {released}" for module in staging),
        *(f"tool {_PACKAGES[name]}" for name in programs),
    ]
    return "\n".join(lines) + "\n"


def _linker_flags(version: str) -> str:
    """Give the server its version: without it, it calls itself v0.0.0-master and clients get confused."""
    major, minor, _ = version.split(".")
    values = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in values.items())


def _upstream_go_mod(go: str, version: str, work: Path, report: Report) -> str:
    command = [go, "mod", "download", "-json", f"k8s.io/kubernetes@v{version}"]
    output = _run(command, work, report, what=f"fetching k8s.io/kubernetes v{version}")
    try:
        with open(json.loads(output)["GoMod"], encoding="utf-8") as file:  # noqa: PTH123 - a path out of JSON
            return file.read()
    except (ValueError, KeyError, OSError) as error:
        raise EnvtestError(f"`{' '.join(command)}` answered unexpectedly: {output.strip()[:200]}") from error


def _run(
    command: Sequence[str], work: Path, report: Report, *, what: str, environment: Mapping[str, str] | None = None
) -> str:
    """Run one step of Go, with a line now and then that says how long it has been at it; give its standard output."""
    report(what)
    began = time.monotonic()
    output, errors = work / ".output", work / ".errors"
    with output.open("w") as out, errors.open("w") as err:
        # Go inherits the store's lock, which must outlast us if we are killed and it goes on.
        env = os.environ | _ENVIRONMENT | dict(environment or {})
        process = subprocess.Popen(command, cwd=work, stdout=out, stderr=err, env=env, close_fds=False)
        try:
            while not _ended(process):
                report(f"  {what}: {time.monotonic() - began:.0f} s so far")
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if process.returncode:
        said = (errors.read_text(errors="replace") + output.read_text(errors="replace")).strip().splitlines()[-4:]
        raise EnvtestError(
            f"{what} failed: {' | '.join(line.strip() for line in said) or f'exit code {process.returncode}'}",
            hint="Go needs its module proxy (GOPROXY) or a filled module cache; or set KUBEBUILDER_ASSETS",
        )
    return output.read_text(encoding="utf-8")


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_TICK_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True
