"""What msgspec is told to read for a type, and how the author's value is made of it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeAlias

from pyopscaffold.codec.misfit import Misfit

Load: TypeAlias = Callable[[Any], Any]


class Shape:
    """The type that msgspec reads, and ``load``, which makes the author's value of it (None: it is that value already).

    ``load`` is to be looked up at each use: that of a dataclass is replaced at its first call.
    """

    __slots__ = ("load", "type")

    def __init__(self, type: Any, load: Load | None = None) -> None:  # noqa: A002 - it is one
        self.type = type
        self.load = load


class LazyShape(Shape):
    """A shape whose ``load`` is made when it is needed: of PodSpec's hundred classes an operator meets ten."""

    __slots__ = ("_make",)

    def __init__(self, type: Any, make: Callable[[], Load]) -> None:  # noqa: A002 - as above
        super().__init__(type, self._first)
        self._make = make

    def _first(self, value: Any) -> Any:
        self.load = self._make()
        return self.load(value)


def optional(item: Shape) -> Shape:
    """Return the shape of ``item | None``."""
    if item.load is None:
        return Shape(item.type | None)
    return Shape(item.type | None, lambda value: None if value is None else _load(item, value))


def listing(container: type, item: Shape) -> Shape:
    """Return the shape of a container that is a list in JSON."""
    listed = list[item.type]  # type: ignore[name-defined]  # built from a value
    if item.load is None:
        return Shape(listed) if container is list else Shape(listed, lambda values: _contain(container, values))

    def load(values: list[Any]) -> Any:
        convert = item.load
        loaded: list[Any] = []
        try:
            for value in values:
                loaded.append(convert(value))  # type: ignore[misc]  # noqa: PERF401 - the length tells the index
        except Misfit as misfit:
            raise misfit.inside(f"[{len(loaded)}]") from None
        except ValueError as error:
            raise Misfit(str(error), f"[{len(loaded)}]") from error
        return loaded if container is list else _contain(container, loaded)

    return Shape(listed, load)


def mapping(item: Shape) -> Shape:
    """Return the shape of a mapping from strings."""
    mapped = dict[str, item.type]  # type: ignore[name-defined]  # built from a value
    if item.load is None:
        return Shape(mapped)

    def load(values: dict[str, Any]) -> Any:
        convert = item.load
        key = ""
        loaded = {}
        try:
            for key, value in values.items():
                loaded[key] = convert(value)  # type: ignore[misc]  # never None again
        except Misfit as misfit:
            raise misfit.inside(f"[{key!r}]") from None
        except ValueError as error:
            raise Misfit(str(error), f"[{key!r}]") from error
        return loaded

    return Shape(mapped, load)


def _load(item: Shape, value: Any) -> Any:
    assert item.load is not None  # noqa: S101 - asked before
    return item.load(value)


def _contain(container: type, values: list[Any]) -> Collection[Any]:
    try:
        made: Collection[Any] = container(values)
    except TypeError as error:  # an unhashable item of a set[Any]
        raise Misfit(str(error)) from error
    return made
