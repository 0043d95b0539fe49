"""The linter as a library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Source
from pyopscaffold.errors import UsageError
from pyopscaffold.lint import workers
from pyopscaffold.lint.config import Config
from pyopscaffold.lint.configfile import find, read
from pyopscaffold.lint.inputs import gather
from pyopscaffold.lint.plugins import with_plugins
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyopscaffold.lint.finding import Report
    from pyopscaffold.lint.registry import Registry


def rules() -> Registry:
    """Collect all rules: the linter's own, and those of installed packages."""
    return with_plugins(builtin())


def settings(known: Registry, *, file: Path | None = None, isolated: bool = False) -> Config:
    """Read the configuration: ``file``, else the one of the working directory; none if ``isolated``.

    Raises:
        SettingsError: it can't be read, or something in it can't be.

    """
    found = file or (None if isolated else find(Path.cwd()))
    return read(found, known) if found else Config()


def lint(sources: Iterable[str | Path | Source], *, config: Config | None = None, jobs: int = 1) -> Report:
    """Check files, folders and texts; without a configuration, by the rules of the default profile.

    No configuration is looked for: it is what :class:`Config` says, ``Config(select=("VA",))``. ``jobs`` is the number
    of processes; 0 takes as many as there is work for. On Linux they are forked: keep to one where threads run.

    Raises:
        UserError: a path can't be read, the configuration names a rule that there is not, or the rules of an installed
            distribution can't be loaded.

    """
    if isinstance(sources, str):
        raise UsageError("lint takes a list of paths and texts", hint=f"write lint([{sources!r}])")
    ruleset = Ruleset(rules(), config)
    return workers.run(_items(sources, ruleset.config), ruleset, jobs=jobs)


def _items(given: Iterable[str | Path | Source], config: Config) -> Iterator[str | Source]:
    for source in given:
        if isinstance(source, Source):
            yield source
        else:
            yield from gather([str(source)], excluded=config.excludes)
