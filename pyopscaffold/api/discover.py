"""Find every declaration of a project by importing its modules, each once.

The reader of declarations and the operator's own start share this, so that what is generated and what runs agree.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SUBPACKAGES = ("api", "controllers", "webhooks")
"""Where a project keeps its declarations, relative to its package."""


def declaration_modules(package: str) -> Iterator[str]:
    """Yield the dotted names of all modules under the package's api, controllers and webhooks, sorted.

    Finding a module imports the packages above it, as Python must.

    Raises:
        ModuleNotFoundError: there is no such package.
        Exception: whatever a package's ``__init__`` raises.

    """
    importlib.import_module(package)
    for name in SUBPACKAGES:
        parent = f"{package}.{name}"
        if importlib.util.find_spec(parent) is None:
            continue
        found = importlib.import_module(parent)
        yield parent
        paths = getattr(found, "__path__", ())
        walked = pkgutil.walk_packages(paths, prefix=f"{parent}.", onerror=_raise)
        yield from sorted(module.name for module in walked)


def import_declarations(package: str) -> None:
    """Import every module that may hold a declaration.

    Raises:
        Exception: whatever a module raises when it is imported.

    """
    for module in declaration_modules(package):
        importlib.import_module(module)


def _raise(_name: str) -> None:
    raise  # noqa: PLE0704 - pkgutil calls this while the import error is being handled
