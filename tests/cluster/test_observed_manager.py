"""What is seen of a manager from outside: traces, metrics for those who may read them, checks, a pause of all."""

from __future__ import annotations

import json
import logging
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeAlias

import aiohttp
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from pyopscaffold.api import controller
from pyopscaffold.errors import TerminalError, UsageError
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Manager, Options, Reconciler, Result, logs
from pyopscaffold.runtime.client.config import load
from pyopscaffold.runtime.tracing import Tracing
from pyopscaffold.testing import FakeCluster
from tests.cluster.widgets import (
    GROUP,
    Cluster,
    Widget,
    WidgetReconciler,
    config_map,
    endpoint,
    operating,
    scrape,
    soon,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.sdk.trace import ReadableSpan

    from pyopscaffold.testing import ApiServer
    from pyopscaffold.testing.server import Identity

HEALTH, METRICS = "--health-probe-bind-address", "--metrics-bind-address"


class Traces:
    """Spans kept in memory."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracing = Tracing(provider)

    def named(self, name: str) -> list[ReadableSpan]:
        """Spans of this name that have ended."""
        return [span for span in self.exporter.get_finished_spans() if span.name == name]


@controller(Widget, owns=[CONFIG_MAP], timeout=5.0)
class Logging(Reconciler[Widget]):
    """Says that it looks; the text "bad" is refused."""

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Apply the ConfigMap."""
        ctx.log.info("looking")
        if obj.spec.text == "bad":
            raise TerminalError("spec.text is bad", reason="BadText")
        await ctx.apply(config_map(obj.metadata.name, obj.spec.text))
        return Result()


Listen: TypeAlias = "Callable[[logs.Fields], Callable[[], list[dict[str, Any]]]]"


@pytest.fixture
def listen() -> Iterator[Listen]:
    """Have the controller's lines written as JSON, with what every line is to have; gives how to read them."""
    log, stream = logging.getLogger("pyopscaffold.controller"), StringIO()
    handler, level = logging.StreamHandler(stream), log.level

    def listening(more: logs.Fields) -> Callable[[], list[dict[str, Any]]]:
        handler.setFormatter(logs.JsonFormatter(more))
        log.addHandler(handler)
        log.setLevel("INFO")
        return lambda: [json.loads(line) for line in stream.getvalue().splitlines()]

    yield listening
    log.removeHandler(handler)
    log.setLevel(level)


async def test_a_reconcile_is_a_trace(api_server: ApiServer, cluster: Cluster, listen: Listen) -> None:
    """A span for the reconcile, one below it for each request, errors recorded, and the trace's id in the log."""
    traces = Traces()
    lines = listen(traces.tracing.fields)
    async with operating(Logging(), api_server, cluster.namespace, tracing=traces.tracing):
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        cluster.apply("two", text="bad")
        await soon(lambda: cluster.state("two", "Ready")[0] == "False")
    looks = traces.named("reconcile widget")
    [good, *_] = [span for span in looks if (span.attributes or {})["k8s.object.name"] == "one"]
    assert dict(good.attributes or {}) == {
        "controller": "widget",
        "k8s.object.kind": "Widget",
        "k8s.object.name": "one",
        "k8s.namespace.name": cluster.namespace,
        "reconcile.result": "success",
    }
    assert good.status.status_code is StatusCode.UNSET
    [applied, *_] = traces.named("PATCH configmaps")
    assert applied.kind is SpanKind.CLIENT
    assert applied.parent == good.context
    assert (applied.attributes or {})["http.response.status_code"] == 201
    [written, *_] = traces.named("PATCH widgets/status")
    assert written.parent == good.context
    [bad, *_] = [span for span in looks if (span.attributes or {})["k8s.object.name"] == "two"]
    assert (bad.status.status_code, bad.status.description) == (StatusCode.ERROR, "spec.text is bad")
    assert (bad.events[0].attributes or {})["exception.message"] == "spec.text is bad"
    assert traces.named("GET widgets") == []  # lists and watches belong to nobody's reconcile
    said = [line for line in lines() if line["msg"] == "looking"]
    assert [line["trace_id"] for line in said] == [f"{look.context.trace_id:032x}" for look in looks]
    assert len({line["reconcileID"] for line in said}) == len(said)


async def test_a_plain_function_is_a_trace(api_server: ApiServer, cluster: Cluster) -> None:
    """What a reconcile in a thread asks of the API server belongs to its span too."""

    @controller(Widget, owns=[CONFIG_MAP], timeout=5.0)
    class Plain(Reconciler[Widget]):
        def reconcile(self, ctx: Context, obj: Widget) -> Result:
            ctx.wait(ctx.apply(config_map(obj.metadata.name, obj.spec.text)))
            return Result()

    traces = Traces()
    async with operating(Plain(), api_server, cluster.namespace, tracing=traces.tracing):
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
    [applied, *_] = traces.named("PATCH configmaps")
    assert applied.parent in [look.context for look in traces.named("reconcile widget")]


async def test_a_failed_reconcile_is_one_line(api_server: ApiServer, cluster: Cluster, listen: Listen) -> None:
    """What fails is logged once, with the reason and the object."""
    lines = listen(dict)
    async with operating(Logging(), api_server, cluster.namespace):
        cluster.apply("two", text="bad")
        await soon(lambda: cluster.state("two", "Ready")[0] == "False")
    failed = [line for line in lines() if line["level"] == "error"]
    assert [(line["msg"], line["error"], line["reason"], line["name"]) for line in failed] == [
        ("reconcile failed", "spec.text is bad", "BadText", "two")
    ]


async def read_metrics(manager: Manager, who: Identity | None) -> int:
    """Ask for the metrics by TLS and give the status."""
    headers = {"Authorization": f"Bearer {who.token}"} if who else {}
    url = f"https://127.0.0.1:{manager.ports[METRICS]}/metrics"
    async with aiohttp.ClientSession(headers=headers) as session, session.get(url, ssl=False) as answer:
        assert ("controller_runtime_reconcile_total" in await answer.text()) == answer.ok
        return answer.status


def grant(cluster: Cluster, who: Identity, name: str, rule: dict[str, Any]) -> None:
    """Bind a ClusterRole of one rule to an account."""
    head = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": name}}
    subject = {"kind": "ServiceAccount", "name": who.user.rpartition(":")[2], "namespace": cluster.namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    path = "/apis/rbac.authorization.k8s.io/v1"
    cluster.client.apply(f"{path}/clusterroles/{name}", {**head, "kind": "ClusterRole", "rules": [rule]})
    cluster.client.apply(
        f"{path}/clusterrolebindings/{name}",
        {**head, "kind": "ClusterRoleBinding", "roleRef": role, "subjects": [subject]},
    )


def allowed(cluster: Cluster, who: Identity, **attributes: dict[str, str]) -> bool:
    """Whether the API server lets an account do something: it learns of roles a moment after they are there."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": who.user, "groups": list(who.groups), **attributes},
    }
    answer = cluster.client.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer["status"]["allowed"])


async def test_secure_metrics_are_for_those_who_may(api_server: ApiServer, cluster: Cluster) -> None:
    """The API server decides who reads the metrics, by the roles that the docs name and no more."""
    namespace = cluster.namespace
    operator, reader, nobody = (
        api_server.service_account(namespace, name) for name in ("operator", "reader", "nobody")
    )
    reviews = (
        ("auth-tokens", "authentication.k8s.io", "tokenreviews"),
        ("auth-access", "authorization.k8s.io", "subjectaccessreviews"),
    )
    for name, group, resource in reviews:
        rule = {"apiGroups": [group], "resources": [resource], "verbs": ["create"]}
        grant(cluster, operator, f"{namespace}-{name}", rule)
    everything = {"apiGroups": [GROUP, ""], "resources": ["*"], "verbs": ["list", "watch"]}
    grant(cluster, operator, f"{namespace}-work", everything)
    grant(cluster, reader, f"{namespace}-reader", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]})
    await soon(lambda: allowed(cluster, reader, nonResourceAttributes={"path": "/metrics", "verb": "get"}))
    await soon(lambda: allowed(cluster, operator, resourceAttributes={"group": GROUP, "resource": "w", "verb": "list"}))
    config = load(api_server.kubeconfig(operator))
    async with operating(WidgetReconciler(), api_server, namespace, config=config, metrics_secure=True) as manager:
        await soon(lambda: manager.ready)
        assert await read_metrics(manager, None) == 401
        assert await read_metrics(manager, nobody) == 403
        assert await read_metrics(manager, reader) == 200
        assert endpoint(manager, HEALTH, "/healthz") == (200, "ok\n")


async def test_checks_of_ones_own(api_server: ApiServer, cluster: Cluster) -> None:
    """/readyz asks the cache and what the operator's author adds."""
    reason = ["no connection"]
    checks = {"database": lambda: reason[0]}
    async with operating(WidgetReconciler(), api_server, cluster.namespace, ready_checks=checks) as manager:
        await soon(lambda: manager.ready)
        failed = "[+]cache ok\n[-]database failed: no connection\nreadyz check failed\n"
        assert endpoint(manager, HEALTH, "/readyz") == (500, failed)
        assert endpoint(manager, HEALTH, "/readyz/cache") == (200, "ok\n")
        reason[0] = ""
        assert endpoint(manager, HEALTH, "/readyz?verbose") == (
            200,
            "[+]cache ok\n[+]database ok\nreadyz check passed\n",
        )
        assert endpoint(manager, HEALTH, "/healthz/loop") == (200, "ok\n")


async def test_a_pause_of_all(api_server: ApiServer, cluster: Cluster) -> None:
    """With --paused an operator watches and serves, says so in metrics and on each object, and does nothing else."""
    cluster.apply("one")
    reconciler = WidgetReconciler()
    async with operating(reconciler, api_server, cluster.namespace, paused=True) as manager:
        await soon(lambda: manager.ready)
        await soon(lambda: scrape(manager)['workqueue_work_duration_seconds_count{controller="widget",name="widget"}'])
        assert scrape(manager)['pyopscaffold_paused{controller="widget"}'] == 1
        assert scrape(manager)['pyopscaffold_paused_objects{controller="widget"}'] == 1
        await soon(lambda: cluster.state("one", "Paused") == ("True", "Paused"))
        assert reconciler.seen == []
        assert not cluster.exists(cluster.config_map_path("one"))
    async with operating(reconciler, api_server, cluster.namespace) as manager:
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        assert scrape(manager)['pyopscaffold_paused{controller="widget"}'] == 0
        assert scrape(manager)['pyopscaffold_paused_objects{controller="widget"}'] == 0
        assert cluster.condition("one", "Paused") == {}


async def test_every_object_is_looked_at_again(api_server: ApiServer, cluster: Cluster) -> None:
    """With --resync each object is reconciled now and then though nothing changed, and nothing is written for it."""
    reconciler = WidgetReconciler()
    async with operating(reconciler, api_server, cluster.namespace, resync=0.2):
        for name in ("one", "two"):
            cluster.apply(name)
        await soon(lambda: all(cluster.state(name, "Ready")[0] == "True" for name in ("one", "two")))
        before = cluster.widget("one")["metadata"]["resourceVersion"]
        reconciler.seen.clear()
        await soon(lambda: min(reconciler.seen.count(name) for name in ("one", "two")) >= 3)
        assert cluster.widget("one")["metadata"]["resourceVersion"] == before


def test_a_given_client_can_not_review() -> None:
    """A client is one for one event loop, and reviews are made on another."""
    with pytest.raises(UsageError, match="given client"):
        Manager([WidgetReconciler], options=Options(metrics_secure=True), client=FakeCluster().client)
