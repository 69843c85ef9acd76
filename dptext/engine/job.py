"""A job of a run, its tasks, and the worker that makes them private.

A job says what is read and where it is written. It is done task after task: a batch of
records, or a part of a file, which one worker reads, makes private and writes alone.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from dptext import formats, lexicons, metrics
from dptext import pipeline as pipelines
from dptext.engine.tally import Counted, Meters
from dptext.errors import LexiconError, UsageError
from dptext.models.server_use import ServerUse
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.pseudonyms import Pseudonyms
from dptext.randomness import RunKey
from dptext.types import Fault, Lexicon, Record, Selection, Verbatim

# Called now and then with records and words done so far.
Progress = Callable[[int, int], None]
# Called with a line for people, which holds nothing of a text.
Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Job:
    """One output and what goes into it.

    inputs are paths, "-" for standard input; output a path, or None for standard
    output; format a name, or None to go by suffix; on_error "fail", "skip" or
    "quarantine", the last with the path that takes the bytes of faulty records. With
    resume, an output of a folder that is done by its manifest stays; with any_language,
    nobody looks whether the lexicon knows the words of the texts. typed: options of the
    command line, which the format of the input must be able to take.
    """

    inputs: tuple[str, ...]
    output: str | None
    selection: Selection
    format: str | None = None
    on_error: str = "fail"
    quarantine: str | None = None
    batch_size: int = 4096
    flush: bool = False
    jobs: int = 1
    resume: bool = False
    any_language: bool = False
    typed: tuple[str, ...] = ()
    #: Whether records leave in random order; all are held in memory then.
    shuffle: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """A finished output: its format, size and sha256 of its bytes as they left.

    copied names the fields that are copied, where a header or a schema names them all;
    used, what a third party was asked to write it.
    """

    format: str
    bytes: int
    sha256: str
    copied: tuple[str, ...] | None = None
    used: ServerUse | None = None


class FilePart(NamedTuple):
    """Some bytes of an input: whole records, and what is needed to read them.

    head makes a file of them; start is the ordinal of the first one, line the number of
    lines before it.
    """

    format: str
    selection: Selection
    location: str
    head: bytes
    line: int
    start: int
    data: bytes = b""

    def source(self, stream: BinaryIO) -> formats.Input:
        """Return what reads a stream of the head and whole records."""
        line = self.line + 1 - self.head.count(b"\n")
        return formats.Input(
            stream=stream,
            selection=self.selection,
            location=self.location,
            start=self.start,
            line=line,
        )


class Task(NamedTuple):
    """What is made private at once: records, or a part of a file in their place.

    first_text is how many texts of the run come before, as far as meters care.
    """

    records: list[Record]
    first_text: int
    part: FilePart | None = None

    def bare(self) -> Task:
        """Return it as another process needs it: what is only written back stays."""
        records = [
            Record(
                record.ordinal,
                record.texts,
                None,
                record.identity,
                repeat=record.repeat,
            )
            for record in self.records
        ]
        return self._replace(records=records)


class TaskResult(NamedTuple):
    """A finished task: what is counted in it, and what is to be written.

    Of a batch: the new texts of each record, and how many words of each text were
    replaced. Of a part: its new bytes, which fields its records have, and the faults
    among them.
    """

    counted: Counted
    texts: list[tuple[str, ...]]
    replaced: list[int]
    data: bytes
    present: Counter[tuple[str, ...] | None]
    faults: list[Fault]


class Worker:
    """Does tasks by one pipeline and one run key, which decide every draw."""

    def __init__(self, pipeline: Pipeline, key: RunKey, meters: Meters) -> None:
        self._pipeline = pipeline
        self._randomness = pipeline.randomness(key)
        self._meters = meters
        self._key = key

    def __call__(self, task: Task) -> TaskResult:
        """Make a batch or a part private."""
        return self._records(task) if task.part is None else self._part(task.part)

    def _records(self, task: Task) -> TaskResult:
        private = self._pipeline.privatize(task.records, self._randomness)
        counted = self._meters.observe(private.batch(task.first_text))
        return TaskResult(
            counted=counted,
            texts=private.texts,
            replaced=private.replaced,
            data=b"",
            present=Counter(),
            faults=[],
        )

    def _part(self, part: FilePart) -> TaskResult:
        """Read a part, make it private, and write it.

        It must be no part with one of the first FIRST_TEXTS texts of a run.
        """
        module = formats.find(None, part.format)
        batch, faults = list[Record](), list[Fault]()
        for item in module.read(part.source(io.BytesIO(part.head + part.data))):
            if isinstance(item, Fault):
                faults.append(item)
            else:
                batch.append(
                    Record(-1, (), item) if isinstance(item, Verbatim) else item
                )
        # The head is there, so that no batch is empty.
        done = self._records(Task(batch, metrics.FIRST_TEXTS))
        out, present = io.BytesIO(), Counter[tuple[str, ...] | None]()
        writer = module.writer(
            out, part.selection, pseudonym_function(part.selection, self._key)
        )
        head: int | None = None  # bytes that it takes in the output
        for record, texts in zip(batch, done.texts, strict=True):
            if isinstance(record.rest, Verbatim):
                writer.verbatim(record.rest)
                head = out.tell() if head is None else head
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
        )


def pseudonym_function(selection: Selection, key: RunKey) -> formats.Token:
    """Return what gives the pseudonyms of a run, if its records have any.

    Raises UsageError for a key that is in no file.
    """
    return Pseudonyms(key).token if selection.pseudonyms else formats.no_token


class Recipe(NamedTuple):
    """What a worker is made from; the profile's risk has been turned into an epsilon.

    digest is that of the lexicon, identity that of the pipeline.
    """

    profile: Profile
    digest: str
    identity: str
    key: RunKey

    @classmethod
    def from_pipeline(cls, pipeline: Pipeline, key: RunKey) -> Recipe:
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
