"""What becomes of a reconcile that raised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pyopscaffold.errors import (
    ApiError,
    ClientError,
    CodecError,
    Conflict,
    ConnectionFailed,
    Forbidden,
    Invalid,
    KubeconfigError,
    PyopscaffoldError,
    ServerError,
    TerminalError,
    TooManyRequests,
    Unauthorized,
)
from pyopscaffold.kube.conditions import reason_from
from pyopscaffold.runtime.children import CONTESTED, PUT_BACK_AGAIN

Retry: TypeAlias = Literal["backoff", "longest", "never"]
_SOONEST: tuple[Retry, ...] = get_args(Retry)

_COMMON = (ConnectionFailed, ServerError, TooManyRequests, Unauthorized, Forbidden, KubeconfigError)

QUIET_CONFLICTS = 5
"""So many conflicts in a row are everyday life; more are reported like any error."""


class ReconcileTimeoutError(PyopscaffoldError):
    """A reconcile took longer than its controller's timeout."""


class OwnershipLostError(PyopscaffoldError):
    """A write was held back, for another replica may own the object by now: see runtime/fencing.py."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """How a failure is reported and when it is retried.

    ``within``: the most seconds until the next try. ``stalled``: trying again soon can't help. ``quiet``: not reported
    in status, events and error logs. ``live``: the next try reads past the cache. ``common``: it has nothing to do with
    the object, so many fail alike and wait together, ``asked`` seconds at least. ``answered``: as far as it tells, the
    server works. ``bug``: nobody raised it on purpose, so the log shows the stack.
    """

    reason: str
    message: str
    retry: Retry = "backoff"
    within: float = math.inf
    stalled: bool = False
    quiet: bool = False
    live: bool = False
    common: bool = False
    asked: float = 0.0
    answered: bool = True
    bug: bool = False


def classify(error: Exception, *, failures: int, deleting: bool = False) -> Failure:  # noqa: PLR0911 - a table
    """Judge what a reconcile raised after so many failures in a row before; ``deleting``: a finalize raised it."""
    said = error.said if isinstance(error, ApiError) else str(error)  # a condition has no room for the request as well
    message = said or type(error).__name__
    match error:
        case ExceptionGroup():
            return _worst([classify(each, failures=failures, deleting=deleting) for each in error.exceptions])
        case TerminalError():
            reason = reason_from(error.reason, "Stalled")
            return Failure(reason=reason, message=message, retry="never", stalled=True)
        case CodecError():
            return Failure(reason="Undecodable", message=message, retry="never", stalled=True)
        case Invalid():
            return Failure(reason="Invalid", message=message, retry="longest", stalled=True)
        case Conflict() if error.reason == CONTESTED:
            return Failure(reason=CONTESTED, message=message, within=PUT_BACK_AGAIN)
        case Conflict():
            reason = reason_from(error.reason, "Conflict")
            return Failure(reason=reason, message=message, quiet=failures < QUIET_CONFLICTS, live=True)
        case Forbidden() if error.namespace_terminating:
            # all that is in it will soon be deleted too: only who can't let go then has to tell
            return Failure(reason="NamespaceTerminating", message=message, quiet=not deleting)
        case ApiError() | ConnectionFailed() | KubeconfigError():
            reason = error.reason if isinstance(error, ApiError) else ""
            common = isinstance(error, _COMMON)
            return Failure(
                reason=reason_from(reason, type(error).__name__),
                message=message,
                common=common,
                answered=not common,
                asked=(error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0,
            )
        case OwnershipLostError():
            return Failure(reason="OwnershipLost", message=message, quiet=True)
        case ReconcileTimeoutError():
            return Failure(reason="Timeout", message=message, answered=False)
        case ClientError() | OSError() | PyopscaffoldError():
            return Failure(reason=type(error).__name__, message=message)
        case _:
            text = f"{type(error).__name__}: {error}"
            return Failure(reason=reason_from(type(error).__name__), message=text, bug=True)


def missing(error: Exception, *, failures: int) -> Failure:
    """Judge that the server does not find an object that is there: nobody serves its kind for a moment.

    It is told only when it has gone on for long.
    """
    return Failure(reason="NotFound", message=str(error), quiet=failures < QUIET_CONFLICTS, live=True)


def _worst(failures: list[Failure]) -> Failure:
    """Judge what was raised together (``ctx.apply_all``, a TaskGroup): what may pass is tried again for all."""
    first = next((failure for failure in failures if not failure.quiet), failures[0])
    soonest = next(retry for retry in _SOONEST if any(failure.retry == retry for failure in failures))
    return Failure(
        reason=first.reason,
        message="; ".join(dict.fromkeys(failure.message for failure in failures)),
        retry=soonest,
        within=min(failure.within for failure in failures),
        stalled=all(failure.stalled for failure in failures),
        quiet=all(failure.quiet for failure in failures),
        live=any(failure.live for failure in failures),
        common=all(failure.common for failure in failures),
        asked=max(failure.asked for failure in failures),
        answered=any(failure.answered for failure in failures),
        bug=any(failure.bug for failure in failures),
    )
