"""The declarations of a project, told as JSON."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any

import pyopscaffold
from pyopscaffold.api import discover
from pyopscaffold.api.arguments import refusals_kept
from pyopscaffold.api.declarations import controller_of, declared_controllers, gvk_of, permitted_classes, rbac_of
from pyopscaffold.api.resource import declaration_of, declared_resources, refused_resources
from pyopscaffold.api.webhooks import configuration_names, declared_webhooks, webhooks_of

from .reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]


def _gvk(gvk: Any) -> Json:
    return {name: getattr(gvk, name) for name in ("group", "version", "kind", "plural", "namespaced")}


def resource(reader: Reader, cls: Any) -> Json:
    """Return what ``@resource`` was told; its dataclasses are the reader's."""
    declared = declaration_of(cls)
    assert declared is not None  # noqa: S101 - the registry holds declared classes only
    return {**dataclasses.asdict(declared), "struct": reader.struct(cls), "gvk": _gvk(declared.gvk)}


def _controller(cls: Any) -> Json:
    declared = controller_of(cls)
    assert declared is not None  # noqa: S101 - the registry holds declared classes only
    own = [base for base in cls.__mro__ if not base.__module__.startswith("pyopscaffold.")]
    return {
        "name": declared.name,
        "class": cls.__name__,
        "resource": _gvk(declared.resource.gvk),
        "owns": [_gvk(gvk_of(kind)) for kind in declared.owns],
        "watches": [_gvk(gvk_of(watch.kind)) for watch in declared.watches],
        "has_status": "status" in declared.resource.__dataclass_fields__,
        "reconciles": any("reconcile" in base.__dict__ for base in own),
        "finalizes": any("finalize" in base.__dict__ for base in own),
        "rbac": [dataclasses.asdict(rule) for rule in rbac_of(cls)],
        "file": declared.file,
        "line": declared.line,
    }


def _unused_rules(cls: type) -> Iterator[Json]:
    if controller_of(cls) is None:
        message = f"{cls.__name__} is no reconciler, so the rule grants nothing; put it above a @controller"
        for rule in rbac_of(cls):
            yield {"file": rule.file, "line": rule.line, "subject": "@rbac", "message": message}


def _failures(package: str) -> list[BaseException]:
    """Import the project's declarations, and return why modules of it can't be imported."""
    try:
        return discover.import_each(package)
    except BaseException as error:  # noqa: BLE001 - sys.exit() at a module's top is a failure as any other
        return [error]


def _explained(errors: list[BaseException], late: list[BaseException], root: str, package: str) -> list[Json]:
    """Say why imports fail; ``late`` are those under TYPE_CHECKING, among them such of modules that failed before."""
    errors = [*errors, *(error for error in late if sys.modules.get(getattr(error, "name", None) or "", True))]
    if not errors:
        return []
    from pyopscaffold.api.failures import explain  # noqa: PLC0415 - seldom needed, and not cheap

    told = [dataclasses.asdict(explain(error, root, package)) for error in errors]
    return [item for index, item in enumerate(told) if item not in told[:index]]


def _resources(reader: Reader, package: str) -> list[Json]:
    """Return the kinds of the project; to read them may import a module under TYPE_CHECKING, which may have more."""
    found: dict[Any, Json | None] = {}
    while new := [cls for cls in declared_resources() if cls not in found]:
        for cls in new:
            found[cls] = resource(reader, cls) if _belongs(cls, package) and _counts(cls) else None
    return [item for item in found.values() if item is not None]


def read(root: str, package: str) -> Json:
    """Import the declarations of ``package`` below ``root``, and describe them or the failures."""
    with refusals_kept() as refused:
        errors = _failures(package)
    reader = Reader()
    permitted = () if refused else permitted_classes()  # a refused @controller leaves its class without one
    reader.problems += [found for cls in permitted if _belongs(cls, package) for found in _unused_rules(cls)]
    webhooks = [webhook for cls in declared_webhooks() if _belongs(cls, package) for webhook in webhooks_of(cls)]
    answer = {
        "package": package,
        "resources": _resources(reader, package),
        "refused": [reader.struct(cls) for cls in refused_resources() if _belongs(cls, package)],
        "controllers": [_controller(cls) for cls in declared_controllers() if _belongs(cls, package)],
        "webhooks": [dataclasses.asdict(webhook) for webhook in webhooks],
        "webhook_names": dataclasses.asdict(configuration_names(package)),
        "structs": reader.structs,
        "problems": [*map(dataclasses.asdict, refused), *reader.problems],
        "version": pyopscaffold.__version__,
    }
    failures = _explained(errors, reader.failures, root, package)
    return answer | {"failures": failures, "incomplete": bool(failures or refused)}


def _belongs(cls: type, package: str) -> bool:
    """Whether a class is the project's own, of a module that could be imported; others may be other operators'."""
    own = cls.__module__ == package or cls.__module__.startswith(f"{package}.")
    return own and sys.modules.get(cls.__module__) is not None


def _counts(cls: Any) -> bool:
    """Whether something is generated from a kind; those of others may be large, and are not read."""
    declared = declaration_of(cls)
    return declared is not None and not declared.skip
