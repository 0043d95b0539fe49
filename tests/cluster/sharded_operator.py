"""A Widget operator that shares its objects with others, for tests that kill and stop one of several processes.

Each reconcile logs when it began and ended, on the clock that all processes of a machine share; one of a text that
begins with ``slow`` takes a second. The condition Ready repeats what somebody has put into the ConfigMap as ``said``.
With ``$LATE``, a regular expression, the process plays one that is stopped at the worst moment: a write of ``late``
whose path fits has passed every check, is on its way, and arrives when the process has been stopped and goes on.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import time
from typing import TYPE_CHECKING

from pyopscaffold.api import controller
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Reconciler, Result, conditions, main
from pyopscaffold.runtime.client.http import HttpTransport
from tests.cluster.widgets import Widget, config_map

if TYPE_CHECKING:
    from pyopscaffold.runtime.client.transport import Request, Response

_woken = asyncio.Event()
_under_way: list[asyncio.Future[Response]] = []
_send = HttpTransport.request
_log = logging.getLogger("late")


@controller(Widget, owns=[CONFIG_MAP], timeout=60.0, workers=8)
class ShardedReconciler(Reconciler[Widget]):
    """Keeps the ConfigMap, and tells when."""

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """See the module's description."""
        self._tell(ctx, "begin")
        try:
            if obj.spec.text.startswith("slow"):
                ctx.log.info("going slow")
                await asyncio.sleep(1)
            child = await ctx.apply(config_map(obj.metadata.name, obj.spec.text))
            message = child["data"].get("said", obj.spec.text)
            conditions.set(obj, "Ready", "True", reason="Applied", message=message)
        finally:
            self._tell(ctx, "end")
        return Result()

    async def finalize(self, ctx: Context, obj: Widget) -> Result | None:
        """Delete the ConfigMap."""
        self._tell(ctx, "begin")
        try:
            await ctx.delete(CONFIG_MAP, obj.metadata.name)
        finally:
            self._tell(ctx, "end")
        return None

    def _tell(self, ctx: Context, what: str) -> None:
        ctx.log.info(what, extra={"at": time.monotonic()})


async def _send_late(self: HttpTransport, request: Request) -> Response:
    """Send a request; nobody can call a late one back, which is under way until the process has been stopped."""
    if not (b"late" in request.body and re.search(os.environ["LATE"], request.path)):
        return await _send(self, request)

    async def travel() -> Response:
        await _woken.wait()
        response = await _send(self, request)
        _log.info("sent late", extra={"path": request.path, "status": response.status})
        return response

    asyncio.get_running_loop().add_signal_handler(signal.SIGCONT, _woken.set)
    _log.info("armed", extra={"path": request.path})
    _under_way.append(asyncio.ensure_future(travel()))
    return await asyncio.shield(_under_way[-1])


if __name__ == "__main__":
    if "LATE" in os.environ:
        setattr(HttpTransport, "request", _send_late)  # noqa: B010 - the one seam after all checks
    main([ShardedReconciler])
