"""JSON ⇄ dataclasses.

Reading is strict about structure (no ``"3"`` for 3), ignores unknown fields, and never checks bounds. Writing gives
camelCase names and leaves None out. Typed views are for reading and for the fields that one owns: unknown fields do not
survive a round trip, so write patches and applies, never whole objects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pyopscaffold.api import Object
from pyopscaffold.codec.misfit import Misfit
from pyopscaffold.codec.read import Codec, codec_of
from pyopscaffold.codec.write import dump
from pyopscaffold.errors import CodecError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["decode", "to_mapping"]

T = TypeVar("T")

_PLACE = re.compile(r"(?P<message>.*?)(?: - at `(?P<path>.*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<field>.*)`")


def decode(cls: type[T], data: bytes | msgspec.Raw | Mapping[str, Any]) -> T:
    """Read a dataclass from JSON text or from a mapping in JSON form, with which it shares nothing afterwards.

    Raises:
        CodecError: the JSON does not fit; ``path`` says where. Or a field's type has no JSON form.

    """
    key: Any = cls
    codec = _codec(key)
    try:
        mirror = codec.decode(msgspec.json.encode(data) if isinstance(data, Mapping) else data)
        if issubclass(cls, Object):
            _check_kind(cls, mirror)
        return codec.load(mirror)  # type: ignore[no-any-return]  # the loader of cls makes instances of cls
    except msgspec.ValidationError as error:
        raise _codec_error(cls, str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CodecError(f"{cls.__name__}: {error}") from error
    except Misfit as misfit:
        path = f"${misfit.path}"
        raise CodecError(f"{cls.__name__} at {path}: {misfit.message}", path=path) from misfit


def to_mapping(obj: DataclassInstance) -> dict[str, Any]:
    """Write a dataclass as a mapping in JSON form; of an Object with apiVersion and kind.

    Empty fields of the metadata are left out: they are the server's to fill in.

    Raises:
        CodecError: a value has no JSON form, such as a datetime without time zone.

    """
    try:
        mapping: dict[str, Any] = dump(obj)
    except Misfit as misfit:
        path = f"${misfit.path}"
        raise CodecError(f"{type(obj).__name__} at {path}: {misfit.message}", path=path) from misfit
    return mapping


@cache
def _codec(cls: Any) -> Codec:
    return codec_of(cls)


def _check_kind(cls: type[Object], mirror: Any) -> None:
    if mirror.kind is not None and mirror.kind != cls.kind:
        raise Misfit(f"expected {cls.kind}, got {mirror.kind}", ".kind")
    if mirror.apiVersion is not None and mirror.apiVersion != cls.api_version:
        raise Misfit(f"expected {cls.api_version}, got {mirror.apiVersion}", ".apiVersion")


def _codec_error(cls: type, text: str) -> CodecError:
    """Move the place out of msgspec's text; a missing field is placed where it should stand."""
    found = _PLACE.fullmatch(text)
    message, path = (found["message"], found["path"] or "$") if found else (text, "$")
    if missing := _MISSING.fullmatch(message):
        path, message = f"{path}.{missing['field']}", "required, but missing"
    return CodecError(f"{cls.__name__} at {path}: {message}", path=path)
