"""Runs batches in several processes, with the same bytes and figures as in one.

Each worker has the pipeline and the run key, which decide every draw, and its own
meters. This process reads and writes records for them. If records of a format can be
counted without reading them, it only cuts a file into parts, which the workers read and
write. A few batches are under way at a time, so that memory stays bounded, and they
come back in order.
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
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np

from dptext import failures
from dptext.engine.job import Task
from dptext.errors import DptextError
from dptext.run.interface import Interface, current, shown_in

# Batches under way for each worker: one in work, one waiting.
_AHEAD = 2
# Libraries with threads, which do not survive a fork.
_THREADED = {"faiss", "sklearn", "spacy", "torch", "onnxruntime"}
# One thread in each worker: the processes share the cores.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_MALLOC = {-1: 2**28, -3: 2**25}  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD

T = TypeVar("T")


@contextlib.contextmanager
def started(
    make: Callable[[], Callable[[Task], T]], jobs: int, ready: Callable[[Task], T]
) -> Iterator[list[Connection]]:
    """Start worker processes for a block; `make` builds each worker.

    If it is safe they are forks of this process and use ready, a worker like those from
    make: nothing is loaded twice. They start now, before the block starts threads,
    which a fork would lack. Each has its own pipe: a process that is killed in the
    middle of a message leaves no other one waiting.
    """
    method = "spawn"
    if _can_copy():
        method, make = "fork", partial(_copied, ready)
    context: Any = multiprocessing.get_context(method)
    workers = list[Connection]()
    with contextlib.ExitStack() as stack:
        with one_thread_each(), signals_held(), warnings.catch_warnings():
            # That of Python 3.12 about the threads of OpenBLAS, which ends them itself.
            warnings.simplefilter("ignore", DeprecationWarning)
            for _ in range(jobs):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, make, current()))
                with theirs:
                    process.start()
                stack.callback(process.join)
                stack.callback(process.kill)
                workers.append(ours)
        yield workers


def spread(workers: list[Connection], tasks: Iterable[Task]) -> Iterator[Any]:
    """Distribute tasks over processes; yield their results in order.

    Raises DptextError when a process is killed.
    """
    free = SimpleQueue[Connection]()
    for worker in workers:
        free.put(worker)

    def ask(task: Task) -> Any:
        worker = free.get()
        try:
            worker.send(task.bare())
            answer = worker.recv()
        except (EOFError, OSError):
            raise DptextError(
                "a worker process stopped unexpectedly, perhaps for lack of memory; "
                "use fewer jobs"
            ) from None
        finally:
            free.put(worker)
        if isinstance(answer, Exception):
            raise answer
        return answer

    under_way: collections.deque[tuple[Task, Future[Any]]] = collections.deque()
    remaining, threads = iter(tasks), ThreadPoolExecutor(len(workers))
    try:
        while True:
            for task in islice(remaining, _AHEAD * len(workers) - len(under_way)):
                under_way.append((task, threads.submit(ask, task)))
            if not under_way:
                return
            first, future = under_way.popleft()
            yield first, future.result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _openblas() -> Callable[[int], None] | None:
    """Return the function that sets the threads of numpy's OpenBLAS, or None."""
    folder = Path(np.__file__).parents[1] / "numpy.libs"
    for path in folder.glob("libscipy_openblas64_*"):
        library = ctypes.CDLL(str(path))
        return getattr(library, "scipy_openblas_set_num_threads64_", None)
    return None


def _can_copy() -> bool:
    """Return whether this process can be forked: it must have a single thread.

    In a fork, another thread's lock would stay held forever.
    """
    threads = threading.active_count() > 1 or _THREADED & sys.modules.keys()
    return sys.platform == "linux" and not threads and _openblas() is not None


def _copied(ready: Callable[[Task], T]) -> Callable[[Task], T]:
    """Return the worker inherited from the parent process, limited to one thread."""
    if set_threads := _openblas():
        set_threads(1)
    return ready


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Limit processes started in a block to one thread, as they share the cores."""
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
    """Make processes started in a block ignore the terminal's signals.

    This process writes and stops the others. It receives held signals at the end.
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
    """Set up a process that ends when its parent does, however that ends.

    Interrupts are left to the parent.
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


def _serve(
    tasks: Connection,
    make: Callable[[], Callable[[Task], object]],
    interface: Interface,
) -> None:
    """Execute tasks in a worker process; setup errors are reported by the first task.

    interface: of the parent process, for messages.
    """
    begin()
    make = cache(make)
    while True:
        try:
            task = tasks.recv()
        except EOFError:
            return
        try:
            with failures.describe_failure(), shown_in(interface):
                answer = make()(task)
        except Exception as error:
            answer = error
        tasks.send(answer)
