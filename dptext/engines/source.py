"""The records of all inputs of a job, one after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from dptext import formats, streams
from dptext.engines import choosing
from dptext.errors import InputError
from dptext.types import Fault, Record, Verbatim

if TYPE_CHECKING:
    from dptext.engines.serial import Job


class Source:
    """Reads records; what cannot be read ends the job, or goes to aside.

    Ordinals count from start; faults, how many records were left out.
    """

    def __init__(self, job: Job, aside: streams.Aside | None, start: int) -> None:
        self._job = job
        self._aside = aside
        self._next = start
        self._first: BinaryIO | None = None
        self._first_fault: Fault | None = None
        self.faults = 0

    def open(self, stack: contextlib.ExitStack, warn: Callable[[str], None]) -> str:
        """Open the first input and return the format of all."""
        self._first = stack.enter_context(streams.open_input(self._job.inputs[0]))
        return choosing.chosen(self._job, self._first, warn)

    def records(self, module: formats.Format) -> Iterator[Record]:
        """Yield records; what stands between them comes as records without texts.

        Raises InputError at the first faulty record when on_error is "fail".
        """
        first, *others = self._job.inputs
        assert self._first is not None
        yield from self._read(module, self._first, first)
        for name in others:
            with streams.open_input(name) as stream:
                yield from self._read(module, stream, name)

    def _read(
        self, module: formats.Format, stream: BinaryIO, name: str
    ) -> Iterator[Record]:
        location = "standard input" if streams.is_standard(name) else name
        for item in module.read(stream, self._job.selection, location, self._next):
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


def _described(fault: Fault, otherwise: str = "") -> str:
    """Say what is wrong with a record, and the better advice of two."""
    advice = f"; {fault.advice}" if fault.advice else otherwise
    return f"{fault.location}: {fault.reason}{advice}"
