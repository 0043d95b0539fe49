"""Traces by OpenTelemetry: a span for each reconcile, and below it one for each request to the API server.

The extra ``pyopscaffold-runtime[otel]`` is imported when traces are asked for, and not before; a process without traces
pays nothing for them. Spans that the author's code makes with OpenTelemetry's own API join the reconcile's.
"""

from __future__ import annotations

import logging
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyopscaffold import __version__
from pyopscaffold.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import SimpleNamespace

    import aiohttp
    from opentelemetry.sdk.trace import TracerProvider

    from pyopscaffold.api.declarations import ControllerDeclaration
    from pyopscaffold.runtime.processor import Verdict
    from pyopscaffold.runtime.reconcile import Request

_ASKED_BY = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")
_EXPORTERS = {
    "http/protobuf": "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "grpc": "opentelemetry.exporter.otlp.proto.grpc.trace_exporter",
}
_log = logging.getLogger("pyopscaffold.tracing")


def start(name: str, *, forced: bool, environment: Mapping[str, str] = os.environ) -> Tracing | None:
    """Set tracing up as OpenTelemetry's variables say, or return None where nobody asked for it.

    A provider that was set up before, as by ``opentelemetry-instrument``, is used as it is. ``name`` is the service's
    unless ``$OTEL_SERVICE_NAME`` has another.
    https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/

    Raises:
        UserError: tracing is ``forced``, and OpenTelemetry is not installed.

    """
    off = (
        environment.get("OTEL_SDK_DISABLED", "").lower() == "true" or environment.get("OTEL_TRACES_EXPORTER") == "none"
    )
    if off or not (forced or any(environment.get(variable) for variable in _ASKED_BY)):
        return None
    try:
        return Tracing(_provider(name, environment))
    except ImportError as error:
        if forced:
            raise UserError(
                f"--tracing needs OpenTelemetry, and {error.name} is not installed",
                hint="install pyopscaffold-runtime[otel]",
            ) from error
        _log.warning("$OTEL_… asks for traces, and pyopscaffold-runtime[otel] is not installed: there are none")
        return None


class Tracing:
    """Makes the spans of one process."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry import trace  # noqa: PLC0415 - an extra

        self._provider = provider
        self._api = trace
        self._tracer = provider.get_tracer("pyopscaffold", __version__)

    def traced(
        self, process: Callable[..., Awaitable[Verdict]], declaration: ControllerDeclaration
    ) -> Callable[..., Awaitable[Verdict]]:
        """Return ``process`` with a span around each look, which tells how it ended."""
        name, kind = declaration.name, declaration.resource.gvk.kind
        error_status = self._api.Status, self._api.StatusCode.ERROR

        async def look(request: Request, **options: Any) -> Verdict:
            attributes = {"controller": name, "k8s.object.kind": kind, "k8s.object.name": request.name}
            if request.namespace:
                attributes["k8s.namespace.name"] = request.namespace
            with self._tracer.start_as_current_span(f"reconcile {name}", attributes=attributes) as span:
                verdict = await process(request, **options)
                span.set_attribute("reconcile.result", verdict.label)
                if verdict.failure is not None and verdict.error is not None:
                    span.record_exception(verdict.error)
                    if not verdict.failure.quiet:
                        make, code = error_status
                        span.set_status(make(code, verdict.failure.message))
                return verdict

        return look

    def of_requests(self) -> tuple[aiohttp.TraceConfig, ...]:
        """Return what has aiohttp make a span for each request of a reconcile, and send the trace's header with it."""
        import aiohttp  # noqa: PLC0415 - a process without a client does not need it
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - an extra
            TraceContextTextMapPropagator,
        )

        api, propagator = self._api, TraceContextTextMapPropagator()

        async def begin(_: Any, context: SimpleNamespace, sent: aiohttp.TraceRequestStartParams) -> None:
            context.span = None
            if not api.get_current_span().get_span_context().is_valid:
                return  # of a watch, of the lease: nobody waits for it
            attributes: dict[str, str | int] = {
                "http.request.method": sent.method,
                "server.address": sent.url.host or "",
                "server.port": sent.url.port or 0,
                "url.full": str(sent.url),
            }
            name = f"{sent.method} {_resource(sent.url.path)}"
            context.span = self._tracer.start_span(name, kind=api.SpanKind.CLIENT, attributes=attributes)
            propagator.inject(sent.headers, api.set_span_in_context(context.span))

        async def end(_: Any, context: SimpleNamespace, got: aiohttp.TraceRequestEndParams) -> None:
            if context.span is None:
                return
            status = got.response.status
            context.span.set_attribute("http.response.status_code", status)
            if not got.response.ok:
                context.span.set_attribute("error.type", str(status))
                context.span.set_status(api.Status(api.StatusCode.ERROR))
            context.span.end()

        async def fail(_: Any, context: SimpleNamespace, got: aiohttp.TraceRequestExceptionParams) -> None:
            if context.span is None:
                return
            context.span.set_attribute("error.type", type(got.exception).__qualname__)
            context.span.record_exception(got.exception)
            context.span.set_status(api.Status(api.StatusCode.ERROR, str(got.exception)))
            context.span.end()

        config = aiohttp.TraceConfig()
        config.on_request_start.append(begin)
        config.on_request_end.append(end)
        config.on_request_exception.append(fail)
        return (config,)

    def fields(self) -> Mapping[str, str]:
        """Return the ids of the trace and span that a log line belongs to, if any."""
        context = self._api.get_current_span().get_span_context()
        if not context.is_valid:
            return {}
        return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}

    def close(self) -> None:
        """Send what waits to be sent."""
        self._provider.shutdown()


def _provider(name: str, environment: Mapping[str, str]) -> TracerProvider:
    from opentelemetry import trace  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra

    found = trace.get_tracer_provider()
    if isinstance(found, TracerProvider):
        return found
    protocol = (
        environment.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
        or environment.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        or "http/protobuf"
    )
    if protocol not in _EXPORTERS:
        known = " and ".join(_EXPORTERS)
        raise UserError(f"$OTEL_EXPORTER_OTLP_PROTOCOL is {protocol!r}", hint=f"traces travel by {known}")
    exporter = import_module(_EXPORTERS[protocol]).OTLPSpanExporter()
    named = {} if environment.get("OTEL_SERVICE_NAME") else {"service.name": name}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider


def _resource(path: str) -> str:
    """Return ``deployments/status`` of ``/apis/apps/v1/namespaces/shop/deployments/web/status``."""
    parts = path.strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    if parts[:1] == ["namespaces"] and len(parts) > 2:  # noqa: PLR2004 - and not the namespace itself
        parts = parts[2:]
    return "/".join(parts[:1] + parts[2:])
