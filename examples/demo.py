"""From an empty folder to a reconciling operator, live: ``make demo``.

Every step is a command that is printed, then really run. The control plane is the real one, with its controllers and
scheduler; only the nodes, on which the pods would run, are played. All of it happens in a temporary folder and ends
with this program, also by Ctrl-C.
"""

from __future__ import annotations

import base64
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from rich.console import Console
from rich.live import Live
from rich.table import Table

from pyopscaffold.errors import NotFound, PyopscaffoldError
from pyopscaffold.testing import RestClient, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

REPOSITORY = Path(__file__).resolve().parent.parent
EXAMPLE = REPOSITORY / "examples" / "mydatabase"
EDITED = ("mydatabase/api/v1/my_database.py", "mydatabase/controllers/my_database.py")
SYSTEM = "mydatabase-system"
ACCOUNT = "mydatabase-controller-manager"
DATABASE = "mydatabase-sample"
PATHS = {
    "MyDatabase": f"/apis/example.com/v1/namespaces/default/mydatabases/{DATABASE}",
    "StatefulSet": f"/apis/apps/v1/namespaces/default/statefulsets/{DATABASE}",
    "Service": f"/api/v1/namespaces/default/services/{DATABASE}",
}
OPENAPI = "/openapi/v3/apis/example.com/v1"
PATIENCE = 60.0
"""Seconds that the slowest step may take."""

Objects = dict[str, dict[str, Any]]
"""What is there, by kind."""

console = Console(highlight=False, soft_wrap=True)


class Shell:
    """Runs commands in the project's folder and prints each first, as a user would type it."""

    def __init__(self, folder: Path, kubectl: Path, kubeconfig: Path) -> None:
        self.folder = folder
        self.kubeconfig = kubeconfig
        programs = [str(Path(sys.executable).parent), str(kubectl.parent), os.environ.get("PATH", "")]
        environment = {"PATH": os.pathsep.join(programs), "VIRTUAL_ENV": sys.prefix, "KUBECONFIG": str(kubeconfig)}
        self.environment = {**os.environ, **environment}

    def run(self, *command: str, quiet: bool = False, secret: bool = False) -> str:
        """Run a command to its end and give what it printed; raise CalledProcessError if it failed."""
        self.show(*command[:-1], "--token=…") if secret else self.show(*command)
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        output = (done.stdout + done.stderr).strip()
        if output and (done.returncode or not quiet):
            console.print(indented(output), style="dim", markup=False)
        done.check_returncode()
        return done.stdout

    @contextmanager
    def background(self, *command: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
        """Run a command until the block ends; it is asked to stop, then made to."""
        self.show(*command, "&")
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def show(self, *command: str) -> None:
        """Print a command."""
        words = [word if word == "&" else shlex.quote(word) for word in command]
        console.print(f"$ {' '.join(words)}", style="bold cyan", markup=False)


def indented(text: str) -> str:
    """Set output off from commands."""
    return "\n".join(f"  {line}" for line in text.splitlines())


def say(text: str) -> None:
    """Print what comes next."""
    console.print(f"\n{text}", style="bold", markup=False)


class Watcher:
    """Shows the database and its children until something is true: a live table on a terminal, else plain lines."""

    def __init__(self, client: RestClient) -> None:
        self.client = client

    def until(self, text: str, reached: Callable[[Objects], bool]) -> None:
        """Watch until ``reached`` says of what is there that the step is done."""
        say(text)
        deadline = time.monotonic() + PATIENCE
        with Live(console=console, refresh_per_second=8) if console.is_terminal else ExitStack() as live:
            seen: tuple[tuple[str, ...], ...] = ()
            while True:
                objects = self._objects()
                rows = tuple(rows_of(objects))
                if isinstance(live, Live):
                    live.update(table(rows))
                else:
                    for row in rows:
                        if row not in seen:
                            console.print("  " + "  ".join(filter(None, row)), markup=False)
                seen = rows
                if reached(objects):
                    return
                if time.monotonic() > deadline:
                    raise PyopscaffoldError(f"not reached within {PATIENCE:.0f} s: {text}")
                time.sleep(0.1)

    def _objects(self) -> Objects:
        found = (self._get(path) for path in PATHS.values())
        return {kind: item for kind, item in zip(PATHS, found, strict=True) if item}

    def _get(self, path: str) -> dict[str, Any] | None:
        try:
            return self.client.get(path)
        except NotFound:
            return None


def rows_of(objects: Objects) -> Iterator[tuple[str, ...]]:
    """Give a row of the table for each kind."""
    for kind in PATHS:
        item = objects.get(kind)
        if item is None:
            yield (kind, DATABASE, "-", "not there")
        elif kind == "MyDatabase":
            yield (kind, DATABASE, pods(item), *condition(item))
        elif kind == "StatefulSet":
            yield (kind, DATABASE, pods(item), item["spec"]["template"]["spec"]["containers"][0]["image"])
        else:
            yield (kind, DATABASE, "-", "there")


def pods(item: dict[str, Any]) -> str:
    """Say how many pods are ready of how many are wanted."""
    return f"{item.get('status', {}).get('readyReplicas', 0)}/{item['spec']['replicas']}"


def condition(database: dict[str, Any]) -> tuple[str, str]:
    """Give the Ready condition's status and message."""
    for found in database.get("status", {}).get("conditions", []):
        if found["type"] == "Ready":
            return f"Ready={found['status']}", f"{found['reason']}: {found['message']}"
    return "Ready=?", ""


def table(rows: Sequence[tuple[str, ...]]) -> Table:
    """Draw the rows."""
    drawn = Table("kind", "name", "pods", "state", "why", box=None, padding=(0, 2))
    for row in rows:
        style = "green" if "Ready=True" in row else ""
        drawn.add_row(*row, *[""] * (5 - len(row)), style=style)
    return drawn


def is_ready(version: str, replicas: int) -> Callable[[Objects], bool]:
    """Tell whether the database serves this version on this many pods, and both statuses are up to date."""

    def reached(objects: Objects) -> bool:
        if not {"MyDatabase", "StatefulSet"} <= objects.keys():
            return False
        database, child = objects["MyDatabase"], objects["StatefulSet"]
        if condition(database)[0] != "Ready=True" or pods(child) != f"{replicas}/{replicas}":
            return False
        fresh = database["status"]["observedGeneration"] == database["metadata"]["generation"]
        spec = database["spec"]
        return fresh and (spec["version"], spec["replicas"]) == (version, replicas)

    return reached


def scaffold(shell: Shell) -> None:
    """Make the project, edit it as its author would, and generate."""
    say("1. From an empty folder to a project")
    shell.run("pyopscaffold", "init", "--domain", "example.com", "--project-name", "mydatabase", quiet=True)
    shell.run("pyopscaffold", "create", "api", "--group", "", "--version", "v1", "--kind", "MyDatabase", quiet=True)
    say("2. Edit two files: the API (dataclasses) and the reconciler; here, the example's")
    for path in EDITED:
        shell.run("cp", str(EXAMPLE / path), path)
    say("3. Generate CRD, RBAC, kustomize and chart from the types, and lint the CRD")
    shell.run("pyopscaffold", "generate")
    shell.run("pyopscaffold", "lint-crd", "config/crd/bases")


def install(shell: Shell) -> None:
    """Install CRD, RBAC and the rest, and make the credentials of the operator's ServiceAccount."""
    say("5. Install CRD and RBAC")
    shell.run("kubectl", "apply", "--server-side", "--filename", "config/crd/bases")
    shell.run("kubectl", "wait", "--for=condition=Established", "crd/mydatabases.example.com")
    built = shell.run("kubectl", "kustomize", "config/default", "--output", "install.yaml", quiet=True)
    shell.run("kubectl", "apply", "--server-side", "--filename", "install.yaml" + built)
    say("6. A kubeconfig for the operator's own ServiceAccount: it runs under the generated RBAC, not as admin")
    token = shell.run("kubectl", "create", "token", ACCOUNT, "--namespace", SYSTEM, quiet=True).strip()
    operator = shell.folder / "operator.kubeconfig"
    shutil.copy(shell.kubeconfig, operator)
    config = ("kubectl", "config", "--kubeconfig", operator.name)
    shell.run(*config, "set-credentials", "operator", f"--token={token}", secret=True)
    shell.run(*config, "set-context", "operator", "--cluster=envtest", "--user=operator", f"--namespace={SYSTEM}")
    shell.run(*config, "use-context", "operator")


def play(shell: Shell, watcher: Watcher) -> None:
    """Apply, scale, upgrade, tamper with and delete a database while the operator runs."""
    manage = ("kubectl", "patch", "mydatabase", DATABASE, "--type=merge", "--patch")
    shell.run("kubectl", "apply", "--server-side", "--filename", "config/samples/v1_mydatabase.yaml")
    shell.run(*manage, '{"spec": {"replicas": 3}}')
    watcher.until("The operator makes a Service and a StatefulSet, and waits for the pods", is_ready("14", 3))
    shell.run("kubectl", "get", "mydatabases")
    shell.run("kubectl", "get", "pods", "--output", "wide")
    eventually(lambda: watcher.client.get(OPENAPI))  # it is published some time after the CRD is established
    shell.run("kubectl", "explain", "mydatabases.spec.replicas")
    shell.run("kubectl", "scale", "mydatabase", DATABASE, "--replicas=5")
    watcher.until("Scaled through the scale subresource", is_ready("14", 5))
    shell.run(*manage, '{"spec": {"version": "16"}}')
    watcher.until("A new version rolls out", is_ready("16", 5))
    shell.run("kubectl", "delete", "statefulset", DATABASE, "--wait=false")
    watcher.until("Somebody deletes the StatefulSet: it comes back", is_ready("16", 5))
    shell.run("kubectl", "events", "--for", f"mydatabase/{DATABASE}")
    shell.run("kubectl", "delete", "mydatabase", DATABASE, "--wait=false")
    watcher.until("The finalizer stops the pods, then everything goes", lambda objects: not objects)


def rest_client(kubeconfig: Path) -> RestClient:
    """Make the watcher's client from the kubeconfig that ``envtest run`` wrote."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster = config["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    return RestClient(cluster["server"], ca=authority, token=config["users"][0]["user"]["token"], user_agent="demo")


def demo(folder: Path) -> None:
    """Run all steps in the folder."""
    project = folder / "mydatabase"
    project.mkdir()
    kubeconfig = folder / "kubeconfig"
    say("Binaries of the cluster")
    tool = Path(sys.executable).parent / "pyopscaffold"
    console.print("$ pyopscaffold envtest setup --simulated", style="bold cyan", markup=False)
    subprocess.run([tool, "envtest", "setup", "--simulated"], check=True)
    found = subprocess.run([tool, "envtest", "path", "--plain"], check=True, capture_output=True, text=True)
    shell = Shell(project, Path(found.stdout.strip()) / "kubectl", kubeconfig)
    scaffold(shell)
    with ExitStack() as running:
        say("4. Start a cluster: API server, controllers and scheduler are the real ones, the nodes are simulated")
        cluster = ("pyopscaffold", "envtest", "run", "--simulated", "--nodes", "3", "--kubeconfig", str(kubeconfig))
        running.enter_context(shell.background(*cluster, log=folder / "envtest.log"))
        eventually(kubeconfig.exists, within=PATIENCE)
        install(shell)
        say("7. Run the operator")
        operator = ("python", "-m", "mydatabase", "--kubeconfig", "operator.kubeconfig")
        leader = ("--leader-elect", "--leader-election-id", "mydatabase-leader")
        ports = ("--metrics-bind-address", "0", "--health-probe-bind-address", "0")
        process = running.enter_context(shell.background(*operator, *leader, *ports, log=folder / "operator.log"))
        try:
            play(shell, Watcher(rest_client(kubeconfig)))
        except PyopscaffoldError:
            console.print(indented((folder / "operator.log").read_text()), markup=False)
            raise
        say("8. Clean up: the operator drains and stops, then the cluster")
        process.terminate()
        code = process.wait(timeout=30)
        console.print(f"  the operator ended with exit code {code}", style="dim")
    say("Done: nothing is left.")


def main() -> int:
    """Run the demo; 0 if all of it went well."""
    started = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with tempfile.TemporaryDirectory(prefix="pyopscaffold-demo-") as folder:
            demo(Path(folder))
    except subprocess.CalledProcessError as error:
        console.print(f"error: {shlex.join(map(str, error.cmd))} failed", style="red", markup=False)
        return 1
    except PyopscaffoldError as error:
        console.print(f"error: {error}", style="red", markup=False)
        return 1
    except KeyboardInterrupt:
        console.print("\nstopped; nothing is left", markup=False)
        return 130
    console.print(f"{time.monotonic() - started:.0f} s in all", style="dim")
    return 0


if __name__ == "__main__":
    sys.exit(main())
