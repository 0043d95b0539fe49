"""The operator's role grants what the runtime asks for and @rbac adds, merged as controller-gen merges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from pyopscaffold.api.declarations import RbacRule
from pyopscaffold.files.artefact import Owner
from pyopscaffold.generate import rbac
from pyopscaffold.generate.rbac import PolicyRule
from pyopscaffold.kube.builtin import CONFIG_MAP, SECRET, SERVICE, STATEFUL_SET
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.model.kinds import ControllerModel, FieldModel, KindModel, ProjectModel, SourceSpan, StructType
from pyopscaffold.model.project import Project

SPAN = SourceSpan("acme/api/thing.py", 7)
PROJECT = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="")
THING = GroupVersionKind("example.com", "v1", "Thing")


def _kind(*, status: bool = True, group: str = "example.com") -> KindModel:
    part = StructType("Part", "", (), SPAN)
    names = ("spec", "status") if status else ("spec",)
    fields = tuple(FieldModel(name, name, part, SPAN) for name in names)
    return KindModel(
        gvk=replace(THING, group=group),
        singular="thing",
        short_names=(),
        categories=(),
        columns=(),
        scale=None,
        root=StructType("Thing", "", fields, SPAN),
        served=True,
        storage=True,
        deprecated=None,
        span=SPAN,
    )


def _model(
    *rules: RbacRule, owns: Any = (), watches: Any = (), finalizes: bool = False, status: bool = True
) -> ProjectModel:
    controller = ControllerModel(
        name="thing",
        resource=THING,
        owns=owns,
        watches=watches,
        finalizes=finalizes,
        has_status=status,
        rbac=rules,
        span=SPAN,
    )
    return ProjectModel(kinds=(_kind(status=status),), controllers=(controller,))


def _granted(model: ProjectModel) -> dict[str, str]:
    rules = rbac.manager_rules(model)
    return {f"{r}.{g}" if g else r: " ".join(rule.verbs) for rule in rules for g in rule.groups for r in rule.resources}


def _documents(model: ProjectModel, name: str, project: Project = PROJECT) -> list[Any]:
    made = {item.path: item.text for item in rbac.artefacts(model, project, {})}
    return list(yaml.safe_load_all(made[f"config/rbac/{name}"]))


def test_least() -> None:
    """A controller that owns nothing reads its kind, writes its status and events, and no more."""
    assert _granted(_model()) == {
        "events.events.k8s.io": "create patch",
        "things.example.com": "list watch",
        "things/status.example.com": "patch",
    }


def test_no_status() -> None:
    """A kind without status gives no right on a status."""
    assert "things/status.example.com" not in _granted(_model(status=False))


def test_finalize() -> None:
    """A finalizer is a patch of the object itself."""
    assert _granted(_model(finalizes=True))["things.example.com"] == "list patch watch"


def test_owned_kinds() -> None:
    """Children are applied and pruned; blockOwnerDeletion asks for the owner's finalizers."""
    granted = _granted(_model(owns=(STATEFUL_SET, SERVICE)))
    assert granted["statefulsets.apps"] == granted["services"] == "create delete list patch watch"
    assert granted["things/finalizers.example.com"] == "update"


def test_watched_kinds() -> None:
    """Watched kinds are read only."""
    assert _granted(_model(watches=(CONFIG_MAP,)))["configmaps"] == "list watch"


def test_asked() -> None:
    """@rbac adds to what is implied: for the same resource the verbs are merged."""
    rule = RbacRule(groups=("",), resources=("configmaps",), verbs=("create",))
    assert _granted(_model(rule, watches=(CONFIG_MAP,)))["configmaps"] == "create list watch"


def test_single_namespaces() -> None:
    """A rule for one namespace goes into a Role there, bound to the operator."""
    rule = RbacRule(groups=("",), resources=("secrets",), verbs=("get",), namespace="infra")
    documents = _documents(_model(rule), "role.yaml")
    assert [(item["kind"], item["metadata"].get("namespace")) for item in documents] == [
        ("ClusterRole", None),
        ("Role", "infra"),
        ("RoleBinding", "infra"),
    ]
    assert documents[1]["rules"] == [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
    assert documents[2]["roleRef"]["name"] == documents[1]["metadata"]["name"]


def test_roles_with_names_of_their_own() -> None:
    """What goes into a named role is not the operator's, nor bound to it; the operator's own name changes nothing."""
    rule = RbacRule(groups=("",), resources=("secrets",), verbs=("get",), role_name="secret-reader")
    rules = (rule, replace(rule, namespace="infra"), replace(rule, resources=("nodes",), role_name="manager-role"))
    own, *named = _documents(_model(*rules), "role.yaml")
    assert {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]} in own["rules"]
    assert all("secrets" not in rule.get("resources", ()) for rule in own["rules"])
    assert [(item["kind"], item["metadata"]) for item in named] == [
        ("ClusterRole", {"name": "secret-reader"}),
        ("Role", {"name": "secret-reader", "namespace": "infra"}),
    ]


def test_roles_with_names_in_a_namespaced_project() -> None:
    """They are Roles beside the operator there."""
    rule = RbacRule(groups=("",), resources=("secrets",), verbs=("get",), role_name="secret-reader")
    _, named = _documents(_model(rule), "role.yaml", replace(PROJECT, namespaced=True))
    assert (named["kind"], named["metadata"]) == ("Role", {"name": "secret-reader", "namespace": "system"})


def test_namespaced_project() -> None:
    """A project limited to namespaces has a Role in the place of the ClusterRole."""
    (role,) = _documents(_model(watches=(SECRET,)), "role.yaml", replace(PROJECT, namespaced=True))
    assert (role["kind"], role["metadata"]) == ("Role", {"name": "manager-role", "namespace": "system"})


@pytest.mark.parametrize(
    ("rules", "merged"),
    [
        pytest.param(
            [("a", "x", "get"), ("a", "x", "list")], [("a", "x", "get list")], id="verbs of the same resource"
        ),
        pytest.param([("a", "x", "get"), ("a", "y", "get")], [("a", "x y", "get")], id="resources with the same verbs"),
        pytest.param([("a", "x", "get"), ("b", "x", "get")], [("a b", "x", "get")], id="groups with the same rest"),
        pytest.param(
            [("b", "x", "get"), ("a", "y", "get"), ("a", "x", "list")],
            [("a", "x", "list"), ("a", "y", "get"), ("b", "x", "get")],
            id="sorted by group, then resource",
        ),
        pytest.param(
            [("a", "x y", "get"), ("a", "x", "list")],
            [("a", "x", "get list"), ("a", "y", "get")],
            id="each resource on its own first",
        ),
    ],
)
def test_normalise(rules: list[tuple[str, ...]], merged: list[tuple[str, ...]]) -> None:
    """Rules are merged and sorted as controller-gen does."""

    def made(items: list[tuple[str, ...]]) -> tuple[PolicyRule, ...]:
        parts = (map(tuple, map(str.split, item)) for item in items)
        return tuple(PolicyRule(groups=groups, resources=resources, verbs=verbs) for groups, resources, verbs in parts)

    assert rbac.normalise(made(rules)) == made(merged)


def test_roles_for_users() -> None:
    """Each kind has an admin, an editor and a viewer role, which add to the built-in ones."""
    roles = [_documents(_model(), f"thing_{level}_role.yaml")[0] for level in ("admin", "editor", "viewer")]
    assert [len(role["rules"][0]["verbs"]) for role in roles] == [8, 7, 3]
    viewer = roles[-1]
    assert viewer["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
    assert viewer["rules"] == [
        {"apiGroups": ["example.com"], "resources": ["things"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["example.com"], "resources": ["things/status"], "verbs": ["get"]},
    ]


def test_roles_of_one_kind_in_two_groups() -> None:
    """With several groups the file names start with the group."""
    model = ProjectModel(kinds=(_kind(), _kind(group="db.example.com")), controllers=())
    paths = [made.path for made in rbac.artefacts(model, replace(PROJECT, multigroup=True), {})]
    assert [path for path in paths if "viewer" in path] == [
        "config/rbac/db_thing_viewer_role.yaml",
        "config/rbac/thing_viewer_role.yaml",
    ]


def test_all_files_are_the_tool_s() -> None:
    """Every file is rewritten by generate, and says so."""
    made = rbac.artefacts(_model(), PROJECT, {})
    assert {item.owner for item in made} == {Owner.TOOL}
    assert all(item.text.startswith("# Generated by pyopscaffold. DO NOT EDIT.\n") for item in made)
