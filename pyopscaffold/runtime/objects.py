"""What the cache holds of an object: the metadata that indexes and predicates ask for, and the JSON text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold import codec
from pyopscaffold.kube.gvk import GroupVersionKind

if TYPE_CHECKING:
    from pyopscaffold.api.declarations import Kind


class Owner(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One owner reference."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None


class Meta(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An object's metadata without managedFields. Its dicts are the cache's own: read them, never change them."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[Owner, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def deleting(self) -> bool:
        """Whether deletion was asked for and waits for finalizers or a grace period."""
        return self.deletion_timestamp is not None

    @property
    def controller(self) -> Owner | None:
        """The owner reference marked as controller."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class Stored(msgspec.Struct, frozen=True, gc=False):
    """An object as the cache holds it; ``raw`` is its JSON text without managedFields.

    ``version`` is the resourceVersion as an integer, 0 if it is none: resourceVersions of one type order in time.
    """

    meta: Meta
    raw: bytes
    version: int


class Delta(msgspec.Struct, frozen=True, gc=False):
    """One change of the cache: ``old`` None = added, ``new`` None = deleted.

    ``initial`` marks the objects that were there when watching began (or when a late handler joined).
    An object re-created under its old name is two deltas: a deletion, then an addition.
    """

    old: Stored | None
    new: Stored | None
    initial: bool = False


_Parts = dict[str, msgspec.Raw]
_split = msgspec.json.Decoder(_Parts).decode
_decode_meta = msgspec.json.Decoder(Meta).decode
_encode = msgspec.json.encode
_encode_into = msgspec.json.Encoder().encode_into


def parse(kind: GroupVersionKind, text: bytes | msgspec.Raw, *, metadata_only: bool = False) -> Stored:
    """Read an object's JSON text; raises ``msgspec.MsgspecError`` when it is no Kubernetes object.

    Only the first two levels are taken apart; everything below is copied as text. Items of a list of a built-in
    kind lack apiVersion and kind: they are filled in. With ``metadata_only`` the rest is left out, whatever came.
    """
    parts = _split(text)
    if "metadata" not in parts:
        raise msgspec.ValidationError(f"a {kind.group_kind} without metadata")
    if metadata_only:
        parts = {"metadata": parts["metadata"]}
    fields = _split(parts["metadata"])
    if fields.pop("managedFields", None) is not None:
        parts["metadata"] = msgspec.Raw(_encode(fields))
    meta = _decode_meta(parts["metadata"])
    if "kind" not in parts:
        parts = {
            "apiVersion": msgspec.Raw(_encode(kind.api_version)),
            "kind": msgspec.Raw(_encode(kind.kind)),
            **parts,
        }
    version = meta.resource_version
    # An encoder's own answer is cut off a larger piece of memory, whose rest is of no use while the text is kept.
    buffer = bytearray(len(text))
    _encode_into(parts, buffer)
    return Stored(meta, bytes(buffer), int(version) if version.isdecimal() else 0)


_decode_mapping = msgspec.json.Decoder(dict[str, Any]).decode


def decode(kind: Kind, item: Stored) -> Any:
    """Return a fresh object of a class, or a fresh mapping."""
    return _decode_mapping(item.raw) if isinstance(kind, GroupVersionKind) else codec.decode(kind, item.raw)


class _Head(msgspec.Struct):
    metadata: Meta


_decode_head = msgspec.json.Decoder(_Head).decode


def parse_meta(text: bytes | msgspec.Raw) -> Meta:
    """Read no more than an object's metadata; raises ``msgspec.MsgspecError``."""
    return _decode_head(text).metadata
