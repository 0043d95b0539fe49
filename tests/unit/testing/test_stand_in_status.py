from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.testing.stand_in import deployment_status, stateful_set_status

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]


def workload(*, replicas: int, image: str = "a:1", generation: int = 1, status: Json | None = None) -> Json:
    """Make a StatefulSet or Deployment as far as its status depends on it."""
    return {
        "metadata": {"name": "db", "generation": generation, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"image": image}]}}},
        "status": status or {},
    }


def play(item: Json, step: Callable[[Json], Json] = stateful_set_status) -> list[Json]:
    """Give every status up to the one that does not change any more."""
    seen: list[Json] = []
    while not seen or item["status"] != seen[-1]:
        seen.append(item["status"])
        item = {**item, "status": step(item)}
        assert len(seen) < 100
    return seen[1:]


def counts(statuses: list[Json], name: str) -> list[int]:
    """Give one counter of each status."""
    return [status[name] for status in statuses]


def test_replicas_start_one_by_one() -> None:
    """The next replica starts only when the one before is ready."""
    steps = play(workload(replicas=2))
    assert counts(steps, "replicas") == [1, 1, 2, 2]
    assert counts(steps, "readyReplicas") == [0, 1, 1, 2]


def test_a_settled_set_has_one_revision() -> None:
    """At the end all replicas are ready, updated and of the current revision."""
    last = play(workload(replicas=3))[-1]
    assert {last[name] for name in ("replicas", "readyReplicas", "updatedReplicas", "currentReplicas")} == {3}
    assert last["currentRevision"] == last["updateRevision"]
    assert last["observedGeneration"] == 1


def test_a_new_template_rolls_one_by_one() -> None:
    """An update takes one replica down at a time, and the revision moves when all are new."""
    before = play(workload(replicas=2))[-1]
    steps = play(workload(replicas=2, image="a:2", generation=2, status=before))
    assert min(counts(steps, "readyReplicas")) == 1
    assert counts(steps, "updatedReplicas")[-1] == 2
    assert steps[0]["currentRevision"] == before["currentRevision"] != steps[0]["updateRevision"]
    assert steps[-1]["currentRevision"] == steps[-1]["updateRevision"]
    assert {step["observedGeneration"] for step in steps} == {2}


def test_scaling_down_takes_the_last_replica_first() -> None:
    """Replicas go one by one, down to none."""
    before = play(workload(replicas=2))[-1]
    steps = play(workload(replicas=0, generation=2, status=before))
    assert counts(steps, "replicas")[:2] == [1, 0]
    assert steps[-1]["readyReplicas"] == 0


def test_a_deployment_becomes_available_at_once() -> None:
    """A Deployment is available for its newest generation after one step."""
    steps = play(workload(replicas=3, generation=4), deployment_status)
    assert len(steps) == 1
    assert steps[0]["availableReplicas"] == 3
    assert steps[0]["observedGeneration"] == 4
    assert {(one["type"], one["status"]) for one in steps[0]["conditions"]} == {
        ("Available", "True"),
        ("Progressing", "True"),
    }
