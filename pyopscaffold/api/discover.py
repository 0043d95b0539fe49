"""Find every declaration of a project by importing its modules, each once.

The reader of declarations and the operator's own start share this, so that what is generated and what runs agree.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SUBPACKAGES = ("api", "controllers", "webhooks")
"""Where a project keeps its declarations, relative to its package."""


def _raise(_name: str) -> None:
    raise  # noqa: PLE0704 - called while the import error is being handled


def declaration_modules(package: str, *, onerror: Callable[[str], object] = _raise) -> Iterator[str]:
    """Yield the dotted names of all modules under the package's api, controllers and webhooks, sorted.

    Finding a module imports the packages above it, as Python must. ``onerror`` is called with the name of one that
    can't be imported, while that is handled; unless it raises, the modules below are left out.

    Raises:
        ModuleNotFoundError: there is no such package.
        Exception: whatever a package's ``__init__`` raises.

    """
    importlib.import_module(package)
    for name in SUBPACKAGES:
        parent = f"{package}.{name}"
        if importlib.util.find_spec(parent) is None:
            continue
        try:
            found = importlib.import_module(parent)
        except Exception:  # noqa: BLE001 - the caller says what to do
            onerror(parent)
            continue
        yield parent
        paths = getattr(found, "__path__", ())
        walked = pkgutil.walk_packages(paths, prefix=f"{parent}.", onerror=onerror)
        yield from sorted(module.name for module in walked)


def import_declarations(package: str) -> None:
    """Import every module that may hold a declaration.

    Raises:
        Exception: whatever a module raises when it is imported.

    """
    for module in declaration_modules(package):
        importlib.import_module(module)


def import_each(package: str) -> list[BaseException]:
    """Import every module that may hold a declaration, also after some have failed; return why those did.

    No module runs twice: one that has failed is barred, and who imports it too fails for that, which is not told.

    Raises:
        Exception: whatever the package itself raises when it is imported.

    """
    barred: set[str] = set()
    failures: list[BaseException] = []

    def failed(name: str) -> None:
        error = sys.exc_info()[1]
        assert error is not None  # noqa: S101 - called while it is handled
        if not isinstance(error, ModuleNotFoundError) or error.name not in barred:
            failures.append(error)
        for module in {name, *_halfway(error)} - sys.modules.keys():
            if module.startswith(f"{package}."):
                barred.add(module)
                sys.modules[module] = None  # type: ignore[assignment]  # how Python bars an import

    for module in declaration_modules(package, onerror=failed):
        try:
            importlib.import_module(module)
        except BaseException:  # noqa: BLE001 - sys.exit() at a module's top is a failure as any other
            failed(module)
    return failures


def _halfway(error: BaseException) -> Iterator[str]:
    """Yield the modules that were running when an error arose."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "<module>":
            yield trace.tb_frame.f_globals["__name__"]
        trace = trace.tb_next
