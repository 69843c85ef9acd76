"""Mechanisms against each other on one's own texts: a grid of cells, one row for each.

Every cell runs in a process of its own, so that its time and memory are its own; a few
run at once. Rows that are done can be kept and are then not computed again.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache

import msgspec

from dptext import failures, lexicons, pipeline, profile, progress
from dptext.errors import DptextError
from dptext.evaluation.run import Evaluation, Result, Settings
from dptext.measures import public
from dptext.randomness import RunKey
from dptext.report import assemble
from dptext.types import Record, Words

_EXAMPLES = 3
# Loaded once for all processes; nothing of these starts a thread.
_PRELOADED = ("dptext.measures.calibrate", "dptext.measures.bayes_risk")
ACCURACIES = (
    "utility, attack: accuracy of a classifier trained and tested on private texts; on "
    "originals: trained and tested on the texts as they were; by chance: the share of "
    "the most frequent value."
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One mechanism at one level with one lexicon; over is laid over the profile."""

    mechanism: str
    level: str
    lexicon: str
    profile: str
    over: dict[str, object]


@dataclass(frozen=True, slots=True)
class Sample:
    """Texts of the user, and the values of labels, then attributes, of each."""

    texts: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]

    def digest(self) -> str:
        """Return the sha256 of the sample."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of a cell; reason says why there is nothing else.

    worst_loss in nats, null without bound; risk the upper limit of the Bayes risk;
    seconds to privatize the sample on one core, words_per_second with that; megabytes
    the peak memory of the process after that; examples the first texts as they came
    out.
    """

    mechanism: str
    level: str
    lexicon: str
    dimensions: int | None = None
    epsilon: float | None = None
    notion: str | None = None
    worst_loss: float | None = None
    risk: float | None = None
    result: Result | None = None
    seconds: float | None = None
    words_per_second: float | None = None
    megabytes: float | None = None
    examples: tuple[str, ...] = ()
    reason: str = ""


def run(
    cells: Sequence[Cell],
    sample: Sample,
    settings: Settings,
    *,
    jobs: int = 1,
    done: Mapping[str, Row] | None = None,
    keep: Callable[[str, Row], None] | None = None,
) -> Iterator[tuple[Cell, Row]]:
    """Yield each cell with its row, as they are finished.

    done are rows by their keys from an earlier run; keep is called with every new one.
    """
    known = done or {}
    named = {key_of(cell, sample, settings): cell for cell in cells}
    for key, cell in named.items():
        if key in known:
            yield cell, known[key]
    with ThreadPoolExecutor(jobs) as threads:
        waiting = {
            threads.submit(_in_process, cell, sample, settings): (key, cell)
            for key, cell in named.items()
            if key not in known
        }
        try:
            for future in as_completed(waiting):
                key, cell = waiting[future]
                row = future.result()
                if keep is not None:
                    keep(key, row)
                yield cell, row
        finally:
            for future in waiting:
                future.cancel()


def key_of(cell: Cell, sample: Sample, settings: Settings) -> str:
    """Return what decides a row: the cell, the texts, and what is measured."""
    decisive = msgspec.to_builtins((cell, settings, sample.digest()))
    # In ASCII: names of files may be no UTF-8.
    data = json.dumps(decisive, sort_keys=True)
    return hashlib.sha256(data.encode("ascii")).hexdigest()


def _in_process(cell: Cell, sample: Sample, settings: Settings) -> Row:
    """Compute a cell in a process of its own."""
    with ProcessPoolExecutor(
        1, _context(), initializer=_ready, initargs=(progress.enabled(),)
    ) as process:
        try:
            return process.submit(compute, cell, sample, settings).result()
        except BrokenProcessPool:
            reason = "its process stopped (is there enough memory?)"
            return Row(cell.mechanism, cell.level, cell.lexicon, reason=reason)


@cache
def _context() -> multiprocessing.context.BaseContext:
    """Return how processes start: from one that has loaded what each of them needs."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["numpy", __name__, *_PRELOADED])
    return context


def _ready(talkative: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    progress.on(talkative)


def compute(cell: Cell, sample: Sample, settings: Settings) -> Row:
    """Compute a cell; what cannot be run is a row with the reason."""
    try:
        with failures.described():  # which loses its traceback between processes
            return _computed(cell, sample, settings)
    except DptextError as error:
        return Row(cell.mechanism, cell.level, cell.lexicon, reason=str(error))


def _computed(cell: Cell, sample: Sample, settings: Settings) -> Row:
    recipe = profile.load(cell.profile, cell.over)
    lexicon = lexicons.find(cell.lexicon)
    ready = pipeline.build(recipe, lexicon)
    records = [Record(n, (text,), None) for n, text in enumerate(sample.texts)]
    words = 0

    def observe(batch: Words, *_: object) -> None:
        nonlocal words
        words += len(batch.ids)

    began = time.perf_counter()
    private = [
        texts for _, texts in ready.run(records, RunKey.fresh(), observe=observe)
    ]
    seconds = time.perf_counter() - began
    megabytes = _peak()
    statement = assemble.promised(ready)
    risk, _ = public.risk_of(ready)
    texts = [record.texts for record in records]
    originals = Evaluation.of(lexicon, settings, texts, sample.values)
    return Row(
        mechanism=cell.mechanism,
        level=cell.level,
        lexicon=cell.lexicon,
        dimensions=int(lexicon.vectors.shape[1]),
        epsilon=ready.budget.description.high,
        notion=statement.notion,
        worst_loss=statement.worst_loss,
        risk=None if risk is None else risk.success,
        result=originals.against(private, ready),
        seconds=seconds,
        words_per_second=words / seconds if seconds else None,
        megabytes=megabytes,
        examples=tuple(text for (text,) in private[:_EXAMPLES]),
    )


def _peak() -> float:
    """Return the peak memory of this process in megabytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
