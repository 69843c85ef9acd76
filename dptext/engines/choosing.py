"""Which format a job reads, and whether its output's name agrees."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, cast

from dptext import formats, streams
from dptext.engines import plain_text
from dptext.errors import UsageError

if TYPE_CHECKING:
    from typing import BinaryIO

    from dptext.engines.serial import Job

_TEXT = "text"


def one_format(paths: Iterable[str], *others: str) -> str:
    """Return the format that paths have by their suffixes; standard input has none.

    Raises UsageError when they, or others, are of different formats.
    """
    names = {formats.find(path).name for path in paths if not streams.is_standard(path)}
    names.update(others)
    if len(names) > 1:
        raise UsageError(
            f"the inputs are of different formats ({', '.join(sorted(names))}); run "
            "once for each, or write each to its own file with --out-dir"
        )
    return "".join(names)


def check_output(output: str | None, chosen: str) -> None:
    """Refuse an output with the suffix of another format than it will have."""
    named = formats.by_suffix(output or "")
    if named is not None and named.name != chosen:
        suffixes = " or ".join(formats.find(None, chosen).SUFFIXES)
        raise UsageError(
            f"{output}: an output has the format of its input, here {chosen}; name it "
            f"{suffixes}, or give --format to keep this name"
        )


def chosen(job: Job, stream: BinaryIO, warn: Callable[[str], None]) -> str:
    """Return the format of all inputs of a job; stream is the first one, opened.

    That of standard input is known by its first bytes, else by the output's suffix;
    else its lines are texts, unless they look like something else.
    """
    if job.format is not None:
        return job.format
    others: tuple[str, ...] = ()
    if streams.is_standard(job.inputs[0]):
        head = cast(io.BufferedReader, stream).peek(1)
        others = (formats.sniff(head) or _without_magic(job, head, warn),)
    name = one_format(job.inputs, *others)
    check_output(job.output, name)
    return name


def _without_magic(job: Job, head: bytes, warn: Callable[[str], None]) -> str:
    named = formats.by_suffix(job.output or "")
    if named is not None and named.name != _TEXT:
        return named.name
    files = [name for name in job.inputs if not streams.is_standard(name)]
    if files:
        return formats.find(files[0]).name
    plain_text.check(head, job.selection)
    if plain_text.looks_like_table(head):
        warn(
            "standard input is taken for plain text, each line a text of its own; if "
            "it is a table, give --format csv or tsv"
        )
    return _TEXT
