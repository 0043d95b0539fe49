"""Whether a decorator was given what it takes.

A wrong type would otherwise show far from its cause, or not at all: ``short_names="db"`` is two short names to Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from pyopscaffold.errors import DeclarationError, Problem
from pyopscaffold.kube.names import nearest

_T = TypeVar("_T")

_WORDS = {str: "a text", bool: "True or False", int: "a whole number", float: "a number"}


def single(name: str, value: object, *types: type) -> Iterator[str]:
    """Yield what is wrong with ``name=value``, which is to be of one of ``types``; None is no type's value."""
    # To Python True is an int; to whoever reads timeout=True it is a slip.
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        yield f"{name} is to be {_WORDS.get(types[0], types[0].__name__)}, not {_shown(value)}"


def several(name: str, values: object, *types: type, such_as: str) -> Iterator[str]:
    """Yield what is wrong with a sequence whose items are of one of ``types``; ``such_as`` shows a right one."""
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        yield f"{name} is to be a list, not {_shown(values)}; write {name}=[{such_as}]"
        return
    for value in values:
        if not isinstance(value, types):
            yield f"{name} has {_shown(value)} in it; write {name}=[{such_as}]"


def choice(name: str, value: object, choices: Sequence[str | None]) -> Iterator[str]:
    """Yield what is wrong with ``name=value``, which is to be one of ``choices``."""
    if not isinstance(value, str | None) or value not in choices:
        yield f"{name} is to be {_either(choices)}, not {_shown(value)}{_meant(value, choices)}"


def choices(name: str, values: object, allowed: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with a sequence whose items are each one of ``allowed``."""
    wrong = list(several(name, values, str, such_as=f'"{allowed[0]}"'))
    yield from wrong
    for value in values if not wrong and isinstance(values, Sequence) else ():
        if value not in allowed:
            yield f"{name} takes {_either(allowed)}, not {value!r}{_meant(value, allowed)}"


def mapping(name: str, values: object) -> Iterator[str]:
    """Yield what is wrong with a dict of texts, or None for none."""
    if values is None:
        return
    if not isinstance(values, Mapping):
        yield f'{name} is to be a dict, not {_shown(values)}; write {name}={{"key": "value"}}'
        return
    for item in (*values, *values.values()):
        if not isinstance(item, str):
            yield f'{name} has {_shown(item)} in it; write {name}={{"key": "value"}}'


_keepers: list[list[Problem]] = []


@contextmanager
def refusals_kept() -> Iterator[list[Problem]]:
    """Have :func:`refuse` keep problems meanwhile, for a reader that tells all at once; give the growing list."""
    kept: list[Problem] = []
    _keepers.append(kept)
    try:
        yield kept
    finally:
        _keepers.pop()


def refuse(messages: Sequence[str], *, file: str, line: int, subject: str) -> bool:
    """Raise all of ``messages``, or keep them for whoever has asked for that; return whether there are any.

    A declaration that was refused is left undone.

    Raises:
        DeclarationError: there are.

    """
    problems = [Problem(file, line, subject, message) for message in messages]
    if problems and not _keepers:
        raise DeclarationError(problems)
    if problems:
        _keepers[-1].extend(problems)
    return bool(problems)


def undone(item: _T) -> _T:
    """Return a class as it is: what a decorator does that was refused, or that names an API type that was."""
    return item


def _either(choices: Sequence[str | None]) -> str:
    *first, last = (f'"{item}"' if item is not None else "None" for item in choices)
    return f"{', '.join(first)} or {last}"


def _meant(value: object, choices: Sequence[str | None]) -> str:
    # Kubernetes writes NoneOnDryRun where Python has none_on_dry_run.
    plain = {item.replace("_", ""): item for item in choices if item}
    near = nearest(str(value).replace("_", "").lower(), plain)
    return f"; did you mean {plain[near]!r}?" if near else ""


def _shown(value: object) -> str:
    name = getattr(value, "__name__", "")
    return f"{name} itself" if name and callable(value) else repr(value)
