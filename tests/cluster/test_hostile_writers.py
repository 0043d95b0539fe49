"""Others who write what the operator writes, as fast as they can, on a real API server."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyopscaffold.api import controller
from pyopscaffold.errors import ClientError
from pyopscaffold.runtime import Context, Reconciler, Result
from pyopscaffold.runtime.children import PUT_BACKS
from tests.cluster.widgets import Cluster, Widget, WidgetReconciler, config_map, operating, soon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyopscaffold.testing import ApiServer


@contextmanager
def rival(act: Callable[[int], bool]) -> Iterator[Callable[[], int]]:
    """Have somebody act all the time while the block lasts; gives a function that tells how often it did something."""
    over, acts = threading.Event(), [0]

    def run() -> None:
        while not over.wait(0.002):
            try:
                acts[0] += act(acts[0])
            except ClientError:
                continue

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield lambda: acts[0]
    finally:
        over.set()
        thread.join()


def other_text(cluster: Cluster, text: str) -> Callable[[int], bool]:
    """Give what another controller does that wants another text in the ConfigMap, and applies it by force."""

    def look(_: int) -> bool:
        if cluster.config_map("one")["data"]["text"] == text:
            return False
        cluster.client.apply(cluster.config_map_path("one"), config_map("one", text), manager="rival")
        return True

    return look


async def test_a_rival_for_a_field_is_named_and_not_fought(api_server: ApiServer, cluster: Cluster) -> None:
    """Who always puts a field back is named in the status, and our writes end; once they let go, we are back."""
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        cluster.apply("one", text="ours")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        with rival(other_text(cluster, "theirs")) as acts:
            await soon(lambda: cluster.state("one", "Ready") == ("False", "Contested"), within=60)
            assert "ConfigMap one is changed again and again: rival sets .data.text" in told(cluster, "Ready")
            assert cluster.state("one", "Reconciling") == ("True", "Contested")
            assert acts() <= 2 * PUT_BACKS
            cluster.apply("two")
            await soon(lambda: cluster.state("two", "Ready")[0] == "True", within=60)
        asked = [record for record in cluster.requests(api_server) if record.name == "one"]
        # what was put back, what was refused after growing delays, and the statuses
        assert len(asked) <= 3 * PUT_BACKS
        nothing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
        cluster.client.apply(cluster.config_map_path("one"), nothing, manager="rival")
        await soon(lambda: cluster.config_map("one").get("data") == {"text": "ours"}, within=60)
        await soon(lambda: cluster.state("one", "Ready")[0] == "True", within=60)
        assert cluster.condition("one", "Reconciling") == {}


@controller(Widget, timeout=5.0)
class Optimistic(Reconciler[Widget]):
    """Labels a Widget with its text, if it still is as it was seen."""

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Patch with the version that was seen."""
        if obj.metadata.labels.get("text") == obj.spec.text:
            return Result()
        version = obj.metadata.resource_version
        patch = {"metadata": {"resourceVersion": version, "labels": {"text": obj.spec.text}}}
        await asyncio.sleep(0.03)  # in which somebody else writes
        await ctx.client.patch(Widget, obj.metadata.name, patch, namespace=obj.metadata.namespace)
        return Result()


async def test_lost_races_are_told_of_and_won_when_the_storm_is_over(api_server: ApiServer, cluster: Cluster) -> None:
    """Who writes faster than we can read costs a request or two for each of their writes, is told of, and outlasted."""

    def write(number: int) -> bool:
        cluster.client.merge(cluster.widget_path("one"), {"metadata": {"annotations": {"storm": str(number)}}})
        return True

    cluster.apply("one", text="ours")
    with rival(write) as acts:
        async with operating(Optimistic(), api_server, cluster.namespace):
            await soon(lambda: cluster.state("one", "Ready") == ("False", "Conflict"), within=60)
            assert "the object has been modified" in told(cluster, "Reconciling")
            asked, written = len(cluster.requests(api_server)), acts()
            await soon(lambda: acts() > written + 100, within=60)
            more, written = len(cluster.requests(api_server)) - asked, acts() - written
            assert more <= 3 * written
    async with operating(Optimistic(), api_server, cluster.namespace):
        await soon(lambda: cluster.state("one", "Ready")[0] == "True", within=60)
        assert cluster.widget("one")["metadata"]["labels"] == {"text": "ours"}
        assert cluster.condition("one", "Reconciling") == {}


def told(cluster: Cluster, type_: str) -> str:
    """Return the message of a condition of the Widget ``one``."""
    message: str = cluster.condition("one", type_).get("message", "")
    return message
