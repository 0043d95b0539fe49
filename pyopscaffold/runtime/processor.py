"""One look at one object: load, hold by the finalizer, call the reconciler, write the status."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import random
import traceback
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from pyopscaffold import codec
from pyopscaffold.api import Object
from pyopscaffold.errors import (
    ApiError,
    ClientError,
    CodecError,
    KubeconfigError,
    NotFound,
    PyopscaffoldError,
    TerminalError,
)
from pyopscaffold.runtime import finalizer, status
from pyopscaffold.runtime.children import Owner
from pyopscaffold.runtime.events import Regarding
from pyopscaffold.runtime.logs import FieldsAdapter
from pyopscaffold.runtime.objects import parse
from pyopscaffold.runtime.outcome import Failure, ReconcileTimeoutError, classify, missing
from pyopscaffold.runtime.reconcile import Context, Reconciler, Request, Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.api.declarations import ControllerDeclaration
    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.cache import Informer
    from pyopscaffold.runtime.children import Children
    from pyopscaffold.runtime.client.protocols import CachedReader, Client, RawObject
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.events import EventRecorder
    from pyopscaffold.runtime.objects import Meta, Stored
    from pyopscaffold.runtime.tenants import Tenants

T = TypeVar("T", bound=Object)


@dataclass(frozen=True)
class Verdict:
    """What a look came to: when to look again, and the failure, with what was raised, if it was one.

    ``held``: it came to nothing, and is made when the server works again.
    """

    requeue_after: float | None = None
    failure: Failure | None = None
    error: Exception | None = None
    held: bool = False

    @property
    def label(self) -> str:
        """How metrics and traces call it."""
        if self.failure is not None:
            return "error"
        return "requeue_after" if self.held or self.requeue_after is not None else "success"


DONE = Verdict()


def paused_by(kind: GroupVersionKind) -> str:
    """Return the annotation that stops all work on an object of a kind."""
    return f"{kind.group}/paused"


def skips_finalize(kind: GroupVersionKind) -> str:
    """Return the annotation by which an object of a kind is let go of without ``finalize``."""
    return f"{kind.group}/skip-finalize"


class _WithStatus(msgspec.Struct):
    status: dict[str, Any] | None = None


_with_status = msgspec.json.Decoder(_WithStatus).decode


def _decode_status(text: bytes) -> RawObject:
    """Read no more than the status: the rest of the object is not compared."""
    try:
        return {"status": _with_status(text).status}
    except msgspec.ValidationError:
        return {}  # no object, which the class has let pass


class Processor(Generic[T]):
    """Looks at the objects of one controller, one call of ``process`` for each look."""

    def __init__(
        self,
        reconciler: Reconciler[T],
        declaration: ControllerDeclaration,
        *,
        client: Client,
        cache: CachedReader,
        primary: Informer,
        children: Children,
        events: EventRecorder,
        clock: Clock,
        threads: int,
        paused: bool = False,
        tenants: Tenants | None = None,
    ) -> None:
        self._declaration = declaration
        self._resource = declaration.resource
        self._kind = declaration.resource.gvk
        self._reconcile = reconciler.reconcile
        self._finalize: Callable[..., Any] | None = getattr(reconciler, "finalize", None)
        self._finalizer = finalizer.finalizer_name(self._kind, declaration.name)
        self._client = client
        self._cache = cache
        self._primary = primary
        self._children = children
        self._events = events
        self._clock = clock
        self._thread_count = threads
        self._all_paused = paused
        self._tenants = tenants
        self._threads: ThreadPoolExecutor | None = None
        self._paused_by = paused_by(self._kind)
        self._skips_finalize = skips_finalize(self._kind)
        self._paused: set[Request] = set()
        self._status = status.StatusWriter(client, self._kind, field_manager=declaration.name)
        self._is_async = {method: inspect.iscoroutinefunction(method) for method in (self._reconcile, self._finalize)}
        self._log = logging.getLogger("pyopscaffold.controller")

    async def process(self, request: Request, *, live: bool = False, failures: int = 0) -> Verdict:
        """Bring one object in line; ``live`` reads it past the cache, ``failures`` counts those in a row before."""
        log = self._logger(request)
        stored: Stored | None = None
        if request.cluster:  # an object of this cluster that is called the same is another one
            error = TerminalError(f"there is no cluster {request.cluster} here", reason="UnknownCluster")
            return self._report(classify(error, failures=failures), error, log, None)
        try:
            stored = await self._load(request, live=live)
            if stored is not None and (why := self._why_paused(stored)):
                self._paused.add(request)
                log.debug("paused")
                return await self._pause(stored, why)
            self._paused.discard(request)
            return DONE if stored is None else await self._look(request, stored, log, failures)
        except CodecError as error:
            if stored is None:
                raise
            return await self._undecodable(stored, error, log)
        except NotFound as error:
            return await self._missed(request, error, log, failures)
        except (ClientError, KubeconfigError) as error:
            regarding = None if stored is None else Regarding.of(self._kind, stored.meta)
            return self._report(classify(error, failures=failures), error, log, regarding)

    @property
    def paused(self) -> int:
        """How many objects it was asked to look at, and leaves alone."""
        return len(self._paused)

    def forget(self, uid: str) -> None:
        """Drop what is remembered of an object that is gone."""
        self._status.forget(uid)

    def leave(self, request: Request, uid: str) -> None:
        """Drop what is remembered of an object that another replica looks at now."""
        self._paused.discard(request)
        self._status.forget(uid)

    def close(self) -> None:
        """Let go of the threads; those that still run user code can't be stopped."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _why_paused(self, stored: Stored) -> str:
        if stored.meta.annotations.get(self._paused_by) == "true":
            return f"by the annotation {self._paused_by}"
        return "by the operator's flag --paused" if self._all_paused else ""

    async def _pause(self, stored: Stored, why: str) -> Verdict:
        """Do nothing, and have the object say so."""
        try:
            obj = self._decode(stored.raw)
        except CodecError:
            return DONE  # there is no typed status to say it in; and that it does not fit is said when it is looked at
        before = status.begin(obj, _decode_status(stored.raw))
        if status.pause(obj, before, why):
            await self._status.write(obj, before, now=self._clock.now(), observed=False)
        return DONE

    async def _look(self, request: Request, stored: Stored, log: FieldsAdapter, failures: int) -> Verdict:
        meta, deleting = stored.meta, stored.meta.deleting
        if deleting and (self._finalizer not in meta.finalizers or await self._let_go(meta, log)):
            return DONE
        text: bytes | RawObject = stored.raw
        obj = self._decode(text)
        if not deleting and self._finalize and self._finalizer not in obj.metadata.finalizers:
            text = await finalizer.add(self._client, self._kind, obj.metadata, self._finalizer)
            obj = self._decode(text)
        before = status.begin(obj, _decode_status(text) if isinstance(text, bytes) else text)
        verdict = await self._run(request, obj, log, failures, deleting=deleting)
        if verdict.failure is None and deleting and verdict.requeue_after is None:
            await finalizer.remove(self._client, self._kind, obj.metadata, self._finalizer)
            return DONE
        if verdict.failure is None:
            status.succeed(obj, before, waiting=deleting or verdict.requeue_after is not None)
        elif verdict.failure.quiet:
            return verdict
        else:
            status.fail(obj, verdict.failure)
        await self._status.write(obj, before, now=self._clock.now())
        return verdict

    async def _let_go(self, meta: Meta, log: FieldsAdapter) -> bool:
        """Whether somebody asks for no finalize: it can't run, or never succeeds. Then the finalizer is gone."""
        if meta.annotations.get(self._skips_finalize) != "true":
            return False
        log.warning("let go without finalize, as the annotation %s asks for", self._skips_finalize)
        await finalizer.remove(self._client, self._kind, meta, self._finalizer)
        return True

    async def _run(self, request: Request, obj: T, log: FieldsAdapter, failures: int, *, deleting: bool) -> Verdict:
        """Call the author's code and judge how it ends."""
        method = self._finalize if deleting else self._reconcile
        if method is None:
            return DONE  # a finalizer of an earlier version of this operator: nothing to do but to let go
        regarding = Regarding.of(self._kind, obj.metadata)
        context = self._context(request, obj, log, regarding)
        try:
            result = _checked(await self._call(method, context, obj), method)
        except Exception as error:  # noqa: BLE001 - the author's code
            return self._report(classify(error, failures=failures, deleting=deleting), error, log, regarding)
        return Verdict(result.requeue_after if result else None)

    async def _call(self, method: Callable[..., Any], context: Context, obj: T) -> Any:
        call = self._call_here if self._is_async[method] else self._call_in_thread
        try:
            return await call(method, context, obj)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise PyopscaffoldError(f"{method.__qualname__} let a CancelledError of a task of its own escape") from None

    async def _call_here(self, method: Callable[..., Any], context: Context, obj: T) -> Any:
        seconds = self._declaration.timeout
        try:
            async with asyncio.timeout(seconds) as scope:
                return await method(context, obj)
        except TimeoutError as error:
            if not scope.expired():
                raise
            raise ReconcileTimeoutError(f"not done after {seconds:g} s, and cancelled{_where(error)}") from None

    async def _call_in_thread(self, method: Callable[..., Any], context: Context, obj: T) -> Any:
        """Run a plain function; its object stays ours until the thread is done, for no two may work on one object."""
        if self._threads is None:
            name = f"reconcile-{self._declaration.name}"
            self._threads = ThreadPoolExecutor(self._thread_count, thread_name_prefix=name)
        loop, seconds = asyncio.get_running_loop(), self._declaration.timeout
        call = loop.run_in_executor(self._threads, contextvars.copy_context().run, _called, method, context, obj)
        done, _ = await asyncio.wait({call}, timeout=seconds)
        if done:
            return call.result()
        context.log.warning("timeout of %g s passed; a plain def can't be stopped, waiting for it", seconds)
        await asyncio.wait({call})
        call.exception()
        raise ReconcileTimeoutError(f"took longer than {seconds:g} s; a plain def can't be stopped")

    def _context(self, request: Request, obj: T, log: FieldsAdapter, regarding: Regarding) -> Context:
        metadata = obj.metadata
        loop = asyncio.get_running_loop()
        return Context(
            request,
            deadline=loop.time() + self._declaration.timeout,
            log=log,
            client=self._client,
            cache=self._cache,
            owner=Owner(kind=self._kind, name=metadata.name, namespace=metadata.namespace, uid=metadata.uid),
            children=self._children,
            record=lambda type_, reason, message: self._events.record(regarding, type_, reason, message),
            loop=loop,
            tenants=self._tenants,
            metadata=metadata,
        )

    async def _missed(self, request: Request, error: NotFound, log: FieldsAdapter, failures: int) -> Verdict:
        """Judge that a write has not found the object: it is gone, unless the server says otherwise when asked."""
        try:
            if await self._load(request, live=True) is None:
                return DONE
        except (ClientError, KubeconfigError) as problem:
            log.debug("can't tell whether the object is gone", extra={"error": str(problem)})
        return self._report(missing(error, failures=failures), error, log, None)

    async def _load(self, request: Request, *, live: bool) -> Stored | None:
        if live:
            # By a list of one, which the server answers as it does a get: the role needs no further verb for it.
            selected = f"metadata.name={request.name}"
            with suppress(NotFound):  # of the kind, which nobody serves now: what the watch has left of it counts
                found = await self._client.list(self._kind, namespace=request.namespace, fields=selected)
                return parse(self._kind, msgspec.json.encode(found[0])) if found else None
        return self._primary.get(request.namespace, request.name)

    def _decode(self, text: bytes | RawObject) -> T:
        return codec.decode(self._resource, text)  # type: ignore[return-value]  # the declaration's class is T

    def _logger(self, request: Request) -> FieldsAdapter:
        fields = {
            "controller": self._declaration.name,
            "controllerGroup": self._kind.group,
            "controllerKind": self._kind.kind,
            "object": {"namespace": request.namespace, "name": request.name},
            "namespace": request.namespace,
            "name": request.name,
            "reconcileID": str(uuid.UUID(int=random.getrandbits(128), version=4)),
        }
        if request.cluster:
            fields["cluster"] = request.cluster
        return FieldsAdapter(self._log, fields)

    async def _undecodable(self, stored: Stored, error: CodecError, log: FieldsAdapter) -> Verdict:
        failure = classify(error, failures=0)
        if stored.meta.deleting:
            way_out = f"finalize can't run: mend the object, or annotate it with {self._skips_finalize}=true"
            failure = replace(failure, message=f"{way_out}: {failure.message}")
        verdict = self._report(failure, error, log, Regarding.of(self._kind, stored.meta))
        raw = msgspec.json.decode(stored.raw)
        try:
            await self._status.write_undecodable(raw, failure, now=self._clock.now())
        except ClientError as problem:
            log.warning("could not report it in the status", extra={"error": str(problem)})
        return verdict

    def _report(self, failure: Failure, error: Exception, log: FieldsAdapter, regarding: Regarding | None) -> Verdict:
        if failure.quiet:
            log.debug("trying again", extra={"error": failure.message, "reason": failure.reason})
        elif failure.bug:
            log.error("reconcile failed", exc_info=error)
        else:
            text = str(error) if isinstance(error, ApiError) else failure.message
            log.error("reconcile failed", extra={"error": text, "reason": failure.reason})
        if failure.stalled and regarding is not None:
            self._events.record(regarding, "Warning", failure.reason, failure.message)
        return Verdict(failure=failure, error=error)


def _called(method: Callable[..., Any], context: Context, obj: Object) -> Any:
    """Call a plain function. No future takes a StopIteration: who waits for one that raised it would wait for ever."""
    try:
        return method(context, obj)
    except StopIteration as error:
        raise RuntimeError(f"{method.__qualname__} raised StopIteration") from error


def _where(timeout: TimeoutError) -> str:
    """Say where in the author's code the cancellation struck; that is what took so long."""
    frames = traceback.walk_tb(timeout.__cause__.__traceback__ if timeout.__cause__ else None)
    theirs = [(frame, line) for frame, line in frames if not _is_ours(frame.f_globals.get("__name__", ""))]
    if not theirs:
        return ""
    frame, line = theirs[-1]
    return f" in {frame.f_code.co_name} ({Path(frame.f_code.co_filename).name}:{line})"


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in {"pyopscaffold", "asyncio"}


def _checked(result: object, method: Callable[..., Any]) -> Result | None:
    if isinstance(result, Result | None):
        return result
    raise PyopscaffoldError(f"{method.__qualname__} must return Result or None, not {result!r}")
