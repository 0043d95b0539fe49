"""Runs the linter over many files, on all processors where that pays. A worker reads the files that it checks."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pyopscaffold.document.reader import Source
from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.lint import engine
from pyopscaffold.loader.manifests import STDIN, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from multiprocessing.context import BaseContext

    from pyopscaffold.lint.config import Config
    from pyopscaffold.lint.engine import Outcome
    from pyopscaffold.lint.evolution import Before
    from pyopscaffold.lint.finding import Report
    from pyopscaffold.lint.ruleset import Ruleset

    Item = str | Source
    Task = Callable[[Ruleset], "T"]
    Tell = Callable[[int, int], None]
    """Takes how many files are done, and how many there are."""

T = TypeVar("T")
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
    tasks = [partial(_check, item) for item in sources]
    return engine.report(each(tasks, list(map(size, sources)), ruleset, jobs=jobs, tell=tell), ruleset)


def each(tasks: Sequence[Task[T]], sizes: Sequence[int], ruleset: Ruleset, *, jobs: int, tell: Tell) -> list[T]:
    """Do tasks, which are about texts of these sizes; ``jobs`` and ``tell`` as in :func:`run`."""
    workers = min(jobs or _processors(), len(tasks), jobs or sum(sizes) // SHARE)
    if workers > 1:
        return _in_parallel(tasks, sizes, ruleset, workers, tell)
    results = []
    for done, task in enumerate(tasks):
        tell(done, len(tasks))
        results.append(task(ruleset))
    return results


def _in_parallel(tasks: Sequence[Task[T]], sizes: Sequence[int], ruleset: Ruleset, workers: int, tell: Tell) -> list[T]:
    from concurrent.futures import ProcessPoolExecutor, as_completed  # noqa: PLC0415 - small runs need none of it
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415
    from multiprocessing import active_children  # noqa: PLC0415

    _ruleset[:], others = [ruleset], set(active_children())
    pool = ProcessPoolExecutor(workers, _context(), initializer=_begin, initargs=(ruleset.config, ruleset.before))
    try:
        by_size = sorted(range(len(tasks)), key=lambda index: sizes[index], reverse=True)
        with _uninterrupted():
            futures: dict[int, Future[T]] = {index: pool.submit(_do, tasks[index]) for index in by_size}
        for done, _ in enumerate(as_completed(futures.values())):
            tell(done, len(tasks))
        return [futures[index].result() for index in range(len(tasks))]
    except BrokenProcessPool as error:
        raise PyopscaffoldError("a worker was killed; is there too little memory? --jobs 1 does without") from error
    except BaseException:  # Ctrl-C above all: what is under way is not waited for
        for worker in set(active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off while workers are made: what is raised amid a fork is told and lost, and all goes on."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context() -> BaseContext:
    import multiprocessing  # noqa: PLC0415

    # A fork has the rules already, which saves their import; elsewhere it is unsafe, or there is none.
    return multiprocessing.get_context("fork" if sys.platform == "linux" else None)


def _begin(config: Config, before: Before) -> None:
    """Make a worker ready: Ctrl-C ends it without a word, since its parent has the say."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if not _ruleset:
        from pyopscaffold.lint.library import rules  # noqa: PLC0415 - it imports this module
        from pyopscaffold.lint.ruleset import Ruleset  # noqa: PLC0415

        _ruleset.append(Ruleset(rules(), config, before=before))


def _do(task: Task[T]) -> T:
    return task(_ruleset[0])


def _check(item: Item, ruleset: Ruleset) -> Outcome:
    return engine.check(item if isinstance(item, Source) else read(item), ruleset)


def size(item: Item) -> int:
    """Return about how much there is to read."""
    if isinstance(item, Source):
        return len(item.text)
    try:
        return os.stat(item).st_size  # noqa: PTH116 - Path would cost more than the call
    except OSError:
        return 0  # reading it tells why


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
