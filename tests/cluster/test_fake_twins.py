"""FakeCluster and the real API server stay twins through random sequences of requests.

Scale is left out: who owns the replicas after it is a riddle of the real server's.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from pyopscaffold.runtime.client.config import load
from pyopscaffold.runtime.client.http import HttpTransport
from pyopscaffold.testing import FakeCluster
from tests.cluster.fake_conformance import CRDS, Answer, Api, Json, gizmo

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pyopscaffold.testing import ApiServer

EXAMPLES = int(os.environ.get("FAKE_TWINS_EXAMPLES", "20"))
_numbers = itertools.count()

names = st.sampled_from(["a", "b"])
texts = st.sampled_from(["a", "b", "c"])
managers = st.sampled_from(["one", "two"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
ports = st.lists(
    st.fixed_dictionaries(
        {"port": st.integers(1, 3)}, optional={"name": texts, "protocol": st.sampled_from(["TCP", "UDP"])}
    ),
    max_size=3,
    unique_by=lambda port: port["port"],
)
fields: dict[str, st.SearchStrategy[Any]] = {
    "replicas": st.integers(0, 2),
    "color": st.sampled_from(["red", "blue", "green"]),
    "name": st.sampled_from(["abc", "AB", "toolong"]),
    "list": st.lists(texts, max_size=3),
    "set": st.lists(texts, max_size=3, unique=True),
    "ports": ports,
    "any": st.dictionaries(texts, json_values, max_size=2),
    "map": st.dictionaries(texts, texts, max_size=2),
    "whole": st.dictionaries(texts, texts, max_size=2),
    "inner": st.fixed_dictionaries({}, optional={"a": st.integers(0, 2), "b": st.integers(0, 2)}),
    "limit": st.integers(0, 2) | texts,
}
sizes = st.sampled_from([1, 2, 3, 0])
specs = st.fixed_dictionaries({"size": sizes}, optional=fields)
spec_patches = st.fixed_dictionaries(
    {}, optional={name: st.none() | value for name, value in {**fields, "size": sizes, "maybe": texts}.items()}
)
statuses = st.fixed_dictionaries({}, optional={"replicas": st.integers(0, 2), "phase": texts})
labels = st.dictionaries(texts, texts, max_size=2)
finalizers = st.lists(st.sampled_from(["example.com/a", "example.com/b"]), max_size=2, unique=True)
metadatas = st.fixed_dictionaries({}, optional={"labels": labels, "finalizers": finalizers})
filled = metadatas.filter(lambda metadata: all(metadata.values()))
"""Empty maps and lists of metadata have the real server write a version at every apply that follows."""


class Twins(RuleBasedStateMachine):
    """Asks both, and keeps the first and the last version of each object that each side has told."""

    def __init__(self, runner: asyncio.Runner, real: Api) -> None:
        super().__init__()
        self._runner = runner
        self._prefix = f"t{next(_numbers)}"
        self._sides = (real, Api(FakeCluster(*CRDS).transport, "default"))
        self._begin = [self._runner.run(side.ask("GET", side.path(), limit="1")).version for side in self._sides]
        self._first: dict[tuple[int, str], str] = {}
        self._last: dict[tuple[int, str], str] = {}

    def _both(self, name: str, ask: Callable[[Api, str], Awaitable[Answer]]) -> None:
        full = f"{self._prefix}-{name}"
        answers = [self._runner.run(_await(ask(side, full))) for side in self._sides]
        found = [self._runner.run(_get(side, full)) for side in self._sides]
        real, fake = map(_plain, answers)
        assert real == fake, f"{real}\n{fake}"
        real, fake = map(_plain, found)
        assert real == fake, f"{real}\n{fake}"
        versions = [answer.version if answer.code == 200 else "" for answer in found]
        moved = [self._last.get((index, full), "") != version for index, version in enumerate(versions)]
        assert moved[0] == moved[1], f"a new version: {moved}"
        for index, version in enumerate(versions):
            self._last[index, full] = version
            if version:
                self._first.setdefault((index, full), version)

    def _version(self, side: Api, name: str, *, stale: bool) -> str:
        known = self._first if stale else self._last
        return known.get((self._sides.index(side), name)) or "1"

    @rule(name=names, spec=specs, metadata=metadatas, status=statuses)
    def create(self, name: str, spec: Json, metadata: Json, status: Json) -> None:
        """Create."""
        self._both(name, lambda side, full: side.create({**gizmo(full, spec, **metadata), "status": status}))

    @rule(name=names, spec=specs, metadata=metadatas, stale=st.booleans(), by=managers)
    def put(self, name: str, spec: Json, metadata: Json, stale: bool, by: str) -> None:
        """Replace, with the newest version or the first."""

        def ask(side: Api, full: str) -> Awaitable[Answer]:
            version = self._version(side, full, stale=stale)
            return side.put(gizmo(full, spec, **metadata, resourceVersion=version), fieldManager=by)

        self._both(name, ask)

    @rule(name=names, spec=spec_patches, metadata=metadatas, by=managers)
    def merge(self, name: str, spec: Json, metadata: Json, by: str) -> None:
        """Patch by merge."""
        patch = {"spec": spec, "metadata": metadata}
        self._both(name, lambda side, full: side.merge(full, patch, fieldManager=by))

    @rule(name=names, status=statuses, spec=spec_patches)
    def merge_status(self, name: str, status: Json, spec: Json) -> None:
        """Patch the status."""
        patch = {"spec": spec, "status": status}
        self._both(name, lambda side, full: side.merge(full, patch, "status"))

    @rule(
        name=names,
        operation=st.sampled_from(["add", "remove", "replace", "test"]),
        field=st.sampled_from([*fields, "size", "list/0", "list/-", "ports/0/name", "map/a"]),
        data=st.data(),
    )
    def json_patch(self, name: str, operation: str, field: str, data: st.DataObject) -> None:
        """Patch by one operation."""
        value = data.draw(fields.get(field, texts))
        body = {"op": operation, "path": f"/spec/{field}", **({} if operation == "remove" else {"value": value})}
        self._both(name, lambda side, full: side.json_patch(full, body))

    @rule(name=names, spec=specs, metadata=filled, by=managers, force=st.booleans())
    def apply(self, name: str, spec: Json, metadata: Json, by: str, force: bool) -> None:
        """Apply."""
        self._both(name, lambda side, full: side.apply(gizmo(full, spec, **metadata), by=by, force=force))

    @rule(name=names, status=statuses, by=managers, force=st.booleans())
    def apply_status(self, name: str, status: Json, by: str, force: bool) -> None:
        """Apply the status."""

        def ask(side: Api, full: str) -> Awaitable[Answer]:
            body = {**gizmo(full), "status": status}
            return side.apply(body, by=by, force=force, subresource="status")

        self._both(name, ask)

    @rule(name=names, stale=st.booleans())
    def delete(self, name: str, stale: bool) -> None:
        """Delete, if the version is right."""

        def ask(side: Api, full: str) -> Awaitable[Answer]:
            version = self._version(side, full, stale=stale)
            return side.delete(full, preconditions={"resourceVersion": version}, propagationPolicy="Background")

        self._both(name, ask)

    @rule()
    def lists(self) -> None:
        """List."""
        selector = {"fieldSelector": "spec.color=red"}
        answers = [self._runner.run(side.ask("GET", side.path(), **selector)) for side in self._sides]
        found = [
            [_bare(item) for item in answer.body["items"] if item["metadata"]["name"].startswith(f"{self._prefix}-")]
            for answer in answers
        ]
        assert found[0] == found[1]

    def teardown(self) -> None:
        """Compare what watches tell of all this: one of everything, one of the objects with a label."""
        for side in self._sides:
            end = gizmo(f"{self._prefix}-end", labels={"a": "end"})
            assert self._runner.run(side.create(end)).code == 201
        for selector in ("", "a"):
            sides = zip(self._sides, self._begin, strict=True)
            real, fake = [self._runner.run(_events(side, begin, selector, self._prefix)) for side, begin in sides]
            assert real == fake, f"{real}\n{fake}"


async def _events(side: Api, begin: str, selector: str, prefix: str) -> list[tuple[str, Json]]:
    found: list[tuple[str, Json]] = []
    async with side.watch(resourceVersion=begin, labelSelector=selector) as events:
        async for event in events:
            name = event["object"]["metadata"]["name"]
            if name == f"{prefix}-end":
                return found
            if name.startswith(f"{prefix}-"):
                found.append((event["type"], _bare(event["object"])))
    raise AssertionError("the watch has ended early")


async def _await(answer: Awaitable[Answer]) -> Answer:
    return await answer


async def _get(side: Api, name: str) -> Answer:
    return await side.get(name)


def _plain(answer: Answer) -> Any:
    """Return what has to be the same on both sides."""
    if answer.code >= 400:
        return (*answer.said, answer.causes)
    return answer.code, answer.warning, _bare(answer.body)


def _bare(obj: Json) -> Json:
    """Return an object without uids, times, versions and namespaces."""
    left = ("uid", "creationTimestamp", "deletionTimestamp", "resourceVersion", "namespace")
    metadata = {name: value for name, value in obj.get("metadata", {}).items() if name not in left}
    metadata["deleting"] = "deletionTimestamp" in obj.get("metadata", {})
    entries = [
        {name: value for name, value in entry.items() if name != "time"} for entry in metadata.pop("managedFields", ())
    ]
    metadata["managedFields"] = sorted(
        entries, key=lambda entry: (entry["manager"], entry["operation"], entry.get("subresource", ""))
    )
    details = {name: value for name, value in obj.get("details", {}).items() if name != "uid"}
    return {**obj, "metadata": metadata, "details": details}


def test_twins(gizmo_server: tuple[ApiServer, str]) -> None:
    """Every answer and every object is the same on both, managers of fields included."""
    server, namespace = gizmo_server
    with asyncio.Runner() as runner:
        transport = HttpTransport(load(server.kubeconfig()), user_agent="pyopscaffold")
        try:
            run_state_machine_as_test(
                lambda: Twins(runner, Api(transport, namespace)),  # type: ignore[arg-type]  # it is called, no more
                settings=settings(
                    max_examples=EXAMPLES,
                    stateful_step_count=12,
                    deadline=None,
                    phases=[Phase.generate],  # to shrink takes minutes, and the failing sequence is short as it is
                    database=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            runner.run(transport.close())
