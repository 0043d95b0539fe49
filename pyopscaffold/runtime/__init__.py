"""The runtime of an operator: level-triggered reconcilers over a cache, as controller-runtime has them.

Names are loaded when they are first used: importing this package (as the generator does, to read a project's
controllers) loads neither the HTTP client nor the metrics.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyopscaffold.errors import TerminalError
    from pyopscaffold.runtime import conditions
    from pyopscaffold.runtime.entry import main
    from pyopscaffold.runtime.manager import Manager
    from pyopscaffold.runtime.options import Options
    from pyopscaffold.runtime.reconcile import Context, Reconciler, Request, Result
    from pyopscaffold.runtime.runnable import Runnable

__all__ = [
    "Context",
    "Manager",
    "Options",
    "Reconciler",
    "Request",
    "Result",
    "Runnable",
    "TerminalError",
    "conditions",
    "main",
]

_HOMES = {
    "Context": "pyopscaffold.runtime.reconcile",
    "Manager": "pyopscaffold.runtime.manager",
    "Options": "pyopscaffold.runtime.options",
    "Reconciler": "pyopscaffold.runtime.reconcile",
    "Request": "pyopscaffold.runtime.reconcile",
    "Result": "pyopscaffold.runtime.reconcile",
    "Runnable": "pyopscaffold.runtime.runnable",
    "TerminalError": "pyopscaffold.errors",
    "main": "pyopscaffold.runtime.entry",
}


def __getattr__(name: str) -> object:
    if name == "conditions":
        return import_module("pyopscaffold.runtime.conditions")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
