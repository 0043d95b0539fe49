"""From settings to a running session, and back to nothing."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from pyopscaffold.dev import home
from pyopscaffold.dev.place import Embedded
from pyopscaffold.dev.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.dev.place import Place
    from pyopscaffold.dev.screen import Screen
    from pyopscaffold.dev.session import Settings

_STOPS = (signal.SIGTERM, signal.SIGHUP)


def on_own_cluster(settings: Settings, screen: Screen, *, nodes: int, fresh: bool) -> None:
    """Run on the project's embedded cluster until a signal comes; Ctrl-C raises KeyboardInterrupt, TERM returns.

    Raises:
        EnvtestError: the cluster can't be had, or is in use.

    """
    folder = home.folder_of(settings.root)
    with ExitStack() as stack:
        _end_on_signals(stack)
        stack.enter_context(home.held(folder))
        cluster = Embedded(folder, nodes=nodes, fresh=fresh)
        screen.note(f"starting {'a simulated cluster' if nodes else 'an API server'} …")
        place = stack.enter_context(cluster)
        screen.result(f"export KUBECONFIG={shlex.quote(str(cluster.kubeconfig))}")
        _run(settings, place, screen, revive=cluster.restart)


def on_cluster(settings: Settings, screen: Screen, place: Place) -> None:
    """Run on a cluster that is there anyway, until a signal comes as above."""
    with ExitStack() as stack:
        _end_on_signals(stack)
        _run(settings, place, screen, revive=None)


def _run(settings: Settings, place: Place, screen: Screen, *, revive: Callable[[], object] | None) -> None:
    async def serve() -> None:
        await Session(settings, place, screen, revive=revive).run()

    asyncio.run(serve())


def _end_on_signals(stack: ExitStack) -> None:
    """Have TERM and HUP end the process as orderly as Ctrl-C does, with exit code 0; as they were after ``stack``."""

    def leave(_number: int, _frame: object) -> None:
        for number in _STOPS:
            signal.signal(number, signal.SIG_IGN)  # once is enough
        sys.exit(0)

    for number in _STOPS:
        stack.callback(signal.signal, number, signal.signal(number, leave))
