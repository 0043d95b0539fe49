"""Runs the linter over many files, on all processors where that pays. A worker reads the files that it checks."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pyopscaffold.document.reader import Source
from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.lint import engine
from pyopscaffold.loader.manifests import STDIN, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import DefaultContext, ForkContext
    from multiprocessing.process import BaseProcess

    from pyopscaffold.lint.config import Config
    from pyopscaffold.lint.engine import Outcome
    from pyopscaffold.lint.evolution import Before
    from pyopscaffold.lint.finding import Report
    from pyopscaffold.lint.ruleset import Ruleset

    Item = str | Source
    Task = Callable[[Ruleset], "T"]
    Answer = tuple["T | None", Exception | None]
    """What a task gave, or what it raised."""
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
    """Hand out tasks, the largest first, one at a time to each worker.

    Each has a pipe of its own, and nothing is shared: so one that ends amid an answer, by Ctrl-C or for lack of memory,
    breaks that pipe, and holds up nobody. A ProcessPoolExecutor then waits for ever now and then.
    """
    from multiprocessing.connection import wait  # noqa: PLC0415 - small runs need none of it

    _ruleset[:] = [ruleset]
    left = sorted(range(len(tasks)), key=lambda index: sizes[index])
    done: dict[int, Answer[T]] = {}
    crew: dict[Connection, BaseProcess] = {}

    def hand_out(connection: Connection) -> None:
        index = left.pop()
        connection.send((index, tasks[index]))

    try:
        with _uninterrupted():
            crew.update(_worker(ruleset) for _ in range(workers))
        for connection in crew:
            hand_out(connection)
        while len(done) < len(tasks):
            for connection in cast("list[Connection]", wait(list(crew))):
                index, answer = connection.recv()
                tell(len(done), len(tasks))
                done[index] = answer
                if left:
                    hand_out(connection)
    except (EOFError, OSError) as error:
        raise PyopscaffoldError("a worker was killed; is there too little memory? --jobs 1 does without") from error
    finally:
        for process in crew.values():
            process.terminate()
        for process in crew.values():
            process.join()
    return [_result(done[index]) for index in range(len(tasks))]


def _result(answer: Answer[T]) -> T:
    result, error = answer
    if error is not None:
        raise error
    return cast("T", result)


def _worker(ruleset: Ruleset) -> tuple[Connection, BaseProcess]:
    """Start a process, and give it with our end of its pipe."""
    context = _context()
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, ruleset.config, ruleset.before), daemon=True)
    process.start()
    theirs.close()  # else a worker's end would not be the end of its pipe
    return ours, process


def _work(connection: Connection, config: Config, before: Before) -> None:
    """Do what is asked for until nobody asks any more."""
    _begin(config, before)
    while True:
        try:
            index, task = connection.recv()
        except EOFError:
            return
        try:
            answer: Answer[Any] = task(_ruleset[0]), None
        except Exception as error:  # noqa: BLE001 - it is raised where the task was given
            answer = None, error
        connection.send((index, answer))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off while workers are made: what is raised amid a fork is told and lost, and all goes on."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context() -> DefaultContext | ForkContext:
    import multiprocessing  # noqa: PLC0415

    # A fork has the rules already, which saves their import; elsewhere it is unsafe, or there is none.
    return multiprocessing.get_context("fork") if sys.platform == "linux" else multiprocessing.get_context()


def _begin(config: Config, before: Before) -> None:
    """Make a worker ready: Ctrl-C ends it without a word, since its parent has the say."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if not _ruleset:
        from pyopscaffold.lint.library import rules  # noqa: PLC0415 - it imports this module
        from pyopscaffold.lint.ruleset import Ruleset  # noqa: PLC0415

        _ruleset.append(Ruleset(rules(), config, before=before))


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
