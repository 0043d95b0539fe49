"""When traces are made, and what of: the spans of a reconcile are in tests/cluster/test_observed_manager.py."""

from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from pyopscaffold.errors import ConnectionFailed, ServerError, UserError
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import tracing
from pyopscaffold.runtime.client.http import HttpClient
from tests.unit.runtime.fake_api_server import fake_api_server

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_SERVICE_NAME": "mine"},
        {"OTEL_TRACES_EXPORTER": "none", **ENDPOINT},
        {"OTEL_SDK_DISABLED": "true", **ENDPOINT},
    ],
)
def test_off_unless_asked_for(environment: dict[str, str]) -> None:
    """Without the flag and without OpenTelemetry's variables, or when they say so, there are no traces."""
    assert tracing.start("operator", forced=False, environment=environment) is None


@pytest.mark.parametrize("variables", [[], ["OTEL_EXPORTER_OTLP_ENDPOINT"]])
def test_nothing_is_imported_when_off(variables: list[str]) -> None:
    """A process without traces does not load OpenTelemetry; one with an endpoint does."""
    code = f"""
import sys
from pyopscaffold.runtime import tracing
found = tracing.start("operator", forced=False, environment=dict.fromkeys({variables}, "http://127.0.0.1:9"))
print(found is None, any(name.startswith("opentelemetry") for name in sys.modules))
"""
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert said == (["False", "True"] if variables else ["True", "False"])


def test_an_image_without_the_extra(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """The flag is then a mistake that says what to install; the variables alone, which platforms inject, a warning."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(UserError) as raised:
        tracing.start("operator", forced=True, environment={})
    assert "pyopscaffold-runtime[otel]" in (raised.value.hint or "")
    assert tracing.start("operator", forced=False, environment=ENDPOINT) is None
    assert "pyopscaffold-runtime[otel] is not installed" in caplog.text


def test_an_unknown_protocol_is_refused() -> None:
    """A protocol that nobody speaks is a mistake, not silence."""
    with pytest.raises(UserError, match="'smoke signals'"):
        tracing.start("operator", forced=True, environment={"OTEL_EXPORTER_OTLP_PROTOCOL": "smoke signals"})


async def test_requests_carry_their_trace() -> None:
    """Within a span a request sends W3C's header, which names its own span; else it sends none and makes no span."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    configs = tracing.Tracing(provider).of_requests()
    async with fake_api_server() as server:
        client = HttpClient(server.config, trace_configs=configs)
        await client.list(CONFIG_MAP)
        with provider.get_tracer("test").start_as_current_span("look") as look:
            await client.list(CONFIG_MAP)
            server.refuse("list", 500)
            with pytest.raises(ServerError):
                await client.list(CONFIG_MAP)
        await client.close()
    good, bad, _ = exporter.get_finished_spans()
    trace = f"00-{look.get_span_context().trace_id:032x}"
    sent = [headers.get("traceparent", "").rpartition("-")[0] for headers in server.headers]  # flags come last
    assert sent == ["", *(f"{trace}-{span.context.span_id:016x}" for span in (good, bad))]
    assert (good.name, good.parent) == ("GET configmaps", look.get_span_context())
    assert (good.status.status_code, bad.status.status_code) == (StatusCode.UNSET, StatusCode.ERROR)
    assert (bad.attributes or {})["error.type"] == "500"


async def test_a_request_without_an_answer_is_recorded() -> None:
    """No connection is an error of the span, with what was raised."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    async with fake_api_server() as server:
        config = server.config
    client = HttpClient(config, trace_configs=tracing.Tracing(provider).of_requests())
    with provider.get_tracer("test").start_as_current_span("look"), pytest.raises(ConnectionFailed):
        await client.list(CONFIG_MAP)
    await client.close()
    span = exporter.get_finished_spans()[0]
    assert span.status.status_code is StatusCode.ERROR
    assert (span.events[0].attributes or {})["exception.type"] == "aiohttp.client_exceptions.ClientConnectorError"


@pytest.mark.parametrize(
    ("path", "resource"),
    [
        ("/api/v1/namespaces/shop/configmaps/web", "configmaps"),
        ("/api/v1/namespaces/shop", "namespaces"),
        ("/apis/apps/v1/namespaces/shop/deployments/web/status", "deployments/status"),
        ("/apis/example.com/v1/widgets", "widgets"),
        ("/apis", ""),
    ],
)
def test_spans_are_named_by_what_not_by_which(path: str, resource: str) -> None:
    """A span's name has few values: verb and resource."""
    assert tracing._resource(path) == resource
