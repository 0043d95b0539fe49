"""``pyopscaffold rbac verify`` on small projects, whose tests write the audit log that an API server would write."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold.cli.app import run

if TYPE_CHECKING:
    from pathlib import Path

OPERATOR = "system:serviceaccount:test-1:operator"
EVENTS = {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]}
TESTS = """
import json, os, pathlib

EVENTS = json.loads('''{events}''')

def test_operator():
    folder = pathlib.Path(os.environ["PYOPSCAFFOLD_AUDIT_LOGS"])
    (folder / "one.log").write_text("".join(json.dumps(event) + "\\n" for event in EVENTS))
    assert {passes}

def test_other():
    raise AssertionError("not asked for")
"""


def event(verb: str, *, user: str = OPERATOR, code: int = 200, agent: str = "operator/1") -> dict[str, Any]:
    """Give a line of an audit log: a request for a ConfigMap."""
    return {
        "user": {"username": user},
        "verb": verb,
        "requestURI": "/api/v1/namespaces/ns/configmaps/one",
        "responseStatus": {"code": code},
        "stage": "ResponseComplete",
        "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
        "userAgent": agent,
        "objectRef": {"resource": "configmaps", "namespace": "ns", "name": "one", "apiVersion": "v1"},
        "annotations": {"authorization.k8s.io/decision": "forbid" if code == 403 else "allow"},
    }


class Project:
    """A project's folder, with a role for ConfigMaps, and its tests."""

    def __init__(self, root: Path, output: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._output = output
        (root / "PROJECT").write_text("version: '3'\n")
        (root / "config/rbac").mkdir(parents=True)
        (root / "tests").mkdir()

    def role(self, *verbs: str) -> None:
        """Write the role."""
        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": list(verbs)}, EVENTS]
        role = {"kind": "ClusterRole", "metadata": {"name": "manager-role"}, "rules": rules}
        (self.root / "config/rbac/role.yaml").write_text(yaml.safe_dump(role))

    def tests(self, *events: dict[str, Any], passes: bool = True) -> None:
        """Write tests in which these requests are made."""
        (self.root / "tests/test_it.py").write_text(TESTS.format(events=json.dumps(events), passes=passes))

    def verify(self, *arguments: str) -> tuple[int, str, str]:
        """Run the command; gives exit code, stdout and stderr."""
        select = ["--", "-k", "test_operator", "-p", "no:cacheprovider"]
        code = run(["rbac", "verify", "--python", sys.executable, *arguments, *select])
        out, err = self._output.readouterr()
        return code, out, err


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Project:
    """Change into a project, whose tests need no plugin: pytest starts faster."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return Project(tmp_path, capfd)


def test_an_exact_role(project: Project) -> None:
    """A role that is just what was asked for is fine; who is no operator does not count; pytest speaks on stderr."""
    project.role("get")
    admin, controller = event("list", user="admin"), event("list", user="system:serviceaccount:kube-system:job")
    project.tests(event("get"), admin, controller, event("list", agent="pyopscaffold-testing"))
    code, out, err = project.verify()
    assert (code, out) == (0, "config/rbac/role.yaml grants what the operator asked for, and nothing else\n")
    assert "1 passed" in err


def test_findings(project: Project) -> None:
    """What was refused comes first, then what is unused, then the role that would do."""
    project.role("get", "watch")
    project.tests(event("get"), event("delete", code=403), event("delete", code=403))
    code, out, _ = project.verify()
    findings, _, role = out.partition("\nthe least role:\n")
    assert code == 1
    assert findings.splitlines() == ["refused: delete configmaps (2 times)", "unused: watch configmaps"]
    assert yaml.safe_load(role)["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete", "get"]},
        EVENTS,
    ]


def test_json(project: Project) -> None:
    """The same, for programs; nothing else is on stdout."""
    project.role("get", "watch")
    project.tests(event("get"), event("delete", code=403))
    code, out, _ = project.verify("--output", "json")
    answer = json.loads(out)
    assert code == 1
    assert answer["exact"] is False
    assert [(one["text"], one["times"]) for one in answer["refused"]] == [("delete configmaps", 1)]
    assert answer["unused"] == [
        {"text": "watch configmaps", "rule": {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["watch"]}}
    ]
    assert answer["rules"][0]["verbs"] == ["delete", "get"]


def test_a_refusal_that_failed_the_tests(project: Project) -> None:
    """Where the tests fail for a refusal, it is told; the least role is not, for the tests did not get to the end."""
    project.role("watch")
    project.tests(event("get", code=403), passes=False)
    code, out, err = project.verify()
    assert code == 1
    assert "refused: get configmaps (once)" in out
    assert "the least role" not in out
    assert "what came after a refusal is not known" in err


def test_tests_that_fail_otherwise_prove_nothing(project: Project) -> None:
    """Where the tests fail and nothing was refused, the command can't tell."""
    project.role("get")
    project.tests(event("get"), passes=False)
    code, out, err = project.verify()
    assert (code, out) == (2, "")
    assert "error: pytest ended with exit code 1, which proves nothing\nhint: have the tests pass first" in err


def test_tests_without_an_operator_prove_nothing(project: Project) -> None:
    """Where nobody but the admin asked for anything, the command can't tell."""
    project.role("get")
    project.tests(event("get", user="admin"))
    code, _, err = project.verify()
    assert code == 2
    assert "error: the tests ran no operator as a service account on an API server" in err


@pytest.mark.parametrize(
    ("role", "said"),
    [
        (None, "config/rbac/role.yaml is not there"),
        ("rules: [", "config/rbac/role.yaml is no YAML"),
        ("rules: [{resources: [pods]}]", "{'resources': ['pods']} is no rule"),
    ],
)
def test_a_role_that_cannot_be_read(project: Project, role: str | None, said: str) -> None:
    """Without a role to read, no test is run."""
    if role is not None:
        (project.root / "config/rbac/role.yaml").write_text(role)
    project.tests(event("get"))
    code, _, err = project.verify()
    assert code == 2
    assert said in err
    assert "passed" not in err
