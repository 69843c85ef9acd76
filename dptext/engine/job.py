"""A job of a run: what is read, where it is written, and what was written.

A leaf: reports, folders and clusters speak of jobs without the engine that does them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
