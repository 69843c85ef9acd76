"""A job of a run: what is read, where it is written, and what was written.

A leaf: reports, folders and clusters speak of jobs without the engine that does them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dptext import streams
from dptext.types import Selection, ServerUse

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
    nobody looks whether the lexicon knows the words of the texts.
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


@dataclass(frozen=True, slots=True)
class Sinks:
    """Where a job writes: its opened output, and the file for faulty records."""

    output: streams.Output
    aside: streams.Aside | None = None

    @classmethod
    def of(cls, job: Job, release: streams.Release, *, held: bool = False) -> Sinks:
        """Open what a job writes to, as a part of a release; held as in Output."""
        # What has left cannot be taken back when a field turns out to be in no record.
        held = held or job.selection.missing == "pass"
        output = release.open(job.output, job.selection.encoding, held=held)
        if job.on_error == "quarantine" and job.quarantine is not None:
            # For the user's eyes only: it holds original text.
            return cls(output, release.aside(job.quarantine))
        return cls(output)


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
