"""A real API server takes what is generated, and behaves as the declarations say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold import generate
from pyopscaffold.errors import Invalid
from pyopscaffold.files.apply import apply
from pyopscaffold.files.plan import plan
from pyopscaffold.loader import source
from pyopscaffold.model.project import Project
from pyopscaffold.testing.waiting import eventually

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer, RestClient
    from pyopscaffold.testing.plugin import ControlPlanes

DECLARATIONS = Path(__file__).parents[1] / "oracle" / "testdata" / "python"
PROJECT = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="")
GADGETS = "/apis/example.com/v1/gadgetry"
DATABASES = "/apis/example.com/v1/namespaces/default/mydatabases"


class Cluster:
    """An API server on which the generated CRDs are installed."""

    def __init__(self, server: ApiServer, config: Path) -> None:
        self.config = config
        self.client: RestClient = server.client()
        self._command = [str(server.kubectl), f"--kubeconfig={server.kubeconfig()}"]

    def kubectl(self, *arguments: str | Path) -> str:
        """Run kubectl, and return what it printed."""
        done = subprocess.run([*self._command, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def install(self, *paths: str) -> str:
        """Apply files of config/ as strictly as the server can."""
        files = [f"--filename={self.config / path}" for path in paths]
        return self.kubectl("apply", "--server-side", "--validate=strict", *files)

    def database(self, name: str, spec: dict[str, Any]) -> dict[str, Any]:
        """Create a MyDatabase, and return what the server made of it."""
        body = {"apiVersion": "example.com/v1", "kind": "MyDatabase", "metadata": {"name": name}, "spec": spec}
        return self.client.create(DATABASES, body)


@pytest.fixture(scope="module")
def cluster(control_planes: ControlPlanes, tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """Give a control plane with the CRDs of the oracle's declarations, each accepted and established."""
    root = tmp_path_factory.mktemp("project")
    model = source.read(DECLARATIONS, "acme", python=sys.executable)
    apply(plan(root, generate.artefacts(model, PROJECT, {})))
    cluster = Cluster(control_planes().start(), root / "config")
    cluster.install("crd/bases")
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")
    # What the server says of its kinds follows the CRDs a moment later.
    eventually(lambda: all(cluster.kubectl("explain", plural) for plural in ("gadgetry", "mydatabases")))
    return cluster


def test_crds_are_sound(cluster: Cluster) -> None:
    """Every CRD is structural, all its names are accepted, and the server has no complaint."""
    for crd in json.loads(cluster.kubectl("get", "crd", "--output=json"))["items"]:
        conditions = {condition["type"]: condition["status"] for condition in crd["status"]["conditions"]}
        assert conditions == {"NamesAccepted": "True", "Established": "True"}


@pytest.mark.parametrize("package", ["twins", "differences"])
def test_twins_are_accepted(cluster: Cluster, tmp_path: Path, package: str) -> None:
    """The server takes every marker's effect as generated, and webhook configurations too, all strictly."""
    model = source.read(DECLARATIONS, package, python=sys.executable)
    apply(plan(tmp_path, generate.artefacts(model, PROJECT, {})))
    folders = [tmp_path / "config" / name for name in ("crd/bases", "webhook")]
    files = [f"--filename={folder}" for folder in folders if folder.is_dir()]
    said = cluster.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", *files)
    webhooks = len({item.mutating for item in model.webhooks})
    assert said.count("serverside-applied") == len({kind.gvk.group_kind for kind in model.kinds}) + webhooks


def test_server_keeps_the_schema(cluster: Cluster) -> None:
    """The server neither drops nor adds anything in the schemas."""
    for path in (cluster.config / "crd" / "bases").iterdir():
        ours = yaml.safe_load(path.read_text())
        theirs = json.loads(cluster.kubectl("get", "crd", ours["metadata"]["name"], "--output=json"))
        schemas = [{v["name"]: v["schema"] for v in crd["spec"]["versions"]} for crd in (ours, theirs)]
        assert schemas[0] == schemas[1]


def test_samples_are_accepted(cluster: Cluster) -> None:
    """Every sample is an object that the server takes as it stands."""
    applied = cluster.install("samples")
    assert sorted(applied.split("\n")) == [
        "",
        "gadget.example.com/gadget-sample serverside-applied",
        "mydatabase.example.com/mydatabase-sample serverside-applied",
    ]


def test_commented_fields_of_samples_are_accepted(cluster: Cluster, tmp_path: Path) -> None:
    """The optional fields that a sample shows as comments are valid when they are put in."""
    text = (cluster.config / "samples" / "v1_mydatabase.yaml").read_text()
    full = tmp_path / "full.yaml"
    full.write_text(text.replace("  # replicas:", "  replicas:").replace("  # storage:", "  storage:"))
    assert yaml.safe_load(full.read_text())["spec"] == {"version": "14", "replicas": 1, "storage": "10Gi"}
    cluster.kubectl("apply", "--server-side", "--validate=strict", "--dry-run=server", f"--filename={full}")


def test_roles_are_accepted(cluster: Cluster) -> None:
    """The operator's role and the users' roles are valid."""
    cluster.kubectl("create", "namespace", "system")
    assert cluster.install("rbac").count("serverside-applied") == 9


def test_explain(cluster: Cluster) -> None:
    """Kubectl explains a field by its docstring, and the object by the class's."""
    assert "Number of database pods, 1 to 10; 1 if unset." in cluster.kubectl("explain", "mydatabases.spec.replicas")
    assert "A PostgreSQL database run as a StatefulSet." in cluster.kubectl("explain", "mydatabases")


def test_defaults(cluster: Cluster) -> None:
    """The server fills in the defaults of the spec, and a status that nobody has observed yet."""
    made = cluster.database("defaults", {})
    assert made["spec"] == {"version": "14", "replicas": 1}
    assert made["status"] == {"observedGeneration": -1}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"replicas": 0}, "spec.replicas"),
        ({"replicas": 11}, "spec.replicas"),
        ({"version": "latest"}, "spec.version"),
        ({"storage": "much"}, "spec.storage"),
    ],
)
def test_refusals(cluster: Cluster, spec: dict[str, Any], field: str) -> None:
    """The server refuses what the bounds and patterns of the declaration exclude, and names the field."""
    with pytest.raises(Invalid) as caught:
        cluster.database("refused", spec)
    assert {cause.field for cause in caught.value.causes} == {field}


def test_nested_defaults(cluster: Cluster) -> None:
    """Nested defaults arrive although their parent was not given, and so do those of list items."""
    gadget = yaml.safe_load((cluster.config / "samples" / "v1_gadget.yaml").read_text())
    gadget["metadata"]["name"] = "nested"
    gadget["spec"]["ports"] = [{"name": "a", "number": 1}]
    spec = cluster.client.create("/apis/example.com/v1/gadgetry", gadget)["spec"]
    assert spec["retry"] == {"limit": 3, "delay": "5m0s"}
    assert spec["slowRetry"] == {"limit": 9, "delay": "5m0s"}
    assert spec["ports"] == [{"name": "a", "number": 1, "protocol": "TCP"}]
    assert "otherRetry" not in spec


def _gadget(cluster: Cluster, name: str, **spec: Any) -> dict[str, Any]:
    gadget = yaml.safe_load((cluster.config / "samples" / "v1_gadget.yaml").read_text())
    gadget["metadata"]["name"] = name
    gadget["spec"].update(spec)
    return cluster.client.create(GADGETS, gadget)


def _refused(cluster: Cluster, name: str, spec: dict[str, Any]) -> tuple[str | None, str]:
    """Merge into the spec of a gadget, and return the field and the message that the server refuses it with."""
    with pytest.raises(Invalid) as caught:
        cluster.client.merge(f"{GADGETS}/{name}", {"spec": spec})
    (cause,) = caught.value.causes
    return cause.field, cause.message.rpartition(": ")[2]


def test_rules(cluster: Cluster) -> None:
    """Rules judge what they stand on: a field, an item of a list, an object; each says what it was told to say."""
    _gadget(cluster, "ruled", size="small", ports=[{"name": "a", "number": 1}])
    assert _refused(cluster, "ruled", {"words": ["yes", "no"]}) == ("spec.words[1]", "no is no word")
    zero = [{"name": "a", "number": 0}]
    assert _refused(cluster, "ruled", {"ports": zero}) == ("spec.ports[0].number", "ports start at 1")
    silent = {"verbose": True, "enabled": False}
    assert _refused(cluster, "ruled", silent) == ("spec", "a small one is silent while it is off")


def test_transition_rules(cluster: Cluster) -> None:
    """Rules on the old value judge updates: of a field that may have been absent, and of an item with the same key."""
    _gadget(cluster, "moving", byName={"a": {"name": "a", "number": 1}})
    cluster.client.merge(f"{GADGETS}/moving", {"spec": {"cores": 2}})
    assert _refused(cluster, "moving", {"cores": 1}) == ("spec.cores", "cores only grow")
    assert _refused(cluster, "moving", {"byName": {"a": {"protocol": "UDP"}}})[0] == "spec.byName[a]"
    cluster.client.merge(f"{GADGETS}/moving", {"spec": {"byName": {"a": {"number": 7}}, "cores": 4}})


def test_immutable_fields(cluster: Cluster) -> None:
    """A required field never changes; an optional one can be set once, and neither be changed nor taken away then."""
    _gadget(cluster, "fixed", size="small")
    assert _refused(cluster, "fixed", {"size": "large"}) == ("spec.size", "field is immutable")
    cluster.client.merge(f"{GADGETS}/fixed", {"spec": {"clusterIP": "10.0.0.1"}})
    assert _refused(cluster, "fixed", {"clusterIP": "10.0.0.2"}) == ("spec.clusterIP", "field is immutable")
    assert _refused(cluster, "fixed", {"clusterIP": None}) == ("spec", "field clusterIP is immutable once set")


def test_scale(cluster: Cluster) -> None:
    """Kubectl scales through the subresource."""
    cluster.database("scaled", {})
    cluster.kubectl("scale", "mydatabase/scaled", "--replicas=3")
    assert cluster.client.get(f"{DATABASES}/scaled")["spec"]["replicas"] == 3


def test_columns(cluster: Cluster) -> None:
    """Kubectl shows the columns, and finds the kind by its short name."""
    cluster.database("shown", {})
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "Up",
        "message": "",
        "lastTransitionTime": "2026-01-31T12:00:00Z",
    }
    cluster.client.merge(f"{DATABASES}/shown/status", {"status": {"readyReplicas": 2, "conditions": [condition]}})
    header, row = cluster.kubectl("get", "db", "shown").splitlines()
    assert header.split() == ["NAME", "READY", "REPLICAS", "AGE"]
    assert row.split()[:3] == ["shown", "True", "2"]
