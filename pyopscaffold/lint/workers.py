"""Runs the linter over many files, on all processors where that pays. A worker reads the files that it checks."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Source
from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.lint import engine
from pyopscaffold.loader.manifests import STDIN, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Future
    from multiprocessing.context import BaseContext

    from pyopscaffold.lint.config import Config
    from pyopscaffold.lint.engine import Outcome
    from pyopscaffold.lint.evolution import Before
    from pyopscaffold.lint.finding import Report
    from pyopscaffold.lint.ruleset import Ruleset

    Item = str | Source
    Tell = Callable[[int, int], None]
    """Takes how many files are done, and how many there are."""

SHARE = 1_000_000
"""Bytes that are worth a worker: its start takes about a tenth of the time of checking them."""

_ruleset: list[Ruleset] = []
"""Of this process; a worker that is forked has it from its parent."""


def run(items: Iterable[Item], ruleset: Ruleset, *, jobs: int = 1, tell: Tell = lambda _done, _all: None) -> Report:
    """Check files, by name, and sources. ``jobs`` is the number of processes; 0 takes as many as there is work for.

    Raises:
        DocumentError: a file can't be read.

    """
    sources = [read(item) if item == STDIN else item for item in items]
    workers = min(jobs or _processors(), len(sources), jobs or sum(map(_size, sources)) // SHARE)
    if workers > 1:
        return engine.report(_in_parallel(sources, ruleset, workers, tell), ruleset)
    outcomes = []
    for done, item in enumerate(sources):
        tell(done, len(sources))
        outcomes.append(engine.check(_source(item), ruleset))
    return engine.report(outcomes, ruleset)


def _in_parallel(sources: Sequence[Item], ruleset: Ruleset, workers: int, tell: Tell) -> list[Outcome]:
    from concurrent.futures import ProcessPoolExecutor, as_completed  # noqa: PLC0415 - small runs need none of it
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415
    from multiprocessing import active_children  # noqa: PLC0415

    _ruleset[:], others = [ruleset], set(active_children())
    pool = ProcessPoolExecutor(workers, _context(), initializer=_begin, initargs=(ruleset.config, ruleset.before))
    try:
        by_size = sorted(range(len(sources)), key=lambda index: _size(sources[index]), reverse=True)
        futures: dict[int, Future[Outcome]] = {index: pool.submit(_check, sources[index]) for index in by_size}
        for done, _ in enumerate(as_completed(futures.values())):
            tell(done, len(sources))
        return [futures[index].result() for index in range(len(sources))]
    except BrokenProcessPool as error:
        raise PyopscaffoldError("a worker was killed; is there too little memory? --jobs 1 does without") from error
    except BaseException:  # Ctrl-C above all: what is under way is not waited for
        for worker in set(active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _context() -> BaseContext:
    import multiprocessing  # noqa: PLC0415

    # A fork has the rules already, which saves their import; elsewhere it is unsafe, or there is none.
    return multiprocessing.get_context("fork" if sys.platform == "linux" else None)


def _begin(config: Config, before: Before) -> None:
    """Make a worker ready: Ctrl-C ends it without a word, since its parent has the say."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not _ruleset:
        from pyopscaffold.lint.library import rules  # noqa: PLC0415 - it imports this module
        from pyopscaffold.lint.ruleset import Ruleset  # noqa: PLC0415

        _ruleset.append(Ruleset(rules(), config, before=before))


def _check(item: Item) -> Outcome:
    return engine.check(_source(item), _ruleset[0])


def _source(item: Item) -> Source:
    return item if isinstance(item, Source) else read(item)


def _size(item: Item) -> int:
    """Return about how much there is to read."""
    if isinstance(item, Source):
        return len(item.text)
    try:
        return os.stat(item).st_size  # noqa: PTH116 - Path would cost more than the call
    except OSError:
        return 0  # reading it tells why


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
