"""The mirror of a dataclass: a msgspec struct with the JSON names, and what builds the author's own class from it."""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold.api import Object
from pyopscaffold.codec import source
from pyopscaffold.codec.misfit import Misfit
from pyopscaffold.codec.shape import LazyShape, Load, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class Slot:
    """A field between the two: its names, what reads it, and what it is where the JSON text has nothing.

    Null means "not set" to Kubernetes. So it is read as nothing too, save where None is a value of an optional field
    that has another default.
    """

    field: dataclasses.Field[Any]
    json_name: str
    shape: Shape
    optional: bool

    @property
    def name(self) -> str:
        """The name in Python, in the mirror as well."""
        return self.field.name

    @property
    def required(self) -> bool:
        """Whether the text must have it; ``X | None`` is None without, though Python demands a value."""
        return not self.optional and self._has_no_default

    @property
    def none(self) -> bool:
        """Whether it is None where the text has nothing."""
        return self.optional and (self._has_no_default or self.field.default is None)

    @property
    def absent(self) -> str:
        """The mirror's value where the text has nothing, as generated code spells it."""
        return "UNSET" if self.optional and not self.none else "None"

    @property
    def _has_no_default(self) -> bool:
        return self.field.default is MISSING and self.field.default_factory is MISSING

    def member(self) -> tuple[str, Any, Any]:
        """Return the member of the mirror."""
        kind = self.shape.type
        if self.required:
            return self.name, kind, msgspec.field(name=self.json_name)
        if self.absent == "None":
            return self.name, kind | None, msgspec.field(default=None, name=self.json_name)
        return self.name, kind | None | msgspec.UnsetType, msgspec.field(default=msgspec.UNSET, name=self.json_name)

    def converted(self, value: str) -> str:
        """Return the expression of the author's value for a value of the mirror that is not absent."""
        if self.shape.load is None:
            return value
        loaded = f"shape_{self.name}.load({value})"
        return loaded if self.absent == "None" else f"None if {value} is None else {loaded}"

    def expression(self) -> str:
        """Return the expression of the author's value for the mirror."""
        found = f"mirror.{self.name}"
        if self.required or (self.none and self.shape.load is None):
            return self.converted(found)
        default = "None" if self.none else f"default_{self.name}"
        if self.field.default_factory is not MISSING:
            default = f"factory_{self.name}()"
        return f"{default} if (value := {found}) is {self.absent} else {self.converted('value')}"

    def names(self) -> dict[str, Any]:
        """Return what the expressions refer to."""
        return {
            f"shape_{self.name}": self.shape,
            f"default_{self.name}": self.field.default,
            f"factory_{self.name}": self.field.default_factory,
        }


def mirrored(cls: type, slots: Sequence[Slot]) -> Shape:
    """Make the mirror of a dataclass."""
    members = [slot.member() for slot in slots]
    if issubclass(cls, Object):
        members += [(name, str | None, None) for name in ("apiVersion", "kind")]
    # a mirror lives no longer than a call, and nothing that it holds refers to it
    mirror = msgspec.defstruct(cls.__name__, members, kw_only=True, gc=False)
    return LazyShape(mirror, lambda: _loader(cls, slots))


def _loader(cls: type, slots: Sequence[Slot]) -> Load:
    init = _standard_init(cls)
    names = {"cls": cls, "new": object.__new__, "init": init, "Misfit": Misfit, "UNSET": msgspec.UNSET}
    for slot in slots:
        names.update(slot.names())
    body = [
        'at = ""',
        "try:",
        "    pass",
        *(f"    {line}" for line in (_arguments(slots) if init else _given(slots))),
        "except Misfit as misfit:",
        "    raise misfit.inside(at) from None",
        "except ValueError as error:",
        "    raise Misfit(str(error), at) from error",
        "try:",
        *(f"    {line}" for line in (_init(slots) if init else ["made = cls(**values)"])),
        "except (TypeError, ValueError) as error:",  # of the author's own __post_init__
        "    raise Misfit(str(error)) from error",
        "return made",
    ]
    return source.function("mirror", body, names, of=cls)


def _standard_init(cls: Any) -> Any:
    """Return the ``__init__`` that ``@dataclass`` wrote, to which defaults may as well be passed, or None."""
    init = cls.__init__
    code = getattr(init, "__code__", None)
    generated = code is not None and code.co_filename == "<string>"
    return init if generated and cls.__new__ is object.__new__ and type(cls).__call__ is type.__call__ else None


def _arguments(slots: Sequence[Slot]) -> Iterator[str]:
    """Convert what is to be converted, and leave the rest to the call."""
    for slot in slots:
        if slot.shape.load is not None:
            yield f"at = {'.' + slot.json_name!r}"
            yield f"loaded_{slot.name} = {slot.expression()}"


def _init(slots: Sequence[Slot]) -> Iterator[str]:
    # what type.__call__ does, without its dict of arguments
    yield "made = new(cls)"
    yield "init("
    yield "    made,"
    for slot in slots:
        given = slot.expression() if slot.shape.load is None else f"loaded_{slot.name}"
        yield f"    {slot.name}={given},"
    yield ")"


def _given(slots: Sequence[Slot]) -> Iterator[str]:
    """Collect what the text has, for a class that has its own ideas of the rest."""
    yield "values = {}"
    for slot in slots:
        yield f"if (value := mirror.{slot.name}) is not {slot.absent}:"
        if slot.shape.load is not None:
            yield f"    at = {'.' + slot.json_name!r}"
        yield f"    values[{slot.name!r}] = {slot.converted('value')}"
        if slot.none and slot.field.default is MISSING:
            yield "else:"
            yield f"    values[{slot.name!r}] = None"
