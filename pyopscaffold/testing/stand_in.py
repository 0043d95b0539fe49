"""A stand-in for kube-controller-manager, where the programs of a simulated cluster can't be had or take too long.

A bare API server has no controllers: a StatefulSet never becomes ready, and children outlive their owners. The
stand-in plays just enough of them for an operator to be seen at work: it moves the **status** of StatefulSets and
Deployments, collects garbage, and ends namespaces. There are no Pods, no volumes and no nodes behind it.

It polls with the small client of ``rest.py`` in a thread, so it does not depend on the client under test.
"""

from __future__ import annotations

import hashlib
import json
import threading
from typing import TYPE_CHECKING, Self

from pyopscaffold.errors import ClientError, Conflict, NotFound
from pyopscaffold.testing.discovery import empty_namespace, finalize_namespace, list_metadata
from pyopscaffold.testing.garbage import GarbageCollector

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from pyopscaffold.testing.rest import Json
    from pyopscaffold.testing.server import ApiServer

USER_AGENT = "pyopscaffold-stand-in"
"""How its requests are told apart in the audit log."""

_ROUNDS_PER_COLLECTION = 3


class StandIn:
    """Plays the controllers of ``server`` while its ``with`` block runs, also when the server goes and comes back.

    ``step`` is in seconds: how long a replica takes to start, to become ready, or to go.
    """

    def __init__(self, server: ApiServer, *, step: float = 0.2) -> None:
        self._client = server.client(user_agent=USER_AGENT)
        self._collector = GarbageCollector(self._client)
        self._step = step
        self._stopping = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="stand-in", daemon=True)

    def start(self) -> None:
        """Begin to play, in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """End, and raise what broke the thread, if anything did."""
        self._stopping.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        number = 0
        try:
            while not self._stopping.wait(self._step):
                self._round(collect=number % _ROUNDS_PER_COLLECTION == 0)
                number += 1
        except Exception as error:  # noqa: BLE001 - kept for stop(), which raises it where somebody sees it
            self._failure = error
        finally:
            self._client.close()

    def _round(self, *, collect: bool) -> None:
        """Do what is due now. A failed request is no matter: the next round looks at everything anew."""
        try:
            self._move("statefulsets", stateful_set_status)
            self._move("deployments", deployment_status)
            if collect:
                self._collector.collect()
                self._end_namespaces()
        except ClientError:
            return

    def _move(self, plural: str, next_status: Callable[[Json], Json]) -> None:
        for item in self._client.get(f"/apis/apps/v1/{plural}", resourceVersion="0")["items"]:
            metadata = item["metadata"]
            status = next_status(item)
            if "deletionTimestamp" in metadata or _filled(status) == _filled(item.get("status", {})):
                continue
            path = f"/apis/apps/v1/namespaces/{metadata['namespace']}/{plural}/{metadata['name']}/status"
            try:
                self._client.request("PUT", path, body={**item, "status": status})
            except (Conflict, NotFound):
                continue

    def _end_namespaces(self) -> None:
        for item in list_metadata(self._client, "/api/v1/namespaces", resourceVersion="0"):
            metadata = item["metadata"]
            if "deletionTimestamp" in metadata:
                self._end_namespace(metadata["name"])

    def _end_namespace(self, name: str) -> None:
        try:
            if not empty_namespace(self._client, name, self._collector.resources):
                finalize_namespace(self._client, name)
        except (Conflict, NotFound):
            return


def stateful_set_status(item: Json) -> Json:
    """Give the status that follows the present one of a StatefulSet, one visible step on, or the same at the end.

    Replicas start and become ready one by one (OrderedReady), then those of an old revision are replaced one by one
    (RollingUpdate); partitions and other strategies are not played.
    """
    old = item.get("status", {})
    revision = f"{item['metadata']['name']}-{_template_hash(item)}"
    want = item["spec"].get("replicas", 1)
    have, ready = old.get("replicas", 0), old.get("readyReplicas", 0)
    updated = old.get("updatedReplicas", 0) if old.get("updateRevision") == revision else 0
    current = old.get("currentRevision") or revision
    if ready < have:
        ready += 1
    elif have < want:
        have, updated = have + 1, updated + 1
    elif have > want:
        have, ready = have - 1, ready - 1
        updated = min(updated, have)
    elif updated < have:
        updated, ready = updated + 1, ready - 1
    else:
        current = revision
    return {
        **old,
        "observedGeneration": item["metadata"]["generation"],
        "replicas": have,
        "readyReplicas": ready,
        "availableReplicas": ready,
        "updatedReplicas": updated,
        "currentReplicas": have if current == revision else have - updated,
        "currentRevision": current,
        "updateRevision": revision,
        "collisionCount": 0,
    }


def deployment_status(item: Json) -> Json:
    """Give the status of a Deployment that has just become available, in one step."""
    want = item["spec"].get("replicas", 1)
    old = item.get("status", {})
    generation = item["metadata"]["generation"]
    if old.get("observedGeneration") == generation:
        return dict(old)
    created = item["metadata"]["creationTimestamp"]
    reasons = {"Available": "MinimumReplicasAvailable", "Progressing": "NewReplicaSetAvailable"}
    return {
        "observedGeneration": generation,
        **dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "updatedReplicas"), want),
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "reason": reason,
                "message": "Played by a stand-in.",
                "lastUpdateTime": created,
                "lastTransitionTime": created,
            }
            for kind, reason in reasons.items()
        ],
    }


def _filled(status: Json) -> Json:
    """Leave out zeros, as the server does with some fields but not with all."""
    return {name: value for name, value in status.items() if value}


def _template_hash(item: Json) -> str:
    text = json.dumps(item["spec"]["template"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]
