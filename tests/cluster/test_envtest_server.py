from __future__ import annotations

import json
import ssl
import subprocess
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import AlreadyExists, EnvtestError, Forbidden, Invalid, NotFound
from pyopscaffold.testing import eventually
from pyopscaffold.testing.binaries import resolve
from pyopscaffold.testing.discovery import create_namespace, purge_namespace
from tests.cluster.envtest_helpers import config_map, exists

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.testing import ApiServer, RestClient
    from pyopscaffold.testing.plugin import ControlPlanes


@pytest.fixture(scope="module")
def open_to_alice(control_planes: ControlPlanes) -> ApiServer:
    """Run an API server that knows alice and checks ownerReferences."""
    plane = control_planes(users=["alice"], admission_plugins=["OwnerReferencesPermissionEnforcement"])
    return plane.server


def allow(client: RestClient, user: str, verb: str, resource: str) -> None:
    """Let a user do one thing in the whole cluster."""
    name = f"{user}-{verb}-{resource}"
    rule = {"apiGroups": [""], "resources": [resource], "verbs": [verb]}
    metadata = {"metadata": {"name": name}}
    api = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    path = "/apis/rbac.authorization.k8s.io/v1"
    client.apply(f"{path}/clusterroles/{name}", {**api, **metadata, "kind": "ClusterRole", "rules": [rule]})
    binding = {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
    client.apply(f"{path}/clusterrolebindings/{name}", {**api, **metadata, "kind": "ClusterRoleBinding", **binding})


def kubectl(server: ApiServer, kubeconfig: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the kubectl that came with the server."""
    command = [str(server.kubectl), "--kubeconfig", str(kubeconfig), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_server_says_which_version_it_is(admin: RestClient, pytestconfig: pytest.Config) -> None:
    """The version is that of the binaries: clients choose by it what they may ask for."""
    asked = pytestconfig.getini("envtest_version")
    assert admin.get("/version")["gitVersion"] == f"v{resolve(asked or None)}"


def test_a_user_may_do_nothing_until_rbac_lets_it(open_to_alice: ApiServer) -> None:
    """An identity starts without rights, and has just what RBAC gives it."""
    admin, alice = open_to_alice.client(), open_to_alice.client(open_to_alice.identity("alice"))
    pods = "/api/v1/namespaces/default/pods"
    with pytest.raises(Forbidden, match='User "alice" cannot list resource "pods"'):
        alice.get(pods)
    allow(admin, "alice", "list", "pods")
    eventually(lambda: alice.get(pods)["items"] == [])
    with pytest.raises(Forbidden):
        alice.get(f"{pods}/some")


def test_admission_plugins_can_be_switched_on(open_to_alice: ApiServer) -> None:
    """With OwnerReferencesPermissionEnforcement, blocking an owner's deletion needs a right on its finalizers."""
    admin, alice = open_to_alice.client(), open_to_alice.client(open_to_alice.identity("alice"))
    maps = "/api/v1/namespaces/default/configmaps"
    owner = admin.create(maps, config_map("owner"))
    allow(admin, "alice", "create", "configmaps")
    eventually(lambda: alice.create(maps, config_map("allowed")))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    child = config_map("child", ownerReferences=[{**reference, "blockOwnerDeletion": True}])
    with pytest.raises(Forbidden, match="cannot set blockOwnerDeletion"):
        alice.create(maps, child)


def test_an_unknown_user_is_an_error_that_lists_the_known(open_to_alice: ApiServer) -> None:
    """Asking for an identity that was not there at the start says which there are."""
    with pytest.raises(EnvtestError, match="no user 'bob'") as refused:
        open_to_alice.identity("bob")
    assert "admin, alice" in (refused.value.hint or "")


def test_a_service_account_is_known_by_its_token(api_server: ApiServer, namespace: str) -> None:
    """The token comes from the server's own TokenRequest, and the server takes its bearer for the account."""
    account = api_server.service_account(namespace, "operator")
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    user = api_server.client(account).create(path, review)["status"]["userInfo"]
    assert user["username"] == account.user == f"system:serviceaccount:{namespace}:operator"
    assert set(account.groups) < set(user["groups"])


def test_kubectl_works_with_the_written_kubeconfig(api_server: ApiServer, namespace: str) -> None:
    """The kubeconfig carries address, authority, token and namespace, and only its owner can read it."""
    account = api_server.service_account(namespace, "operator")
    file = api_server.kubeconfig(account, namespace=namespace)
    assert file.stat().st_mode & 0o777 == 0o600
    answer = kubectl(api_server, file, "get", "pods")
    assert f'User "{account.user}" cannot list resource "pods"' in answer.stderr
    assert f'in the namespace "{namespace}"' in answer.stderr
    answer = kubectl(api_server, api_server.kubeconfig(), "get", "ns", namespace, "-o", "json")
    assert json.loads(answer.stdout)["metadata"]["name"] == namespace


def test_the_certificate_comes_from_the_control_planes_own_authority(api_server: ApiServer) -> None:
    """A client without that authority refuses the server, even by the strictest rules one with it does not."""
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.urlopen(f"{api_server.url}/readyz", timeout=5)  # noqa: S310 - our own server
    context = ssl.create_default_context(cadata=api_server.ca)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    with urllib.request.urlopen(f"{api_server.url}/readyz", timeout=5, context=context) as response:  # noqa: S310
        assert response.read() == b"ok"


def test_the_audit_log_has_every_request(api_server: ApiServer, admin: RestClient, namespace: str) -> None:
    """Who asked for what with which outcome is read back, denied requests as well."""
    account = api_server.service_account(namespace, "watched")
    client = api_server.client(account, user_agent="the-operator")
    seen = len(api_server.audit_log.records())
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    with pytest.raises(Forbidden):
        client.create(path, config_map("one"))
    (record,) = api_server.audit_log.records(user=account.user, skip=seen)
    assert (record.verb, record.resource, record.namespace, record.code) == ("create", "configmaps", namespace, 403)
    assert (record.user_agent, record.uri, record.stage) == ("the-operator", path, "ResponseComplete")
    assert record.is_write
    admin.get(path)
    (record,) = (one for one in api_server.audit_log.records(user="admin", skip=seen) if one.uri == path)
    assert (record.verb, record.code, record.is_write) == ("list", 200, False)


def test_without_an_audit_log_asking_for_it_is_an_error(open_to_alice: ApiServer) -> None:
    """A control plane that keeps none says how to have one."""
    with pytest.raises(EnvtestError, match="keeps no audit log"):
        _ = open_to_alice.audit_log


def test_failures_have_the_servers_words(admin: RestClient, namespace: str) -> None:
    """Each failure is an error of its own kind, with the server's reason and causes."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    admin.create(path, config_map("one"))
    with pytest.raises(AlreadyExists) as twice:
        admin.create(path, config_map("one"))
    assert (twice.value.code, twice.value.reason) == (409, "AlreadyExists")
    with pytest.raises(Invalid) as invalid:
        admin.create(path, config_map("Not A Name"))
    assert [cause.field for cause in invalid.value.causes] == ["metadata.name"]
    with pytest.raises(NotFound):
        admin.delete(f"{path}/none")


def test_a_namespace_goes_with_all_that_is_in_it(api_server: ApiServer, admin: RestClient) -> None:
    """Purging ends a namespace at once, although a finalizer holds one of its objects."""
    name = create_namespace(admin)
    path = f"/api/v1/namespaces/{name}/configmaps"
    admin.create(path, config_map("held", finalizers=["example.com/hold"]))
    purge_namespace(admin, name)
    assert not exists(admin, f"/api/v1/namespaces/{name}")
    assert not exists(admin, f"{path}/held")
