"""A project made by the built wheels, as a user meets it: every Make target but docker-* and test-e2e.

One project serves all tests here, in the order in which a user would work.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold.errors import NotFound
from pyopscaffold.testing import eventually
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer

pytestmark = [pytest.mark.xdist_group("made-project"), pytest.mark.timeout(600)]

UV = Path(sys.executable).with_name("uv")
SAMPLE = "/apis/db.example.com/v1/namespaces/default/mydatabases/sample"
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mydatabases.db.example.com"
DEPLOYMENT = "/apis/apps/v1/namespaces/shop-system/deployments/shop-controller-manager"


@dataclass(frozen=True)
class Made:
    """A project, and the environment that its commands are run in."""

    folder: Path
    environment: dict[str, str]

    def start(self, *command: str, **variables: str) -> subprocess.Popen[str]:
        """Start a command in the project."""
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str, **variables: str) -> str:
        """Run a command that must succeed; gives what it shows."""
        process = self.start(*command, **variables)
        shown, _ = process.communicate()
        assert process.returncode == 0, shown
        return shown


def build_wheels(into: Path) -> None:
    """Build both distributions from the tree."""
    for project in (ROOT / "runtime", ROOT):
        build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(into), str(project)]
        subprocess.run(build, check=True, capture_output=True)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with both wheels."""
    folder = tmp_path_factory.mktemp("wheels")
    build_wheels(folder)
    return folder


def user(home: Path, install: list[str]) -> dict[str, str]:
    """Install the tool into an environment of its own; gives the variables of its user's shell."""
    base = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
    subprocess.run([str(UV), "venv", "--quiet", "--python", sys.executable, str(home / "tool")], check=True)
    command = [str(UV), "pip", "install", "--quiet", "--python", str(home / "tool/bin/python"), *install]
    subprocess.run(command, check=True)
    path = os.pathsep.join([str(home / "tool/bin"), base["PATH"]])
    return {**base, "PATH": path, "UV": str(UV), "UV_PYTHON": sys.executable, "NO_COLOR": "1"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Made:
    """Install the wheels, make a project with an API, and edit its types as a user would."""
    home = tmp_path_factory.mktemp("home")
    environment = user(home, [str(wheel) for wheel in wheels.glob("*.whl")])
    folder = home / "shop"
    folder.mkdir()
    project = Made(folder, environment)
    project.run("pyopscaffold", "init", "--domain", "example.com")
    project.run("pyopscaffold", "create", "api", "--group", "db", "--version", "v1", "--kind", "MyDatabase")
    types = folder / "shop/api/v1/my_database.py"
    field = '    replicas: Annotated[int32, Ge(1), Le(10)] = 1\n    """Number of pods; 1 if unset."""\n\n    message:'
    text = types.read_text().replace("    message:", field, 1)
    types.write_text(
        text.replace("    Conditions,\n", "    Conditions,\n    Ge,\n    Le,\n").replace("int64,", "int32,\n    int64,")
    )
    return project


@pytest.fixture(scope="module")
def cluster(clusters: Any) -> ApiServer:
    """Start a simulated cluster to install into."""
    server: ApiServer = clusters().server
    return server


@pytest.fixture
def kubectl(made: Made, cluster: ApiServer) -> Made:
    """Give the project's user access to the cluster."""
    path = os.pathsep.join([str(cluster.kubectl.parent), made.environment["PATH"]])
    return Made(made.folder, made.environment | {"KUBECONFIG": str(cluster.kubeconfig()), "PATH": path})


def test_published_wheels_leave_no_trace(tmp_path: Path, wheels: Path) -> None:
    """Installed as from an index, the tool writes no [tool.uv.sources]."""
    environment = user(tmp_path, ["--find-links", str(wheels), "pyopscaffold"])
    project = Made(tmp_path, environment)
    shown = project.run("pyopscaffold", "init", "--domain", "example.com", "--project-name", "shop", "--force")
    assert "where this tool came from" not in shown
    assert "uv" not in tomllib.loads((tmp_path / "pyproject.toml").read_text())["tool"]


def test_unpublished_wheels_are_the_projects_source(made: Made, wheels: Path) -> None:
    """Installed from files, the tool has the project take the same files."""
    sources = tomllib.loads((made.folder / "pyproject.toml").read_text())["tool"]["uv"]["sources"]
    assert {Path(source["path"]) for source in sources.values()} == set(wheels.glob("*.whl"))


def test_help(made: Made) -> None:
    """The targets are listed, and are kubebuilder's."""
    shown = made.run("make")
    for target in (
        *("help", "manifests", "generate", "fmt", "lint", "test", "test-e2e", "build", "run", "docker-build"),
        *("docker-push", "build-installer", "install", "uninstall", "deploy", "undeploy"),
    ):
        assert f"  {target} " in shown.replace("\x1b[36m", "").replace("\x1b[0m", "")


def test_uv_is_asked_for(made: Made) -> None:
    """Without uv, one line says what is needed and where to get it."""
    process = made.start("make", "test", UV="no-such-uv")
    shown, _ = process.communicate()
    assert process.returncode == 2
    assert shown.startswith("error: uv is needed; see https://")


def test_manifests(made: Made) -> None:
    """The edited type is in the CRD, with its docstring; a check then finds nothing to do."""
    made.run("make", "manifests")
    crd = yaml.safe_load((made.folder / "config/crd/bases/db.example.com_mydatabases.yaml").read_text())
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert spec["replicas"]["description"] == "Number of pods; 1 if unset."
    made.run("make", "generate")
    made.run(str(UV), "run", "--no-sync", "pyopscaffold", "generate", "--check")


def test_lint(made: Made) -> None:
    """Format, style, types and the CRD's design are in order as they come."""
    shown = made.run("make", "lint")
    assert "Success: no issues found" in shown
    assert "lint-crd --profile strict" in shown


def test_fmt(made: Made) -> None:
    """What is badly formatted is mended; what came with the project needs no change."""
    before = {path: path.read_text() for path in made.folder.glob("*/**/*.py") if ".venv" not in path.parts}
    ugly = made.folder / "shop/ugly.py"
    ugly.write_text("import sys,os\nprint( os )\n")
    try:
        made.run("make", "fmt")
        assert ugly.read_text() == "import os\n\nprint(os)\n"
    finally:
        ugly.unlink()
    assert {path: path.read_text() for path in before} == before


def test_test(made: Made) -> None:
    """The project's own tests pass on the first run, those on a real API server among them."""
    shown = made.run("make", "test")
    assert "4 passed" in shown


def test_rbac(made: Made) -> None:
    """The generated role is just what the operator asks for in the project's tests."""
    made.run("make", "manifests")
    verify = ("pyopscaffold", "rbac", "verify", "--", "--quiet", "tests/test_my_database.py")
    shown = made.run(str(UV), "run", "--no-sync", *verify)
    assert "role.yaml grants what the operator asked for, and nothing else" in shown


def test_build(made: Made) -> None:
    """The wheel has the operator."""
    made.run("make", "build")
    assert [path.name for path in (made.folder / "dist").glob("*.whl")] == ["shop-0.1.0-py3-none-any.whl"]


def test_the_steps_of_the_image(made: Made, tmp_path: Path) -> None:
    """Replayed with the wheels, the Dockerfile's build makes an environment that has the operator, but not the tool."""
    made.run("make", "manifests")  # locks
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "base")], check=True)
    path = os.pathsep.join([str(tmp_path / "base/bin"), made.environment["PATH"]])
    # Beside the project, so that the lock's way to the wheels is right.
    image = Made(made.folder.parent / "image", made.environment | {"PATH": path, "UV_PYTHON": "python"})
    image.folder.mkdir()
    replay((made.folder / "Dockerfile").read_text().rpartition("\nFROM ")[0], image, context=made.folder)
    operator = Made(tmp_path, image.environment)
    python = str(image.folder / ".venv/bin/python")
    assert "--leader-elect" in operator.run(python, "-m", "shop", "--help")
    code = "import shop, importlib.util as u; print(shop.__file__, *filter(u.find_spec, ['typer', 'copier', 'jinja2']))"
    assert Path(operator.run(python, "-c", code).strip()).is_relative_to(image.folder / ".venv")


def replay(stage: str, image: Made, *, context: Path) -> None:
    """Do what the instructions of a stage say in the image's folder."""
    for keyword, rest in re.findall(r"^([A-Z]+) (.+)$", stage, re.MULTILINE):
        if keyword == "ENV":
            image.environment.update(pair.split("=", 1) for pair in rest.split())
        elif keyword == "COPY":
            *sources, target = rest.split()
            for source in (context / name for name in sources):
                copy = shutil.copytree if source.is_dir() else shutil.copy
                copy(source, image.folder / target)
        elif keyword == "RUN":
            image.run("sh", "-c", rest)


def test_install_and_run(kubectl: Made, cluster: ApiServer) -> None:
    """The CRD is installed, its docs are served, and the operator run from here reconciles."""
    kubectl.run("make", "install")
    client = cluster.client()
    shown = eventually(lambda: explained(kubectl))
    assert "Number of pods; 1 if unset." in shown
    operator = kubectl.start("make", "run", "ARGS=--metrics-bind-address 0 --health-probe-bind-address 0")
    try:
        body = {"apiVersion": "db.example.com/v1", "kind": "MyDatabase", "metadata": {"name": "sample"}, "spec": {}}
        client.apply(SAMPLE, body)
        child = "/api/v1/namespaces/default/configmaps/sample-mydatabase"
        assert eventually(lambda: client.get(child), within=60)["data"] == {"message": "hello"}
    finally:
        operator.terminate()
        operator.communicate(timeout=60)


def explained(project: Made) -> str:
    """Ask kubectl about the field, which may take the server a moment after the CRD came."""
    command = ("kubectl", "explain", "mydatabases.spec.replicas")
    process = project.start(*command)
    shown, _ = process.communicate()
    return shown if process.returncode == 0 else ""


def test_build_installer(kubectl: Made) -> None:
    """One file has everything, with the image that was asked for."""
    kubectl.run("make", "build-installer", "IMG=registry.example.com:5000/shop:1.0")
    documents = list(yaml.safe_load_all((kubectl.folder / "dist/install.yaml").read_text()))
    kinds = {document["kind"] for document in documents}
    assert {"Namespace", "CustomResourceDefinition", "ClusterRole", "ServiceAccount", "Deployment"} <= kinds
    (deployment,) = (document for document in documents if document["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example.com:5000/shop:1.0"


def test_deploy_and_remove(kubectl: Made, cluster: ApiServer) -> None:
    """The cluster takes all of it, the Deployment becomes available, and all of it goes again."""
    client = cluster.client()
    kubectl.run("make", "deploy", "IMG=shop:2.0")
    (container,) = client.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "shop:2.0"
    assert eventually(lambda: client.get(DEPLOYMENT)["status"].get("availableReplicas")) == 1
    kubectl.run("make", "undeploy")
    for path in (DEPLOYMENT, CRD, "/api/v1/namespaces/shop-system"):
        with pytest.raises(NotFound):
            client.get(path)
    kubectl.run("make", "install")
    assert client.get(CRD)["kind"] == "CustomResourceDefinition"
    kubectl.run("make", "uninstall")
    with pytest.raises(NotFound):
        client.get(CRD)
