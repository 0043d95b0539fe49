"""An admission webhook of the tests: a TLS server, and the configuration by which the API server asks it."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from pyopscaffold.testing import eventually, pki

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyopscaffold.testing import RestClient

NAME = "guard.example.com"
PROBE = "probe-"
_PATIENCE = 60.0


class Webhook:
    """Answers what it is told to: ``denial`` is the status of a refusal; while ``silent``, it says nothing."""

    def __init__(self, folder: Path) -> None:
        keys = pki.server_keys()
        self.denial: Mapping[str, Any] | None = None
        self.silent = False
        self.reviews: list[str] = []
        self._over = threading.Event()
        self.authority = keys.authority
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        for name, text in (("hook.crt", keys.certificate), ("hook.key", keys.key)):
            (folder / name).write_text(text)
        tls.load_cert_chain(folder / "hook.crt", folder / "hook.key")
        self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)

    @property
    def url(self) -> str:
        """Where it is asked."""
        return f"https://127.0.0.1:{self._server.server_port}/"

    @contextmanager
    def serving(self) -> Iterator[Webhook]:
        """Answer while the block lasts."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            self._over.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        webhook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
                webhook.reviews.append(request.get("name", ""))
                if webhook.silent:
                    webhook._over.wait(_PATIENCE)
                    return
                answer: dict[str, Any] = {"uid": request["uid"], "allowed": webhook.denial is None}
                if webhook.denial is not None:
                    answer["status"] = webhook.denial
                review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}
                body = json.dumps(review).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@contextmanager
def guarding(
    client: RestClient, namespace: str, webhook: Webhook, *resources: str, timeout: int = 10
) -> Iterator[None]:
    """Have the API server ask before each write of some resources in the namespace; it does when the block begins."""
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": list(resources)}
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": PROBE}}

    def asks() -> int:
        client.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", body=probe, query={"dryRun": "All"})
        return len(webhook.reviews)

    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": f"guard-{namespace}"},
        "webhooks": [
            {
                "name": NAME,
                "rules": [rule, {**rule, "operations": ["CREATE"], "resources": ["configmaps"]}],
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "timeoutSeconds": timeout,
                "admissionReviewVersions": ["v1"],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "clientConfig": {
                    "url": webhook.url,
                    "caBundle": base64.b64encode(webhook.authority.encode()).decode(),
                },
            }
        ],
    }
    path = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/guard-{namespace}"
    client.apply(path, configuration)
    try:
        eventually(asks, within=_PATIENCE)
        webhook.reviews.clear()
        yield
    finally:
        client.delete(path)
