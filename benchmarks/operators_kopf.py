"""The operator of benchmarks/operators.py as one writes it with kopf; run by ``kopf run``.

kopf brings no client: the ConfigMap is applied by aiohttp, the leanest way, and nothing watches it.
"""

from __future__ import annotations

import base64
import os
import ssl
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import kopf
import yaml

GROUP, VERSION = "bench.example.com", "v1"


@kopf.on.startup()
async def connect(memo: Any, settings: Any, **_: Any) -> None:
    """Open the connections."""
    settings.posting.enabled = False
    config = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())  # noqa: ASYNC240 - at the start
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    memo.session = aiohttp.ClientSession(
        cluster["server"],
        headers={"Authorization": f"Bearer {user['token']}", "Content-Type": "application/apply-patch+yaml"},
        connector=aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=authority)),
    )


@kopf.on.cleanup()
async def disconnect(memo: Any, **_: Any) -> None:
    """Close the connections."""
    await memo.session.close()


@kopf.on.resume(GROUP, VERSION, "notes")
@kopf.on.create(GROUP, VERSION, "notes")
@kopf.on.update(GROUP, VERSION, "notes", field="spec")
async def reconcile(body: Any, name: str, namespace: str, memo: Any, patch: Any, **_: Any) -> None:
    """Apply the ConfigMap and report."""
    started = time.time_ns() // 1000
    child = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"text": body["spec"]["text"]},
    }
    kopf.adopt(child, owner=body)
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    query = {"fieldManager": "note", "force": "true"}
    async with memo.session.patch(path, params=query, json=child) as answer:
        answer.raise_for_status()
        await answer.read()
    generation = body["metadata"]["generation"]
    known = (body.get("status") or {}).get("conditions") or [{}]
    patch.status["observedGeneration"] = generation
    patch.status["started"] = started
    patch.status["conditions"] = [
        {
            "type": "Ready",
            "status": "True",
            "reason": "Applied",
            "message": "the text is in place",
            "observedGeneration": generation,
            "lastTransitionTime": known[0].get("lastTransitionTime") or f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        }
    ]
