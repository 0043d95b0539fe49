"""A server, the proxy before it, an operator behind it; and what must hold of the three after every fault."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold.api import controller
from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Manager, Options, Reconciler, Result, conditions
from pyopscaffold.runtime.client.config import load
from pyopscaffold.runtime.client.http import HttpClient
from tests.cluster.widgets import Cluster, Widget, config_map
from tests.faults import orphans
from tests.faults.clocks import FastClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pyopscaffold.api.declarations import Kind
    from pyopscaffold.testing import ControlPlane, RestClient
    from tests.faults.proxy import FaultProxy

WITHIN = 60.0
"""Seconds after which an operator that has not recovered never will; it normally takes one."""

WORKERS = 4
SPEED = 10.0
_KINDS: dict[str, Kind] = {"widgets": Widget, "configmaps": CONFIG_MAP}
_WATCHES = 2
# each kept connection was busy once: by workers, events, and lists of both kinds
_KEPT = WORKERS + 1 + 2


@controller(Widget, owns=[CONFIG_MAP], timeout=5.0, workers=WORKERS)
class DigestReconciler(Reconciler[Widget]):
    """Keeps a ConfigMap with the digest of a Widget's text, which may be long."""

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Apply the ConfigMap and report."""
        await ctx.apply(config_map(obj.metadata.name, digest(obj.spec.text)))
        conditions.set(obj, "Ready", "True", reason="Applied", message="the ConfigMap is in place")
        return Result()


def digest(text: str) -> str:
    """Say what the ConfigMap of a text says."""
    return hashlib.sha256(text.encode()).hexdigest()


class World(Cluster):
    """A namespace on the real server, the proxy before it, and hands that change what is in the namespace."""

    def __init__(self, plane: ControlPlane, proxy: FaultProxy, admin: RestClient, namespace: str, folder: Path) -> None:
        super().__init__(admin, namespace)
        self.plane = plane
        self.proxy = proxy
        self.folder = folder
        self._texts = itertools.count()

    def text(self) -> str:
        """Give one that was never there."""
        return f"text {next(self._texts)}"

    def listed(self, resource: str) -> dict[str, dict[str, Any]]:
        """Ask the server itself what there is, by name, without what the cache is not to keep."""
        path = self.widget_path("") if resource == "widgets" else self.config_map_path("")
        found = {}
        for item in self.client.get(path.rstrip("/"))["items"]:
            item["metadata"].pop("managedFields", None)
            found[item["metadata"]["name"]] = {key: item[key] for key in item.keys() - {"apiVersion", "kind"}}
        return found

    def remove(self, name: str) -> None:
        """Delete a Widget."""
        self.client.delete(self.widget_path(name))

    def truth(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Ask for all, and collect garbage as kube-controller-manager would: ConfigMaps whose owner is gone."""
        widgets, maps = self.listed("widgets"), self.listed("configmaps")
        orphans.collect(self.client, self.config_map_path("").rstrip("/"), maps, widgets)
        return {"widgets": widgets, "configmaps": maps}

    def populate(self) -> None:
        """Make what ``change`` changes."""
        for name in ("changed", "tampered", "deleted", "recreated", "untouched"):
            self.apply(name, text=self.text())

    def change(self) -> None:
        """Do everything that one can: change, create, delete, delete and re-create; and tamper with a child."""
        self.apply("changed", text=self.text())
        self.apply(f"created-{next(self._texts)}", text=self.text())
        self.remove("deleted")
        self.apply("deleted-later", text=self.text())
        self.remove("recreated")
        self.apply("recreated", text=self.text())
        self.client.merge(self.config_map_path("tampered"), {"data": {"text": "by somebody else"}})
        self.apply("changed", text=self.text())

    def change_again(self) -> None:
        """Do the same on what ``change`` has left."""
        self.remove("deleted-later")
        self.apply("deleted", text=self.text())
        self.change()

    @asynccontextmanager
    async def operating(
        self,
        *,
        speed: float = SPEED,
        timeout: float = 30.0,  # noqa: ASYNC109 - of the client's requests
        connect_timeout: float = 10.0,
        kubeconfig: Path | None = None,
    ) -> AsyncIterator[Operator]:
        """Run an operator through the proxy; it has settled when the block begins."""
        clock = FastClock(speed)
        client = HttpClient(
            load(kubeconfig or self.proxy.kubeconfig(self.folder / "kubeconfig")),
            user_agent="widget",
            clock=clock,
            timeout=timeout,
            connect_timeout=connect_timeout,
        )
        manager = Manager([DigestReconciler], options=self.options(), client=client, clock=clock)
        try:
            async with self.running(manager, clock) as operator:
                yield operator
        finally:
            await client.close()

    def options(self, **more: Any) -> Options:
        """Give an operator's options for the namespace."""
        return Options(namespaces=(self.namespace,), metrics_bind_address="0", health_probe_bind_address="0", **more)

    @asynccontextmanager
    async def running(self, manager: Manager, clock: FastClock) -> AsyncIterator[Operator]:
        """Run a manager while the block lasts; it has settled when the block begins."""
        await asyncio.to_thread(self.populate)
        operator = Operator(self, manager, clock)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: operator.complaints.append(str(context)))
        running = asyncio.create_task(manager.run())
        try:
            await operator.settled(running)
            operator.tasks = _tasks()
            yield operator
            assert operator.complaints == []
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


@dataclass
class Operator:
    """A running operator. ``tasks`` are those it had when it first came to rest, by what they run."""

    world: World
    manager: Manager
    clock: FastClock
    tasks: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    _running: asyncio.Task[None] | None = None

    async def settled(self, running: asyncio.Task[None] | None = None) -> None:
        """Wait until the cache is the server's, every object is reconciled, and nothing is left over."""
        self._running = running or self._running
        assert self._running is not None
        deadline = asyncio.get_running_loop().time() + WITHIN
        while (open_ := await self._differences()) or (open_ := self._leaks()):
            if self._running.done():
                self._running.result()
            assert asyncio.get_running_loop().time() < deadline, f"not so after {WITHIN:g} s: {open_}"
            await asyncio.sleep(0.02)

    async def until(self, check: Callable[[], Any]) -> None:
        """Wait until something is so."""
        deadline = asyncio.get_running_loop().time() + WITHIN
        while not check():
            assert asyncio.get_running_loop().time() < deadline, f"not so after {WITHIN:g} s"
            await asyncio.sleep(0.01)

    def held(self, resource: str) -> dict[str, dict[str, Any]]:
        """Return what the cache holds, by name."""
        found = {}
        for item in self.manager.cache.informer(_KINDS[resource]).list():
            whole: dict[str, Any] = msgspec.json.decode(item.raw)
            found[item.meta.name] = {key: whole[key] for key in whole.keys() - {"apiVersion", "kind"}}
        return found

    async def _differences(self) -> str:
        """Say where cache and server differ, and which object is not reconciled yet."""
        try:
            truth = await asyncio.to_thread(self.world.truth)
            held = {resource: self.held(resource) for resource in _KINDS}
        except PyopscaffoldError as error:
            return str(error)  # the server is not back yet, or the operator not begun
        for resource, wanted in truth.items():
            if names := {
                name for name in held[resource].keys() | wanted.keys() if held[resource].get(name) != wanted.get(name)
            }:
                return f"the cache has other {resource}: {sorted(names)}"
        for name, widget in truth["widgets"].items():
            if why := _unreconciled(widget, truth["configmaps"].get(name)):
                return f"{name}: {why}"
        return "" if self.manager.idle else "reconciles are under way"

    def _leaks(self) -> str:
        """Say what there is more of than an operator at rest has: tasks, connections, watches."""
        if self.tasks and (more := _tasks() - self.tasks):
            return f"tasks left over: {dict(more)}"
        proxy = self.world.proxy
        if len(proxy.opened()) != _WATCHES or len(proxy.streams) != _WATCHES:
            return f"watches: {[stream.seen.path for stream in proxy.streams]}"
        if (count := sockets_to(proxy.port)) > _WATCHES + _KEPT:
            return f"{count} sockets"
        return f"{proxy.clients} connections" if proxy.clients > _WATCHES + _KEPT else ""


def sockets_to(port: int) -> int:
    """Count this process's sockets that lead, or have led, to a port of loopback."""
    fields = (line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:])
    ours = {f"socket:[{found[9]}]" for found in fields if found[2].endswith(f":{port:04X}")}
    links = []
    for descriptor in os.listdir("/proc/self/fd"):  # noqa: PTH208 - thousands of names, not paths
        try:
            links.append(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115 - as above
        except OSError:
            continue  # it was the listing's own
    return sum(link in ours for link in links)


def _tasks() -> Counter[str]:
    """Count the event loop's tasks by what they run."""
    return Counter(getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks())


def _unreconciled(widget: dict[str, Any], child: dict[str, Any] | None) -> str:
    status, metadata = widget.get("status", {}), widget["metadata"]
    if status.get("observedGeneration") != metadata["generation"]:
        return f"generation {status.get('observedGeneration')} of {metadata['generation']}"
    ready = [found["status"] for found in status.get("conditions", ()) if found["type"] == "Ready"]
    if ready != ["True"] or len(status["conditions"]) > 1:
        return f"conditions {status.get('conditions')}"
    if child is None or child["data"] != {"text": digest(widget["spec"]["text"])}:
        return f"child {child}"
    owners = [owner["uid"] for owner in child["metadata"].get("ownerReferences", ())]
    return "" if owners == [metadata["uid"]] else f"its owners are {owners}"
