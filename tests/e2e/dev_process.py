"""``pyopscaffold dev`` as a process, on a copy of the MyDatabase example."""

from __future__ import annotations

import base64
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pyopscaffold.testing import RestClient, eventually
from pyopscaffold.testing.binaries import find

if TYPE_CHECKING:
    from collections.abc import Mapping

PATIENCE = 90.0
SAMPLE = "/apis/example.com/v1/namespaces/default/mydatabases/mydatabase-sample"
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mydatabases.example.com"
COMMAND = (str(Path(sys.executable).with_name("pyopscaffold")), "dev")


def environment(folder: Path) -> dict[str, str]:
    """Give an environment in which all that ``dev`` leaves or runs has ``folder`` in its path."""
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    return {
        **os.environ,
        "XDG_CACHE_HOME": str(folder / "cache"),
        "TMPDIR": str(folder / "tmp"),
        "KUBEBUILDER_ASSETS": str(find(simulated=True).directory),
        "VIRTUAL_ENV": sys.prefix,
    }


def processes(folder: Path, *words: str) -> list[int]:
    """Ids of the processes that name ``folder`` and all the words in their command lines."""
    listed = subprocess.run(["ps", "-eww", "-o", "pid,args"], check=True, capture_output=True, text=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if all(word in line for word in (str(folder), *words))]


def client_of(kubeconfig: Mapping[str, Any]) -> RestClient:
    """Give a client for what a kubeconfig says, be the token in it or in a file."""
    cluster, user = kubeconfig["clusters"][0]["cluster"], kubeconfig["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    token = user.get("token") or Path(user["tokenFile"]).read_text()
    return RestClient(cluster["server"], ca=authority, token=token)


@dataclass
class Dev:
    """A running ``dev`` in ``project``; ``folder`` holds its output and all that it makes elsewhere."""

    project: Path
    folder: Path
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, project: Path, folder: Path, *arguments: str) -> Dev:
        """Start it; its output is in files."""
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            process = subprocess.Popen(
                [*COMMAND, *arguments], cwd=project, env=environment(folder), stdout=out, stderr=err
            )
        return cls(project, folder, process)

    @property
    def out(self) -> str:
        """What it has written to standard output."""
        return (self.folder / "out").read_text()

    @property
    def err(self) -> str:
        """What it has written to standard error."""
        return (self.folder / "err").read_text()

    def shows(self, text: str, *, times: int = 1) -> None:
        """Wait until it has said ``text``, in either stream, at least so often."""

        def said() -> bool:
            assert self.process.poll() is None, self.err
            return (self.out + self.err).count(text) >= times

        try:
            eventually(said, within=PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"never said {text!r}:\n{self.out}\n{self.err}") from error

    @property
    def kubeconfig(self) -> Path:
        """The path in the line for the shell."""
        line = next(line for line in self.out.splitlines() if line.startswith("export KUBECONFIG="))
        return Path(line.partition("=")[2])

    def client(self) -> RestClient:
        """Give a client from the printed kubeconfig."""
        return client_of(yaml.safe_load(self.kubeconfig.read_text()))

    def operator_identity(self) -> str:
        """Say as whom the operator speaks to the API server."""
        (config,) = (self.folder / "tmp").glob("*/kubeconfig")
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        client = client_of(yaml.safe_load(config.read_text()))
        found = client.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", body)
        name: str = found["status"]["userInfo"]["username"]
        return name

    def interrupt(self) -> int:
        """Press Ctrl-C, and give the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


def copy_of(example: Path, to: Path) -> Path:
    """Copy an example project, without what running it left."""
    ignored = shutil.ignore_patterns("__pycache__", ".*_cache", ".venv")
    return Path(shutil.copytree(example, to, ignore=ignored))


def message(client: RestClient, path: str = SAMPLE) -> str:
    """Give the message of the object's Ready condition, "" where it has none."""
    found = client.get(path).get("status", {}).get("conditions", [])
    return next((str(one["message"]) for one in found if one["type"] == "Ready"), "")
