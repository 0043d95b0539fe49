"""The metrics.k8s.io API, served by a test: what an autoscaler reads, with a load that the test sets.

The API server reaches it as it reaches any aggregated API: through an APIService, whose Service is an external name.
Addresses of loopback are refused in Endpoints, but a name that leads there is not.
"""

from __future__ import annotations

import datetime as dt
import json
import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from pyopscaffold.testing import eventually
from pyopscaffold.testing.pki import server_keys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyopscaffold.testing import ApiServer, RestClient

GROUP_VERSION = "metrics.k8s.io/v1beta1"
SERVICE = "/api/v1/namespaces/kube-system/services/metrics"
API_SERVICE = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io"
RESOURCES = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": GROUP_VERSION,
    "resources": [
        {"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]}
    ],
}


class Load:
    """A load, in thousandths of a core, that the pods of a namespace share evenly."""

    def __init__(self, client: RestClient) -> None:
        self.total = 0
        self._client = client

    def of_pods(self, namespace: str, labels: str) -> dict[str, Any]:
        """Give the PodMetricsList of the pods that a selector selects."""
        pods = self._client.get(f"/api/v1/namespaces/{namespace}/pods", labelSelector=labels)["items"]
        items = [self._of_pod(pod, self.total // len(pods)) for pod in pods]
        return {"kind": "PodMetricsList", "apiVersion": GROUP_VERSION, "metadata": {}, "items": items}

    def _of_pod(self, pod: dict[str, Any], share: int) -> dict[str, Any]:
        usage = {"cpu": f"{share}m", "memory": "64Mi"}
        containers = [{"name": container["name"], "usage": usage} for container in pod["spec"]["containers"]]
        metadata = {key: pod["metadata"][key] for key in ("name", "namespace", "labels")}
        now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"metadata": metadata, "timestamp": now, "window": "1s", "containers": containers}


@contextmanager
def metrics_api(server: ApiServer, folder: Path) -> Iterator[Load]:
    """Serve the API, and register it; gives the load to be set."""
    client = server.client()
    load = Load(client)
    listener = ThreadingHTTPServer(("127.0.0.1", 0), _handler(load))
    listener.socket = _tls(folder).wrap_socket(listener.socket, server_side=True)
    thread = threading.Thread(target=listener.serve_forever)
    thread.start()
    try:
        _register(client, listener.server_address[1])
        yield load
    finally:
        client.delete(API_SERVICE)
        client.delete(SERVICE)
        listener.shutdown()
        listener.server_close()
        thread.join()
        client.close()


def _handler(load: Load) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            place = url.path.removeprefix(f"/apis/{GROUP_VERSION}").strip("/").split("/")
            if place == [""]:
                self._answer(200, RESOURCES)
            elif place[0] == "namespaces" and place[2:] == ["pods"]:
                labels = parse_qs(url.query).get("labelSelector", [""])[0]
                self._answer(200, load.of_pods(place[1], labels))
            else:
                status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
                self._answer(404, status)

        def _answer(self, code: int, body: dict[str, Any]) -> None:
            payload = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


def _tls(folder: Path) -> ssl.SSLContext:
    keys = server_keys()
    (folder / "tls.crt").write_text(keys.certificate)
    (folder / "tls.key").write_text(keys.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    return context


def _register(client: RestClient, port: int) -> None:
    service = {"type": "ExternalName", "externalName": "localhost"}
    client.apply(SERVICE, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "metrics"}, "spec": service})
    spec = {
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
        "service": {"namespace": "kube-system", "name": "metrics", "port": port},
    }
    body = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1beta1.metrics.k8s.io"},
        "spec": spec,
    }
    client.apply(API_SERVICE, body)

    def available() -> bool:
        found = client.get(API_SERVICE)["status"].get("conditions", [])
        return any(one["type"] == "Available" and one["status"] == "True" for one in found)

    eventually(available)
