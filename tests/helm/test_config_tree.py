"""The kustomize tree of a made project."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold.model.kinds import ProjectModel
from pyopscaffold.testing import binaries
from tests.helm.pod_security import pods, violations
from tests.helm.projects import MODEL, PROJECT, SHOP, SHOPS, made, write

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.testing import ApiServer


def build(folder: Path) -> str:
    """Give what kustomize makes of a folder."""
    kubectl = binaries.find().kubectl
    run = subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def manifests(text: str) -> dict[str, dict[str, Any]]:
    """Give kind/name → manifest."""
    documents = [document for document in yaml.safe_load_all(text) if document]
    named = {f"{document['kind']}/{document['metadata']['name']}": document for document in documents}
    assert len(named) == len(documents)
    return named


def test_default_has_all_that_a_cluster_needs(project: Path) -> None:
    """CRD, identity, permissions, operator and metrics come out under the project's name, in its namespace."""
    built = manifests(build(project / "config" / "default"))
    assert {
        "Namespace/shop-operator-system",
        "CustomResourceDefinition/shops.sales.example.com",
        "ServiceAccount/shop-operator-controller-manager",
        "ClusterRole/shop-operator-manager-role",
        "ClusterRoleBinding/shop-operator-manager-rolebinding",
        "Role/shop-operator-leader-election-role",
        "RoleBinding/shop-operator-leader-election-rolebinding",
        "Deployment/shop-operator-controller-manager",
        "Service/shop-operator-metrics-service",
    } <= built.keys()


def test_references_meet(project: Path) -> None:
    """Bindings name a role and a ServiceAccount that are there; Service and Deployment select the same Pods."""
    built = manifests(build(project / "config" / "default"))
    for binding in (manifest for name, manifest in built.items() if "Binding/" in name):
        assert f"{binding['roleRef']['kind']}/{binding['roleRef']['name']}" in built
        assert [f"{subject['kind']}/{subject['name']}" for subject in binding["subjects"]] == [
            "ServiceAccount/shop-operator-controller-manager"
        ]
        assert {subject["namespace"] for subject in binding["subjects"]} == {"shop-operator-system"}
    spec = built["Deployment/shop-operator-controller-manager"]["spec"]
    selector = built["Service/shop-operator-metrics-service"]["spec"]["selector"]
    assert selector == spec["selector"]["matchLabels"]
    assert selector.items() <= spec["template"]["metadata"]["labels"].items()


def test_pod_meets_the_restricted_standard(project: Path) -> None:
    """The operator's Pod may run in a namespace that enforces the restricted profile; its own does."""
    built = manifests(build(project / "config" / "default"))
    assert {name: violations(spec) for name, spec in pods(built.values())} == {
        "Deployment/shop-operator-controller-manager": []
    }
    labels = built["Namespace/shop-operator-system"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_lease_is_the_only_one_within_reach(project: Path) -> None:
    """The leader election role reaches the very Lease that the Deployment's arguments name, and creates."""
    built = manifests(build(project / "config" / "default"))
    [container] = built["Deployment/shop-operator-controller-manager"]["spec"]["template"]["spec"]["containers"]
    [lease] = [arg.partition("=")[2] for arg in container["args"] if arg.startswith("--leader-election-id=")]
    rules = built["Role/shop-operator-leader-election-role"]["rules"]
    assert [(rule["verbs"], rule.get("resourceNames")) for rule in rules] == [
        (["create"], None),
        (["get", "patch"], [lease]),
    ]


def test_namespaced_project_keeps_to_its_namespace(namespaced_project: Path) -> None:
    """With --namespaced the permissions are a Role, and the operator watches the namespace that it runs in."""
    built = manifests(build(namespaced_project / "config" / "default"))
    assert "Role/shop-operator-manager-role" in built
    assert not [name for name in built if name.startswith("ClusterRoleBinding/")]
    [container] = built["Deployment/shop-operator-controller-manager"]["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [
        {"name": "WATCH_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
    ]


def test_project_without_apis_builds(tmp_path: Path) -> None:
    """Between `init` and the first `create api` the tree builds too."""
    tree = made(ProjectModel(kinds=(), controllers=()), replace(PROJECT, resources=()))
    assert "Deployment/shop-operator-controller-manager" in manifests(build(write(tree, tmp_path) / "config/default"))


def secured(project: Path, folder: Path) -> Path:
    """Copy a project's config with everything below "components" and the ServiceMonitor turned on."""
    shutil.copytree(project / "config", folder / "config")
    kustomization = folder / "config/default/kustomization.yaml"
    text = kustomization.read_text()
    for line in ("- ../prometheus", "components:", "- ../metrics-secure"):
        assert f"# {line}\n" in text
        text = text.replace(f"# {line}\n", f"{line}\n")
    kustomization.write_text(text)
    return folder / "config/default"


def test_secure_metrics_are_one_component(project: Path, tmp_path: Path) -> None:
    """Two lines without their # serve metrics by TLS, with the roles for it, and have Prometheus show its token."""
    plain = manifests(build(project / "config/default"))
    built = manifests(build(secured(project, tmp_path)))
    assert sorted(built.keys() - plain.keys()) == [
        "ClusterRole/shop-operator-metrics-auth-role",
        "ClusterRole/shop-operator-metrics-reader",
        "ClusterRoleBinding/shop-operator-metrics-auth-rolebinding",
        "ServiceMonitor/shop-operator-controller-manager-metrics-monitor",
    ]
    binding = built["ClusterRoleBinding/shop-operator-metrics-auth-rolebinding"]
    assert binding["roleRef"]["name"] == "shop-operator-metrics-auth-role"
    assert binding["subjects"][0]["namespace"] == "shop-operator-system"
    pod = built["Deployment/shop-operator-controller-manager"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert container["args"][-2:] == ["--metrics-secure", "--metrics-cert-path=/metrics-cert"]
    assert {"name": "metrics-cert", "secret": {"secretName": "metrics-server-cert"}} in pod["volumes"]
    assert violations(pod) == []
    [endpoint] = built["ServiceMonitor/shop-operator-controller-manager-metrics-monitor"]["spec"]["endpoints"]
    assert (endpoint["scheme"], "bearerTokenFile" in endpoint) == ("https", True)


def test_sharding_is_one_component(tmp_path: Path) -> None:
    """Two lines without their # have all replicas act, with the roles for it."""
    tree = made(replace(MODEL, controllers=(replace(SHOPS, finalizes=False),)))
    default = write(tree, tmp_path) / "config/default"
    plain = manifests(build(default))
    text = (default / "kustomization.yaml").read_text()
    for line in ("components:", "- ../sharding"):
        assert f"# {line}\n" in text
        text = text.replace(f"# {line}\n", f"{line}\n")
    (default / "kustomization.yaml").write_text(text)
    built = manifests(build(default))
    assert sorted(built.keys() - plain.keys()) == [
        "ClusterRole/shop-operator-sharding-role",
        "ClusterRoleBinding/shop-operator-sharding-rolebinding",
        "Role/shop-operator-sharding-lease-role",
        "RoleBinding/shop-operator-sharding-lease-rolebinding",
    ]
    assert built["ClusterRole/shop-operator-sharding-role"]["rules"] == [
        {"apiGroups": ["sales.example.com"], "resources": ["shops"], "verbs": ["patch"]}
    ]
    [container] = built["Deployment/shop-operator-controller-manager"]["spec"]["template"]["spec"]["containers"]
    assert container["args"][:2] == ["--shard", "--shard-id=shop-operator"]


def test_names_that_yaml_takes_for_something_else_stay_text(tmp_path: Path) -> None:
    """A project may be called `on`."""
    tree = made(project=replace(PROJECT, name="on"))
    built = manifests(build(write(tree, tmp_path) / "config/default"))
    assert built["Namespace/on-system"]["metadata"]["labels"]["app.kubernetes.io/name"] == "on"


def test_groups_may_have_kinds_of_the_same_name(tmp_path: Path) -> None:
    """With --multigroup the roles of both have names of their own."""
    other = replace(SHOP, gvk=replace(SHOP.gvk, group="rent.example.com"))
    tree = made(replace(MODEL, kinds=(SHOP, other)), replace(PROJECT, multigroup=True))
    built = manifests(build(write(tree, tmp_path) / "config/default"))
    admins = {name for name in built if name.endswith("-admin-role")}
    assert admins == {f"ClusterRole/shop-operator-{group}-shop-admin-role" for group in ("sales", "rent")}


@pytest.mark.parametrize("folder", ["default", "network-policy"])
@pytest.mark.parametrize("made_with", ["project", "namespaced_project"])
def test_api_server_takes_every_manifest(
    folder: str, made_with: str, request: pytest.FixtureRequest, api_server: ApiServer, namespace: str
) -> None:
    """Strict server-side apply (a dry run) has no objection."""
    root: Path = request.getfixturevalue(made_with)
    # A dry run needs a namespace that is there.
    text = build(root / "config" / folder)
    text = text.replace("shop-operator-system", namespace).replace(": system", f": {namespace}")
    command: list[str | Path] = [api_server.kubectl, "--kubeconfig", api_server.kubeconfig(), "apply", "--server-side"]
    strict = ["--dry-run=server", "--validate=strict", "--force-conflicts", "-f", "-"]
    run = subprocess.run([*command, *strict], input=text, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("serverside-applied") == len(manifests(text))
    assert "Warning" not in run.stderr
