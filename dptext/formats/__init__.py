"""File formats: each module here is both ends of the pipe.

Only the selected fields of a record change; everything else is written back byte for
byte (Parquet: value for value). A new format is one new file with `SUFFIXES`, `read`
and `Writer`, and `copied(stream, selection) -> iterator of names`, the fields of a file
that are not selected, so that `dptext check` can hold them against a policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import BinaryIO, Protocol, cast

from dptext import registry
from dptext.errors import UsageError
from dptext.streams import plain_name
from dptext.types import Fault, Record, Selection, Verbatim

BOM = b"\xef\xbb\xbf"


class RecordWriter(Protocol):
    """Writes records back with new texts, in the order in which they were read."""

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write a record; texts take the places of record.texts, one for one."""
        ...

    def verbatim(self, item: Verbatim) -> None:
        """Write what stands between records as it is."""
        ...

    def close(self) -> None:
        """Write what is held back; the stream stays open."""
        ...


class Format(Protocol):
    """What a module in this folder offers."""

    SUFFIXES: tuple[str, ...]

    def read(
        self, stream: BinaryIO, selection: Selection, place: str, start: int = 0
    ) -> Iterator[Record | Verbatim | Fault]:
        """Read a stream; place is its name in messages, start the first ordinal.

        A Fault takes an ordinal too, so that skipping it changes no other record.
        Raises InputError when the input as a whole cannot be read.
        """
        ...

    def Writer(self, stream: BinaryIO, selection: Selection) -> RecordWriter:
        """Return a writer of what `read` gave with the same selection."""
        ...

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterator[str]:
        """Give the names of the fields of a file that are not selected.

        Raises InputError when the file cannot be read with the selection.
        """
        ...


def find(path: str | None, name: str | None = None) -> Format:
    """Choose a format by its name, else by the suffix of a path.

    Suffixes of compression are looked through. Raises UsageError when neither tells.
    """
    if name is not None:
        return _load(name)
    suffix = PurePath(plain_name(path or "")).suffix.lower()
    choices = registry.names("formats")
    for choice in choices:
        module = _load(choice)
        if suffix in module.SUFFIXES:
            return module
    known = ", ".join(choices)
    what = f"the suffix {suffix!r} of {path}" if suffix else "a name without suffix"
    msg = f"no format goes with {what}; choose one with --format: {known}"
    raise UsageError(msg)


def _load(name: str) -> Format:
    try:
        return cast(Format, registry.find("formats", name))
    except UsageError as error:
        msg = f"--format: {error}"
        raise UsageError(msg) from None


def sniff(head: bytes) -> str:
    """Guess the format's name from the first bytes of an input that has no name."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.removeprefix(BOM).lstrip().startswith(b"{"):
        return "jsonl"
    return "text"
