"""Several outputs of a run that appear together, or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

from dptext.streams._outputs import Output, reported


class Aside:
    """A file that grows by what is added; a run that fails takes back what it added.

    Only its owner may read a new one.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._is_new = not os.path.lexists(path)
        with reported(path):
            self._path.touch(mode=0o600)
            self._file = self._path.open("ab")
            self._before = os.fstat(self._file.fileno()).st_size

    def add(self, data: bytes) -> None:
        """Add bytes at the end. Raises OutputError when they cannot be written."""
        with reported(str(self._path)):
            self._file.write(data)

    def complete(self) -> None:
        """Write out all that is held back."""
        with reported(str(self._path)):
            self._file.flush()

    def close(self, stays: bool) -> None:
        """Keep what was added, or take it back."""
        with contextlib.suppress(OSError):
            self._file.close()
        if stays or not self._path.is_file():
            return
        with contextlib.suppress(OSError):
            if self._is_new:
                self._path.unlink()
            else:
                os.truncate(self._path, self._before)


class Release:
    """Several outputs of which all appear or none; a `with` block discards the rest.

    They appear in the reverse order of opening: what was opened first comes last. Data
    that are opened before their report so never stand without it.
    """

    def __init__(self) -> None:
        self._outputs: list[Output] = []
        self._asides: list[Aside] = []

    def __enter__(self) -> Release:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for output in self._outputs:
            output.discard()
        for aside in self._asides:
            aside.close(stays=False)

    def open(self, path: str | None, *, held: bool = False) -> Output:
        """Open an output of this release; held as in Output."""
        output = Output(path, held=held)
        self._outputs.append(output)
        return output

    def aside(self, path: str) -> Aside:
        """Open a file to which this release adds."""
        aside = Aside(path)
        self._asides.append(aside)
        return aside

    def commit(self, before: Callable[[], None] = lambda: None) -> None:
        """Let all outputs appear, or none; call before just before the first does.

        Raises OutputError.
        """
        for aside in self._asides:
            aside.complete()
        for output in reversed(self._outputs):
            output.complete()
        before()
        ends: list[Callable[[bool], None]] = []
        stay = False
        try:
            for output in reversed(self._outputs):
                ends.append(output.backed_up())
                output.publish()
            stay = True
        finally:
            for end in reversed(ends):
                end(stay)
            if stay:
                for aside in self._asides:
                    aside.close(stays=True)
                self._outputs, self._asides = [], []


@contextlib.contextmanager
def open_output(path: str | None) -> Iterator[Output]:
    """Open an output; a file appears only when the block ends well.

    None and "-" stand for standard output. Raises OutputError when writing fails; a
    closed pipe stays a BrokenPipeError.
    """
    with Release() as release:
        yield release.open(path)
        release.commit()
