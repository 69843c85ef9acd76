"""Batches in several processes: the same bytes and figures as in one.

Each worker has the pipeline and the run key, which decide every draw, and meters of its
own. This process reads and writes records for them; of formats whose records can be
counted without reading them it only cuts a file into parts, which the workers read and
write. A few are under way at a time, so that memory stays bounded, and they come back
in order.
"""

from __future__ import annotations

import collections
import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import Any, NamedTuple, Protocol, TypeVar

from dptext import lexicons, registry
from dptext import pipeline as pipelines
from dptext.engine.tally import Meters
from dptext.engine.worker import Done, Task, Worker
from dptext.errors import DptextError, LexiconError, UsageError
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.randomness import RunKey
from dptext.types import Lexicon

# Batches under way for each worker: one in work, one waiting.
_AHEAD = 2
# One thread in each worker: the processes share the cores.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

T = TypeVar("T", covariant=True)


class AnyRecipe(Protocol[T]):
    """What a worker is made from in another process."""

    def worker(self) -> Callable[[Task], T]:
        """Make what does tasks."""


class Recipe(NamedTuple):
    """What a worker is made from; the profile's risk has been turned into an epsilon.

    digest is that of the lexicon, identity that of the pipeline.
    """

    profile: Profile
    digest: str
    identity: str
    key: RunKey

    @classmethod
    def of(cls, pipeline: Pipeline, key: RunKey) -> Recipe:
        """Return what makes workers of a pipeline and a run key.

        Raises UsageError where a third party is asked: one process counts requests.
        """
        if pipeline.decoder.used is not None:
            raise UsageError(
                f"the decoder {pipeline.profile.decoder.name} asks a server, and one "
                "process bounds its requests: run it on one machine, without Spark"
            )
        return cls(pipeline.profile, pipeline.lexicon.digest, pipeline.identity, key)

    def pipeline(self, lexicon: Lexicon) -> Pipeline:
        """Make the pipeline again.

        Raises LexiconError and UsageError when a file is not what it was.
        """
        if lexicon.digest != self.digest:
            raise LexiconError(
                f"lexicon {self.profile.lexicon} has changed since the run began"
            )
        pipeline = pipelines.build(self.profile, lexicon)
        if pipeline.identity != self.identity:
            raise UsageError(
                "a file that the settings name has changed since the run began; run "
                "again"
            )
        return pipeline

    def worker(self) -> Worker:
        """Make the pipeline again, and what it is used by."""
        pipeline = self.pipeline(lexicons.find(self.profile.lexicon))
        return Worker(pipeline, self.key, Meters(pipeline.lexicon))


def run(
    pipeline: Pipeline, tasks: Iterable[Task], key: RunKey, jobs: int
) -> Iterator[tuple[Task, Done]]:
    """Do the tasks of a run, in order."""
    return spread(Recipe.of(pipeline, key), tasks, jobs)


def spread(
    recipe: AnyRecipe[T], tasks: Iterable[Task], jobs: int
) -> Iterator[tuple[Task, T]]:
    """Give tasks to the workers of a recipe; they come back in order.

    Raises DptextError when a worker is killed.
    """
    under_way: collections.deque[tuple[Task, Future[T]]] = collections.deque()

    def finish() -> tuple[Task, T]:
        task, future = under_way.popleft()
        return task, future.result()

    with one_thread_each(), _workers(recipe, jobs) as workers:
        try:
            for task in tasks:
                with signals_held():  # what is submitted may start a process
                    under_way.append((task, workers.submit(_work, task.bare())))
                if len(under_way) >= _AHEAD * jobs:
                    yield finish()
            while under_way:
                yield finish()
        except BrokenProcessPool:  # by a batch that is handed out or comes back
            raise DptextError(
                "a worker process stopped (is there enough memory?); try fewer jobs"
            ) from None
        finally:
            workers.shutdown(wait=True, cancel_futures=True)


def _workers(recipe: AnyRecipe[object], jobs: int) -> ProcessPoolExecutor:
    with signals_held():
        return ProcessPoolExecutor(
            max_workers=jobs,
            # A fork would copy locks that threads of this process may hold.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(recipe,),
        )


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Have processes that start meanwhile use one thread: they share the cores."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Have processes that start meanwhile leave a terminal's signals to this one.

    It is the one that writes, and stops the others. Here they are held until the end.
    """
    if not hasattr(signal, "pthread_sigmask"):  # no such signals on this system
        yield
        return
    terminals = signal.SIGINT, signal.SIGHUP
    before = signal.pthread_sigmask(signal.SIG_BLOCK, terminals)
    with _deferred((*terminals, signal.SIGTERM)):
        try:
            # Its start lets SIGINT through again; once it runs nothing does.
            resource_tracker.ensure_running()
            signal.pthread_sigmask(signal.SIG_BLOCK, terminals)
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _deferred(numbers: Sequence[signal.Signals]) -> Iterator[None]:
    """Call handlers at the end: another thread may take a signal that this one blocks.

    A process of which only a half is started would print a traceback.
    """
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in numbers}
    main = threading.current_thread() is threading.main_thread()
    ours = [number for number in numbers if main and callable(handlers[number])]
    for number in ours:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, handlers[number])
        for late in came[:1]:
            signal.raise_signal(late)


def begin() -> None:
    """Begin a process that ends when the one that started it does, however that ends.

    An interrupt is left to that one.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()  # a pipe that is closed with it, on every system
    os._exit(1)


# Of a worker process.
_RECIPE: AnyRecipe[Any] | None = None
_WORKER: Callable[[Task], Any] | None = None


def _begin(recipe: AnyRecipe[object]) -> None:
    """Begin a worker process; what could fail is left to its first batch."""
    global _RECIPE
    begin()
    _RECIPE = recipe


def _work(task: Task) -> Any:
    """Do a task in a worker process."""
    global _WORKER
    with registry.describe_failure():
        if _WORKER is None:
            assert _RECIPE is not None
            _WORKER = _RECIPE.worker()
        return _WORKER(task)
