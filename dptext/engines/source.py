"""The records of all inputs of a job, one after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import TYPE_CHECKING, BinaryIO

from dptext import formats, streams
from dptext.engines import choosing, detection
from dptext.engines.fields import SAMPLE
from dptext.engines.parts import Part
from dptext.engines.tally import Start
from dptext.errors import InputError, UsageError
from dptext.formats import Pieces, Regular
from dptext.metrics import FIRST_TEXTS
from dptext.types import Fault, Record, Selection, Verbatim

if TYPE_CHECKING:
    from dptext.engines.serial import Job


class Source:
    """Reads records; what cannot be read ends the job, or goes to aside.

    Ordinals count from start; faults, how many records were left out; texts, how many
    texts of the run were read before. selection is that of the job, with the field that
    was detected where the job names none.
    """

    def __init__(
        self, job: Job, aside: streams.Aside | None, start: int, texts: int = 0
    ) -> None:
        self._job = job
        self._aside = aside
        self._next = start
        self._records, self._texts = 0, texts
        self._first: BufferedReader | None = None
        self._first_fault: Fault | None = None
        self._is_cut = False
        self.faults = 0
        self.selection = job.selection

    def open(self, stack: contextlib.ExitStack, warn: Callable[[str], None]) -> str:
        """Open the first input and return the format of all.

        Raises UsageError where no field is named and several hold text.
        """
        first = self._job.inputs[0]
        stream = stack.enter_context(streams.open_input(first))
        chosen = choosing.chosen(self._job, stream, warn)
        if not self._job.selection.fields:
            format = formats.find(None, chosen)
            self.selection, stream = self._detected(format, stream, first)
            if self.selection.is_detected:
                warn(
                    f"the private field is {self.selection.fields[0]!r}, the only one "
                    "that holds text in the first record; --field names others"
                )
        self._first = stream
        return chosen

    def _detected(
        self, format: formats.Format, stream: BufferedReader, name: str
    ) -> tuple[Selection, BufferedReader]:
        return detection.detect(stream, format, self._job.selection, _location(name))

    def records(self, module: formats.Format) -> Iterator[Record]:
        """Yield records; what stands between them comes as records without texts.

        Raises InputError at the first faulty record when on_error is "fail".
        """
        for item in self.items(module, parts=False):
            assert isinstance(item, Record)
            yield item

    def items(self, module: formats.Format, *, parts: bool) -> Iterator[Record | Part]:
        """Yield records as `records` does; with parts, parts after the first ones.

        From the first part on, which others are still to read, what is wrong comes in
        its turn: a Fault or an InputError as the rest of a record without texts.
        """
        cut = module.regular(self.selection) if parts else None
        first, *others = self._job.inputs
        assert self._first is not None
        try:
            yield from self._read(module, self._first, first, cut)
            for name in others:
                with streams.open_input(name) as opened:
                    stream = opened
                    if not self._job.selection.fields:
                        selection, stream = self._detected(module, opened, name)
                        self._check_same(selection, name)
                    yield from self._read(module, stream, name, cut)
        except InputError as error:
            if not self._is_cut:
                raise
            yield Record(-1, (), error)

    def count(self, module: formats.Format, *, to_end: bool) -> Start:
        """Count records, faulty ones too, and texts up to FIRST_TEXTS, writing nothing.

        Records are read until so many texts are known; then they are cut, and counted
        only to_end. Raises what `records` does.
        """
        rows = self._rows(module)
        for item in self.items(module, parts=True):
            if isinstance(item, Record) and isinstance(item.rest, InputError):
                raise item.rest
            if self._texts >= FIRST_TEXTS and not (to_end and rows is None):
                return Start(rows or self._next, FIRST_TEXTS)
        return Start(self._next, min(self._texts, FIRST_TEXTS))

    def _rows(self, module: formats.Format) -> int | None:
        """Return how many records all inputs say they hold."""
        total = 0
        for name in self._job.inputs:
            with streams.open_input(name) as stream:
                rows = module.rows(stream)
            if rows is None:
                return None
            total += rows
        return total

    def _check_same(self, selection: Selection, name: str) -> None:
        mine, others = self.selection.fields, selection.fields
        if mine != others:
            raise UsageError(
                f"{name}: its text is in {others[0]!r}, that of the first input in "
                f"{mine[0]!r}; name all with --field and --missing pass, or run once "
                "for each"
            )

    def _read(
        self,
        module: formats.Format,
        stream: BinaryIO,
        name: str,
        regular: Regular | None,
    ) -> Iterator[Record | Part]:
        location, selection = _location(name), self.selection
        if regular is None:
            for item in module.read(stream, selection, location, self._next):
                yield from self._taken(item)
            return
        counted, before = _Counted(stream), list[Verbatim]()
        for item in module.read(counted, selection, location, self._next):  # type: ignore[arg-type]
            if isinstance(item, Verbatim):
                before.append(item)
            yield from self._taken(item)
            if not isinstance(item, Verbatim) and self._has_begun():
                head = module.head(before)
                line, start = counted.lines, self._next
                part = Part(module.name, selection, location, head, line, start)
                yield from self._parts(module, stream, regular, part)
                return

    def _has_begun(self) -> bool:
        """Tell whether all that needs the first records has seen enough of them."""
        return self._records >= SAMPLE and self._texts >= FIRST_TEXTS

    def _parts(
        self, module: formats.Format, stream: BinaryIO, regular: Regular, part: Part
    ) -> Iterator[Record | Part]:
        """Yield the rest of an input in parts; from an irregular record on, records."""
        pieces, self._is_cut = Pieces(stream, regular), True
        for piece in pieces:
            yield part._replace(data=piece.data)
            self._next += piece.records
            part = part._replace(line=part.line + piece.lines, start=self._next)
        if not pieces.left:
            return
        rest = streams.joined(part.head + pieces.left, stream)
        items = module.read(
            rest, part.selection, part.location, part.start, part.first_line
        )
        next(items)  # the head
        for item in items:
            yield from self._taken(item)

    def _taken(self, item: formats.Item) -> Iterator[Record]:
        """Give an item its number; a fault is no record."""
        if isinstance(item, Verbatim):
            yield Record(-1, (), item)
            return
        self._next += 1
        if isinstance(item, Fault):
            if self._is_cut:
                yield Record(-1, (), item)
            else:
                self.fault(item)
            return
        self._records += 1
        self._texts += len(item.texts)
        yield item

    def fault(self, fault: Fault) -> None:
        """Leave out a record. Raises InputError when on_error is "fail"."""
        if self._job.on_error == "fail":
            raise InputError(
                _described(fault, " (go on with --on-error skip, or --quarantine FILE)")
            )
        self._first_fault = self._first_fault or fault
        self.faults += 1
        if self._aside is not None:
            ending = b"" if fault.raw.endswith(b"\n") else b"\n"
            self._aside.add(fault.raw + ending)

    def check_read(self, records: int) -> None:
        """Refuse a run of which no record could be read. Raises InputError."""
        first = self._first_fault
        if first is not None and not records:
            raise InputError(
                f"no record could be read, so there is no output; of {self.faults} "
                f"the first is {_described(first)}"
            )


def _location(name: str) -> str:
    return "standard input" if streams.is_standard(name) else name


class _Counted:
    """A stream that is read line by line, and how many lines were read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.lines = 0

    def readline(self, size: int) -> bytes:
        """Read a line, or as much of it."""
        line = self._stream.readline(size)
        self.lines += line.endswith(b"\n")
        return line


def _described(fault: Fault, otherwise: str = "") -> str:
    """Say what is wrong with a record, and the better advice of two."""
    advice = f"; {fault.advice}" if fault.advice else otherwise
    return f"{fault.location}: {fault.reason}{advice}"
