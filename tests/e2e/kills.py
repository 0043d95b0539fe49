"""Two replicas of the example that are killed again and again while databases live, and one that is never killed."""

from __future__ import annotations

import random
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyopscaffold.testing import eventually
from tests.e2e.life_cycle import Pair, Side, contents, differences, finished, life, lost
from tests.e2e.mydatabase_cluster import Cluster, Operator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyopscaffold.testing import RestClient

KILLED, SPARED = "killed", "spared"
LEASE_SECONDS = 1
ELECTION = ("--leader-elect", "--leader-election-id", "mydatabase-leader")
LASTING = "--leader-election-lease-duration"
CALM = 15
"""Of leases once the kills are over: on a machine that is busy with other things, one of a second is soon lost."""
_WRITE = re.compile(rb'"verb":"(create|patch|delete)"')
_AT_ONCE = 0.02
"""Seconds between two steps, of any life."""
_PATIENCE = 20.0
"""Seconds to wait for writes: both replicas may have to start first, on a busy machine."""
_WRITES, _SECONDS = 12, 2.5
"""A kill comes after so many writes at most, or so many seconds."""


@dataclass
class Tally:
    """What happened in a run."""

    kills: int = 0
    in_work: int = 0
    """Kills right after a write, and not at some moment."""
    gave_up: int = 0
    """How often a replica ended by itself, because it could not renew its lease in time."""
    steps: int = 0


class Writes:
    """Counts the writes of the example's operators in a namespace as the audit log grows."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._path = cluster.server.audit_log.path
        self._marks = (b'"userAgent":"mydatabase/', f'"namespace":"{namespace}"'.encode())
        self._read = self._path.stat().st_size
        self.count = 0

    def look(self) -> int:
        """Give the count so far."""
        with self._path.open("rb") as log:
            log.seek(self._read)
            for line in log:
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                self.count += all(mark in line for mark in self._marks) and _WRITE.search(line) is not None
        return self.count


@dataclass
class Replicas:
    """Two operators for the namespace where kills happen, as a Deployment keeps them: who ends is replaced."""

    cluster: Cluster
    tally: Tally
    running: list[Operator] = field(default_factory=list)
    lease: int = LEASE_SECONDS

    def keep(self) -> None:
        """Replace those that have ended."""
        ended = [operator for operator in self.running if operator.process.poll() is not None]
        for operator in ended:
            self.running.remove(operator)
            self.tally.gave_up += 1
            log = operator.log.read_text()
            assert operator.process.returncode == 1, log
            assert "Traceback" not in log, log
        while len(self.running) < 2:
            self.running.append(self.cluster.start_operator(KILLED, *ELECTION, f"{LASTING}={self.lease}"))

    def kill(self, dice: random.Random) -> None:
        """Kill the older one, who mostly leads; now and then the one that waits, or both."""
        first, second = dice.choice(((True, False),) * 6 + ((False, True), (True, True)))
        for operator, hit in zip(list(self.running), (first, second), strict=False):
            if hit:
                operator.kill()
                self.running.remove(operator)


def run(cluster: Cluster, *, seed: int, kills: int, databases: int, told: Callable[[str], None]) -> Tally:
    """Lead the lives of so many databases through so many kills, and hold the two sides against each other.

    Raises:
        AssertionError: something is not as it would be without kills; with the seed, by which it can be tried again.

    """
    dice, tally = random.Random(seed), Tally()  # noqa: S311 - for chance, not for secrets
    client = cluster.server.client()
    pairs = [_pair(client, f"db-{index}", seed) for index in range(databases)]
    replicas, writes = Replicas(cluster, tally), Writes(cluster, KILLED)
    try:
        with _spared(cluster):
            turns = _turns(pairs)
            while tally.kills < kills:
                replicas.keep()
                _wait_for_the_moment(dice, writes, turns, tally)
                replicas.kill(dice)
                tally.kills += 1
                assert (wrong := lost(client, KILLED)) == [], wrong
                told(f"{tally.kills} kills, {sum(pair.taken for pair in pairs)} steps")
            replicas.lease = CALM
            replicas.keep()
            tally.steps = sum(pair.taken for pair in pairs)
            _compare(cluster, pairs, replicas)
    except BaseException as error:
        error.add_note(f"seed {seed}: {tally}")
        raise
    finally:
        for operator in replicas.running:
            operator.kill()
        client.close()
    return tally


def _pair(client: RestClient, name: str, seed: int) -> Pair:
    steps = life(random.Random(f"{seed} {name}"))  # noqa: S311 - as above
    return Pair((Side(client, KILLED, name), Side(client, SPARED, name)), steps)


def _turns(pairs: list[Pair]) -> Iterator[None]:
    """Give each life its turn, for ever."""
    while True:
        for pair in pairs:
            pair.advance()
            yield


def _wait_for_the_moment(dice: random.Random, writes: Writes, turns: Iterator[None], tally: Tally) -> None:
    """Lead on for a random number of the operator's writes, or, one time in four, for a random time."""
    count = dice.randint(1, _WRITES) if dice.random() < 0.75 else 0
    until, end = writes.look() + count, time.monotonic() + dice.uniform(0, _SECONDS)
    steps_at = 0.0
    while (now := time.monotonic()) < end or count:
        if count and writes.look() >= until:
            tally.in_work += 1
            return
        if now >= end + _PATIENCE:
            return  # nobody writes
        if now >= steps_at:
            next(turns)
            steps_at = now + _AT_ONCE
        time.sleep(0.002)


def _compare(cluster: Cluster, pairs: list[Pair], replicas: Replicas) -> None:
    """Wait until both sides are at rest, and are the same."""
    client = pairs[0].sides[0].client

    def same() -> bool:
        replicas.keep()
        assert finished(client, SPARED), contents(client, SPARED)
        assert finished(client, KILLED), contents(client, KILLED)
        differing = differences(contents(client, KILLED), contents(client, SPARED))
        assert differing == [], differing
        return True

    eventually(same, within=120)
    assert (wrong := lost(client, KILLED)) == [], wrong
    for operator in cluster.operators:
        assert "Traceback" not in operator.log.read_text(), operator.log.read_text()


@contextmanager
def _spared(cluster: Cluster) -> Iterator[None]:
    """Have both namespaces, and an operator for the one where nothing is killed."""
    client = cluster.server.client()
    for namespace in (KILLED, SPARED):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        client.apply(f"/api/v1/namespaces/{namespace}", body)
    client.close()
    operator = cluster.start_operator(SPARED)
    try:
        yield
        assert operator.process.poll() is None, operator.log.read_text()
    finally:
        operator.kill()
