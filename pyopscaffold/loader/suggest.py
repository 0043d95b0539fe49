"""What to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

_INSTEAD = {
    "decimal.Decimal": "write Quantity",
    "datetime.date": 'write datetime, or Annotated[str, Format("date")]',
    "datetime.time": "write str with a Pattern",
    "uuid.UUID": 'write Annotated[str, Format("uuid")]',
    "pathlib.Path": "write str",
    "builtins.list": "write the type of the items, as in list[str]",
    "builtins.tuple": "write list[...] with one type of items",
    "builtins.set": "write the type of the items, as in set[str]",
    "builtins.dict": "write dict[str, ...] with the type of the values",
    "builtins.complex": "write two fields",
    "enum.Flag": "write list[...] of a StrEnum for several, an IntEnum for one",
    "typing.Final": "write the type itself, and @dataclass(kw_only=True, frozen=True)",
    "typing.TypeVar": "name a type where the class is used, as in Ref[Secret]",
    "builtins.NoneType": "remove it, or write a type before | None",
}


def spell_instead(item: dict[str, Any]) -> str:
    """Say what stands for an unsupported type, as the probe describes it."""
    if item.get("dataclasses"):
        return "write one dataclass with an optional field for each alternative, of which exactly one is to be set"
    if item.get("plain"):
        return f"put @dataclass(kw_only=True) above class {item['text']}"
    return _INSTEAD.get(item["name"], "write str, int, bool, a Literal, a list, a dict or a dataclass")


def choose(name: str, names: Iterable[str]) -> str:
    """Say which of ``names`` was meant by ``name``, or which there are."""
    known = sorted(names)
    near = nearest(name, known)
    return f"did you mean {near}?" if near else f"write one of {', '.join(known)}"
