"""Whether a decorator was given what it takes.

A wrong type would otherwise show far from its cause, or not at all: ``short_names="db"`` is two short names to Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyopscaffold.errors import DeclarationError, Problem

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


def refuse(messages: Sequence[str], *, file: str, line: int, subject: str) -> None:
    """Raise all of ``messages``, if there are any.

    Raises:
        DeclarationError: there are.

    """
    if messages:
        raise DeclarationError([Problem(file, line, subject, message) for message in messages])


def _shown(value: object) -> str:
    name = getattr(value, "__name__", "")
    return f"{name} itself, without brackets," if name and callable(value) else repr(value)
