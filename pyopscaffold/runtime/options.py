"""The command line of an operator."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pyopscaffold.runtime.logs import LogFormat

if TYPE_CHECKING:
    from collections.abc import Sequence


_LOG_LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a manager runs; ``docs/runtime.md`` describes each flag.

    Empty ``namespaces`` means all. Empty ``leader_election_id`` and ``leader_election_namespace`` mean their defaults.
    """

    kubeconfig: Path | None = None
    namespaces: tuple[str, ...] = ()
    leader_elect: bool = False
    leader_election_id: str = ""
    leader_election_namespace: str = ""
    metrics_bind_address: str = ":8080"
    health_probe_bind_address: str = ":8081"
    workers: int | None = None
    log_format: LogFormat = "json"
    log_level: str = "info"

    @classmethod
    def from_args(cls, argv: Sequence[str] | None = None) -> Options:
        """Read the command line (``sys.argv``) and ``$WATCH_NAMESPACE``; a mistake ends the process with code 2."""
        found = _parser().parse_args(argv)
        namespaces = (part.strip() for part in found.namespace.split(","))
        return cls(
            kubeconfig=found.kubeconfig,
            namespaces=tuple(dict.fromkeys(filter(None, namespaces))),
            leader_elect=found.leader_elect,
            leader_election_id=found.leader_election_id,
            leader_election_namespace=found.leader_election_namespace,
            metrics_bind_address=found.metrics_bind_address,
            health_probe_bind_address=found.health_probe_bind_address,
            workers=found.workers,
            log_format=cast("LogFormat", found.log_format),
            log_level=found.log_level,
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Run this operator's controllers.", allow_abbrev=False)
    add = parser.add_argument
    add("--kubeconfig", type=Path, metavar="FILE", help="default: $KUBECONFIG, the Pod's account, ~/.kube/config")
    add(
        "--namespace",
        default=os.environ.get("WATCH_NAMESPACE", ""),
        metavar="A,B",
        help="namespaces to watch (default: $WATCH_NAMESPACE, else all)",
    )
    add(
        "--leader-elect",
        type=_boolean,
        nargs="?",
        const=True,
        default=False,
        metavar="true|false",
        help="have one of several replicas act, by a Lease",
    )
    add("--leader-election-id", default="", metavar="NAME", help="name of the Lease")
    add("--leader-election-namespace", default="", metavar="NS", help="namespace of the Lease")
    add("--metrics-bind-address", default=":8080", metavar="ADDRESS", help="0 turns it off (default: %(default)s)")
    add("--health-probe-bind-address", default=":8081", metavar="ADDRESS", help="0 turns it off (default: %(default)s)")
    add("--workers", type=_positive, metavar="N", help="reconciles at once, for every controller")
    add("--log-format", choices=("json", "text"), default="json", help="(default: %(default)s)")
    add("--log-level", choices=_LOG_LEVELS, default="info", help="(default: %(default)s)")
    return parser


def _boolean(text: str) -> bool:
    values = {"true": True, "false": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return values[text.lower()]


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)
