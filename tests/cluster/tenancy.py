"""A project with tenants, read and generated as any other, and run under the role that was generated for it."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold import generate
from pyopscaffold.errors import NotFound
from pyopscaffold.generate import rbac
from pyopscaffold.loader import source
from pyopscaffold.model.project import Project
from pyopscaffold.runtime.client.config import load
from pyopscaffold.testing import ApiServer, RestClient, proof
from pyopscaffold.testing.discovery import create_namespace, purge_namespace
from pyopscaffold.testing.rbac import EVENTS, EVERYBODY, compare
from pyopscaffold.testing.rest import USER_AGENT
from tests.cluster.widgets import install, operating, soon

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pyopscaffold.testing.server import Identity

GROUP = "tenants.example.com"
API = "/apis/rbac.authorization.k8s.io/v1"
CODE = """
from __future__ import annotations
from dataclasses import dataclass, field
from typing import Literal
from pyopscaffold.api import *
from pyopscaffold.runtime import Context, Reconciler, Result, conditions

@dataclass(kw_only=True)
class Settings:
    greeting: str
    times: int = 1

@dataclass(kw_only=True)
class HelloSpec:
    config_namespace: str = ""

@dataclass(kw_only=True)
class HelloStatus:
    observed_generation: int64 | None = None
    conditions: Conditions = field(default_factory=list)

@resource(group="tenants.example.com", version="v1")
@dataclass(kw_only=True)
class Hello(Object):
    spec: HelloSpec = field(default_factory=HelloSpec)
    status: HelloStatus = field(default_factory=HelloStatus)

@controller(Hello, timeout=5.0, tenants={tenants})
class HelloReconciler(Reconciler[Hello]):
    async def reconcile(self, ctx: Context, obj: Hello) -> Result:
        settings = await ctx.tenant_config(Settings, namespace=obj.spec.config_namespace)
        conditions.set(obj, "Ready", "True", reason="Greeted", message=f"{{settings.greeting}} x{{settings.times}}")
        return Result()
"""


@dataclass
class Tenancy:
    """Namespaces of tenants on the API server, as its admin sees them, and one operator's account."""

    server: ApiServer
    client: RestClient
    root: Path
    made: list[str]

    @classmethod
    def on(cls, server: ApiServer, root: Path) -> Tenancy:
        """Have the server serve Hellos; the project is written below ``root``."""
        client = server.client()
        install(client, group=GROUP, kind="Hello")
        return cls(server, client, root, [])

    def remove(self) -> None:
        """Remove the namespaces, and what the operator was granted."""
        for plural in ("clusterroles", "clusterrolebindings"):
            with suppress(NotFound):
                self.client.delete(f"{API}/{plural}/{self.made[0]}")
        for name in self.made:
            purge_namespace(self.client, name)
        self.client.close()

    def namespace(self, **labels: str) -> str:
        """Make a namespace."""
        name = create_namespace(self.client)
        self.made.append(name)
        self.label(name, **labels)
        return name

    def label(self, namespace: str, **labels: str | None) -> None:
        """Give a namespace labels, or take them away."""
        self.client.merge(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}})

    def hello(self, namespace: str, *, config_namespace: str = "", **labels: str) -> None:
        """Write the one object of a namespace."""
        metadata = {"name": "one", "labels": labels}
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Hello", "metadata": metadata}
        self.client.apply(_hello(namespace), {**body, "spec": {"configNamespace": config_namespace}})

    def config(self, namespace: str, name: str, data: dict[str, str], **labels: str) -> None:
        """Write a ConfigMap."""
        metadata = {"name": name, "labels": labels}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        self.client.apply(_config(namespace, name), body)

    def unconfigure(self, namespace: str, name: str) -> None:
        """Delete a ConfigMap."""
        self.client.delete(_config(namespace, name))

    def says(self, namespace: str) -> str:
        """Return what the object of a namespace came to: the settings that it got, or why it got none."""
        found = self.client.get(_hello(namespace)).get("status", {}).get("conditions", [])
        said = {item["type"]: item for item in found}
        if "Stalled" in said:
            return f"{said['Stalled']['reason']}: {said['Stalled']['message']}"
        return str(said.get("Ready", {}).get("message", ""))

    async def comes_to(self, namespace: str, wanted: str) -> None:
        """Wait until the object of a namespace says so."""
        said = ""

        def check() -> bool:
            nonlocal said
            said = self.says(namespace)
            return wanted in said

        try:
            await soon(check, within=60)
        except AssertionError:
            pytest.fail(f"{namespace} says {said!r}, not {wanted!r}")

    @asynccontextmanager
    async def operating(self, tenants: str, *namespaces: str) -> AsyncIterator[Identity]:
        """Run the operator under its generated role, which has to be exact at the end."""
        package = f"tenancy_{self.made[0].replace('-', '_')}"
        (self.root / package / "controllers").mkdir(parents=True)
        (self.root / package / "controllers" / "hello.py").write_text(CODE.format(tenants=tenants))
        for folder in (self.root / package, self.root / package / "controllers"):
            (folder / "__init__.py").touch()
        model = source.read(self.root, package, python=sys.executable)
        project = Project(domain="example.com", name=package, package=package, image="x", cli_version="")
        role = next(item.text for item in generate.artefacts(model, project, {}) if item.path == proof.ROLE)
        account = self.server.service_account(self.made[0], "operator")
        self._grant(list(yaml.safe_load_all(role)), account, namespaces)
        code: Any = import_module(f"{package}.controllers.hello")
        config = load(self.server.kubeconfig(account))
        async with operating(code.HelloReconciler(), self.server, "", config=config, namespaces=namespaces):
            yield account
        rules = (*rbac.manager_rules(model), *(rule for more in rbac.namespace_rules(model).values() for rule in more))
        records = [one for one in self.server.audit_log.records(user=account.user) if one.user_agent != USER_AGENT]
        assert proof.describe(compare(rules, records, elsewhere=EVERYBODY, standing=EVENTS)) == []

    def _grant(self, documents: list[dict[str, Any]], account: Identity, namespaces: tuple[str, ...]) -> None:
        """Apply role.yaml, its cluster role bound in the operator's namespaces or everywhere."""
        _, home, name = account.user.rsplit(":", 2)
        subjects = [{"kind": "ServiceAccount", "name": name, "namespace": home}]
        for item in documents:
            kind, where = item["kind"], item["metadata"].get("namespace", "")
            if kind == "RoleBinding":
                item["subjects"] = subjects
            if not where:
                item["metadata"]["name"] = home
            self.client.apply(f"{_api(where)}/{kind.lower()}s/{item['metadata']['name']}", item)
        for where in namespaces or ("",):
            kind = "RoleBinding" if where else "ClusterRoleBinding"
            binding = {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": kind,
                "metadata": {"name": home},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": home},
                "subjects": subjects,
            }
            self.client.apply(f"{_api(where)}/{kind.lower()}s/{home}", binding)


def _hello(namespace: str) -> str:
    return f"/apis/{GROUP}/v1/namespaces/{namespace}/hellos/one"


def _config(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps/{name}"


def _api(namespace: str) -> str:
    return f"{API}/namespaces/{namespace}" if namespace else API
