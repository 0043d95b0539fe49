"""An admission webhook that denies what the operator writes, or does not answer, on a real API server."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import controller
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Reconciler, Result
from tests.cluster.admission import NAME, Webhook, guarding
from tests.cluster.widgets import Cluster, Widget, WidgetReconciler, config_map, operating, soon

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyopscaffold.testing import ApiServer

DENIALS: list[dict[str, Any]] = [
    {"message": "not on a Friday"},
    {"message": "not on a Friday", "code": 403, "reason": "Forbidden"},
]
_FIRST_DELAY = 0.005


@pytest.fixture
def webhook(tmp_path: Path) -> Iterator[Webhook]:
    """Give a webhook that allows everything."""
    with Webhook(tmp_path).serving() as found:
        yield found


@contextmanager
def backing_off(webhook: Webhook, *, besides: int) -> Iterator[None]:
    """Check that what is asked while the block lasts comes at delays that double; and so much besides."""
    started, before = time.monotonic(), len(webhook.reviews)
    yield
    doubled = math.log2(1 + (time.monotonic() - started) / _FIRST_DELAY)
    assert len(webhook.reviews) - before <= doubled + besides


@pytest.mark.parametrize("denial", DENIALS, ids=["by default", "forbidden"])
async def test_a_denied_child_is_told_of(
    api_server: ApiServer,
    cluster: Cluster,
    webhook: Webhook,
    caplog: pytest.LogCaptureFixture,
    denial: dict[str, Any],
) -> None:
    """A denial is in conditions and log in the webhook's own words, and asked for at growing delays till it is over."""
    reason = denial.get("reason", "BadRequest")
    with guarding(cluster.client, cluster.namespace, webhook, "configmaps"), backing_off(webhook, besides=3):
        webhook.denial = denial
        async with operating(WidgetReconciler(), api_server, cluster.namespace):
            cluster.apply("one")
            await soon(lambda: cluster.state("one", "Ready") == ("False", reason), within=60)
            assert cluster.state("one", "Reconciling") == ("True", reason)
            message = f'admission webhook "{NAME}" denied the request: not on a Friday'
            assert cluster.condition("one", "Ready")["message"] == message
            await soon(lambda: len(webhook.reviews) >= 6, within=60)
            statuses = [record for record in cluster.writes(api_server) if record.subresource == "status"]
            assert len(statuses) == 1
            assert any(message in str(vars(record)) for record in caplog.records)
            webhook.denial = None
            await soon(lambda: cluster.state("one", "Ready")[0] == "True", within=60)
            assert cluster.condition("one", "Reconciling") == {}
    assert cluster.config_map("one")["data"] == {"text": "hello"}


async def test_a_silent_webhook_is_told_of(api_server: ApiServer, cluster: Cluster, webhook: Webhook) -> None:
    """A webhook that the server waits for in vain is named in the conditions; all is well once it answers."""
    with guarding(cluster.client, cluster.namespace, webhook, "configmaps", timeout=1), backing_off(webhook, besides=3):
        webhook.silent = True
        async with operating(WidgetReconciler(), api_server, cluster.namespace):
            cluster.apply("one")
            await soon(lambda: cluster.state("one", "Ready") == ("False", "InternalError"), within=60)
            assert f'failed calling webhook "{NAME}"' in cluster.condition("one", "Ready")["message"]
            webhook.silent = False
            await soon(lambda: cluster.state("one", "Ready")[0] == "True", within=60)


@controller(Widget, owns=[CONFIG_MAP], timeout=0.5)
class Impatient(Reconciler[Widget]):
    """Waits for half a second only."""

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Apply the ConfigMap."""
        await ctx.apply(config_map(obj.metadata.name, obj.spec.text))
        return Result()


async def test_a_timeout_tells_where_it_struck(api_server: ApiServer, cluster: Cluster, webhook: Webhook) -> None:
    """Where the server waits for a webhook longer than we do, the condition names the line that was waited in."""
    with guarding(cluster.client, cluster.namespace, webhook, "configmaps"), backing_off(webhook, besides=3):
        webhook.silent = True
        async with operating(Impatient(), api_server, cluster.namespace):
            cluster.apply("one")
            await soon(lambda: cluster.state("one", "Ready") == ("False", "Timeout"), within=60)
            line = Impatient.reconcile.__code__.co_firstlineno + 2
            where = f"in reconcile ({__name__.rpartition('.')[2]}.py:{line})"
            assert cluster.condition("one", "Ready")["message"] == f"not done after 0.5 s, and cancelled {where}"
            webhook.silent = False
            await soon(lambda: cluster.state("one", "Ready")[0] == "True", within=60)


@controller(Widget, timeout=5.0)
class Finalizing(Reconciler[Widget]):
    """Has something to clean up."""

    finalized = 0

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Do nothing."""
        return Result()

    async def finalize(self, ctx: Context, obj: Widget) -> None:
        """Count."""
        type(self).finalized += 1


async def test_a_denied_status_and_a_denied_finalizer(
    api_server: ApiServer, cluster: Cluster, webhook: Webhook, caplog: pytest.LogCaptureFixture
) -> None:
    """What can't be said in the object is in the log; neither status nor finalizer is given up, or asked for hotly."""
    async with operating(Finalizing(), api_server, cluster.namespace):
        with guarding(cluster.client, cluster.namespace, webhook, "widgets/status"), backing_off(webhook, besides=3):
            webhook.denial = DENIALS[0]
            cluster.apply("one")
            await soon(lambda: len(webhook.reviews) >= 5, within=60)
            assert any("not on a Friday" in str(vars(record)) for record in caplog.records)
            webhook.denial = None
            await soon(lambda: cluster.state("one", "Ready")[0] == "True", within=60)
        with guarding(cluster.client, cluster.namespace, webhook, "widgets"), backing_off(webhook, besides=3):
            webhook.denial = DENIALS[0]
            cluster.client.delete(cluster.widget_path("one"))
            await soon(lambda: Finalizing.finalized >= 4, within=60)
            assert cluster.exists(cluster.widget_path("one"))
            webhook.denial = None
            await soon(lambda: not cluster.exists(cluster.widget_path("one")), within=60)
