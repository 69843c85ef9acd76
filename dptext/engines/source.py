"""The records of all inputs of a job, one after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import TYPE_CHECKING, BinaryIO

from dptext import formats, streams
from dptext.engines import choosing, detection
from dptext.errors import InputError, UsageError
from dptext.types import Fault, Record, Selection, Verbatim

if TYPE_CHECKING:
    from dptext.engines.serial import Job


class Source:
    """Reads records; what cannot be read ends the job, or goes to aside.

    Ordinals count from start; faults, how many records were left out. selection is that
    of the job, with the field that was detected where the job names none.
    """

    def __init__(self, job: Job, aside: streams.Aside | None, start: int) -> None:
        self._job = job
        self._aside = aside
        self._next = start
        self._first: BufferedReader | None = None
        self._first_fault: Fault | None = None
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
        first, *others = self._job.inputs
        assert self._first is not None
        yield from self._read(module, self._first, first)
        for name in others:
            with streams.open_input(name) as opened:
                stream = opened
                if not self._job.selection.fields:
                    selection, stream = self._detected(module, opened, name)
                    self._check_same(selection, name)
                yield from self._read(module, stream, name)

    def _check_same(self, selection: Selection, name: str) -> None:
        mine, others = self.selection.fields, selection.fields
        if mine != others:
            raise UsageError(
                f"{name}: its text is in {others[0]!r}, that of the first input in "
                f"{mine[0]!r}; name all with --field and --missing pass, or run once "
                "for each"
            )

    def _read(
        self, module: formats.Format, stream: BinaryIO, name: str
    ) -> Iterator[Record]:
        location = _location(name)
        for item in module.read(stream, self.selection, location, self._next):
            if isinstance(item, Verbatim):
                yield Record(-1, (), item)
                continue
            self._next += 1
            if isinstance(item, Fault):
                self._fault(item)
            else:
                yield item

    def _fault(self, fault: Fault) -> None:
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


def _described(fault: Fault, otherwise: str = "") -> str:
    """Say what is wrong with a record, and the better advice of two."""
    advice = f"; {fault.advice}" if fault.advice else otherwise
    return f"{fault.location}: {fault.reason}{advice}"
