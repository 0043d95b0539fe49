"""``pyopscaffold dev`` in the MyDatabase example: one run serves the tests, each of which puts files back."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.testing import eventually
from tests.e2e.dev_process import COMMAND, CRD, PATIENCE, SAMPLE, Dev, copy_of, environment, message, processes
from tests.e2e.mydatabase_cluster import EXAMPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyopscaffold.testing import ApiServer

pytestmark = [pytest.mark.xdist_group("dev"), pytest.mark.timeout(300)]

TYPES = "mydatabase/api/v1/my_database.py"
CONTROLLER = "mydatabase/controllers/my_database.py"
AT_WORK = "the operator is at work"


@pytest.fixture(scope="module")
def running() -> Iterator[Dev]:
    """Give a ``dev`` whose sample is ready."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as short:
        folder = Path(short).resolve()
        dev = Dev.start(copy_of(EXAMPLE, folder / "mydatabase"), folder)
        try:
            dev.shows("Ready=True")
            yield dev
        finally:
            if dev.process.poll() is None:
                dev.interrupt()
            print(dev.out, dev.err, sep="\n")  # noqa: T201 - pytest shows it where the test failed


@pytest.fixture
def edit(running: Dev) -> Iterator[Callable[[str, str, str], None]]:
    """Give a function that replaces a text in a file of the project; afterwards all is as it was, and runs."""
    before: dict[Path, str] = {}

    def edit(name: str, old: str, new: str) -> None:
        path = running.project / name
        text = before.setdefault(path, path.read_text())
        assert old in text
        path.write_text(text.replace(old, new))

    yield edit
    seen = running.err.count(AT_WORK)
    for path, text in before.items():
        path.write_text(text)
    running.shows(AT_WORK, times=seen + 1)


def test_the_operator_runs_under_its_own_account(running: Dev) -> None:
    """The operator has no more rights than the generated role gives it in a real cluster."""
    assert running.operator_identity() == "system:serviceaccount:mydatabase-system:mydatabase-controller-manager"


def test_changed_code_reconciles(running: Dev, edit: Callable[[str, str, str], None]) -> None:
    """A save of the reconciler is enough for existing objects to get what the new code says."""
    client = running.client()
    edit(CONTROLLER, "pods ready", "pods at your service")
    eventually(lambda: "at your service" in message(client), within=PATIENCE)


def test_changed_types_change_the_crd(running: Dev, edit: Callable[[str, str, str], None]) -> None:
    """A save of the types generates the CRD anew, on disk and on the server."""
    client = running.client()
    edit(TYPES, "Le(10)", "Le(12)")

    def highest() -> int:
        (version,) = client.get(CRD)["spec"]["versions"]
        spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
        value: int = spec["properties"]["replicas"]["maximum"]
        return value

    eventually(lambda: highest() == 12, within=PATIENCE)
    assert "maximum: 12" in (running.project / "config/crd/bases/example.com_mydatabases.yaml").read_text()


@pytest.mark.parametrize("name", [CONTROLLER, "mydatabase/__main__.py"])
def test_broken_code_leaves_the_operator_alone(running: Dev, edit: Callable[[str, str, str], None], name: str) -> None:
    """A syntax error anywhere is shown with its place, and the operator that ran goes on reconciling."""
    (before,) = processes(running.folder, "-m mydatabase")
    seen = running.err.count("SyntaxError")
    edit(name, "from", "from from")
    running.shows("SyntaxError", times=seen + 1)
    running.shows("the operator goes on with the code that it has")
    assert re.search(rf"error: {name}:[0-9]+: SyntaxError", running.err)
    client = running.client()
    replicas = client.get(SAMPLE)["spec"].get("replicas", 1) % 3 + 1
    client.merge(SAMPLE, {"spec": {"replicas": replicas}})
    eventually(lambda: message(client).startswith(f"{replicas} of {replicas} pods"), within=PATIENCE)
    assert processes(running.folder, "-m mydatabase") == [before]


def test_a_crash_is_shown_and_mended(running: Dev) -> None:
    """An operator that dies by itself is said to have died, and is started again."""
    (before,) = processes(running.folder, "-m mydatabase")
    seen = running.err.count(AT_WORK)
    os.kill(before, signal.SIGKILL)
    running.shows("the operator was killed by signal 9")
    running.shows(AT_WORK, times=seen + 1)


def test_the_api_servers_death_is_noticed(running: Dev) -> None:
    """A cluster whose API server died is started again, with the objects that were in it."""
    client = running.client()
    uid = client.get(SAMPLE)["metadata"]["uid"]
    (server,) = processes(running.folder, "kube-apiserver --etcd")
    seen = running.err.count("the API server answers again")
    os.kill(server, signal.SIGKILL)
    running.shows("the API server is gone")
    running.shows("the API server answers again", times=seen + 1)
    assert client.get(SAMPLE)["metadata"]["uid"] == uid


def test_a_second_one_is_refused(running: Dev) -> None:
    """Two of them would fight over one cluster: the second says who has it, in one line and a hint."""
    done = subprocess.run(
        COMMAND, cwd=running.project, env=environment(running.folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert (
        error == f"error: this project's cluster is in use by another pyopscaffold dev (process {running.process.pid})"
    )
    assert str(running.kubeconfig) in hint


def test_what_is_kept(tmp_path: Path) -> None:
    """Ctrl-C leaves no process but the cluster's data: the next run has the objects as they were; --fresh does not."""
    project = copy_of(EXAMPLE, tmp_path / "mydatabase")
    edited = {"spec": {"replicas": 3}}
    first = Dev.start(project, tmp_path, "--nodes", "0")
    first.shows(AT_WORK)
    client = first.client()
    eventually(lambda: client.merge(SAMPLE, edited), within=PATIENCE)
    uid, url, kubeconfig = client.get(SAMPLE)["metadata"]["uid"], first.kubeconfig.read_text(), first.kubeconfig
    assert first.interrupt() == 130
    assert processes(tmp_path) == []
    assert list((tmp_path / "tmp").iterdir()) == []

    second = Dev.start(project, tmp_path, "--nodes", "0")
    second.shows(AT_WORK)
    found = client.get(SAMPLE)
    assert (found["metadata"]["uid"], found["spec"]["replicas"]) == (uid, 3)
    assert (second.kubeconfig, kubeconfig.read_text()) == (kubeconfig, url)
    second.process.terminate()
    assert second.process.wait(timeout=60) == 0

    third = Dev.start(project, tmp_path, "--nodes", "0", "--fresh")
    third.shows(AT_WORK)
    assert third.client().get(SAMPLE)["metadata"]["uid"] != uid
    third.process.kill()
    third.process.wait()
    eventually(lambda: processes(tmp_path) == [], within=PATIENCE)


@pytest.mark.parametrize("moment", ["starting an API server", "export KUBECONFIG="])
def test_ctrl_c_while_it_starts(tmp_path: Path, moment: str) -> None:
    """Ctrl-C before anything is ready leaves no more than Ctrl-C later."""
    dev = Dev.start(copy_of(EXAMPLE, tmp_path / "mydatabase"), tmp_path, "--nodes", "0")
    dev.shows(moment)
    assert dev.interrupt() == 130
    assert processes(tmp_path) == []
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.fixture(scope="module")
def elsewhere(control_planes: Callable[..., Any]) -> ApiServer:
    """Give another cluster, where ``author`` may do much, but give nobody rights."""
    server: ApiServer = control_planes(users=["author"]).server
    client = server.client()
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    groups = ["", "apps", "apiextensions.k8s.io", "events.k8s.io", "example.com"]
    rules = [{"apiGroups": groups, "resources": ["*"], "verbs": ["*"]}]
    names = {"metadata": {"name": "author"}, "apiVersion": "rbac.authorization.k8s.io/v1"}
    client.apply(f"{rbac}/clusterroles/author", {**names, "kind": "ClusterRole", "rules": rules})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "author"}
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "author"}]
    binding = {**names, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": subjects}
    client.apply(f"{rbac}/clusterrolebindings/author", binding)
    return server


def test_nothing_is_changed_without_consent(elsewhere: ApiServer, tmp_path: Path) -> None:
    """Where nobody can be asked, an existing cluster is named and left alone, unless --yes is given."""
    done = subprocess.run(
        [*COMMAND, "--kubeconfig", str(elsewhere.kubeconfig(path=tmp_path / "kubeconfig"))],
        cwd=copy_of(EXAMPLE, tmp_path / "mydatabase"),
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error.endswith(f"will be installed into envtest at {elsewhere.url}, as admin")
    assert "--yes" in hint


def test_a_cluster_that_does_not_answer(elsewhere: ApiServer, tmp_path: Path) -> None:
    """A kubeconfig that leads nowhere ends it with one line before anything is generated."""
    kubeconfig = elsewhere.kubeconfig(path=tmp_path / "kubeconfig")
    kubeconfig.write_text(kubeconfig.read_text().replace(elsewhere.url, "https://127.0.0.1:1"))
    dev = Dev.start(EXAMPLE, tmp_path, "--kubeconfig", str(kubeconfig), "--yes")
    assert dev.process.wait(timeout=60) == 2
    assert dev.err.splitlines()[1:] == ["error: the API server at 127.0.0.1:1 can't be reached: Connection refused"]


@pytest.mark.parametrize(
    ("user", "operator"),
    [("admin", "system:serviceaccount:mydatabase-system:mydatabase-controller-manager"), ("author", "author")],
)
def test_on_a_cluster_that_exists(elsewhere: ApiServer, tmp_path: Path, user: str, operator: str) -> None:
    """Only the operator is started: under its own account, or as a user who may not give that rights."""
    kubeconfig = elsewhere.kubeconfig(elsewhere.identity(user), path=tmp_path / "kubeconfig")
    flags = ("--kubeconfig", str(kubeconfig), "--yes", "--namespace", f"shop-of-{user}")
    dev = Dev.start(copy_of(EXAMPLE, tmp_path / "mydatabase"), tmp_path, *flags)
    dev.shows(f"MyDatabase shop-of-{user}/mydatabase-sample  Ready=False")
    assert dev.operator_identity() == operator
    assert ("warning: the operator runs as you" in dev.err) == (operator == user)
    assert processes(tmp_path, "etcd") == []
    assert dev.interrupt() == 130
    assert processes(tmp_path) == []
