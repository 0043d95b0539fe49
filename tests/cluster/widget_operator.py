"""A Widget operator as a program of its own, for tests that kill, stop or misconfigure it.

What a Widget's text says happens: "slow" takes a second, "block" blocks the event loop for half a second, and
"block forever" for good. With ``$UNKNOWN_KIND`` set it is an operator for a kind that no server has.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass

from pyopscaffold.api import Object, controller, resource
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Reconciler, Result, main
from tests.cluster.widgets import Widget, config_map


@controller(Widget, owns=[CONFIG_MAP], timeout=30.0, workers=2)
class TellingReconciler(Reconciler[Widget]):
    """Does what the text says, then keeps the ConfigMap."""

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """See the module's description."""
        ctx.log.info("looking", extra={"text": obj.spec.text})
        if obj.spec.text == "slow":
            await asyncio.sleep(1)
        elif obj.spec.text.startswith("block"):
            time.sleep(0.5 if obj.spec.text == "block" else 600)  # noqa: ASYNC251 - the mistake that the watchdog is for
        await ctx.apply(config_map(obj.metadata.name, obj.spec.text))
        return Result()


@resource(group="unknown.example.com", version="v1")
@dataclass(kw_only=True)
class Unknown(Object):
    """A kind whose CRD nobody installed."""


@controller(Unknown)
class UnknownReconciler(Reconciler[Unknown]):
    """Has nothing to do."""

    async def reconcile(self, ctx: Context, obj: Unknown) -> Result:
        """Do nothing."""
        return Result()


if __name__ == "__main__":
    main([UnknownReconciler if "UNKNOWN_KIND" in os.environ else TellingReconciler])
