"""Finalizers against a real API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.api import controller
from pyopscaffold.errors import TerminalError
from pyopscaffold.runtime import Context, Reconciler, Result
from tests.cluster.widgets import GROUP, Cluster, Widget, operating, soon

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer

FINALIZER = f"{GROUP}/widget-finalizer"


@controller(Widget, timeout=5.0)
class Cleaning(Reconciler[Widget]):
    """Notes what it sees; lets go of an object only when told."""

    def __init__(self) -> None:
        self.seen: list[list[str]] = []
        self.finalized: list[str] = []
        self.busy = True

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Note the finalizers that the object has."""
        self.seen.append(list(obj.metadata.finalizers))
        return Result()

    async def finalize(self, ctx: Context, obj: Widget) -> Result | None:
        """Take as long as ``busy`` says; the text "bad" can't be cleaned up."""
        if obj.spec.text == "bad":
            raise TerminalError("can't be cleaned up", reason="Uncleanable")
        if self.busy:
            return Result(requeue_after=0.05)
        self.finalized.append(obj.metadata.name)
        return None


async def test_finalizer_is_there_before_the_first_reconcile(api_server: ApiServer, cluster: Cluster) -> None:
    """The finalizer is added beside others, before the reconciler can have side effects."""
    reconciler = Cleaning()
    async with operating(reconciler, api_server, cluster.namespace):
        cluster.apply("one", finalizers=["example.org/other"])
        cluster.apply("two")
        await soon(lambda: len(reconciler.seen) >= 2)
        assert cluster.widget("one")["metadata"]["finalizers"] == ["example.org/other", FINALIZER]
        assert cluster.widget("two")["metadata"]["finalizers"] == [FINALIZER]
    assert all(FINALIZER in finalizers for finalizers in reconciler.seen)
    cluster.drop_finalizers("one", "two")


async def test_deletion_waits_for_finalize(api_server: ApiServer, cluster: Cluster) -> None:
    """The object stays until finalize is done, and then goes; another writer's finalizer is kept."""
    reconciler = Cleaning()
    async with operating(reconciler, api_server, cluster.namespace):
        cluster.apply("one", finalizers=["example.org/other"])
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        cluster.client.delete(cluster.widget_path("one"))
        await soon(lambda: cluster.widget("one")["metadata"].get("deletionTimestamp"))
        assert FINALIZER in cluster.widget("one")["metadata"]["finalizers"]
        reconciler.busy = False
        await soon(lambda: cluster.widget("one")["metadata"]["finalizers"] == ["example.org/other"])
        cluster.drop_finalizers("one")
        await soon(lambda: not cluster.exists(cluster.widget_path("one")))
    assert reconciler.finalized == ["one"]


async def test_finalizer_taken_away_by_hand_comes_back(api_server: ApiServer, cluster: Cluster) -> None:
    """Somebody removes the finalizer from an object that lives: it is added again."""
    async with operating(Cleaning(), api_server, cluster.namespace):
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        cluster.drop_finalizers("one")
        await soon(lambda: cluster.widget("one")["metadata"].get("finalizers") == [FINALIZER])
    cluster.drop_finalizers("one")


async def test_failing_finalize_is_reported(api_server: ApiServer, cluster: Cluster) -> None:
    """What keeps an object from going is said in its status and in an event."""
    async with operating(Cleaning(), api_server, cluster.namespace):
        cluster.apply("one", text="bad")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        cluster.client.delete(cluster.widget_path("one"))
        await soon(lambda: cluster.state("one", "Stalled") == ("True", "Uncleanable"))
        assert (await soon(lambda: cluster.events("one")))[0]["reason"] == "Uncleanable"
    cluster.drop_finalizers("one")
