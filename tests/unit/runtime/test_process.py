"""What an operator process is made of besides its controllers: command line, logs, endpoints, the side thread."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import math
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import (
    Conflict,
    ConnectionFailed,
    Forbidden,
    Invalid,
    KubeconfigError,
    ServerError,
    TerminalError,
    TooManyRequests,
    Unauthorized,
    UsageError,
)
from pyopscaffold.k8s.core.v1 import Secret
from pyopscaffold.kube.meta import ObjectMeta
from pyopscaffold.runtime import logs
from pyopscaffold.runtime.children import CONTESTED, PUT_BACK_AGAIN
from pyopscaffold.runtime.health import bind
from pyopscaffold.runtime.options import Options
from pyopscaffold.runtime.outcome import QUIET_CONFLICTS, ReconcileTimeoutError, classify
from pyopscaffold.runtime.side_thread import SideThread
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def root_logger() -> Iterator[None]:
    """Leave logging as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)


@pytest.mark.parametrize("names", ["Context, Reconciler, Result, conditions, main", "Request, TerminalError"])
def test_reading_a_controller_is_cheap(names: str) -> None:
    """What a controller imports loads no HTTP client, no metrics, no cryptography and no YAML."""
    heavy = "{'aiohttp', 'prometheus_client', 'cryptography', 'yaml', 'uvloop', 'opentelemetry'}"
    code = f"import sys; from pyopscaffold.runtime import {names}; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_running_one_does_without_aiohttp() -> None:
    """An operator that needs no proxy and no traces talks and serves without aiohttp, half of its memory and start."""
    code = """
import sys
from pyopscaffold.runtime import manager, metrics
from pyopscaffold.runtime.client.config import ClusterConfig
manager.HttpClient(ClusterConfig(server="https://127.0.0.1:6443"))
metrics.Metrics()
print("aiohttp" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"


def test_command_line_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without flags an operator watches everything, and serves metrics on 8080 and health on 8081."""
    monkeypatch.delenv("WATCH_NAMESPACE", raising=False)
    assert Options.from_args([]) == Options()


def test_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flags win over the environment; namespaces are a list; --leader-elect takes a value as well."""
    monkeypatch.setenv("WATCH_NAMESPACE", "a, b,a")
    assert Options.from_args([]).namespaces == ("a", "b")
    options = Options.from_args(["--namespace=c", "--leader-elect", "--workers=3", "--log-format=text"])
    assert (options.namespaces, options.leader_elect, options.workers, options.log_format) == (("c",), True, 3, "text")
    assert not Options.from_args(["--leader-elect=false"]).leader_elect


def test_every_flag_may_be_given_by_the_environment() -> None:
    """PYOPSCAFFOLD_ and the flag's name set it; the command line wins; an empty variable says nothing."""
    environment = {
        "PYOPSCAFFOLD_NAMESPACE": "a,b",
        "WATCH_NAMESPACE": "c",
        "PYOPSCAFFOLD_LEADER_ELECT": "true",
        "PYOPSCAFFOLD_METRICS_CERT_PATH": "/certs",
        "PYOPSCAFFOLD_WORKERS": "3",
        "PYOPSCAFFOLD_RESYNC": "600",
        "PYOPSCAFFOLD_GRACE": "",
        "PYOPSCAFFOLD_LOG_LEVEL": "warning",
        "PYOPSCAFFOLD_LOG_FORMAT": "text",
    }
    options = Options.from_args(["--workers=4", "--log-level=info,my.db=debug"], environment)
    assert options == Options(
        namespaces=("a", "b"),
        leader_elect=True,
        metrics_cert_path=Path("/certs"),
        workers=4,
        resync=600.0,
        log_format="text",
        log_level="info,my.db=debug",
    )
    assert Options.from_args(["--leader-elect=false"], environment).leader_elect is False


def test_every_flag_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    """The page on the runtime has all flags that --help lists, and no others."""
    with pytest.raises(SystemExit):
        Options.from_args(["--help"])
    listed = set(re.findall(r"^  (--[a-z-]+)", capsys.readouterr().out, re.MULTILINE))
    page = (ROOT / "docs" / "runtime.md").read_text(encoding="utf-8")
    table = page.partition("## The process")[2].partition("## Observability")[0]
    assert set(re.findall(r"`(--[a-z-]+)", table)) == listed


def test_a_mistake_in_the_environment_is_said_to_be_there(capsys: pytest.CaptureFixture[str]) -> None:
    """A value that is wrong names its flag and that it came by the environment."""
    with pytest.raises(SystemExit) as ended:
        Options.from_args([], {"PYOPSCAFFOLD_WORKERS": "many"})
    assert ended.value.code == 2
    assert "--workers: 'many' is no number above 0 (in the environment, as PYOPSCAFFOLD_" in capsys.readouterr().err


@pytest.mark.parametrize(
    "flags",
    [
        *(["--workers=0"], ["--workers=x"], ["--leader-elect=maybe"], ["--no-such"], ["--lead"], ["--log-level=loud"]),
        *(["--shard-id=My_Shards"], ["--shard-lease-duration=0"]),
        *(["--log-level=info,x=loud"], ["--log-format=xml"], ["--grace=-1"], ["--resync=inf"], ["--paused=perhaps"]),
    ],
)
def test_wrong_command_line_ends_with_2(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A flag or value that does not exist is named, and the process ends with 2."""
    with pytest.raises(SystemExit) as ended:
        Options.from_args(flags)
    assert ended.value.code == 2
    assert flags[0].split("=")[0] in capsys.readouterr().err


@pytest.mark.parametrize("address", ["8080", "host", ":http", ":99999", "no.such.host.invalid:80"])
def test_malformed_address_is_named(address: str) -> None:
    """An address that can't be listened on is a user's mistake that names flag and address."""
    with pytest.raises(UsageError, match="--flag: .*" + address) as raised:
        bind(address, flag="--flag")
    assert raised.value.hint


def test_addresses() -> None:
    """0 turns an endpoint off; without host all interfaces are listened on; IPv6 addresses stand in brackets."""
    assert bind("0", flag="--flag") is None
    for address, family in ((":0", (socket.AF_INET, socket.AF_INET6)), ("127.0.0.1:0", (socket.AF_INET,))):
        listener = bind(address, flag="--flag")
        assert listener is not None
        with listener:
            assert listener.family in family


@pytest.mark.usefixtures("root_logger")
def test_json_log_lines() -> None:
    """A line has zap's keys, the fields of the adapter and of the call, and of an exception error and stacktrace."""
    stream = io.StringIO()
    logs.configure(stream=stream)
    log = logs.FieldsAdapter(logging.getLogger("test"), {"controller": "thing"})
    log.warning("took %d s", 3, extra={"seconds": 3, "what": object})
    log.error("failed", exc_info=ValueError("bad"))
    log.debug("not shown")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first.pop("ts").endswith("Z")
    assert first == {
        "level": "warn",
        "logger": "test",
        "msg": "took 3 s",
        "controller": "thing",
        "seconds": 3,
        "what": "<class 'object'>",
    }
    assert (second["level"], second["error"]) == ("error", "ValueError: bad")
    assert second["stacktrace"] == "ValueError: bad"


@pytest.mark.usefixtures("root_logger")
@pytest.mark.parametrize("through", ["adapter", "logger"])
def test_what_the_caller_adds(through: str) -> None:
    """``extra`` is in the line whichever kind of logger it is given to, and takes no place of the line's own keys."""
    stream = io.StringIO()
    logs.configure(stream=stream)
    plain = logging.getLogger("test")
    log = plain if through == "logger" else logs.FieldsAdapter(plain, {})
    log.info("said", extra={"replicas": 3, "level": "sea"})
    line = json.loads(stream.getvalue())
    assert line.pop("ts")
    assert line == {"level": "info", "logger": "test", "msg": "said", "replicas": 3, "level_": "sea"}


@pytest.mark.usefixtures("root_logger")
def test_levels_of_single_loggers() -> None:
    """A logger, and those below it, may be told to say more or less than the rest."""
    stream = io.StringIO()
    logs.configure(level="warning,test.db=debug,test.noise=error", stream=stream)
    for name in ("test", "test.db", "test.db.pool", "test.noise"):
        for level in (logging.DEBUG, logging.WARNING, logging.ERROR):
            logging.getLogger(name).log(level, "said")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["logger"], line["level"]) for line in lines] == [
        *(("test", "warn"), ("test", "error")),
        *((name, level) for name in ("test.db", "test.db.pool") for level in ("debug", "warn", "error")),
        ("test.noise", "error"),
    ]
    for name in ("test.db", "test.noise"):
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.mark.usefixtures("root_logger")
@pytest.mark.parametrize("form", ["json", "text"])
def test_secrets_stay_out_of_log_lines(form: logs.LogFormat) -> None:
    """Of an object a line shows which one it is; what a Secret keeps is not shown, however deep it lies."""
    stream = io.StringIO()
    logs.configure(format=form, stream=stream)
    log = logs.FieldsAdapter(logging.getLogger("test"), {})
    plain = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "plain"}, "stringData": {"key": "hidden"}}
    typed = Secret(metadata=ObjectMeta(name="typed", namespace="ns"), data={"key": b"hidden"})
    log.info("made", extra={"plain": plain, "typed": typed, "all": [plain, {"inner": typed}], "count": 2})
    line = stream.getvalue()
    assert "hidden" not in line
    assert "aGlkZGVu" not in line
    assert line.count("plain") > 1
    assert line.count("typed") > 1
    if form == "json":
        assert json.loads(line)["typed"] == {"kind": "Secret", "namespace": "ns", "name": "typed"}
        assert json.loads(line)["count"] == 2


@pytest.mark.usefixtures("root_logger")
def test_every_line_has_what_all_lines_have() -> None:
    """What the process adds, such as the trace, is in lines with and without fields."""
    stream = io.StringIO()
    logs.configure(stream=stream, more=lambda: {"trace_id": "12"})
    logging.getLogger("test").info("plain")
    logs.FieldsAdapter(logging.getLogger("test"), {"controller": "thing"}).info("with fields")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["trace_id"], line.get("controller")) for line in lines] == [("12", None), ("12", "thing")]


@pytest.mark.usefixtures("root_logger")
def test_text_log_lines() -> None:
    """For people a line has the fields as key=value, and a stack on lines of its own."""
    stream = io.StringIO()
    logs.configure(format="text", level="debug", stream=stream)
    logging.getLogger("test").debug("hello", extra={"fields": {"name": "one", "stacktrace": "line 1\nline 2"}})
    line, *stack = stream.getvalue().splitlines()
    assert line.endswith("DEBUG   test: hello name=one")
    assert stack == ["line 1", "line 2"]


@pytest.mark.parametrize(
    ("error", "reason", "retry", "stalled"),
    [
        (TerminalError("no", reason="BadSpec"), "BadSpec", "never", True),
        (Invalid("no", reason="Invalid"), "Invalid", "longest", True),
        (Forbidden("no", reason="Forbidden"), "Forbidden", "backoff", False),
        (ConnectionFailed("no"), "ConnectionFailed", "backoff", False),
        (OSError("no"), "OSError", "backoff", False),
        (KeyError("no"), "KeyError", "backoff", False),
    ],
)
def test_failures_are_told_apart(error: Exception, reason: str, retry: str, stalled: bool) -> None:
    """Each error has its reason, its retry, and whether the object is stalled."""
    failure = classify(error, failures=0)
    assert (failure.reason, failure.retry, failure.stalled) == (reason, retry, stalled)
    assert failure.bug == isinstance(error, KeyError)


@pytest.mark.parametrize(
    ("error", "common", "asked"),
    [
        (ConnectionFailed("no"), True, 0.0),
        (ServerError("no", retry_after=30.0), True, 30.0),
        (TooManyRequests("no", retry_after=1.0), True, 1.0),
        (Unauthorized("no"), True, 0.0),
        (Forbidden("no"), True, 0.0),
        (Conflict("no"), False, 0.0),
        (KeyError("no"), False, 0.0),
        (KubeconfigError("no credential"), True, 0.0),
        (ExceptionGroup("all", [ServerError("no"), KeyError("no")]), False, 0.0),
        (ExceptionGroup("all", [ServerError("no", retry_after=9.0), Forbidden("no")]), True, 9.0),
    ],
)
def test_what_befalls_all_is_no_objects_fault(error: Exception, common: bool, asked: float) -> None:
    """Failures of the server are told from those of objects, with the pause that it asks for."""
    failure = classify(error, failures=0)
    assert (failure.common, failure.asked) == (common, asked)


@pytest.mark.parametrize(
    ("error", "answered"),
    [
        (Conflict("no"), True),
        (KeyError("no"), True),
        (ServerError("no"), False),
        (ReconcileTimeoutError("too long"), False),
        (ExceptionGroup("all", [ConnectionFailed("no"), ReconcileTimeoutError("too long")]), False),
        (ExceptionGroup("all", [ConnectionFailed("no"), Conflict("no")]), True),
    ],
)
def test_what_tells_nothing_of_the_server_is_no_answer(error: Exception, answered: bool) -> None:
    """A reconcile whose time is over may have waited for a server that hangs."""
    assert classify(error, failures=0).answered == answered


def test_conflicts_are_quiet_until_they_repeat() -> None:
    """A conflict is everyday life; one that comes again and again is reported."""
    contested = classify(Conflict("no", reason=CONTESTED), failures=100)
    assert (contested.reason, contested.quiet, contested.within) == (CONTESTED, False, PUT_BACK_AGAIN)
    together = classify(ExceptionGroup("all", [Conflict("no", reason=CONTESTED), Invalid("bad")]), failures=100)
    assert together.within == PUT_BACK_AGAIN
    assert classify(Conflict("no"), failures=100).within == math.inf
    assert classify(Conflict("no"), failures=0).quiet
    assert not classify(Conflict("no"), failures=QUIET_CONFLICTS).quiet


async def test_side_thread_runs_beside_a_blocked_loop() -> None:
    """What runs on the side thread goes on while this loop does not."""
    beats = threading.Semaphore(0)

    async def beat() -> None:
        while True:
            beats.release()
            await asyncio.sleep(0.001)

    with SideThread() as side:
        side.spawn(beat())
        for _ in range(3):
            assert beats.acquire(timeout=30)  # blocks this loop
        assert await side.run(asyncio.sleep(0, "answer")) == "answer"


async def test_side_thread_tells_what_fails(caplog: pytest.LogCaptureFixture) -> None:
    """An error of a task that nobody waits for is in the log."""

    async def fail() -> None:
        raise ValueError("unheard")

    with SideThread() as side:
        side.spawn(fail())
        await side.run(asyncio.sleep(0))
    assert "unheard" in caplog.text


async def test_side_thread_passes_errors_and_cancellation_on() -> None:
    """An error there is raised here, and cancelling here cancels there."""
    cancelled = threading.Event()

    async def fail() -> None:
        raise ValueError("there")

    async def wait() -> None:
        try:
            await asyncio.Future()
        finally:
            cancelled.set()

    with SideThread() as side:
        with pytest.raises(ValueError, match="there"):
            await side.run(fail())
        waiting = asyncio.ensure_future(side.run(wait()))
        await side.run(asyncio.sleep(0.01))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert cancelled.wait(30)
