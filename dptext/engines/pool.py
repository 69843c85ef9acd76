"""The pool engine: batches go to worker processes; the same bytes as the serial one.

This process reads, writes and counts; each worker has the pipeline and the run key,
which decide every draw. A few batches are under way at a time, so that memory stays
bounded, and they come back in order.
"""

from __future__ import annotations

import collections
import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

from dptext import lexicons
from dptext import pipeline as pipelines
from dptext.errors import DptextError, LexiconError, UsageError
from dptext.pipeline import Observer, Pipeline
from dptext.profile import Profile
from dptext.randomness import Randomness, RunKey
from dptext.types import Eps, Ids, Record, Words

# Batches under way for each worker: one in work, one waiting.
_AHEAD = 2
# One thread in each worker: the processes share the cores.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Seen = tuple[Words, Ids, Eps]
Done = tuple[list[tuple[str, ...]], list[Seen]]


def run(
    pipeline: Pipeline,
    records: Iterable[Record],
    key: RunKey,
    jobs: int,
    *,
    batch_size: int = 4096,
    observe: Observer | None = None,
) -> Iterator[tuple[Record, tuple[str, ...]]]:
    """Privatize a stream of records with several processes, in order.

    As Pipeline.run. Raises DptextError when a worker is killed.
    """
    under_way: collections.deque[tuple[list[Record], Future[Done]]]
    under_way = collections.deque()

    def finish() -> Iterator[tuple[Record, tuple[str, ...]]]:
        batch, future = under_way.popleft()
        texts, seen = future.result()
        if observe is not None:
            for each in seen:
                observe(*each)
        yield from zip(batch, texts, strict=True)

    with _one_thread_each(), _workers(pipeline, key, jobs) as workers:
        try:
            for batch in pipelines.batches(records, batch_size):
                # What else a record holds stays here.
                bare = [replace(record, rest=None) for record in batch]
                under_way.append((batch, workers.submit(_privatize, bare)))
                if len(under_way) >= _AHEAD * jobs:
                    yield from finish()
            while under_way:
                yield from finish()
        except BrokenProcessPool:  # by a batch that is handed out or comes back
            msg = "a worker process stopped (is there enough memory?); try fewer jobs"
            raise DptextError(msg) from None
        finally:
            workers.shutdown(wait=True, cancel_futures=True)


def _workers(pipeline: Pipeline, key: RunKey, jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        max_workers=jobs,
        # A fork would copy locks that threads of this process may hold.
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_open,
        initargs=(pipeline.profile, pipeline.lexicon.digest, pipeline.identity, key),
    )


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
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


_OPENED: tuple[Pipeline, Randomness] | None = None


def _open(recipe: Profile, digest: str, identity: str, key: RunKey) -> None:
    """Make the pipeline in a worker; its risk has been turned into an epsilon."""
    global _OPENED
    # An interrupt is for the process that writes; it stops the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lexicon = lexicons.find(recipe.lexicon)
    if lexicon.digest != digest:
        msg = f"lexicon {recipe.lexicon} has changed since the run began"
        raise LexiconError(msg)
    made = pipelines.build(recipe, lexicon)
    if made.identity != identity:
        msg = "a file that the settings name has changed since the run began; run again"
        raise UsageError(msg)
    _OPENED = made, made.randomness(key)


def _privatize(batch: list[Record]) -> Done:
    """Return the texts of a batch, and what was drawn for its words."""
    assert _OPENED is not None
    made, randomness = _OPENED
    seen: list[Seen] = []

    def observe(words: Words, drawn: Ids, eps: Eps) -> None:
        # What is counted needs no text.
        seen.append((replace(words, pieces=[]), drawn, eps))

    return made.privatize(batch, randomness, observe), seen
