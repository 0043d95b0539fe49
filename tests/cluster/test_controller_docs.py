"""The example of docs/runtime.md, run as it stands there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from tests.cluster.widgets import Cluster, install, operating, soon

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer

PAGE = Path(__file__).parents[2] / "docs" / "runtime.md"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the page's Python block as a module."""
    match = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match
    module = ModuleType("documented")
    monkeypatch.setitem(sys.modules, "documented", module)
    exec(compile(match[1], str(PAGE), "exec"), module.__dict__)  # noqa: S102 - that is the test
    return module


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
