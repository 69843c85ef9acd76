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
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from itertools import islice
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dptext import registry
from dptext.engine.job import Task
from dptext.errors import DptextError

# Batches under way for each worker: one in work, one waiting.
_AHEAD = 2
# Libraries whose threads do not outlive a fork.
_THREADED = {"faiss", "sklearn", "spacy", "torch", "onnxruntime"}
# One thread in each worker: the processes share the cores.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_MALLOC = {-1: 2**28, -3: 2**25}  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD

T = TypeVar("T")


@contextlib.contextmanager
def started(
    make: Callable[[], Callable[[Task], T]], jobs: int, ready: Callable[[Task], T]
) -> Iterator[ProcessPoolExecutor]:
    """Start processes for a block; each makes a worker, which does tasks.

    Where it is safe they are copies of this process and use ready, a worker like those
    that make returns: nothing is loaded twice. They start at once, before the block
    starts threads, which no copy would have.
    """
    method = "spawn"
    if _can_copy():
        method, make = "fork", partial(_copied, ready)
    with one_thread_each(), signals_held(), warnings.catch_warnings():
        # That of Python 3.12 about the threads of OpenBLAS, which ends them itself.
        warnings.simplefilter("ignore", DeprecationWarning)
        workers = ProcessPoolExecutor(
            jobs, multiprocessing.get_context(method), _begin, (make,)
        )
        for _ in range(jobs):
            workers.submit(int)  # each starts a process
    try:
        yield workers
    finally:
        workers.shutdown(wait=True, cancel_futures=True)


def spread(
    workers: ProcessPoolExecutor, tasks: Iterable[Task], jobs: int
) -> Iterator[tuple[Task, Any]]:
    """Give tasks to processes; what they make comes back in order.

    Raises DptextError when a process is killed.
    """
    under_way: collections.deque[tuple[Task, Future[Any]]] = collections.deque()
    left = iter(tasks)
    try:
        while True:
            for task in islice(left, _AHEAD * jobs - len(under_way)):
                under_way.append((task, workers.submit(_work, task.bare())))
            if not under_way:
                return
            first, future = under_way.popleft()
            yield first, future.result()
    except BrokenProcessPool:  # by a task that is handed out or comes back
        raise DptextError(
            "a worker process stopped (is there enough memory?); try fewer jobs"
        ) from None


def _openblas() -> Callable[[int], None] | None:
    """Return what sets the threads of the OpenBLAS in numpy, None where it is none."""
    folder = Path(np.__file__).parents[1] / "numpy.libs"
    for path in folder.glob("libscipy_openblas64_*"):
        library = ctypes.CDLL(str(path))
        return getattr(library, "scipy_openblas_set_num_threads64_", None)
    return None


def _can_copy() -> bool:
    """Tell whether a fork of this process works: a lock of a thread would stay held."""
    threads = threading.active_count() > 1 or _THREADED & sys.modules.keys()
    return sys.platform == "linux" and not threads and _openblas() is not None


def _copied(ready: Callable[[Task], T]) -> Callable[[Task], T]:
    """Return the worker of the process that this one is a copy of, on one thread."""
    if set_threads := _openblas():
        set_threads(1)
    return ready


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Have processes that start meanwhile use one thread: they share the cores."""
    before = {name: os.environ[name] for name in _THREADS if name in os.environ}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name in _THREADS:
            del os.environ[name]
        os.environ.update(before)


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
    try:
        # Its start lets SIGINT through again; once it runs nothing does.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, terminals)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin() -> None:
    """Begin a process that ends when the one that started it does, however that ends.

    An interrupt is left to that one.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(AttributeError, OSError):  # another library than glibc
        # Memory that a batch gives back serves the next: the system would clear it.
        for parameter, size in _MALLOC.items():
            ctypes.CDLL(None).mallopt(parameter, size)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()  # a pipe that is closed with it, on every system
    os._exit(1)


# Returns the worker of a worker process, made once.
_worker: Callable[[], Callable[[Task], Any]]


def _begin(make: Callable[[], Callable[[Task], Any]]) -> None:
    """Begin a worker process; what could fail is left to its first batch."""
    global _worker
    begin()
    _worker = cache(make)


def _work(task: Task) -> Any:
    """Do a task in a worker process."""
    with registry.describe_failure():
        return _worker()(task)
