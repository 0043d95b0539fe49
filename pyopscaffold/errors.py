"""Every error that pyopscaffold raises on purpose.

::

    PyopscaffoldError
    ├── UserError                  the person at the keyboard can mend it; the CLI prints it, exit code 2
    │   ├── UsageError             a command-line value or combination that can't be
    │   ├── ProjectError           not inside a project, or PROJECT is malformed
    │   ├── DeclarationError       an API, marker or controller declaration is wrong; lists every problem
    │   ├── LoadError              the project's own code could not be read or imported
    │   ├── FilesError             the tree can't be written as planned; it is left as it was
    │   ├── DocumentError          a YAML or JSON document can't be read
    │   ├── SettingsError          a configuration file is wrong; lists every problem
    │   ├── KubeconfigError        no usable way to reach a cluster
    │   └── EnvtestError           the embedded control plane can't be had or does not start
    ├── TerminalError              raised by a reconciler: trying again can't help until the object changes
    │   └── TenantConfigError      the configuration of the object's tenant can't be read as it should
    │       ├── TenantConfigMissing   it is not there
    │       └── TenantRefused         it is another tenant's, or the object is nobody's
    ├── CodecError                 JSON that does not fit the dataclass, with its JSON path
    └── ClientError                a request to the API server did not succeed
        ├── ConnectionFailed       no answer: refused, reset, timed out, TLS
        └── ApiError               the server answered with a metav1.Status
            ├── BadRequest (400)   ├── Unauthorized (401)   ├── Forbidden (403)   ├── NotFound (404)
            ├── MethodNotAllowed (405)
            ├── AlreadyExists (409) ├── Conflict (409)      ├── Expired (410)     ├── UnsupportedMediaType (415)
            │                       │   └── FieldConflict   other field managers own what an apply names
            ├── Invalid (422)      ├── TooManyRequests (429)
            └── ServerError (5xx)

Constructors only keep what they are given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MANAGER = re.compile(r'"((?:[^"\\]|\\.)*)"')


class PyopscaffoldError(Exception):
    """Root of the tree."""


class UserError(PyopscaffoldError):
    """A mistake that its maker can mend.

    ``str(error)`` is one clear sentence that names the place; ``hint`` says the way out. ``problems`` are the mistakes
    one by one, where their places are known.
    """

    problems: tuple[Problem, ...] = ()

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(UserError):
    """A command-line value, or a combination of them, that can't be."""


class ProjectError(UserError):
    """The folder is no project, or its PROJECT file is malformed."""


class LoadError(UserError):
    """The project's own code could not be imported."""

    def __init__(self, message: str, *, hint: str | None = None, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class FilesError(UserError):
    """The files can't be written as planned; the tree is as it was before."""


class DocumentError(UserError):
    """A YAML or JSON document can't be read."""


class KubeconfigError(UserError):
    """There is no usable way to reach a cluster."""


class EnvtestError(UserError):
    """The embedded control plane can't be had, or does not start."""


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake, at ``file:line`` unless ``file`` is empty; ``subject`` is ``Class.field``, a class or a CRD."""

    file: str
    line: int
    subject: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.file else ""
        return f"{place}{self.subject}: {self.message}"


class SettingsError(UserError):
    """A configuration file can't be read (``message``), or has settings that can't be; all of them, sorted by place."""

    def __init__(self, problems: Iterable[Problem], message: str = "", *, hint: str | None = None) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__(message or "\n".join(map(str, self.problems)), hint=hint)


class DeclarationError(UserError):
    """Declarations are wrong, or can't be imported; all problems of the run, sorted by place."""

    def __init__(self, problems: Sequence[Problem], *, hint: str | None = None) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)), hint=hint)


class TerminalError(PyopscaffoldError):
    """Raised by a reconciler: the object can't be reconciled until somebody changes it.

    ``reason`` is the CamelCase reason of the Stalled condition and of the event.
    """

    def __init__(self, message: str, *, reason: str = "Stalled") -> None:
        super().__init__(message)
        self.reason = reason


class TenantConfigError(TerminalError):
    """The configuration of the object's tenant does not fit; the message names ConfigMap and key.

    The object is reconciled anew when the configuration changes, so that it is not tried again before.
    """

    def __init__(self, message: str, *, reason: str = "TenantConfigInvalid") -> None:
        super().__init__(message, reason=reason)


class TenantConfigMissing(TenantConfigError):  # noqa: N818 - as NotFound
    """There is no ConfigMap for the object's tenant. Catch it where your operator can do without."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="TenantConfigMissing")


class TenantRefused(TenantConfigError):  # noqa: N818 - as Forbidden
    """What was asked for is another tenant's, or it can't be told whose the object is."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="TenantRefused")


class CodecError(PyopscaffoldError):
    """JSON that does not fit the dataclass; ``path`` is the JSON path of the misfit, such as ``$.spec.replicas``."""

    def __init__(self, message: str, *, path: str = "$") -> None:
        super().__init__(message)
        self.path = path


class ClientError(PyopscaffoldError):
    """A request to the API server did not succeed."""


class ConnectionFailed(ClientError):  # noqa: N818 - the field's own word, as in http clients
    """The server gave no answer: refused, reset, timed out, or TLS failed."""


@dataclass(frozen=True)
class StatusCause:
    """One entry of ``metav1.Status.details.causes``; ``field`` is a path such as ``spec.replicas``."""

    reason: str = ""
    message: str = ""
    field: str = ""


@dataclass(frozen=True)
class StatusDetails:
    """What ``metav1.Status.details`` says the failure is about; '' where the server does not say."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""


class ApiError(ClientError):
    """The server answered with a failure.

    ``code`` is the HTTP status; ``reason``, ``causes`` and ``details`` are those of ``metav1.Status``, and ``said`` is
    its message, which ours begins with the request for; ``retry_after`` is in seconds, as the server asked.
    """

    def __init__(
        self,
        message: str,
        *,
        code: int = 0,
        reason: str = "",
        causes: Sequence[StatusCause] = (),
        details: StatusDetails = StatusDetails(),
        retry_after: float | None = None,
        said: str = "",
    ) -> None:
        super().__init__(message)
        self.said = said or message
        self.code = code
        self.reason = reason
        self.causes = tuple(causes)
        self.details = details
        self.retry_after = retry_after


class BadRequest(ApiError):  # noqa: N818 - named after the Kubernetes status reason, as are the next ones
    """400."""


class Unauthorized(ApiError):  # noqa: N818
    """401."""


class Forbidden(ApiError):  # noqa: N818
    """403."""

    @property
    def namespace_terminating(self) -> bool:
        """Whether it is because the namespace is being deleted, so that nothing new can be made in it."""
        return any(cause.reason == "NamespaceTerminating" for cause in self.causes)


class NotFound(ApiError):  # noqa: N818
    """404."""


class MethodNotAllowed(ApiError):  # noqa: N818
    """405."""


class AlreadyExists(ApiError):  # noqa: N818
    """409 with reason AlreadyExists."""


class Conflict(ApiError):  # noqa: N818
    """409: the resourceVersion is not the newest, or another field manager owns a field."""


class FieldConflict(Conflict):
    """409 to a server-side apply without force: other field managers own fields that it names."""

    @property
    def managers(self) -> dict[str, tuple[str, ...]]:
        """The fields in the way, by the manager that owns them: ``{"kubectl": (".spec.replicas",)}``."""
        found: dict[str, tuple[str, ...]] = {}
        for cause in self.causes:
            # the API server has the manager's name nowhere else: conflict with "kubectl" using v1 at …
            if named := _MANAGER.search(cause.message):
                found[named[1]] = (*found.get(named[1], ()), cause.field)
        return found


class Expired(ApiError):  # noqa: N818
    """410: the resourceVersion is too old to list or watch from."""


class UnsupportedMediaType(ApiError):  # noqa: N818
    """415."""


class Invalid(ApiError):  # noqa: N818
    """422: the object failed validation; see ``causes``."""


class TooManyRequests(ApiError):  # noqa: N818
    """429; ``retry_after`` tells when to come back."""


class ServerError(ApiError):
    """5xx."""
