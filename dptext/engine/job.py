"""A job of a run, its tasks, and the worker that sanitizes them.

A job names inputs and an output. It is split into tasks: batches of records, or parts
of a file. One worker reads, sanitizes and writes each task.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from dptext import formats, lexicons, metrics
from dptext import pipeline as pipelines
from dptext.decoders import ServerUse
from dptext.engine.tally import Counted, Meters
from dptext.errors import LexiconError, UsageError
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.pseudonyms import Pseudonyms
from dptext.randomness import Randomness, RunKey
from dptext.run.marks import Needs
from dptext.run.selection import Selection
from dptext.run.work import Outputs, Work
from dptext.types import Fault, Lexicon, Record, Verbatim

# Called now and then with records and words done so far.
Progress = Callable[[int, int], None]
# Called with a line for people, which holds nothing of a text.
Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Job:
    """One output and its inputs."""

    #: Paths; "-" for standard input.
    inputs: tuple[str, ...]
    #: A path; None for standard output.
    output: str | None
    selection: Selection
    #: Name of the output among several of a run: its path in their folder, or that of
    #: the file it replaces. None for the only output of a run.
    name: str | None = None
    #: Whether the content alone told the format.
    is_guessed: bool = False
    outputs: Outputs = field(default_factory=Outputs)
    work: Work = field(default_factory=Work)
    #: Whether texts with many words unknown to the lexicon pass without a warning.
    any_language: bool = False
    #: Needs of typed options, which the format of the input must meet.
    needs: Mapping[str, Needs] = field(default_factory=dict)
    #: Whether the output has another format than the inputs: that of vectors.
    converts: bool = False

    @property
    def format(self) -> str | None:
        """Return the format of all inputs, None until it is known."""
        return self.selection.format

    @property
    def named(self) -> formats.Format | None:
        """Return the input format implied by the output's name, or None."""
        return None if self.converts else formats.by_suffix(self.output or "")

    @property
    def batch_size(self) -> int:
        """Return the maximum number of records in a batch."""
        return 1 if self.outputs.line_buffered else self.work.batch_size


@dataclass(frozen=True, slots=True)
class Written:
    """A finished output, with the digest of its released bytes."""

    format: str
    #: Size.
    bytes: int
    sha256: str
    #: Names of the copied fields, if a header or a schema names them all.
    copied: tuple[str, ...] | None = None
    #: The sheets of a workbook, and whether the records of each are private.
    sheets: dict[str, bool] | None = None
    #: Requests to a third party.
    used: ServerUse | None = None
    #: Whether faulty records were left out.
    has_faults: bool = False
    #: Columns and rows of a file of vectors; None for words.
    columns: tuple[str, ...] | None = None
    rows: int | None = None


class FilePart(NamedTuple):
    """Whole records of an input as bytes, with everything needed to parse them."""

    format: str
    selection: Selection
    #: Name of the input in messages.
    location: str
    #: Bytes that make a file of the records, such as the header of a table.
    head: bytes
    #: Number of lines before the first record.
    line: int
    #: Ordinal of the first record.
    start: int
    data: bytes = b""

    def source(self, stream: BinaryIO) -> formats.Input:
        """Return the input for a parser, from a stream of head and whole records."""
        line = self.line + 1 - self.head.count(b"\n")
        return formats.Input(
            stream=stream,
            selection=self.selection,
            location=self.location,
            start=self.start,
            line=line,
        )


class Task(NamedTuple):
    """A unit of work: a batch of records, or a part of a file."""

    records: list[Record]
    #: Number of texts of the run before these, exact up to FIRST_TEXTS.
    first_text: int
    #: Replaces the records, which are empty then.
    part: FilePart | None = None
    #: Whether records in none of the languages are left out.
    leaves_out: bool = False

    def bare(self) -> Task:
        """Return the task for another process, without data only the writer needs."""
        records = [
            Record(
                record.ordinal,
                record.texts,
                None,
                record.identity,
                language=record.language,
                repeat=record.repeat,
            )
            for record in self.records
        ]
        return self._replace(records=records)


class TaskResult(NamedTuple):
    """Counts and output of a finished task, a batch or a part of a file."""

    counted: Counted
    #: New texts of each record of a batch, None for one that is left out.
    texts: Sequence[tuple[str, ...] | None]
    #: Number of replaced words of each text of a batch.
    replaced: list[int]
    #: New bytes of a part.
    data: bytes
    #: Number of records of a part by the fields they have.
    present: Counter[tuple[str, ...] | None]
    #: Faulty records of a part.
    faults: list[Fault]
    #: Number of records of a part that are left out for their language, as they were.
    others: int = 0
    left_out: bytes = b""


class Worker:
    """Executes tasks with one pipeline and one run key, which determine every draw.

    output: as in Randomness.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        key: RunKey,
        meters: Meters,
        output: str | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._randomness = pipeline.randomness(key, output)
        self._meters = meters
        self._key = key

    def __call__(self, task: Task) -> TaskResult:
        """Sanitize a batch or a part."""
        return self._records(task) if task.part is None else self._part(task)

    def _records(self, task: Task) -> TaskResult:
        records, others = task.records, [False] * len(task.records)
        if task.leaves_out:
            others = self._pipeline.in_other_languages(records)
            records = [
                each for each, other in zip(records, others, strict=True) if not other
            ]
        private = self._pipeline.privatize(records, self._randomness)
        texts, replaced = iter(private.texts), iter(private.replaced)
        return TaskResult(
            counted=self._meters.count(private, task.first_text),
            texts=[None if other else next(texts) for other in others],
            replaced=[
                0 if other else next(replaced)
                for record, other in zip(task.records, others, strict=True)
                for _ in record.texts
            ],
            data=b"",
            present=Counter(),
            faults=[],
        )

    def _part(self, task: Task) -> TaskResult:
        """Read, sanitize and write a part.

        The first FIRST_TEXTS texts of the run must have been processed already.
        """
        part = task.part
        assert part is not None
        module = formats.find(None, part.format)
        batch, faults = list[Record](), list[Fault]()
        for item in module.read(part.source(io.BytesIO(part.head + part.data))):
            if isinstance(item, Fault):
                faults.append(item)
            else:
                batch.append(
                    Record(-1, (), item) if isinstance(item, Verbatim) else item
                )
        # With its head, no batch is empty.
        of_part = Task(batch, metrics.FIRST_TEXTS, leaves_out=task.leaves_out)
        done = self._records(of_part)
        out, present = io.BytesIO(), Counter[tuple[str, ...] | None]()
        replacement, others = find_replacement(part.selection, self._key), 0
        writer = module.writer(out, part.selection, replacement)
        aside = io.BytesIO()
        kept = module.writer(aside, part.selection, replacement)
        head: int | None = None  # bytes that it takes in the output
        for record, texts in zip(batch, done.texts, strict=True):
            if isinstance(record.rest, Verbatim):
                writer.verbatim(record.rest)
                head = out.tell() if head is None else head
            elif texts is None:
                others += 1
                kept.write(record, record.texts)
            else:
                present[record.present] += 1
                writer.write(record, texts)
        data = out.getvalue()[head:]
        return TaskResult(
            counted=done.counted,
            texts=[],
            replaced=[],
            data=data,
            present=present,
            faults=faults,
            others=others,
            left_out=aside.getvalue(),
        )


def find_replacement(selection: Selection, key: RunKey) -> formats.Replacement:
    """Return the function that replaces values, for records with replaced fields.

    Raises UsageError for these unless the key is from a file.
    """
    return Pseudonyms(key).token if selection.replaced else formats.no_replacement


class Shuffled(formats.Writer):
    """Passes records to a writer in random order once all have been collected.

    A record's place follows from 128 bits that the run key derives from its place
    in the input and its texts, or from its id and texts, by BLAKE2b like its noise:
    nobody without the key can tell the order from one drawn at random. A key file, the
    same input and the same settings give the same order again; where two inputs differ,
    the records that are equal in both keep their relative order. All records
    of an output are held in memory until its last one is read.
    """

    def __init__(
        self,
        writer: formats.Writer,
        pipeline: Pipeline,
        key: RunKey,
        output: str | None,
    ) -> None:
        """Derive the order from the run key, independently of the pipeline's noise.

        output as in Randomness.
        """
        self._writer = writer
        self._order = Randomness(key, f"order of records {pipeline.identity}", output)
        self._held: list[tuple[bytes, int, Record, Sequence[str]]] = []

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Hold a record; ties by number do not occur, as no two places are equal.

        Places are equal with a chance of 2^-128 for two records.
        """
        self._held.append((self._order.nonce(record), len(self._held), record, texts))

    def verbatim(self, item: Verbatim) -> None:
        """Write items between records immediately, before all records."""
        self._writer.verbatim(item)

    def close(self) -> None:
        """Write all records in random order."""
        self._held.sort(key=lambda held: held[:2])
        for _, _, record, texts in self._held:
            self._writer.write(record, texts)
        self._held.clear()
        self._writer.close()

    @property
    def note(self) -> str:
        """Return the writer's note."""
        return self._writer.note


class Recipe(NamedTuple):
    """Everything needed to build a worker in another process."""

    #: With an epsilon, never a risk.
    profile: Profile
    #: Digest of the lexicon.
    digest: str
    #: Identity of the pipeline.
    identity: str
    key: RunKey

    @classmethod
    def from_pipeline(cls, pipeline: Pipeline, key: RunKey) -> Recipe:
        """Return the recipe for workers with a pipeline and a run key.

        Raises UsageError for a decoder that asks a third party, since one process
        bounds the requests.
        """
        if pipeline.decoder.used is not None:
            raise UsageError(
                f"the decoder {pipeline.profile.decoder.name} queries a server, and "
                "only a single process can limit its requests: run it on one machine, "
                "without Spark"
            )
        return cls(pipeline.profile, pipeline.lexicon.digest, pipeline.identity, key)

    def pipeline(self, lexicon: Lexicon) -> Pipeline:
        """Build the pipeline again.

        Raises LexiconError and UsageError if the content of a file has changed.
        """
        if lexicon.digest != self.digest:
            raise LexiconError(
                f"lexicon {self.profile.lexicon} has changed since the run began"
            )
        pipeline = pipelines.build(self.profile, lexicon)
        if pipeline.identity != self.identity:
            raise UsageError(
                "a file named in the settings has changed since the run began; run "
                "again"
            )
        return pipeline

    def worker(self, output: str | None = None) -> Worker:
        """Build the pipeline and its worker again; output: as in Randomness."""
        pipeline = self.pipeline(lexicons.find(self.profile.lexicon))
        return Worker(pipeline, self.key, Meters(pipeline.lexicon), output)
