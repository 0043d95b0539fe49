"""The operator's own role, and the roles that a cluster's administrator can give to users of each kind.

What the runtime asks of the API server is the table "Permissions" of docs/runtime.md; leader election has a role of its
own, which does not depend on the model.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.generate.crd import kinds_by_versions
from pyopscaffold.generate.manifest import documents
from pyopscaffold.kube.builtin import EVENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyopscaffold.api.declarations import RbacRule
    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.model.kinds import ControllerModel, KindModel, ProjectModel
    from pyopscaffold.model.project import Project

FOLDER = "config/rbac"
SHARDING = "config/sharding"
"""The kustomize component that has several replicas act; its role is part of it."""
MANAGER_ROLE = "manager-role"
OWN_NAMESPACE = "system"
"""The namespace of the operator itself in config/, which kustomize replaces by the real one."""

_API_VERSION = "rbac.authorization.k8s.io/v1"
_READ = ("get", "list", "watch")
_FOLLOW = ("list", "watch")
_WRITE = ("create", "delete", "patch", "update")


@dataclass(frozen=True, kw_only=True)
class PolicyRule:
    """One rule of a Role or ClusterRole, every part sorted and without duplicates."""

    groups: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()

    def to_mapping(self) -> dict[str, list[str]]:
        """Return the JSON form, without what is empty."""
        keys = {"groups": "apiGroups", "urls": "nonResourceURLs", "names": "resourceNames"}
        values = {keys.get(part.name, part.name): getattr(self, part.name) for part in fields(self)}
        return {name: list(value) for name, value in sorted(values.items()) if value}


@dataclass(frozen=True, kw_only=True)
class KindRole:
    """A role for users of a kind: ``level`` is admin, editor or viewer, ``aggregate_to`` the built-in role it joins."""

    name: str
    level: str
    aggregate_to: str
    rules: tuple[PolicyRule, ...]


def artefacts(model: ProjectModel, project: Project, present: Mapping[str, str]) -> tuple[Artefact, ...]:
    """Return role.yaml, the users' roles of every kind, and where ``present`` has the component, sharding's role."""
    files = {f"{FOLDER}/role.yaml": documents(*_manager_roles(model, project))}
    if f"{SHARDING}/kustomization.yaml" in present:
        files[f"{SHARDING}/role.yaml"] = documents(_role("sharding-role", shard_rules(model), _scope(project)))
    for versions in kinds_by_versions(model):
        kind = versions[0]
        for role in kind_roles(kind, project):
            files[kind_role_path(kind, role, project)] = documents(_kind_role(role, project))
    return tuple(Artefact(path, text, owner=Owner.TOOL) for path, text in sorted(files.items()))


def kind_role_path(kind: KindModel, role: KindRole, project: Project) -> str:
    """Return where a users' role is: ``config/rbac/mydatabase_editor_role.yaml``, with --multigroup after the group."""
    group = project.short_group(kind.gvk.group) if project.multigroup else ""
    name = "_".join(filter(None, (group, kind.gvk.kind.lower(), role.level, "role")))
    return f"{FOLDER}/{name}.yaml"


def manager_rules(model: ProjectModel) -> tuple[PolicyRule, ...]:
    """Return what the operator may do everywhere, or where the project is limited to namespaces, in those."""
    implied = [rule for item in model.controllers for rule in _implied(item)]
    asked = [_asked(rule) for rule in _rules(model) if not rule.namespace and not rule.role_name]
    return normalise([*implied, *asked])


def shard_rules(model: ProjectModel) -> tuple[PolicyRule, ...]:
    """Return what ``--shard`` asks for beyond :func:`manager_rules`: to say on each object whose it is."""
    return normalise(_on(item.resource, ("patch",)) for item in model.controllers if not item.finalizes)


def namespace_rules(model: ProjectModel) -> dict[str, tuple[PolicyRule, ...]]:
    """Return what ``@rbac(namespace=…)`` grants in single namespaces beyond :func:`manager_rules`, by namespace."""
    asked: dict[str, list[PolicyRule]] = {}
    for rule in _rules(model):
        if rule.namespace and not rule.role_name:
            asked.setdefault(rule.namespace, []).append(_asked(rule))
    return {namespace: normalise(rules) for namespace, rules in sorted(asked.items())}


def named_rules(model: ProjectModel) -> dict[tuple[str, str], tuple[PolicyRule, ...]]:
    """Return what ``@rbac(role_name=…)`` puts into roles of their own, by namespace ("" for everywhere) and name."""
    asked: dict[tuple[str, str], list[PolicyRule]] = {}
    for rule in _rules(model):
        if rule.role_name:
            asked.setdefault((rule.namespace, rule.role_name), []).append(_asked(rule))
    return {place: normalise(rules) for place, rules in sorted(asked.items())}


def _rules(model: ProjectModel) -> Iterator[RbacRule]:
    for item in model.controllers:
        for rule in item.rbac:
            yield replace(rule, role_name="") if rule.role_name == MANAGER_ROLE else rule


def _unique_name(kind: KindModel, project: Project) -> tuple[str, ...]:
    """Return the kind's name, after its group's in a project with several, where two may have a kind of that name."""
    group = kind.gvk.group.removesuffix(project.domain).rstrip(".") if project.multigroup else ""
    return tuple(filter(None, (group, kind.gvk.kind.lower())))


def kind_roles(kind: KindModel, project: Project) -> tuple[KindRole, ...]:
    """Return the roles admin, editor and viewer of a kind; the same for all its versions."""
    levels = (
        ("admin", "admin", (*_READ, *_WRITE, "deletecollection")),
        ("editor", "edit", (*_READ, *_WRITE)),
        ("viewer", "view", _READ),
    )
    return tuple(
        KindRole(
            name="-".join((*_unique_name(kind, project), level, "role")),
            level=level,
            aggregate_to=aggregate,
            rules=normalise(_user_rules(kind, verbs, may_write=level != "viewer")),
        )
        for level, aggregate, verbs in levels
    )


def normalise(rules: Iterable[PolicyRule]) -> tuple[PolicyRule, ...]:
    """Merge and sort rules as controller-gen does: first verbs of the same things, then resources, groups and URLs."""
    single = (replace(rule, resources=(name,)) for rule in rules for name in rule.resources or ("",))
    merged: list[PolicyRule] = [replace(rule, resources=tuple(filter(None, rule.resources))) for rule in single]
    for part in ("verbs", "resources", "groups", "urls"):
        merged = list(_merge(merged, part))
    return tuple(sorted(merged, key=_order))


def _merge(rules: Iterable[PolicyRule], part: str) -> Iterator[PolicyRule]:
    alike: dict[PolicyRule, set[str]] = {}
    for rule in rules:
        tidy = PolicyRule(**{item.name: tuple(sorted({*getattr(rule, item.name)})) for item in fields(rule)})
        alike.setdefault(replace(tidy, **{part: ()}), set()).update(getattr(tidy, part))
    for rest, values in alike.items():
        yield replace(rest, **{part: tuple(sorted(values))})


def _order(rule: PolicyRule) -> str:
    return " + ".join("&".join(part) for part in (rule.groups, rule.resources, rule.names, rule.urls))


def _implied(item: ControllerModel) -> Iterator[PolicyRule]:
    """Yield the rows of docs/runtime.md, "Permissions", that apply to a controller."""
    yield _on(item.resource, _FOLLOW)
    if item.finalizes:
        yield _on(item.resource, ("patch",))
    if item.has_status:
        yield _on(item.resource, ("patch",), "status")
    if item.owns:
        yield _on(item.resource, ("update",), "finalizers")
    for owned in item.owns:
        yield _on(owned, (*_FOLLOW, "create", "patch", "delete"))
    for watched in item.watches:
        yield _on(watched, _FOLLOW)
    yield _on(EVENT, ("create", "patch"))


def _on(gvk: GroupVersionKind, verbs: tuple[str, ...], subresource: str = "") -> PolicyRule:
    resource = f"{gvk.plural}/{subresource}" if subresource else gvk.plural
    return PolicyRule(groups=(gvk.group,), resources=(resource,), verbs=verbs)


def _asked(rule: RbacRule) -> PolicyRule:
    return PolicyRule(
        groups=rule.groups, resources=rule.resources, verbs=rule.verbs, names=rule.resource_names, urls=rule.urls
    )


def _user_rules(kind: KindModel, verbs: tuple[str, ...], *, may_write: bool) -> Iterator[PolicyRule]:
    yield _on(kind.gvk, verbs)
    if kind.has_status_subresource:
        yield _on(kind.gvk, ("get",), "status")
    if kind.scale is not None:
        yield _on(kind.gvk, ("get", "patch", "update") if may_write else ("get",), "scale")


def _manager_roles(model: ProjectModel, project: Project) -> Iterator[dict[str, Any]]:
    yield _role(MANAGER_ROLE, manager_rules(model), _scope(project))
    for namespace, rules in namespace_rules(model).items():
        name = f"{MANAGER_ROLE}-{namespace}"
        metadata = {"name": name, "namespace": namespace}
        mappings = [rule.to_mapping() for rule in rules]
        yield {"apiVersion": _API_VERSION, "kind": "Role", "metadata": metadata, "rules": mappings}
        yield {
            "apiVersion": _API_VERSION,
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": "controller-manager", "namespace": OWN_NAMESPACE}],
        }
    yield from _named_roles(model, _scope(project))


def _named_roles(model: ProjectModel, scope: dict[str, str]) -> Iterator[dict[str, Any]]:
    for (namespace, name), rules in named_rules(model).items():
        yield _role(name, rules, {"namespace": namespace} if namespace else scope)


def _scope(project: Project) -> dict[str, str]:
    return {"namespace": OWN_NAMESPACE} if project.namespaced else {}


def _role(name: str, rules: Iterable[PolicyRule], place: Mapping[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": _API_VERSION,
        "kind": "Role" if place else "ClusterRole",
        "metadata": {"name": name, **place},
        "rules": [rule.to_mapping() for rule in rules],
    }


def _kind_role(role: KindRole, project: Project) -> dict[str, Any]:
    labels = {
        "app.kubernetes.io/managed-by": "kustomize",
        "app.kubernetes.io/name": project.name,
        f"rbac.authorization.k8s.io/aggregate-to-{role.aggregate_to}": "true",
    }
    return {
        "apiVersion": _API_VERSION,
        "kind": "ClusterRole",
        "metadata": {"labels": labels, "name": role.name},
        "rules": [rule.to_mapping() for rule in role.rules],
    }
