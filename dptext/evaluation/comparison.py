"""Compares mechanisms on the user's texts: a grid of cells with one result row each.

Texts are a sample of files. Every cell runs in a separate process to measure its time
and memory; a few run at once. Finished rows can be stored and are then not
recomputed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import os
import resource
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing import connection
from multiprocessing.context import ForkServerContext
from pathlib import Path

import msgspec
import numpy as np

from dptext import _built, calibration, lexicons, pipeline, profile, progress, streams
from dptext._version import __version__
from dptext.decoders import none
from dptext.engine import documents, pool
from dptext.errors import (
    DptextError,
    LexiconError,
    MissingExtra,
    UsageError,
)
from dptext.evaluation import rows
from dptext.evaluation.rows import Pair
from dptext.evaluation.run import EvaluationSettings, Result, evaluate
from dptext.failures import describe_failure
from dptext.measures import bayes_risk, public
from dptext.profile import Part
from dptext.randomness import RunKey
from dptext.run.interface import noun
from dptext.run.selection import Selection
from dptext.types import Lexicon, Record

_EXAMPLES = 3
# Loaded once for all processes; nothing of these starts a thread.
_PRELOADED = ("dptext.measures.calibrate", "dptext.measures.bayes_risk")


@dataclass(frozen=True, slots=True)
class Cell:
    """One mechanism at one level, with one lexicon."""

    mechanism: str
    level: str
    lexicon: str
    profile: str
    #: Settings laid over the profile. Where an attacker on a server attacks, the
    #: decoder in them names the server and writes nothing.
    over: dict[str, object]
    #: Decides its draws; None: another one each time.
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """The user's texts, with the values of their labels and then attributes."""

    texts: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]

    def digest(self) -> str:
        """Return the sha256 of the sample."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


@dataclass(frozen=True, slots=True)
class CellRow:
    """The figures for a cell."""

    mechanism: str
    level: str
    lexicon: str
    dimensions: int | None = None
    epsilon: float | None = None
    notion: str | None = None
    #: In nats, null without bound.
    worst_loss: float | None = None
    #: Bayes risk, its upper limit where it is sampled; null without such a limit.
    risk: float | None = None
    result: Result | None = None
    #: Time to privatize the sample on one core.
    seconds: float | None = None
    #: Speed in that time.
    words_per_second: float | None = None
    #: Peak memory of the process after that.
    megabytes: float | None = None
    #: The first private texts.
    examples: tuple[str, ...] = ()
    #: Of the draws: with it, the figures can be computed again.
    seed: int | None = None
    #: SHA-256 of the lexicon.
    lexicon_sha256: str | None = None
    #: Profile of all settings but mechanism, budget and lexicon.
    profile: str = ""
    #: Number of texts of the sample.
    texts: int | None = None
    #: SHA-256 of the sample, its texts and values.
    sample_sha256: str | None = None
    #: Version of the program.
    dptext: str = __version__
    #: Kernel of the program: compiled or numpy.
    kernel: str = field(default_factory=_built.kernel)
    #: Why there are no figures.
    reason: str = ""


def check(cells: Sequence[Cell]) -> None:
    """Raise UsageError, naming the first, if cells cannot run.

    This is a quick check: an epsilon that a mechanism rejects fails only in its cell.
    """
    refused = []
    known: dict[str, Lexicon] = {}
    for cell in cells:
        try:
            recipe = profile.load(cell.profile, cell.over)
            if cell.lexicon not in known:
                known[cell.lexicon] = lexicons.find(cell.lexicon)
            pipeline.check(recipe, known[cell.lexicon])
        except (UsageError, LexiconError, MissingExtra) as error:
            refused.append(f"{cell.mechanism}, {cell.level}: {error}")
    if refused:
        raise UsageError(
            f"nothing was run: {len(refused)} of {len(cells)} cells cannot run; "
            f"{refused[0]}"
        )


def run(
    cells: Sequence[Cell],
    sample: Sample,
    settings: EvaluationSettings,
    *,
    jobs: int = 1,
    resume: Path | None = None,
) -> Iterator[tuple[Cell, CellRow]]:
    """Yield each cell with its row when it is finished.

    resume: a file of finished rows; its rows are not recomputed, and new ones are
    added. Raises UsageError for a file of other content, OSError if it cannot be
    written.
    """
    known = {} if resume is None else _read_finished(resume)
    keyed = [(key_of(cell, sample, settings), cell) for cell in cells]
    yield from ((cell, known[key]) for key, cell in keyed if key in known)
    waiting = [each for each in keyed if each[0] not in known]
    under_way: dict[connection.Connection, tuple[str, Cell]] = {}
    with contextlib.ExitStack() as stack:
        if jobs > 1:
            # Threads that wait for others of their product keep a core from others.
            stack.enter_context(pool.one_thread_each())
        while waiting or under_way:
            while waiting and len(under_way) < jobs:
                key, cell = waiting.pop(0)
                process = _process(cell, sample, settings)
                under_way[stack.enter_context(process)] = key, cell
            for answer in connection.wait(list(under_way)):
                assert isinstance(answer, connection.Connection)
                key, cell = under_way.pop(answer)
                row = _receive(answer, cell)
                # A failed cell is computed again.
                if resume is not None and not row.reason:
                    with resume.open("ab") as file:
                        file.write(msgspec.json.encode((key, row)) + b"\n")
                yield cell, row


def key_of(cell: Cell, sample: Sample, settings: EvaluationSettings) -> str:
    """Return a digest of everything that determines a row: cell, texts, settings."""
    decisive = msgspec.to_builtins((cell, settings, sample.digest()))
    # In ASCII: names of files may be no UTF-8.
    data = json.dumps(decisive, sort_keys=True)
    return hashlib.sha256(data.encode("ascii")).hexdigest()


def _read_finished(path: Path) -> dict[str, CellRow]:
    """Read an earlier run's rows by key; create the file if it is missing."""
    streams.check_file(path, noun("resume"))
    with path.open("ab"):
        pass
    known = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            key, row = msgspec.json.decode(line, type=tuple[str, CellRow])
        except (msgspec.ValidationError, msgspec.DecodeError):
            raise UsageError(
                f"{path}:{number}: not a file of rows written by dptext compare"
            ) from None
        known[key] = row
    return known


@contextlib.contextmanager
def _process(
    cell: Cell, sample: Sample, settings: EvaluationSettings
) -> Iterator[connection.Connection]:
    """Run a process that computes one cell; it ends with the block."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    about = dict(os.environ), progress.enabled(), cell, sample, settings
    process = _context().Process(target=_answer, args=(sender, *about))
    try:
        with sender, pool.signals_held():
            process.start()
        yield receiver
    finally:
        if process.pid is not None:  # an interrupt may come before it has begun
            process.kill()
            process.join()
        receiver.close()


def _receive(answer: connection.Connection, cell: Cell) -> CellRow:
    """Return the row computed by a process."""
    try:
        row: CellRow | Exception = answer.recv()
    except EOFError:
        row = _row(cell, "its process stopped unexpectedly, perhaps for lack of memory")
    if isinstance(row, Exception):
        raise row
    return row


@cache
def _context() -> ForkServerContext:
    """Return a start method that forks a process with common modules loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["numpy", __name__, *_PRELOADED])
    return context


def _answer(
    sender: connection.Connection,
    environment: dict[str, str],
    talkative: bool,
    cell: Cell,
    sample: Sample,
    settings: EvaluationSettings,
) -> None:
    """Compute a cell in a separate process."""
    # The server of processes keeps the environment in which it was started.
    os.environ.clear()
    os.environ.update(environment)
    pool.begin()
    # Several cells may be at the same step.
    progress.enable(talkative, about=f"{cell.mechanism}, {cell.level}: ")
    try:
        sender.send(compute(cell, sample, settings))
    except Exception as error:
        sender.send(error)


def _row(cell: Cell, reason: str) -> CellRow:
    """Return the row for a cell without figures."""
    return CellRow(
        mechanism=cell.mechanism,
        level=cell.level,
        lexicon=cell.lexicon,
        profile=cell.profile,
        reason=reason,
    )


def compute(cell: Cell, sample: Sample, settings: EvaluationSettings) -> CellRow:
    """Compute a cell; one that cannot run gives a row with the reason."""
    try:
        with describe_failure():  # which loses its traceback between processes
            return _evaluate_cell(cell, sample, settings)
    except DptextError as error:
        return _row(cell, str(error))


def _evaluate_cell(cell: Cell, sample: Sample, settings: EvaluationSettings) -> CellRow:
    recipe = profile.load(cell.profile, cell.over)
    lexicon = lexicons.find(cell.lexicon)
    written = recipe
    if settings.attacker is not None:  # the decoder names its server
        written = replace(recipe, decoder=Part("none", none.Params()))
    ready = writer = calibration.build(written, lexicon)
    records = [Record(n, (text,), None) for n, text in enumerate(sample.texts)]
    words, private = 0, list[tuple[str, ...]]()
    # No text leaves, so that a seed takes no protection away.
    seed = secrets.randbits(31) if cell.seed is None else cell.seed
    key = RunKey.from_seed(seed)
    randomness = ready.randomness(key)
    began = time.perf_counter()
    for batch in pipeline.batches(records):
        done = ready.privatize(batch, randomness)
        words += len(done.words.ids)
        private += done.texts
    seconds = time.perf_counter() - began
    unit = 1 if sys.platform == "darwin" else 1024
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    statement = documents.promised(ready)
    risk, _ = public.measure_risk(ready)
    texts = [record.texts for record in records]
    if not ready.channel.mechanism.has_log_probs:  # nothing to read by
        settings = replace(settings, public_text=None, attacker=None)
    if settings.attacker is not None:
        params = recipe.decoder.params.for_lexicon(lexicon)
        writer = replace(ready, decoder=params.prepare(ready.channel))
    pairs = map(Pair, texts, private, sample.values)
    return replace(
        _row(cell, reason=""),
        dimensions=int(lexicon.vectors.shape[1]),
        epsilon=ready.budget.description.high,
        notion=statement.bound.notion,
        worst_loss=statement.bound.worst_loss,
        risk=_upper_limit(risk),
        result=evaluate(pairs, lexicon, settings, writer, key=key),
        seconds=seconds,
        words_per_second=words / seconds if seconds else None,
        megabytes=megabytes,
        examples=tuple(text for (text,) in private[:_EXAMPLES]),
        seed=seed,
        lexicon_sha256=lexicon.digest,
        texts=len(sample.texts),
        sample_sha256=sample.digest(),
    )


def _upper_limit(risk: bayes_risk.Risk | None) -> float | None:
    """Return the success rate of the best guess, None if 100% means no limit."""
    if risk is None or (risk.high == 1.0 and not risk.bands):
        return None
    return risk.success


def read_sample(
    paths: Sequence[str],
    selection: Selection,
    settings: EvaluationSettings,
    size: int,
) -> Sample:
    """Sample texts evenly across files, with all labels and attributes.

    Records that lack text, a label or an attribute are skipped. Raises InputError,
    with the names of the fields, if none is left.
    """
    values = {"label": settings.labels, "attribute": settings.attributes}
    joined = (
        (rows.one_text(row.texts), row.values)
        for path in paths
        for row in rows.records(path, selection, values)
    )
    usable = [row for row in joined if row[0].strip() and None not in row[1]]
    if not usable:
        raise rows.nothing_to_read(paths, selection, values)
    # A fixed choice: the same sample each time, whatever the order of labels.
    order = np.random.default_rng(0).permutation(len(usable))[:size]
    return Sample(*zip(*(usable[at] for at in np.sort(order)), strict=True))
