"""The fixture ``rbac_proof`` in a project's tests."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("rbac-proof")

ROLE = """
kind: ClusterRole
metadata: {name: manager-role}
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [create, delete, list, patch]
- apiGroups: [""]
  resources: [secrets/finalizers]
  verbs: [update]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
"""
TESTS = """
import pytest
import yaml
from pyopscaffold.errors import Forbidden
from pyopscaffold.testing import eventually

RBAC = "/apis/rbac.authorization.k8s.io/v1"

@pytest.fixture
def operator(api_server, namespace):
    admin = api_server.client()
    account = api_server.service_account(namespace, "operator")
    role = yaml.safe_load(open("config/rbac/role.yaml"))
    role |= {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": namespace}}
    admin.apply(f"{RBAC}/clusterroles/{namespace}", role)
    admin.apply(f"{RBAC}/clusterrolebindings/{namespace}", {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": namespace},
        "subjects": [{"kind": "ServiceAccount", "name": "operator", "namespace": namespace}],
    })
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": account.user, "resourceAttributes": {"resource": "configmaps", "verb": "list"}},
    }
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    eventually(lambda: admin.create(path, review)["status"]["allowed"])
    return api_server.client(account, user_agent="operator/1")

@pytest.fixture
def path(namespace):
    return f"/api/v1/namespaces/{namespace}/configmaps"

@pytest.fixture
def child(api_server, namespace):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "owner"}}
    owner = api_server.client().create(f"/api/v1/namespaces/{namespace}/secrets", secret)
    reference = {"apiVersion": "v1", "kind": "Secret", "name": "owner", "blockOwnerDeletion": True}
    references = [reference | {"uid": owner["metadata"]["uid"]}]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "ownerReferences": references}}

def test_exact(rbac_proof, operator, path, child):
    operator.get(path)
    operator.apply(f"{path}/one", child)

def test_unused(rbac_proof, operator, path):
    operator.get(path)

def test_refused(rbac_proof, operator, path, child):
    operator.get(path)
    operator.apply(f"{path}/one", child)
    with pytest.raises(Forbidden):
        operator.get(f"{path}/one")

def test_nobody(rbac_proof, operator):
    pass
"""


def test_it_fails_a_test_whose_role_is_not_exact(tmp_path: Path) -> None:
    """A test with an exact role passes; unused permissions, refusals and the lack of an operator each fail theirs."""
    (tmp_path / "config/rbac").mkdir(parents=True)
    (tmp_path / "config/rbac/role.yaml").write_text(ROLE)
    (tmp_path / "test_roles.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-rE"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    summary = done.stdout.partition("short test summary info")[2]
    assert "4 passed, 3 errors" in summary, done.stdout
    assert [name for name in ("exact", "unused", "refused", "nobody") if f"::test_{name} " in summary] == [
        "unused",
        "refused",
        "nobody",
    ]
    assert "unused: create configmaps\nunused: delete configmaps\nunused: patch configmaps\n" in done.stdout
    assert "refused: get configmaps (once)" in done.stdout
    assert "has asked for anything" in done.stdout
