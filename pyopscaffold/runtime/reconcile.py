"""What the author of a reconciler sees: Reconciler, Context, Request, Result."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, overload

from pyopscaffold.api import Object
from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.runtime.sight import Sight

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping

    from pyopscaffold.api import GroupVersionKind
    from pyopscaffold.api.declarations import Kind
    from pyopscaffold.kube.meta import ObjectMeta
    from pyopscaffold.runtime.children import Children, Owner
    from pyopscaffold.runtime.client.protocols import CachedReader, Client, Propagation, RawObject
    from pyopscaffold.runtime.logs import FieldsAdapter
    from pyopscaffold.runtime.tenants import Tenants

T = TypeVar("T", bound=Object)
R = TypeVar("R")

EventType = Literal["Normal", "Warning"]


class Request(NamedTuple):
    """Which object to look at; ``namespace`` is empty for cluster-scoped kinds, ``cluster`` for the operator's own."""

    namespace: str
    name: str
    cluster: str = ""

    def __str__(self) -> str:
        path = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.cluster}:{path}" if self.cluster else path


@dataclass(frozen=True)
class Result:
    """What a reconcile came to; ``requeue_after`` asks for another one after so many seconds."""

    requeue_after: float | None = None


class Reconciler(Generic[T]):
    """Brings the cluster in line with one object.

    A subclass under ``@controller`` has ``reconcile``, and may have ``finalize`` with the same parameters: then the
    framework puts a finalizer on each object before its first reconcile, and takes it away after ``finalize`` returned
    without ``requeue_after``. Both may be ``async def`` or plain ``def``; the latter run in a thread.
    """

    def reconcile(self, ctx: Context, obj: T) -> Awaitable[Result | None] | Result | None:
        """Bring the cluster in line with ``obj``, a copy of its own whose ``status`` it may change.

        Raises:
            TerminalError: trying again can't help until the object changes.

        """
        raise NotImplementedError


class Context:
    """What one reconcile may use. ``deadline`` is when its timeout ends, on the event loop's clock.

    It notes whether the reconcile has looked at the cluster by itself: see ``Children.apply``.
    """

    def __init__(
        self,
        request: Request,
        *,
        deadline: float,
        log: FieldsAdapter,
        client: Client,
        cache: CachedReader,
        owner: Owner,
        children: Children,
        record: Callable[[EventType, str, str], None],
        loop: AbstractEventLoop,
        tenants: Tenants | None = None,
        metadata: ObjectMeta | None = None,
    ) -> None:
        self.request = request
        self.deadline = deadline
        self.log = log
        self._client = client
        self._cache = cache
        self._sight = Sight()
        self._owner = owner
        self._children = children
        self._record = record
        self._loop = loop
        self._tenants = tenants
        self._metadata = metadata

    @property
    def client(self) -> Client:
        """The API server itself."""
        self._sight.looked = True
        return self._client

    @property
    def cache(self) -> CachedReader:
        """Reader over what is watched; sees this process's own writes."""
        self._sight.looked = True
        return self._cache

    @overload
    async def apply(self, child: T, *, adopt: bool = True) -> T: ...
    @overload
    async def apply(self, child: Mapping[str, Any], *, adopt: bool = True) -> RawObject: ...
    async def apply(self, child: Any, *, adopt: bool = True) -> Any:
        """Make the child as it is given: server-side apply, forced, by the controller's field manager.

        The owner's namespace and a controller owner reference are added. Returns the child as the server has it;
        makes no request where the cached child still is what the last apply of the same content left. ``adopt``: an
        object of that name that nobody controls becomes the child.

        Raises:
            Conflict: another object controls the child, or it was there before and is not to be adopted.
            ClientError: the request failed.

        """
        return await self._children.apply(self._owner, child, sight=self._sight, adopt=adopt)

    @overload
    async def apply_all(self, children: Iterable[T], *, adopt: bool = True) -> list[T]: ...
    @overload
    async def apply_all(self, children: Iterable[Mapping[str, Any]], *, adopt: bool = True) -> list[RawObject]: ...
    @overload
    async def apply_all(
        self, children: Iterable[Object | Mapping[str, Any]], *, adopt: bool = True
    ) -> list[Object | RawObject]: ...
    async def apply_all(self, children: Iterable[Any], *, adopt: bool = True) -> list[Any]:
        """Apply children in the order of their kinds, as Helm does, and side by side where one can't need the other.

        Returns them as ``apply`` does, in the order given. A failure keeps back what comes after its kind.

        Raises:
            ExceptionGroup: some failed, with an error for each, as ``apply`` raises it.
            PyopscaffoldError: one is among them twice, or can't be a child; no request is made.

        """
        return await self._children.apply_all(self._owner, children, sight=self._sight, adopt=adopt)

    async def delete(self, kind: Kind, name: str, *, namespace: str = "") -> None:
        """Delete an object, by default in the owner's namespace; it may be gone already."""
        await self._children.delete(kind, name, namespace=namespace or self._owner.namespace)

    @overload
    async def owned(self, kind: type[T]) -> list[T]: ...
    @overload
    async def owned(self, kind: GroupVersionKind) -> list[RawObject]: ...
    async def owned(self, kind: Any) -> Any:
        """Children of an owned kind that this object controls, by name, from the cache."""
        self._sight.looked = True
        return self._children.owned(self._owner, kind)

    async def prune(self, *, kept: Iterable[Object | Mapping[str, Any]], labels: str = "") -> None:
        """Delete the children of all owned kinds that are not among ``kept``, of those that the selector selects.

        Only what this very object controls goes. While the cache of a kind is not up to date, the server is asked.
        """
        await self._children.prune(self._owner, kept, labels=labels)

    async def delete_owned(
        self, *kinds: Kind, propagation: Propagation = "Background", again: float = 5.0
    ) -> Result | None:
        """Delete the children kind by kind: those of the next kind when all of the one before are gone.

        Without ``kinds``, all owned ones against the order of ``apply_all``. Returns None when nothing is left, else a
        Result to return from ``finalize``: it is called again when a child goes, and in ``again`` seconds. With
        ``propagation="Foreground"`` a StatefulSet is gone only when its Pods are; that needs a garbage collector, which
        an API server alone does not have.
        """
        self._sight.looked = True
        gone = await self._children.delete_owned(self._owner, kinds, propagation=propagation)
        return None if gone else Result(requeue_after=again)

    async def tenant_config(self, cls: type[R], *, namespace: str = "") -> R:
        """Read the configuration of the object's tenant into a dataclass: see ``TenantConfig``, of ``@controller``.

        A fresh one each time, from the cache. ``namespace`` is for objects that say where theirs is: the policy tells
        whether it may be there.

        Raises:
            TenantConfigMissing: there is none.
            TenantRefused: it is another tenant's, or it can't be told whose the object is.
            TenantConfigError: it does not fit the dataclass.
            PyopscaffoldError: the controller has no ``tenants=``.

        """
        if self._tenants is None or self._metadata is None:
            raise PyopscaffoldError('no tenants are declared: write @controller(…, tenants=TenantConfig(name="…"))')
        return await self._tenants.read(cls, self._metadata, namespace)

    def event(self, type: EventType, reason: str, message: str) -> None:  # noqa: A002 - the field's name
        """Record an event on the object; it is sent in the background, and failures to send are only logged."""
        self._record(type, reason, message)

    def wait(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine on the event loop and wait for it: for a plain ``def reconcile``, which runs in a thread.

        Raises:
            TimeoutError: the reconcile's deadline passed; the coroutine was cancelled.
            PyopscaffoldError: it is called on the event loop, which would wait for itself.

        """
        import asyncio  # noqa: PLC0415 - reading a controller does without it

        with suppress(RuntimeError):  # no loop runs in this thread, as usual
            if asyncio.get_running_loop() is self._loop:
                coroutine.close()
                raise PyopscaffoldError("ctx.wait is for a plain def, which runs in a thread; here, await")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result(max(0.0, self.deadline - self._loop.time()))
        except TimeoutError:
            future.cancel()
            raise
