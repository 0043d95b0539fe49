"""The wire forms that the client takes apart itself, as msgspec reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pyopscaffold import codec
from pyopscaffold.errors import ClientError
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.runtime.client.protocols import Page, Scale, WatchEvent
from pyopscaffold.runtime.client.status import error_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.api.declarations import Kind


class _ListMeta(msgspec.Struct, rename={"resource_version": "resourceVersion", "continue_": "continue"}):
    resource_version: str = ""
    continue_: str = ""


class _List(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


class _DeletedMeta(msgspec.Struct, rename="camel"):
    uid: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int = 0
    finalizers: list[str] = []


class _Details(msgspec.Struct):
    uid: str = ""


class Deleted(msgspec.Struct):
    """The answer to a DELETE: the object, or a Status that names its uid."""

    kind: str = ""
    metadata: _DeletedMeta = msgspec.field(default_factory=_DeletedMeta)
    details: _Details = msgspec.field(default_factory=_Details)

    @property
    def stays(self) -> bool:
        """Whether the object waits for finalizers or a grace period."""
        meta = self.metadata
        waits = bool(meta.finalizers) or meta.deletion_grace_period_seconds > 0
        return self.kind != "Status" and meta.deletion_timestamp is not None and waits


_T = TypeVar("_T")

_decode_mapping = msgspec.json.Decoder(dict[str, Any]).decode
_decode_list = msgspec.json.Decoder(_List).decode
_decode_event = msgspec.json.Decoder(WatchEvent).decode
_decode_deleted = msgspec.json.Decoder(Deleted).decode


def decode(kind: Kind, text: bytes | msgspec.Raw) -> Any:
    """Read an object: as an instance of a class, or as a mapping."""
    if not isinstance(kind, GroupVersionKind):
        return codec.decode(kind, text)
    obj = _read(_decode_mapping, text)
    # items of a list of a built-in kind come without them
    obj.setdefault("apiVersion", kind.api_version)
    obj.setdefault("kind", kind.kind)
    return obj


def page(text: bytes) -> Page:
    """Read the answer to a list request."""
    found = _read(_decode_list, text)
    return Page(found.items or [], found.metadata.resource_version, found.metadata.continue_)


def deleted(text: bytes) -> Deleted:
    """Read the answer to a DELETE."""
    return _read(_decode_deleted, text)


def scale(text: bytes) -> Scale:
    """Read a Scale of autoscaling/v1; what is zero or empty may be left out."""
    found = _read(_decode_mapping, text)
    status = found.get("status") or {}
    wanted = (found.get("spec") or {}).get("replicas", 0)
    return Scale(wanted, status.get("replicas", 0), status.get("selector", ""))


def read_as(type_: type[_T], text: bytes | msgspec.Raw) -> _T:
    """Read anything else of the server's; raises ClientError where it is something else (a proxy's HTML)."""
    return _read(lambda body: msgspec.json.decode(body, type=type_), text)


def _read(decode: Callable[[bytes | msgspec.Raw], _T], text: bytes | msgspec.Raw) -> _T:
    try:
        return decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ClientError(f"the answer is not the API server's: {error}") from error


def event(line: bytes, where: str) -> WatchEvent:
    """Read a line of a watch; raises what an ERROR says."""
    found = _read(_decode_event, line)
    if found.type == "ERROR":
        raise error_of(500, {}, found.object, where=where)
    return found
