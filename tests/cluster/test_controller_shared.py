"""What a controller shares with other writers, on a real API server: a child's owner, a status' conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import controller
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Reconciler, Result, conditions
from tests.cluster.widgets import GROUP, Cluster, Widget, config_map, operating, soon

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer


@pytest.mark.parametrize("owns", [[], [CONFIG_MAP]])
async def test_whose_a_child_is_that_another_controls(api_server: ApiServer, cluster: Cluster, owns: list[Any]) -> None:
    """A child of another's is named with its controller, also of a kind that is not cached; others are applied."""

    @controller(Widget, owns=owns, timeout=5.0)
    class Sharing(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            await ctx.apply_all([config_map("theirs", "ours"), config_map("ours", "ours")])
            return Result()

    other = {"apiVersion": "v1", "kind": "Pod", "name": "other", "uid": "0" * 8, "controller": True}
    theirs = {**config_map("theirs", "theirs"), "metadata": {"name": "theirs", "ownerReferences": [other]}}
    cluster.client.apply(cluster.config_map_path("theirs"), theirs)
    async with operating(Sharing(), api_server, cluster.namespace):
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Ready") == ("False", "AlreadyOwned"))
        message = cluster.condition("one", "Ready")["message"]
        assert message == "ConfigMap theirs is controlled by Pod other (uid 00000000)"
    assert cluster.config_map("theirs")["data"] == {"text": "theirs"}
    assert cluster.config_map("ours")["metadata"]["ownerReferences"][0]["name"] == "one"


async def test_a_condition_of_another_manager_stays_its_own(api_server: ApiServer, cluster: Cluster) -> None:
    """Our writes of the status neither own another's condition, which goes when it lets go, nor lose our own."""

    @controller(Widget, timeout=5.0)
    class Once(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            if conditions.get(obj, "Made") is None:
                conditions.set(obj, "Made", "True", reason="Made")
            return Result()

    def audit(*found: dict[str, Any]) -> None:
        about = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "one"}}
        body = {**about, "status": {"conditions": list(found)}}
        cluster.client.apply(f"{cluster.widget_path('one')}/status", body, manager="auditor")

    def types() -> set[str]:
        return {condition["type"] for condition in cluster.widget("one")["status"]["conditions"]}

    seen = {"type": "Audited", "status": "True", "reason": "Seen", "message": ""}
    cluster.apply("one")
    async with operating(Once(), api_server, cluster.namespace):
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
    audit({**seen, "lastTransitionTime": "2020-01-01T00:00:00Z"})
    async with operating(Once(), api_server, cluster.namespace):
        cluster.apply("one", text="other")
        await soon(lambda: cluster.widget("one")["status"]["observedGeneration"] == 2)
    assert types() == {"Made", "Ready", "Audited"}
    audit()
    assert types() == {"Made", "Ready"}
