"""The operator of benchmarks/faults.py as one writes it with kopf; run by ``kopf run``.

``FAULTS_TUNED=1`` sets the timeouts that kopf's documentation advises to set, which are endless by default.
"""

from __future__ import annotations

import base64
import os
import ssl
from pathlib import Path
from typing import Any

import aiohttp
import kopf
import yaml

GROUP, VERSION = "bench.example.com", "v1"
TUNED = os.environ.get("FAULTS_TUNED") == "1"


def config() -> tuple[dict[str, Any], dict[str, Any]]:
    """Read cluster and user of the kubeconfig, each time anew: the token may be another."""
    found = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())
    return found["clusters"][0]["cluster"], found["users"][0]["user"]


@kopf.on.startup()
async def connect(memo: Any, settings: Any, **_: Any) -> None:
    """Open the connections."""
    settings.posting.enabled = False
    limits = aiohttp.ClientTimeout()
    if TUNED:
        settings.watching.server_timeout = 300
        settings.watching.client_timeout = 330
        settings.watching.connect_timeout = 10
        settings.networking.request_timeout = 30
        settings.networking.connect_timeout = 10
        limits = aiohttp.ClientTimeout(total=30, connect=10)
    cluster, _user = config()
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=authority))
    memo.session = aiohttp.ClientSession(cluster["server"], connector=connector, timeout=limits)


@kopf.on.cleanup()
async def disconnect(memo: Any, **_: Any) -> None:
    """Close the connections."""
    await memo.session.close()


@kopf.index(GROUP, VERSION, "notes")
async def known(name: str, **_: Any) -> dict[str, bool]:
    """Keep the names of all Notes."""
    return {name: True}


@kopf.on.resume(GROUP, VERSION, "notes")
@kopf.on.create(GROUP, VERSION, "notes")
@kopf.on.update(GROUP, VERSION, "notes", field="spec")
async def reconcile(*, body: Any, name: str, namespace: str, memo: Any, patch: Any, known: Any, **_: Any) -> None:
    """Apply the ConfigMap and report; ask again after a failure soon, as pyopscaffold does."""
    data = {"text": body["spec"]["text"][:100]}
    if name == "probe":
        data["known"] = " ".join(sorted(known))
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
    kopf.adopt(child, owner=body)
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    query = {"fieldManager": "note", "force": "true"}
    headers = {"Authorization": f"Bearer {config()[1]['token']}", "Content-Type": "application/apply-patch+yaml"}
    try:
        async with memo.session.patch(path, params=query, json=child, headers=headers) as answer:
            answer.raise_for_status()
            await answer.read()
    except (aiohttp.ClientError, TimeoutError) as error:
        raise kopf.TemporaryError(f"the ConfigMap: {error!r}", delay=1) from error
    patch.status["observedGeneration"] = body["metadata"]["generation"]
