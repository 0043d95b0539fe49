"""``main``: what a project's ``__main__`` calls."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pyopscaffold.api.declarations import declared_controllers
from pyopscaffold.api.discover import import_declarations
from pyopscaffold.errors import ClientError, UserError
from pyopscaffold.runtime import logs
from pyopscaffold.runtime.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from pyopscaffold.api.declarations import Kind
    from pyopscaffold.runtime.cache import Transform
    from pyopscaffold.runtime.health import Check
    from pyopscaffold.runtime.reconcile import Reconciler
    from pyopscaffold.runtime.runnable import Runnable
    from pyopscaffold.runtime.tracing import Tracing

    Reconcilers: TypeAlias = Sequence[Reconciler[Any] | type[Reconciler[Any]]]

OK, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130
_OVERTIME = 2.0
"""Seconds beyond the time to end in, in which connections are closed and traces sent."""
_CLOSING = 10.0
"""The same for a process that ends by itself, where nobody waits."""
_log = logging.getLogger("pyopscaffold")


def main(
    reconcilers: str | Reconcilers,
    argv: Sequence[str] | None = None,
    *,
    runnables: Sequence[Runnable] = (),
    ready_checks: Mapping[str, Check] | None = None,
    transforms: Mapping[Kind, Transform] | None = None,
) -> NoReturn:
    """Run the reconcilers as the command line says, then end the process.

    A string names a project's package: every class under ``@controller`` in it is run. ``runnables`` run beside them;
    ``ready_checks`` give, by name, the reason why the operator is not ready, or nothing. ``transforms`` cut objects of
    a kind, in JSON form, down to what the cache is to keep.

    Exit codes: 0 after SIGTERM, 130 after Ctrl-C, 2 for a mistake in set-up (one line on stderr), 1 for a lost lease,
    an end that was not in order (a second signal, or the time for it was over), or anything unexpected.
    """
    options = Options.from_args(argv)
    logs.configure(format=options.log_format, level=options.log_level)
    code = _run(reconcilers, options, runnables=runnables, ready_checks=ready_checks, transforms=transforms)
    logging.shutdown()
    sys.stderr.flush()
    if any(thread is not threading.main_thread() and not thread.daemon for thread in threading.enumerate()):
        os._exit(code)  # a reconcile in a thread that can't be stopped
    sys.exit(code)


def _run(reconcilers: str | Reconcilers, options: Options, **more: Any) -> int:
    tracing: Tracing | None = None
    try:
        found = _declared(reconcilers) if isinstance(reconcilers, str) else reconcilers
        tracing = _tracing(reconcilers, options)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(_serve(found, options, tracing=tracing, **more))
    except KeyboardInterrupt:  # before the handlers stood
        return INTERRUPTED
    except UserError as error:
        hint = f" ({error.hint})" if error.hint else ""
        print(f"error: {error}{hint}", file=sys.stderr)  # noqa: T201 - for the person who started it
        return MISTAKE
    except ClientError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 - for the person who started it
        return FAILED
    except Exception:  # noqa: BLE001 - the outermost level
        _log.exception("the operator failed")
        return FAILED
    finally:
        if tracing is not None:
            tracing.close()


def _tracing(reconcilers: str | Reconcilers, options: Options) -> Tracing | None:
    from pyopscaffold.runtime import tracing  # noqa: PLC0415 - most processes do without

    name = reconcilers if isinstance(reconcilers, str) else Path(sys.argv[0]).stem
    found = tracing.start(name, forced=options.tracing)
    if found is not None:
        logs.configure(format=options.log_format, level=options.log_level, more=found.fields)
    return found


def _declared(package: str) -> Reconcilers:
    import_declarations(package)
    found = declared_controllers()
    if not found:
        raise UserError(f"{package} has no controller", hint="put @controller(…) above a Reconciler class")
    return found


async def _serve(reconcilers: Reconcilers, options: Options, **more: Any) -> int:
    from pyopscaffold.runtime.manager import LeadershipLostError, Manager  # noqa: PLC0415 - imports aiohttp

    running = asyncio.create_task(Manager(reconcilers, options=options, **more).run())
    received: list[int] = []
    loop = asyncio.get_running_loop()

    def stop(code: int) -> None:
        if received:
            os._exit(FAILED)  # asked twice: at once
        received.append(code)
        _end_by_force(options.grace + _OVERTIME)
        loop.call_soon_threadsafe(_stop, running)

    # not the loop's own handlers: those would wait for a loop that is blocked
    signal.signal(signal.SIGTERM, lambda *_: stop(OK))
    signal.signal(signal.SIGINT, lambda *_: stop(INTERRUPTED))
    try:
        await running
    except LeadershipLostError as error:
        _log.error("%s", error)
        return FAILED
    except asyncio.CancelledError:
        if not received:
            raise
    finally:
        if not received:
            _end_by_force(_CLOSING)
    return received[0] if received else FAILED


def _stop(running: asyncio.Task[None]) -> None:
    _log.info("stopping")
    running.cancel()


def _end_by_force(seconds: float) -> None:
    """End the process after so many seconds, whatever it does: the kubelet's SIGKILL would come soon after."""
    timer = threading.Timer(seconds, os._exit, (FAILED,))
    timer.daemon = True
    timer.start()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, where the extra is installed."""
    if find_spec("uvloop") is None:
        return None
    uvloop: Any = import_module("uvloop")
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
