"""JSON ⇄ dataclasses.

Reading is strict about structure (no ``"3"`` for 3), ignores unknown fields, and never checks bounds. Writing gives
camelCase names and leaves None out. Typed views are for reading and for the fields that one owns: unknown fields do not
survive a round trip, so write patches and applies, never whole objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pyopscaffold.codec.misfit import Misfit
from pyopscaffold.codec.places import place
from pyopscaffold.codec.read import Codec, codec_of
from pyopscaffold.codec.write import dump
from pyopscaffold.errors import CodecError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["decode", "prepare", "to_mapping"]

T = TypeVar("T")


def decode(cls: type[T], data: bytes | msgspec.Raw | Mapping[str, Any]) -> T:
    """Read a dataclass from JSON text or from a mapping in JSON form, with which it shares nothing afterwards.

    Raises:
        CodecError: the JSON does not fit; ``path`` says where. Or a field's type has no JSON form.

    """
    codec = _codecs[cls]
    text = _encoded(cls, data) if isinstance(data, Mapping) else data
    try:
        mirror = codec.decode(text)
        if codec.head is not None:
            _check_kind(codec.head, mirror)
        return codec.shape.load(mirror)  # type: ignore[misc,no-any-return]  # that of cls makes instances of cls
    except Misfit as misfit:
        raise _error(cls, misfit.message, f"${misfit.path}") from misfit
    except msgspec.ValidationError as error:
        raise _error(cls, *place(error, codec.decode, text)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _error(cls, str(error), "$") from error
    except RecursionError as error:
        raise _error(cls, "nested too deeply", "$") from error


def prepare(*classes: type) -> None:
    """Find out now how dataclasses are read, and not with their first objects; those will tell what is wrong with one.

    A Deployment's takes some 40 ms.
    """
    for cls in classes:
        with suppress(CodecError):
            _codecs[cls]


def to_mapping(obj: DataclassInstance) -> dict[str, Any]:
    """Write a dataclass as a mapping in JSON form; of an Object with apiVersion and kind.

    Empty fields of the metadata are left out: they are the server's to fill in.

    Raises:
        CodecError: a value has no JSON form, such as a datetime without time zone.

    """
    try:
        mapping: dict[str, Any] = dump(obj)
    except Misfit as misfit:
        raise _error(type(obj), misfit.message, f"${misfit.path}") from misfit
    except RecursionError as error:
        raise _error(type(obj), "nested too deeply, or in itself", "$") from error
    return mapping


def _encoded(cls: Any, data: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise _error(cls, f"no JSON: {error}", "$") from error


class _Codecs(dict[Any, Codec]):
    def __missing__(self, cls: Any) -> Codec:
        codec = self[cls] = codec_of(cls)
        return codec


_codecs = _Codecs()


def _check_kind(head: tuple[str, str], mirror: Any) -> None:
    api_version, kind = head
    if mirror.kind is not None and mirror.kind != kind:
        raise Misfit(f"expected {kind}, got {mirror.kind}", ".kind")
    if mirror.apiVersion is not None and mirror.apiVersion != api_version:
        raise Misfit(f"expected {api_version}, got {mirror.apiVersion}", ".apiVersion")


def _error(cls: Any, message: str, path: str) -> CodecError:
    return CodecError(f"{getattr(cls, '__name__', cls)} at {path}: {message}", path=path)
