"""The Helm chart of a made project, rendered by Helm itself."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold.api.declarations import RbacRule
from pyopscaffold.generate.helm import escape
from pyopscaffold.model.kinds import ProjectModel
from tests.helm.pod_security import pods, violations
from tests.helm.projects import HARD_TEXT, MODEL, PROJECT, REGION, SHOPS, made, write

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Manifests = list[dict[str, Any]]
    Template = Callable[..., Manifests]
    Helm = Callable[..., subprocess.CompletedProcess[str]]

SELECTED = {"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component"}


def names(manifests: Manifests, kind: str) -> list[str]:
    """Give the names of the manifests of a kind, sorted, with the namespace in front where there is one."""
    found = [manifest["metadata"] for manifest in manifests if manifest["kind"] == kind]
    return sorted("/".join(filter(None, (metadata.get("namespace"), metadata["name"]))) for metadata in found)


def only(manifests: Manifests, kind: str) -> dict[str, Any]:
    """Give the one manifest of a kind."""
    [manifest] = [manifest for manifest in manifests if manifest["kind"] == kind]
    return manifest


def container(manifests: Manifests) -> dict[str, Any]:
    """Give the operator's container."""
    [found] = only(manifests, "Deployment")["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_lint_is_clean(helm: Helm, chart: Path) -> None:
    """Strict linting finds nothing to fail for."""
    assert "0 chart(s) failed" in helm("lint", "--strict", chart).stdout


def test_defaults_render_everything(template: Template) -> None:
    """CRD, identity, permissions, operator and metrics are there without a value set."""
    manifests = template()
    assert names(manifests, "CustomResourceDefinition") == ["shops.sales.example.com"]
    assert names(manifests, "ServiceAccount") == ["ns/rel-shop-operator"]
    assert "rel-shop-operator" in names(manifests, "ClusterRole")
    assert names(manifests, "ClusterRoleBinding") == ["rel-shop-operator"]
    assert names(manifests, "Role") == names(manifests, "RoleBinding") == ["ns/rel-shop-operator-leader"]
    assert names(manifests, "Deployment") == ["ns/rel-shop-operator"]
    assert names(manifests, "Service") == ["ns/rel-shop-operator-metrics"]
    assert container(manifests)["image"] == "example/shop-operator:0.1.0"


def test_crd_says_what_the_kustomize_tree_says(template: Template, project: Path) -> None:
    """Helm's template engine gives back each character of the CRD, braces in descriptions included."""
    path = project / "config/crd/bases/sales.example.com_shops.yaml"
    expected = yaml.safe_load(path.read_text(encoding="utf-8"))
    schema = expected["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["spec"]["properties"]["sign"]["description"] == HARD_TEXT
    assert only(template(), "CustomResourceDefinition")["spec"] == expected["spec"]


def test_roles_say_what_the_kustomize_tree_says(template: Template, project: Path) -> None:
    """The operator may do the same, whichever way it is installed."""
    expected = yaml.safe_load((project / "config/rbac/role.yaml").read_text(encoding="utf-8"))
    roles = {role["metadata"]["name"]: role["rules"] for role in template() if role["kind"] == "ClusterRole"}
    assert roles["rel-shop-operator"] == expected["rules"]
    for who in ("admin", "editor", "viewer"):
        [path] = (project / "config/rbac").glob(f"*shop_{who}_role.yaml")
        assert roles[f"rel-shop-operator-shop-{who}-role"] == yaml.safe_load(path.read_text(encoding="utf-8"))["rules"]


def test_crds_can_be_left_out(template: Template) -> None:
    """Somebody else may install the CRDs."""
    assert names(template({"crds.enabled": False}), "CustomResourceDefinition") == []


def test_crds_are_kept_by_default(template: Template) -> None:
    """Uninstalling does not take all custom resources along, unless asked to."""
    kept, dropped = (only(template({"crds.keep": keep}), "CustomResourceDefinition") for keep in (True, False))
    assert kept["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    assert "helm.sh/resource-policy" not in dropped["metadata"].get("annotations", {})


def test_crds_get_annotations(template: Template) -> None:
    """Annotations of the user's come beside the chart's own."""
    crd = only(template({"crds.annotations": {"argocd.argoproj.io/sync-wave": "-1"}}), "CustomResourceDefinition")
    assert crd["metadata"]["annotations"] == {
        "argocd.argoproj.io/sync-wave": "-1",
        "helm.sh/resource-policy": "keep",
    }


def test_permissions_can_be_left_out(template: Template) -> None:
    """With rbac.create=false no role and no binding is made."""
    assert {manifest["kind"] for manifest in template({"rbac.create": False})} == {
        "CustomResourceDefinition", "Deployment", "Pod", "Service", "ServiceAccount"
    }  # fmt: skip


def test_kind_roles_join_the_clusters_own(template: Template) -> None:
    """The cluster's view, edit and admin roles gain what viewers, editors and admins may, unless told not to."""

    def aggregated(manifests: Manifests) -> dict[str, list[str]]:
        prefix = "rbac.authorization.k8s.io/aggregate-to-"
        return {
            role["metadata"]["name"]: [label.removeprefix(prefix)]
            for role in manifests
            for label in role["metadata"]["labels"]
            if label.startswith(prefix)
        }

    assert aggregated(template({"rbac.kindRoles.aggregate": False})) == {}
    assert aggregated(template()) == {
        "rel-shop-operator-shop-admin-role": ["admin"],
        "rel-shop-operator-shop-editor-role": ["edit"],
        "rel-shop-operator-shop-viewer-role": ["view"],
    }
    assert names(template({"rbac.kindRoles.create": False}), "ClusterRole") == ["rel-shop-operator"]


def test_watching_some_namespaces_needs_roles_there_only(template: Template) -> None:
    """For each watched namespace there is a Role with the operator's rules, and no ClusterRole binds them."""
    everywhere, some = template(), template({"watchNamespace": "blue,green"})
    assert names(some, "Role") == names(some, "RoleBinding")
    assert names(some, "Role") == ["blue/rel-shop-operator", "green/rel-shop-operator", "ns/rel-shop-operator-leader"]
    assert names(some, "ClusterRoleBinding") == []
    [rules] = [role["rules"] for role in everywhere if names([role], "ClusterRole") == ["rel-shop-operator"]]
    assert [role["rules"] for role in some if names([role], "Role") == ["blue/rel-shop-operator"]] == [rules]
    assert {"name": "WATCH_NAMESPACE", "value": "blue,green"} in container(some)["env"]
    [binding] = [binding for binding in some if names([binding], "RoleBinding") == ["blue/rel-shop-operator"]]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "rel-shop-operator", "namespace": "ns"}]


def test_cluster_scoped_kinds_keep_a_cluster_role(template: Template, tmp_path: Path) -> None:
    """What a Role can't grant stays in a ClusterRole when only some namespaces are watched."""
    rule = RbacRule(urls=("/metrics",), verbs=("get",))
    regions = replace(SHOPS, name="region", resource=REGION.gvk, owns=(), rbac=(rule,))
    model = ProjectModel(kinds=(REGION, *MODEL.kinds), controllers=(regions, SHOPS))
    chart = write(made(model), tmp_path) / "charts" / PROJECT.name
    manifests = template({"watchNamespace": "blue"}, of=chart)
    [cluster] = [role["rules"] for role in manifests if names([role], "ClusterRole") == ["rel-shop-operator"]]
    [local] = [role["rules"] for role in manifests if names([role], "Role") == ["blue/rel-shop-operator"]]
    assert {name.partition("/")[0] for rule in cluster for name in rule.get("resources", [])} >= {"regions"}
    assert "shops" not in str(cluster)
    assert [rule["nonResourceURLs"] for rule in cluster if "nonResourceURLs" in rule] == [["/metrics"]]
    assert "regions" not in str(local)
    assert "shops" in str(local)


def test_namespaced_project_watches_its_own_namespace(template: Template, namespaced_project: Path) -> None:
    """The chart of a project made with --namespaced keeps to the release's namespace by default."""
    manifests = template(of=namespaced_project / "charts" / PROJECT.name)
    assert {"name": "WATCH_NAMESPACE", "value": "ns"} in container(manifests)["env"]
    assert names(manifests, "Role") == ["ns/rel-shop-operator", "ns/rel-shop-operator-leader"]
    assert names(manifests, "ClusterRoleBinding") == []


def test_lease_is_the_only_one_within_reach(template: Template) -> None:
    """The role reaches the very Lease that the Deployment's arguments name; without leader election there is none."""
    manifests = template()
    [rules] = [role["rules"] for role in manifests if role["kind"] == "Role"]
    assert f"--leader-election-id={rules[1]['resourceNames'][0]}" in container(manifests)["args"]
    assert [rule["verbs"] for rule in rules] == [["create"], ["get", "patch"]]
    off = template({"leaderElection.enabled": False})
    assert names(off, "Role") == []
    assert [arg for arg in container(off)["args"] if "lead" in arg] == []


def test_sharding_takes_the_place_of_leader_election(template: Template) -> None:
    """Then all Pods act under one name, and their role reaches Leases of any name."""
    manifests = template({"sharding.enabled": True, "replicaCount": 3})
    args = [arg for arg in container(manifests)["args"] if "shard" in arg or "lead" in arg]
    assert args == ["--shard", "--shard-id=rel-shop-operator"]
    assert names(manifests, "Role") == names(manifests, "RoleBinding") == ["ns/rel-shop-operator-sharding"]
    [rule] = only(manifests, "Role")["rules"]
    assert (rule["resources"], rule["verbs"]) == (["leases"], ["create", "delete", "list", "patch"])


@pytest.mark.parametrize("finalizes", [True, False])
@pytest.mark.parametrize("watched", ["", "blue,green"])
def test_sharding_writes_to_the_objects(template: Template, tmp_path: Path, watched: str, *, finalizes: bool) -> None:
    """To say whose they are the operator may patch them, wherever it works; who finalizes may do so anyway."""
    model = replace(MODEL, controllers=(replace(SHOPS, finalizes=finalizes),))
    chart = write(made(model), tmp_path) / "charts" / PROJECT.name
    values = {"watchNamespace": watched}
    plain, sharded = template(values, of=chart), template({**values, "sharding.enabled": True}, of=chart)
    patched = {"apiGroups": ["sales.example.com"], "resources": ["shops"], "verbs": ["patch"]}
    granted = [[role for role in found if patched in role.get("rules", [])] for found in (plain, sharded)]
    places = [role["metadata"].get("namespace", "") for role in granted[1]]
    assert granted[0] == []
    assert places == ([] if finalizes else watched.split(","))


def test_metrics_can_be_turned_off(template: Template) -> None:
    """Then there is no Service, no port and no test, and the operator does not listen."""
    manifests = template({"metrics.enabled": False})
    assert names(manifests, "Service") == names(manifests, "Pod") == []
    assert "--metrics-bind-address=0" in container(manifests)["args"]
    assert [port["name"] for port in container(manifests)["ports"]] == ["health"]


@pytest.mark.parametrize("secret", ["", "shop-cert"])
def test_metrics_can_be_for_some_only(template: Template, secret: str) -> None:
    """Then they are served by TLS, with the roles to ask who reads them, and one for the readers."""
    manifests = template({"metrics.secure.enabled": True, "metrics.secure.certSecret": secret})
    added = [name for name in names(manifests, "ClusterRole") if "-metrics-" in name]
    assert added == ["rel-shop-operator-metrics-auth", "rel-shop-operator-metrics-reader"]
    assert "rel-shop-operator-metrics-auth" in names(manifests, "ClusterRoleBinding")
    args = [arg for arg in container(manifests)["args"] if arg.startswith(("--metrics-secure", "--metrics-cert"))]
    assert args == ["--metrics-secure", *(["--metrics-cert-path=/metrics-cert"] if secret else [])]
    spec = only(manifests, "Deployment")["spec"]["template"]["spec"]
    mounted = [volume["secret"]["secretName"] for volume in spec["volumes"] if "secret" in volume]
    assert mounted == ([secret] if secret else [])
    assert [mount["mountPath"] for mount in container(manifests)["volumeMounts"]][1:] == ["/metrics-cert"] * len(
        mounted
    )
    plain = template()
    assert [name for name in names(plain, "ClusterRole") if "-metrics-" in name] == []


def test_metrics_service_is_the_users_to_shape(template: Template) -> None:
    """Port and annotations are values; the Service reaches the Pods."""
    values = {"metrics.service.port": 9090, "metrics.service.annotations": {"prometheus.io/scrape": "true"}}
    manifests = template(values)
    service = only(manifests, "Service")
    assert service["metadata"]["annotations"] == {"prometheus.io/scrape": "true"}
    assert [(port["port"], port["targetPort"]) for port in service["spec"]["ports"]] == [(9090, "metrics")]
    assert service["spec"]["selector"] == only(manifests, "Deployment")["spec"]["selector"]["matchLabels"]


def test_pod_takes_the_users_values(template: Template) -> None:
    """Each value that shapes the Pod arrives in it."""
    pod_values: dict[str, Any] = {
        "imagePullSecrets": [{"name": "registry"}],
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "spot", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}},
        "priorityClassName": "system-cluster-critical",
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"},
        ],
    }
    others: dict[str, Any] = {
        "replicaCount": 3,
        "image.repository": "mirror/shop",
        "image.tag": "2",
        "image.pullPolicy": "Always",
        "resources": {"requests": {"cpu": "1"}, "limits": None},
        "extraEnv": [{"name": "A", "value": "b"}],
        "extraArgs": ["--workers=4"],
        "logLevel": "debug",
        "podAnnotations": {"a": "1"},
        "podLabels": {"b": "2", "app.kubernetes.io/name": "other"},
        "serviceAccount.name": "shopkeeper",
    }
    manifests = template(pod_values | others)
    deployment = only(manifests, "Deployment")["spec"]
    pod = deployment["template"]["spec"]
    assert {name: pod[name] for name in pod_values} == pod_values
    assert pod["serviceAccountName"] == only(manifests, "ServiceAccount")["metadata"]["name"] == "shopkeeper"
    assert deployment["replicas"] == 3
    manager = container(manifests)
    assert (manager["image"], manager["imagePullPolicy"]) == ("mirror/shop:2", "Always")
    assert manager["resources"]["requests"]["cpu"] == "1"
    assert {"name": "A", "value": "b"} in manager["env"]
    assert {"--workers=4", "--log-level=debug"} <= set(manager["args"])
    metadata = deployment["template"]["metadata"]
    assert metadata["annotations"]["a"] == "1"
    assert (metadata["labels"]["b"], metadata["labels"]["app.kubernetes.io/name"]) == ("2", "shop-operator")


def test_foreign_service_account_is_bound(template: Template) -> None:
    """A ServiceAccount that the chart does not create is used, and gets the permissions."""
    manifests = template({"serviceAccount.create": False, "serviceAccount.name": "shopkeeper"})
    assert names(manifests, "ServiceAccount") == []
    assert only(manifests, "ClusterRoleBinding")["subjects"][0]["name"] == "shopkeeper"


def test_names_follow_release_and_overrides(template: Template, helm: Helm, chart: Path) -> None:
    """A release that has the chart's name in its own does not say it twice; overrides win, and stay text."""
    assert names(template({"nameOverride": "till"}), "Deployment") == ["ns/rel-till"]
    assert names(template({"fullnameOverride": "123"}), "Deployment") == ["ns/123"]
    text = helm("template", "my-shop-operator", chart, "--namespace=1e3").stdout
    assert names([document for document in yaml.safe_load_all(text) if document], "Deployment") == [
        "1e3/my-shop-operator"
    ]


def test_two_releases_select_their_own_pods(template: Template) -> None:
    """Selectors hold name, instance and component, nothing that changes with an upgrade."""
    selector = only(template(), "Deployment")["spec"]["selector"]["matchLabels"]
    assert selector.keys() == SELECTED
    assert selector["app.kubernetes.io/instance"] == "rel"


@pytest.mark.parametrize("switches", [*product([True, False], repeat=5)], ids=str)
def test_every_combination_of_switches_renders(template: Template, switches: tuple[bool, ...]) -> None:
    """Whatever is switched off, the operator runs, in a Pod that meets the restricted standard."""
    toggles = ("crds.enabled", "rbac.create", "serviceAccount.create", "leaderElection.enabled", "metrics.enabled")
    values = dict(zip(toggles, switches, strict=True))
    values |= {"metrics.secure.enabled": switches[0], "sharding.enabled": switches[1]}
    manifests = template(values | {"serviceAccount.name": "shopkeeper"})
    checked = {name: violations(spec) for name, spec in pods(manifests)}
    assert checked.pop("Deployment/rel-shop-operator") == []
    assert checked == ({"Pod/rel-shop-operator-test": []} if values["metrics.enabled"] else {})


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"replicas": 2}, "replicas"),
        ({"replicaCount": "two"}, "replicaCount"),
        ({"image.registry": "example"}, "registry"),
        ({"image.pullPolicy": "Sometimes"}, "pullPolicy"),
        ({"crds.create": True}, "create"),
        ({"crds.annotations": {"a": 1}}, "annotations"),
        ({"rbac.kindRoles.aggregated": True}, "aggregated"),
        ({"serviceAccount.create": False}, "name"),
        ({"watchNamespace": "Blue"}, "watchNamespace"),
        ({"metrics.service.port": 0}, "port"),
        ({"metrics.secure.cert": "a"}, "cert"),
        ({"leaderElection.enabled": "yes"}, "enabled"),
        ({"sharding.replicas": 3}, "replicas"),
        ({"logLevel": "loud"}, "logLevel"),
        ({"extraEnv": [{"value": "nameless"}]}, "extraEnv"),
        ({"tolerations": [{"keys": "a"}]}, "tolerations"),
        ({"resources.requirements": {}}, "requirements"),
        ({"affinity.podAfinity": {}}, "podAfinity"),
    ],
    ids=str,
)
def test_schema_refuses(helm: Helm, chart: Path, values: dict[str, Any], complaint: str) -> None:
    """A value that the chart does not know, or of the wrong type, stops Helm and is named."""
    flags = [f"--set-json={key}={json.dumps(value)}" for key, value in values.items()]
    run = helm("template", "rel", chart, *flags, check=False)
    assert run.returncode != 0
    assert complaint in run.stderr


def test_parent_chart_may_pass_global_values(template: Template) -> None:
    """Helm gives every subchart a ``global``, which a strict schema must let through."""
    assert template({"global.registry": "example"}) == template()


def test_every_value_is_explained(chart: Path) -> None:
    """The schema knows exactly the top-level values that values.yaml offers, and `global`."""
    schema = json.loads((chart / "values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
    assert schema["properties"].keys() == values.keys() | {"global"}


def test_every_run_of_braces_survives_helm(helm: Helm, tmp_path: Path) -> None:
    """Each text of up to six braces, dashes and letters comes out of Helm as it went in."""
    texts = ["".join(letters) for length in range(1, 7) for letters in product("{}-a", repeat=length)]
    template = escape(yaml.safe_dump({"kind": "Texts", "texts": texts}, default_style='"'))
    write({"Chart.yaml": "apiVersion: v2\nname: texts\nversion: 0.1.0\n", "templates/texts.yaml": template}, tmp_path)
    assert yaml.safe_load(helm("template", "rel", tmp_path).stdout)["texts"] == texts
