"""The command line of an operator, and its environment."""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pyopscaffold.kube import selector
from pyopscaffold.runtime.logs import LogFormat, levels_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ENVIRONMENT = "PYOPSCAFFOLD_"
"""Each flag may be given by the environment as well: --log-level as PYOPSCAFFOLD_LOG_LEVEL."""
_LABEL = re.compile("[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a manager runs; ``docs/runtime.md`` describes each flag.

    Empty ``namespaces`` means all, unless ``namespace_selector``, a label selector, chooses. Empty
    ``leader_election_id``, ``leader_election_namespace``, ``shard_id`` and ``shard_namespace`` mean their defaults.
    The two lease durations, ``grace`` and ``resync`` are seconds; ``resync`` 0 is never.
    """

    kubeconfig: Path | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: str = ""
    leader_elect: bool = False
    leader_election_id: str = ""
    leader_election_namespace: str = ""
    leader_election_lease_duration: int = 15
    shard: bool = False
    shard_id: str = ""
    shard_namespace: str = ""
    shard_lease_duration: int = 15
    metrics_bind_address: str = ":8080"
    metrics_secure: bool = False
    metrics_cert_path: Path | None = None
    metrics_cert_name: str = "tls.crt"
    metrics_cert_key: str = "tls.key"
    health_probe_bind_address: str = ":8081"
    workers: int | None = None
    resync: float = 0.0
    paused: bool = False
    grace: float = 25.0
    tracing: bool = False
    log_format: LogFormat = "json"
    log_level: str = "info"

    @classmethod
    def from_args(cls, argv: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ) -> Options:
        """Read the command line (``sys.argv``) and the environment; a mistake ends the process with code 2."""
        parser = _parser(environment)
        # first the environment, then the command line over it; argparse checks both
        parser.origin = f" (in the environment, as {ENVIRONMENT}…)"
        found = parser.parse_args(_from_environment(parser.flags, environment))
        parser.origin = ""
        found = parser.parse_args(argv, found)
        namespaces = (part.strip() for part in found.namespace.split(","))
        found.namespaces = tuple(dict.fromkeys(filter(None, namespaces)))
        if found.namespaces and found.namespace_selector:
            parser.error("--namespace (or $WATCH_NAMESPACE) and --namespace-selector: give one of them")
        return cls(**{field.name: getattr(found, field.name) for field in fields(cls)})


class _Parser(argparse.ArgumentParser):
    """Knows its flags, and says in an error where the mistake stands."""

    origin = ""

    def __init__(self) -> None:
        epilog = f"Each flag may be given by the environment as well: --log-level as {ENVIRONMENT}LOG_LEVEL."
        super().__init__(description="Run this operator's controllers.", epilog=epilog, allow_abbrev=False)
        self.flags: list[str] = []

    def error(self, message: str) -> NoReturn:
        """See argparse.ArgumentParser."""
        super().error(message + self.origin)


def _from_environment(flags: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    names = ((flag, ENVIRONMENT + flag.removeprefix("--").replace("-", "_").upper()) for flag in flags)
    return [f"{flag}={environment[name]}" for flag, name in names if environment.get(name)]


def _parser(environment: Mapping[str, str]) -> _Parser:
    parser = _Parser()

    def add(flag: str, metavar: str, text: str, default: object = "", type: object = str) -> None:  # noqa: A002 - argparse's name
        parser.flags.append(flag)
        shown = "" if default in ("", None) else " (default: %(default)s)"
        parser.add_argument(flag, metavar=metavar, help=text + shown, default=default, type=type)  # type: ignore[arg-type]  # typeshed's is private

    def switch(flag: str, text: str) -> None:
        parser.flags.append(flag)
        parser.add_argument(flag, metavar="true|false", help=text, default=False, type=_boolean, nargs="?", const=True)

    def choice(flag: str, choices: Sequence[str]) -> None:
        parser.flags.append(flag)
        parser.add_argument(flag, choices=choices, default=choices[0], help="(default: %(default)s)")

    add("--kubeconfig", "FILE", "default: $KUBECONFIG, the Pod's account, ~/.kube/config", None, Path)
    watched = environment.get("WATCH_NAMESPACE", "")
    add("--namespace", "A,B", "namespaces to watch; without, $WATCH_NAMESPACE or all", watched)
    add("--namespace-selector", "LABELS", "watch the namespaces that have these labels: a=b,!c", "", _selector)
    switch("--leader-elect", "have one of several replicas act, by a Lease")
    add("--leader-election-id", "NAME", "name of the Lease")
    add("--leader-election-namespace", "NS", "namespace of the Lease")
    switch("--shard", "have all replicas act, each on its share of the objects")
    add("--shard-id", "NAME", "name that the replicas have in common", "", _label)
    add("--shard-namespace", "NS", "namespace of the replicas' Leases")
    add("--shard-lease-duration", "SECONDS", "a lost replica's objects are taken over within it", 15, _positive)
    lasts = "after so long without a sign of life another replica takes over"
    add("--leader-election-lease-duration", "SECONDS", lasts, 15, _positive)
    add("--metrics-bind-address", "ADDRESS", "0 turns it off", ":8080")
    switch("--metrics-secure", "serve metrics by TLS, and to those only whom the API server lets read them")
    add("--metrics-cert-path", "FOLDER", "where the certificate for metrics is; without, one is made up", None, Path)
    add("--metrics-cert-name", "FILE", "name of the certificate", "tls.crt")
    add("--metrics-cert-key", "FILE", "name of its key", "tls.key")
    add("--health-probe-bind-address", "ADDRESS", "0 turns it off", ":8081")
    add("--workers", "N", "reconciles at once, for every controller", None, _positive)
    add("--resync", "SECONDS", "look at every object again so often; 0 is never", 0.0, _seconds)
    switch("--paused", "watch and serve, but reconcile nothing")
    add("--grace", "SECONDS", "time to end in, in all, before the Pod is killed", 25.0, _seconds)
    switch("--tracing", "send traces by OpenTelemetry; on as well where $OTEL_EXPORTER_OTLP_ENDPOINT is set")
    choice("--log-format", ("json", "text"))
    add(
        "--log-level",
        "LEVEL",
        "debug, info, warning or error; of single loggers: info,my.logger=debug",
        "info",
        _levels,
    )
    return parser


def _boolean(text: str) -> bool:
    values = {"true": True, "false": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return values[text.lower()]


def _selector(text: str) -> str:
    try:
        selector.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return seconds


def _label(text: str) -> str:
    if text and not _LABEL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no label: small letters, digits, - and ., at most 63 of them")
    return text


def _levels(text: str) -> str:
    try:
        levels_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text
