"""What the rest of the runtime asks of a client: small protocols, composed where they are needed.

A kind is named by a class made with ``@resource`` (the answers are instances of it) or by a ``GroupVersionKind``
(the answers are plain mappings in JSON form). Every request may raise an error of the ``ClientError`` tree, and
KubeconfigError where the credentials can't be had.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, overload

import msgspec

if TYPE_CHECKING:
    from pyopscaffold.api import Object
    from pyopscaffold.api.declarations import Kind
    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.client.kinds import Kinds

T = TypeVar("T", bound="Object")
RawObject: TypeAlias = dict[str, Any]
PatchType: TypeAlias = Literal["json", "merge", "strategic"]
PatchBody: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]
EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]
Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]


class WatchEvent(msgspec.Struct, frozen=True, gc=False):
    """One line of a watch; ``object`` is the JSON text, of which a BOOKMARK has only the metadata.

    A watch never yields ERROR: it raises what the error's Status says.
    """

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: msgspec.Raw


class Page(msgspec.Struct, frozen=True):
    """One page of a list: the items' JSON text, the list's version, the token of the next page or ''."""

    items: list[msgspec.Raw]
    resource_version: str
    continue_: str


@dataclass(frozen=True)
class Scale:
    """The scale subresource: how many replicas are wanted and there, and the selector of their Pods."""

    wanted: int
    present: int
    selector: str = ""


class Write(msgspec.Struct, frozen=True):
    """What a successful write left on the server.

    ``body`` is the object's JSON text; empty when the server said no more than that the object of ``uid`` is gone.
    """

    kind: GroupVersionKind
    namespace: str
    name: str
    body: bytes = b""
    uid: str = ""


WriteObserver: TypeAlias = Callable[[Write], None]


class Reader(Protocol):
    """Reads objects."""

    @overload
    async def get(self, kind: type[T], name: str, *, namespace: str = "") -> T: ...
    @overload
    async def get(self, kind: GroupVersionKind, name: str, *, namespace: str = "") -> RawObject: ...
    async def get(self, kind: Kind, name: str, *, namespace: str = "") -> Any:
        """Fetch one object; raises NotFound."""
        ...

    @overload
    async def list(self, kind: type[T], *, namespace: str = "", labels: str = "", fields: str = "") -> list[T]: ...
    @overload
    async def list(
        self, kind: GroupVersionKind, *, namespace: str = "", labels: str = "", fields: str = ""
    ) -> list[RawObject]: ...
    async def list(self, kind: Kind, *, namespace: str = "", labels: str = "", fields: str = "") -> Any:
        """All objects that match the selectors; ``namespace=""`` means all namespaces."""
        ...


class CachedReader(Reader, Protocol):
    """Reads objects out of a cache, which costs no request; each answer is the caller's own."""

    async def metadata(self, kind: Kind, *, namespace: str = "", labels: str = "", fields: str = "") -> list[RawObject]:
        """As ``list``, but apiVersion, kind and metadata only; for kinds that are watched by ``metadata_only`` too."""
        ...

    @overload
    async def by_index(self, kind: type[T], name: str, value: str, *, namespace: str = "") -> list[T]: ...
    @overload
    async def by_index(
        self, kind: GroupVersionKind, name: str, value: str, *, namespace: str = ""
    ) -> list[RawObject]: ...
    async def by_index(self, kind: Kind, name: str, value: str, *, namespace: str = "") -> Any:
        """All objects for which an index of ``@controller(indexes=…)`` has this value."""
        ...

    @overload
    async def by_owner(self, kind: type[T], uid: str, *, namespace: str = "") -> list[T]: ...
    @overload
    async def by_owner(self, kind: GroupVersionKind, uid: str, *, namespace: str = "") -> list[RawObject]: ...
    async def by_owner(self, kind: Kind, uid: str, *, namespace: str = "") -> Any:
        """All objects that name an owner of this uid."""
        ...


class Writer(Protocol):
    """Changes objects; every change but delete returns the object as the server now has it."""

    @overload
    async def create(self, obj: T, *, field_manager: str, dry_run: bool = False) -> T: ...
    @overload
    async def create(self, obj: RawObject, *, field_manager: str, dry_run: bool = False) -> RawObject: ...
    async def create(self, obj: Any, *, field_manager: str, dry_run: bool = False) -> Any:
        """Make a new object; raises AlreadyExists."""
        ...

    @overload
    async def apply(
        self, obj: T, *, field_manager: str, force: bool = True, subresource: str = "", dry_run: bool = False
    ) -> T: ...
    @overload
    async def apply(
        self, obj: RawObject, *, field_manager: str, force: bool = True, subresource: str = "", dry_run: bool = False
    ) -> RawObject: ...
    async def apply(
        self, obj: Any, *, field_manager: str, force: bool = True, subresource: str = "", dry_run: bool = False
    ) -> Any:
        """Server-side apply: ``field_manager`` owns just the fields that ``obj`` has.

        A ``uid`` or ``resourceVersion`` in the metadata is a precondition (Conflict). Without ``force``, a field that
        another manager owns and that would change raises FieldConflict.
        """
        ...

    async def replace(
        self, obj: RawObject, *, field_manager: str, subresource: str = "", dry_run: bool = False
    ) -> RawObject:
        """Put a whole object in the place of the stored one, which must be of its ``metadata.resourceVersion``.

        What ``obj`` lacks is deleted. So an instance of a class is refused (ClientError), as it lacks the fields that
        its class does not know, and so is a mapping without the version it was read at. Raises Conflict.
        """
        ...

    @overload
    async def patch(
        self,
        kind: type[T],
        name: str,
        patch: PatchBody,
        *,
        namespace: str = "",
        patch_type: PatchType = "merge",
        subresource: str = "",
        field_manager: str = "",
        dry_run: bool = False,
    ) -> T: ...
    @overload
    async def patch(
        self,
        kind: GroupVersionKind,
        name: str,
        patch: PatchBody,
        *,
        namespace: str = "",
        patch_type: PatchType = "merge",
        subresource: str = "",
        field_manager: str = "",
        dry_run: bool = False,
    ) -> RawObject: ...
    async def patch(
        self,
        kind: Kind,
        name: str,
        patch: PatchBody,
        *,
        namespace: str = "",
        patch_type: PatchType = "merge",
        subresource: str = "",
        field_manager: str = "",
        dry_run: bool = False,
    ) -> Any:
        """Change an object that exists; a JSON patch is a list of operations, the others are mappings."""
        ...

    async def delete(
        self,
        kind: Kind,
        name: str,
        *,
        namespace: str = "",
        propagation: Propagation = "Background",
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
    ) -> None:
        """Delete, if uid and resourceVersion are (where given) still these; raises NotFound, Conflict."""
        ...

    async def delete_collection(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        propagation: Propagation = "Background",
        dry_run: bool = False,
    ) -> None:
        """Delete all objects that match the selectors: of one namespace, or of a cluster-scoped kind.

        Caches learn of it from their watches only: the server does not say what is gone.
        """
        ...


class Client(Reader, Writer, Protocol):
    """A connection to an API server."""

    async def list_page(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        limit: int = 500,
        continue_: str = "",
        metadata_only: bool = False,
    ) -> Page:
        """One page of a list, undecoded; raises Expired when ``continue_`` is too old.

        ``metadata_only`` asks for no more than the metadata of each; a server that can't gives whole objects.
        """
        ...

    def watch(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        initial_events: bool = False,
        timeout: float = 300.0,
        metadata_only: bool = False,
    ) -> AsyncGenerator[WatchEvent]:
        """Events after ``resource_version``, bookmarks among them; ends when the server ends it.

        ``initial_events`` asks for a streaming list: first an ADDED for each object, then a BOOKMARK with the
        annotation ``k8s.io/initial-events-end``. ``timeout`` (seconds) is the server's; ``metadata_only`` as for
        ``list_page``. Raises Expired.
        """
        ...

    @overload
    def follow(
        self,
        kind: type[T],
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        initial: bool = False,
    ) -> AsyncGenerator[tuple[EventType, T]]: ...
    @overload
    def follow(
        self,
        kind: GroupVersionKind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        initial: bool = False,
    ) -> AsyncGenerator[tuple[EventType, RawObject]]: ...
    def follow(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        initial: bool = False,
    ) -> AsyncGenerator[tuple[EventType, Any]]:
        """Changes after ``resource_version`` (default: from now on), without end, as pairs of type and object.

        ``initial`` gives what there is first, as ADDED. Broken connections, 429 and 5xx are waited out, and the watch
        resumed where it was. Raises Expired where the server no longer knows what came next: an informer of the cache
        would list anew and tell the difference; here it is the caller's to begin again.
        """
        ...

    async def get_scale(self, kind: Kind, name: str, *, namespace: str = "") -> Scale:
        """Fetch the scale subresource; raises NotFound, also where the kind has none."""
        ...

    async def set_scale(
        self, kind: Kind, name: str, replicas: int, *, namespace: str = "", field_manager: str, dry_run: bool = False
    ) -> Scale:
        """Say how many replicas are wanted, through the scale subresource."""
        ...

    @property
    def discovery(self) -> Kinds:
        """What the server serves: ``groups()``, ``resources(api_version)``, ``preferred(group, kind)``."""
        ...

    def add_write_observer(self, observer: WriteObserver) -> None:
        """Have every successful write (no dry runs) reported before its caller sees the answer."""
        ...

    async def close(self) -> None:
        """Close the connections; the client can't be used any more."""
        ...
