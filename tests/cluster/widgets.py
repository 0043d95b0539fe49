"""An API of its own for tests of the runtime: Widget, a text kept in a ConfigMap."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import urlopen

from pyopscaffold.api import Conditions, Object, controller, int64, resource
from pyopscaffold.errors import ClientError, NotFound, TerminalError
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Manager, Options, Reconciler, Result, conditions
from pyopscaffold.runtime.client.config import ClusterConfig, load
from pyopscaffold.testing import RestClient, eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from pyopscaffold.runtime import Runnable
    from pyopscaffold.runtime.health import Check
    from pyopscaffold.runtime.tracing import Tracing
    from pyopscaffold.testing import ApiServer, AuditRecord

GROUP = "runtime.example.com"


@dataclass(kw_only=True)
class WidgetSpec:
    """Desired state of a Widget."""

    text: str = "hello"
    """What the ConfigMap says."""


@dataclass(kw_only=True)
class WidgetStatus:
    """Observed state of a Widget."""

    observed_generation: int64 | None = None
    calls: int64 | None = None
    conditions: Conditions = field(default_factory=list)


@resource(group=GROUP, version="v1")
@dataclass(kw_only=True)
class Widget(Object):
    """A text, kept in a ConfigMap."""

    spec: WidgetSpec = field(default_factory=WidgetSpec)
    status: WidgetStatus = field(default_factory=WidgetStatus)


_TEXT = {"type": "string"}
_INTEGER = {"type": "integer", "format": "int64"}
_CONDITION = {
    "type": "object",
    "required": ["type", "status", "reason", "message", "lastTransitionTime"],
    "properties": {
        "type": _TEXT,
        "status": _TEXT,
        "reason": _TEXT,
        "message": _TEXT,
        "observedGeneration": _INTEGER,
        "lastTransitionTime": {"type": "string", "format": "date-time"},
    },
}
_STATUS = {
    "type": "object",
    "default": {"observedGeneration": -1},
    "properties": {
        "observedGeneration": _INTEGER,
        "calls": _INTEGER,
        "conditions": {
            "type": "array",
            "items": _CONDITION,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
    },
}
_SCHEMA = {
    "type": "object",
    "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, "status": _STATUS},
}


def install(client: RestClient, *, group: str = GROUP, kind: str = "Widget") -> None:
    """Have the server serve a kind with any spec and a Widget's status."""
    singular, plural = kind.lower(), f"{kind.lower()}s"
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": _SCHEMA},
    }
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": singular},
            "versions": [version],
        },
    }
    client.apply(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.{group}", crd)
    eventually(lambda: client.get(f"/apis/{group}/v1/{plural}"))


@dataclass
class Cluster:
    """One namespace of the API server, as a person with kubectl sees it."""

    client: RestClient
    namespace: str

    def widget_path(self, name: str) -> str:
        """Path of a Widget."""
        return f"/apis/{GROUP}/v1/namespaces/{self.namespace}/widgets/{name}"

    def config_map_path(self, name: str) -> str:
        """Path of a ConfigMap."""
        return f"/api/v1/namespaces/{self.namespace}/configmaps/{name}"

    def apply(self, name: str, *, text: Any = "hello", **metadata: Any) -> dict[str, Any]:
        """Apply a Widget."""
        body = {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Widget",
            "metadata": {"name": name, **metadata},
            "spec": {"text": text},
        }
        return self.client.apply(self.widget_path(name), body, manager="kubectl")

    def widget(self, name: str) -> dict[str, Any]:
        """Read a Widget."""
        return self.client.get(self.widget_path(name))

    def config_map(self, name: str) -> dict[str, Any]:
        """Read a ConfigMap."""
        return self.client.get(self.config_map_path(name))

    def events(self, name: str) -> list[dict[str, Any]]:
        """Events on a Widget."""
        found = self.client.get(f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")["items"]
        return [event for event in found if event["regarding"]["name"] == name]

    def condition(self, name: str, type_: str) -> dict[str, Any]:
        """Return a Widget's condition, empty if it has none of the type."""
        found = self.widget(name).get("status", {}).get("conditions", [])
        return next((condition for condition in found if condition["type"] == type_), {})

    def state(self, name: str, type_: str) -> tuple[str, str]:
        """Return a condition's status and reason, empty if there is none."""
        found = self.condition(name, type_)
        return found.get("status", ""), found.get("reason", "")

    def drop_finalizers(self, *names: str) -> None:
        """Take all finalizers off Widgets, as a person in despair does."""
        for name in names:
            self.client.merge(self.widget_path(name), {"metadata": {"finalizers": None}})

    def exists(self, path: str) -> bool:
        """Whether there is an object at the path."""
        try:
            self.client.get(path)
        except NotFound:
            return False
        return True

    def requests(self, server: ApiServer, operator: str = "widget") -> list[AuditRecord]:
        """All requests in the namespace by an operator, those for watches, the Lease and events aside."""
        return [
            record
            for record in server.audit_log.records()
            if record.verb != "watch"
            and record.namespace == self.namespace
            and record.user_agent.startswith(f"{operator}/")
            and record.resource not in {"leases", "events"}
        ]

    def writes(self, server: ApiServer, operator: str = "widget") -> list[AuditRecord]:
        """All writes among the requests."""
        return [record for record in self.requests(server, operator) if record.is_write]


def endpoint(manager: Manager, flag: str, path: str) -> tuple[int, str]:
    """Status and body of one of the manager's endpoints."""
    try:
        with urlopen(f"http://127.0.0.1:{manager.ports[flag]}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def scrape(manager: Manager) -> dict[str, float]:
    """Read the manager's metrics: name and labels as they are written → value."""
    _, text = endpoint(manager, "--metrics-bind-address", "/metrics")
    lines = (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, value in lines}


async def soon(check: Callable[[], Any], within: float = 60.0) -> Any:
    """Wait until the check gives something true; errors of the client mean "not yet"."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within
    while True:
        try:
            if found := check():
                return found
        except ClientError:
            if loop.time() > deadline:
                raise
        assert loop.time() < deadline, f"not so after {within:g} s"
        await asyncio.sleep(0.03)


@controller(Widget, owns=[CONFIG_MAP], timeout=5.0, workers=2)
class WidgetReconciler(Reconciler[Widget]):
    """Keeps a Widget's ConfigMap."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._counted = (0, 0)

    def quiet(self) -> bool:
        """Whether nothing was reconciled during the last ten times that this was asked."""
        seen, times = self._counted
        self._counted = (len(self.seen), times + 1 if seen == len(self.seen) else 0)
        return self._counted[1] >= 10

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Apply the ConfigMap; the text "bad" is refused."""
        self.seen.append(obj.metadata.name)
        if obj.spec.text == "bad":
            conditions.set(obj, "Validated", "False", reason="BadText", message="spec.text is bad")
            raise TerminalError("spec.text is bad", reason="BadText")
        conditions.set(obj, "Validated", "True", reason="TextAccepted")
        child = await ctx.apply(config_map(obj.metadata.name, obj.spec.text))
        await ctx.prune(kept=[child])
        conditions.set(obj, "Ready", "True", reason="Applied", message="the ConfigMap is in place")
        return Result()


def config_map(name: str, text: str) -> dict[str, Any]:
    """Make the ConfigMap that says the text."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"text": text}}


def begin(
    reconciler: Reconciler[Any],
    server: ApiServer,
    namespace: str,
    *,
    config: ClusterConfig | None = None,
    runnables: Sequence[Runnable] = (),
    ready_checks: Mapping[str, Check] | None = None,
    tracing: Tracing | None = None,
    **options: Any,
) -> tuple[Manager, asyncio.Task[None]]:
    """Start a manager for one namespace unless the options say otherwise, as admin unless the config does."""
    addresses = {"metrics_bind_address": "127.0.0.1:0", "health_probe_bind_address": "127.0.0.1:0"}
    chosen = Options(**{"namespaces": (namespace,), **addresses, **options})
    manager = Manager(
        [reconciler],
        options=chosen,
        config=config or load(server.kubeconfig()),
        runnables=runnables,
        ready_checks=ready_checks,
        tracing=tracing,
    )
    return manager, asyncio.create_task(manager.run())


@asynccontextmanager
async def operating(
    reconciler: Reconciler[Any], server: ApiServer, namespace: str, **options: Any
) -> AsyncIterator[Manager]:
    """Run a manager while the block lasts; see begin."""
    manager, running = begin(reconciler, server, namespace, **options)
    try:
        yield manager
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        if not running.cancelled() and (error := running.exception()):
            raise error
