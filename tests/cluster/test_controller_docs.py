"""The examples of docs/runtime.md, run as they stand there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.cluster.widgets import Cluster, install, operating, soon

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer

PAGE = Path(__file__).parents[2] / "docs" / "runtime.md"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the page's Python blocks as a module."""
    module = ModuleType("documented")
    monkeypatch.setitem(sys.modules, "documented", module)
    for block in _blocks("python"):
        exec(compile(block, str(PAGE), "exec"), module.__dict__)  # noqa: S102 - that is the test
    return module


def _blocks(language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    return found


async def test_documented_example_works(example: Any, api_server: ApiServer, cluster: Cluster) -> None:
    """The documented reconciler greets, and stalls where it says so."""
    install(cluster.client, group="example.com", kind="Greeting")
    path = f"/apis/example.com/v1/namespaces/{cluster.namespace}/greetings/one"

    def greet(name: str) -> None:
        body = {"apiVersion": "example.com/v1", "kind": "Greeting", "metadata": {"name": "one"}, "spec": {"name": name}}
        cluster.client.apply(path, body)

    def conditions() -> dict[str, str]:
        found = cluster.client.get(path).get("status", {}).get("conditions", [])
        return {condition["type"]: condition["status"] for condition in found}

    async with operating(example.GreetingReconciler(), api_server, cluster.namespace):
        greet("you")
        await soon(lambda: conditions() == {"Validated": "True", "Ready": "True"})
        assert cluster.config_map("one")["data"] == {"text": "Hello, you!"}
        greet("nobody")
        await soon(lambda: conditions() == {"Validated": "False", "Ready": "False", "Stalled": "True"})


async def test_documented_tenant_is_heard(example: Any, api_server: ApiServer, cluster: Cluster) -> None:
    """The documented ConfigMap of a tenant changes what its greetings say."""
    install(cluster.client, group="example.com", kind="Greeting")
    path = f"/apis/example.com/v1/namespaces/{cluster.namespace}/greetings/one"
    body = {"apiVersion": "example.com/v1", "kind": "Greeting", "metadata": {"name": "one"}, "spec": {"name": "you"}}
    cluster.client.apply(path, body)
    (settings,) = map(yaml.safe_load, _blocks("yaml"))
    settings["metadata"]["namespace"] = cluster.namespace
    async with operating(example.SignedGreetingReconciler(), api_server, cluster.namespace):
        await soon(lambda: "Stalled" in str(cluster.client.get(path)["status"]), within=60)
        cluster.client.apply(cluster.config_map_path("greetings"), settings)
        await soon(lambda: cluster.config_map("one")["data"] == {"text": "Hello, you! Ann and Bob"}, within=60)
