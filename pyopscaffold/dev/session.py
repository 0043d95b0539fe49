"""One run of ``dev`` on a cluster that is there: install, run the operator, follow changes, show what happens."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pyopscaffold.dev import lines, manifests, objects, project
from pyopscaffold.dev.changes import Changes
from pyopscaffold.dev.install import (
    AS_USER,
    MANAGER,
    TOKEN_SECONDS,
    Installer,
    operator_kubeconfig,
    token,
    user_kubeconfig,
)
from pyopscaffold.dev.operator import Operator
from pyopscaffold.errors import (
    ClientError,
    ConnectionFailed,
    Forbidden,
    KubeconfigError,
    ProjectError,
    Unauthorized,
    UsageError,
    UserError,
)
from pyopscaffold.model.project import Project
from pyopscaffold.runtime.client.http import HttpClient

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from pyopscaffold.dev.manifests import Manifests
    from pyopscaffold.dev.place import Place
    from pyopscaffold.dev.screen import Screen

_LOOK_SECONDS = 0.2
_LIST_SECONDS = 0.5
_PATIENCE_SECONDS = 2.0
"""How long an embedded API server may be silent before it is started again."""
_NO_CHANGE_HELPS = (UsageError, KubeconfigError, ConnectionFailed, Unauthorized, Forbidden)
"""What is wrong with the cluster or the command line at the start, whatever the project's files say."""
_NAMED_FILES = 3
_CONFIG = "config/"
_SYNCED = "caches are synced"
"""What the runtime logs when an operator begins to work."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is run and how.

    ``interpreter`` is the command of the project's own Python, chosen by ``python`` if that is given; ``namespace`` is
    empty for all; ``arguments`` go to the operator.
    """

    root: Path
    project: Project
    interpreter: tuple[str, ...]
    namespace: str = ""
    python: str = ""
    raw_logs: bool = False
    arguments: tuple[str, ...] = ()


class Session:
    """``revive`` starts an embedded cluster again whose API server has died; None where the cluster isn't ours."""

    def __init__(
        self, settings: Settings, place: Place, screen: Screen, *, revive: Callable[[], object] | None = None
    ) -> None:
        self._settings = settings
        self._place = place
        self._screen = screen
        self._revive = revive
        self._manifests: Manifests | None = None
        self._changes = Changes(settings.root, (settings.project.package, "config", "PROJECT"))
        self._as_user = False
        self._stale = True
        self._broken = False
        self._seen: float | None = None
        self._outdated = True

    async def run(self) -> NoReturn:
        """Work until it is cancelled; then the operator has drained and ended.

        Raises:
            UserError, ClientError: nothing can be done with this cluster.

        """
        async with AsyncExitStack() as stack:
            self._client = HttpClient(self._place.config, user_agent=MANAGER)
            stack.push_async_callback(self._client.close)
            self._installer = Installer(self._client, warn=self._screen.warn)
            self._operator = stack.enter_context(Operator(self._settings.root, on_line=self._line))
            stack.push_async_callback(self._operator.stop)
            await self._installer.reach()
            await self._reload(())
            await _first_failure(self._follow(), self._look_after(), self._show(), self._renew())
        raise AssertionError  # the tasks are endless

    async def _follow(self) -> NoReturn:
        while True:
            changed = await self._changes.next()
            await self._reload(changed)

    async def _reload(self, changed: Iterable[str]) -> None:
        """Bring everything in line with the files; whatever is wrong with them, the present operator goes on."""
        seen, names = time.monotonic(), tuple(changed)
        self._stale |= any(not name.startswith(_CONFIG) for name in names)
        self._outdated |= any(name.startswith(_CONFIG) for name in names)
        try:
            await self._generate()
            await self._install()
            if self._stale:
                self._seen = seen if names else None
                await self._operator.restart(self._command())
                self._stale = False
        except (UserError, ClientError) as error:
            if not names and isinstance(error, _NO_CHANGE_HELPS):
                raise
            self._broken = True
            self._screen.fail(str(error), error.hint if isinstance(error, UserError) else None)
            going = "; the operator goes on with the code that it has" if self._operator.running else ""
            self._screen.note(f"waiting for a change{going}")
        else:
            self._broken = False

    async def _generate(self) -> None:
        settings = self._settings
        generating = asyncio.to_thread(project.regenerate, settings.root, python=settings.python)
        compiling = asyncio.to_thread(
            project.check_syntax, settings.root, settings.project.package, self._settings.interpreter
        )
        generated, compiled = await asyncio.gather(generating, compiling, return_exceptions=True)
        if isinstance(generated, BaseException):
            raise generated
        written, warnings = generated
        self._changes.accept(written)
        for warning in warnings:
            self._screen.warn(str(warning))
        if written:
            few = len(written) <= _NAMED_FILES
            self._screen.note(f"generated {', '.join(written) if few else f'{len(written)} files'}")
            self._outdated = True
        if isinstance(compiled, BaseException):
            raise compiled

    async def _install(self) -> None:
        if not self._outdated:
            return
        found = await asyncio.to_thread(manifests.read, self._settings.root, self._place)
        namespace = self._namespace(found)
        await self._installer.install(found, namespace=namespace or "default")
        as_user = not await self._installer.grant(found)
        before = self._manifests
        if before is None or (before.account, self._as_user) != (found.account, as_user):
            self._as_user = as_user
            await asyncio.to_thread(self._write_credentials, found)
            if self._revive is None and await self._installer.deployed(found):
                self._screen.warn(f"{found.deployment} runs in {found.account[0]} too: both act on the same objects")
        self._manifests, self._outdated = found, False

    def _namespace(self, found: Manifests) -> str:
        """Return the namespace that the operator is to watch, "" for all."""
        wanted, own = self._settings.namespace, found.account[0]
        if self._settings.project.namespaced and wanted not in ("", own):
            raise UsageError(
                f"this project's operator has rights in {own} only (namespaced: true in PROJECT)",
                hint=f"leave --namespace out, or say --namespace {own}",
            )
        return own if self._settings.project.namespaced else wanted

    def _write_credentials(self, found: Manifests) -> None:
        """Write the operator's kubeconfig, and its token beside it."""
        folder = self._operator.directory
        if not self._as_user:
            try:
                (folder / "token").write_text(token(self._place, found.account))
            except ProjectError as error:
                if self._revive is not None:
                    raise
                self._screen.warn(f"{AS_USER}: {error}")
                self._as_user = True
        if self._as_user:
            text = user_kubeconfig(self._place)
        else:
            text = operator_kubeconfig(self._place, folder / "token", namespace=found.account[0])
        (folder / "kubeconfig").write_text(text)

    def _command(self) -> list[str]:
        flags = ["--kubeconfig", str(self._operator.directory / "kubeconfig"), "--log-format", "json"]
        flags += ["--metrics-bind-address", "0", "--health-probe-bind-address", "0"]
        if self._manifests and (namespace := self._namespace(self._manifests)):
            flags += ["--namespace", namespace]
        return [
            *self._settings.interpreter,
            "-u",
            "-m",
            self._settings.project.package,
            *flags,
            *self._settings.arguments,
        ]

    def _line(self, text: str) -> None:
        """Show a line of the operator's; one of them tells that it works."""
        line = lines.parse(text)
        self._screen.log(lines.Line(message=text) if self._settings.raw_logs else line)
        if line.level and line.message == _SYNCED:
            seen, self._seen = self._seen, None
            after = f", {time.monotonic() - seen:.1f} s after the change was seen" if seen else ""
            self._screen.note(f"the operator is at work{after}")

    async def _look_after(self) -> NoReturn:
        """Say it when the operator crashes; the operator starts itself again."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if (code := await self._operator.look()) is not None:
                said = "\n".join(f"  {lines.parse(line)}" for line in self._operator.last_lines)
                how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
                last = f"; its last lines:\n{said}" if said else ""
                self._screen.fail(f"the operator {how}{last}", None)
                self._screen.note(f"starting it again in {self._operator.delay:.0f} s, or when a file changes")

    async def _show(self) -> NoReturn:
        silent_since: float | None = None
        warned = ""
        while True:
            try:
                kinds = self._manifests.kinds if self._manifests else ()
                self._screen.objects(await objects.rows(self._client, kinds), self._title())
            except ConnectionFailed as error:
                if silent_since is None:
                    silent_since = time.monotonic()
                    self._screen.fail(str(error), None)
                elif self._revive is not None and time.monotonic() - silent_since > _PATIENCE_SECONDS:
                    self._screen.note("the API server is gone; starting the cluster again, with all that is in it")
                    await asyncio.to_thread(self._revive)
            except ClientError as error:
                if warned != (warned := str(error)):
                    self._screen.warn(f"the objects can't be listed: {error}")
            else:
                warned = ""
                if silent_since is not None:
                    self._screen.note("the API server answers again")
                silent_since = None
            await asyncio.sleep(_LIST_SECONDS)

    async def _renew(self) -> NoReturn:
        """Keep the operator's token good."""
        while True:
            await asyncio.sleep(TOKEN_SECONDS / 4)
            if self._manifests is not None:
                await asyncio.to_thread(self._write_credentials, self._manifests)

    def _title(self) -> str:
        operator = "is running" if self._operator.running else "is down"
        broken = ", with older code: the last change is broken" if self._broken and self._operator.running else ""
        return f"{self._settings.project.name} {operator}{broken}"


async def _first_failure(*endless: Coroutine[None, None, NoReturn]) -> NoReturn:
    """Run all until one fails, and raise that; the others are cancelled and have ended."""
    tasks = [asyncio.create_task(one) for one in endless]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        raise next(error for task in done if (error := task.exception()))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
