"""A project's generated role against what its operator asked for in the project's own tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import DocumentError, ProjectError
from pyopscaffold.generate.rbac import FOLDER, PolicyRule
from pyopscaffold.testing.rbac import EVENTS, EVERYBODY, compare
from pyopscaffold.testing.rest import USER_AGENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pyopscaffold.testing.audit import AuditLog, AuditRecord
    from pyopscaffold.testing.rbac import Comparison

ROLE = f"{FOLDER}/role.yaml"
LEADER_ROLE = f"{FOLDER}/leader_election_role.yaml"
CRDS = "config/crd/bases"

_ACCOUNTS = "system:serviceaccount:"
_OF_KUBERNETES = "system:serviceaccount:kube-system:"
_KEYS = {"groups": "apiGroups", "names": "resourceNames", "resources": "resources", "urls": "nonResourceURLs"}


@dataclass(frozen=True, kw_only=True)
class ProjectRoles:
    """What the project's manifests say: the operator's role, what its other roles grant, and the names of its kinds."""

    granted: tuple[PolicyRule, ...]
    elsewhere: tuple[PolicyRule, ...]
    plurals: Mapping[tuple[str, str], str]


def read(root: Path) -> ProjectRoles:
    """Read the roles and CRDs under a project's config/.

    Raises:
        ProjectError: there is no role.yaml.
        DocumentError: a file is no YAML, or a rule is not one.

    """
    if not (root / ROLE).is_file():
        raise ProjectError(f"{root / ROLE} is not there", hint="run pyopscaffold generate in the project")
    leader = root / LEADER_ROLE
    crds = [crd["spec"] for path in sorted((root / CRDS).glob("*.yaml")) for crd in _documents(path)]
    return ProjectRoles(
        granted=tuple(_rules(root / ROLE)),
        elsewhere=(*EVERYBODY, *(_rules(leader) if leader.is_file() else ())),
        plurals={(spec["group"], spec["names"]["kind"]): spec["names"]["plural"] for spec in crds},
    )


def operator_records(logs: Iterable[AuditLog], *, namespace: str = "") -> tuple[AuditRecord, ...]:
    """Return the requests of operators: of service accounts, if given those of one ``namespace``.

    Accounts of Kubernetes itself are left out, and what a test asks through a client of ``ApiServer.client``, whoever
    it speaks as; the admin is no service account.
    """
    prefix = f"{_ACCOUNTS}{namespace}:" if namespace else _ACCOUNTS
    return tuple(
        record
        for log in logs
        for record in log.records()
        if record.user.startswith(prefix)
        and not record.user.startswith(_OF_KUBERNETES)
        and record.user_agent != USER_AGENT
    )


def prove(root: Path, records: Iterable[AuditRecord], *, standing: Iterable[PolicyRule] = EVENTS) -> Comparison:
    """Hold the project's role against these requests.

    Raises:
        ProjectError, DocumentError: as ``read`` says.

    """
    roles = read(root)
    return compare(roles.granted, records, plurals=roles.plurals, elsewhere=roles.elsewhere, standing=standing)


def describe(found: Comparison) -> list[str]:
    """Return the findings as lines, the worse ones first."""
    times = {permission: f"{count} times" if count > 1 else "once" for permission, count in found.refused.items()}
    refused = [f"refused: {permission} ({how_often})" for permission, how_often in times.items()]
    return [*refused, *(f"unused: {permission}" for permission in found.unused)]


def _rules(path: Path) -> Iterator[PolicyRule]:
    for document in _documents(path):
        for rule in document.get("rules") or ():
            try:
                parts = {name: tuple(map(str, rule.get(key) or ())) for name, key in _KEYS.items()}
                yield PolicyRule(**parts, verbs=tuple(rule["verbs"]))
            except (AttributeError, KeyError, TypeError) as error:
                raise DocumentError(f"{path}: {rule} is no rule", hint="run pyopscaffold generate") from error


def _documents(path: Path) -> list[dict[str, Any]]:
    import yaml  # noqa: PLC0415 - the pytest plugin is loaded by every run

    try:
        return [document for document in yaml.safe_load_all(path.read_text("utf-8")) if isinstance(document, dict)]
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DocumentError(f"{path} is no YAML: {error}") from error
