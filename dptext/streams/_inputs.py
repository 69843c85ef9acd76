"""Inputs: files and standard input, decompressed; trouble becomes one line."""

from __future__ import annotations

import contextlib
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from dptext.errors import InputError, UsageError
from dptext.streams import _layers
from dptext.streams._layers import HEAD, compression, recognised, undecided

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

AHEAD = 2**16  # bytes that are looked at before they are read
_BUFFER = 2**18
_MOST = 2**26
# What stands for an open file of this process.
_OPEN = re.compile(r"/dev/(stdin|fd/[0-9]+)|/proc/(self|[0-9]+)/fd/[0-9]+")
_DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)


def is_standard(path: str | None) -> bool:
    """Tell whether a path stands for standard input or output."""
    return path is None or path == "-"


def check_file(path: str | Path, what: str) -> None:
    """Refuse a device, which never ends, and a named pipe that nobody writes to.

    A pipe that is open already, as a shell gives for `<(...)`, may be read. Raises
    UsageError, in which what says what was to be read.
    """
    with contextlib.suppress(OSError):  # what is not there is reported by the reader
        mode = os.stat(path).st_mode
        is_open_pipe = stat.S_ISFIFO(mode) and _OPEN.fullmatch(os.path.abspath(path))
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or is_open_pipe):
            raise UsageError(
                f"{what} {path}: not a regular file, so reading may never end; give a "
                "file, or <(COMMAND) in the shell"
            )


def read_small(path: str | Path, what: str) -> bytes:
    """Return the bytes of a file that has no reason to be long, as settings have none.

    Raises UsageError for one of more than 64 MiB and for what is no file, in which what
    says what was to be read; and OSError.
    """
    check_file(path, what)
    with open(path, "rb") as file:
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise UsageError(f"{what} {path}: longer than 64 MiB; give another file")
    return data


@contextlib.contextmanager
def open_input(
    path: str | None, encoding: str | None = None
) -> Iterator[io.BufferedReader]:
    """Open a path, or standard input for "-" or None; decompress, decode to UTF-8.

    Compression is known by the suffix of the path, else by the first bytes. encoding is
    one of `known_encoding`. Raises UsageError when there is no such file to read,
    InputError when reading fails or data are damaged, or of another encoding.
    """
    name = "standard input" if path is None or path == "-" else path
    with contextlib.ExitStack() as stack:
        if path is None or path == "-":
            plain = _standard(stack)
        else:
            try:
                plain = io.BufferedReader(_File(path, name), _BUFFER)
            except OSError as error:
                raise UsageError(f"{path}: {error.strerror}") from None
            stack.enter_context(plain)
        suffix = compression(path or "")
        if not suffix:
            plain, suffix = _recognised(plain)
        stream = stack.enter_context(_decompressed(plain, name, suffix))
        yield _decoded(stream, encoding, name)


@contextlib.contextmanager
def unpacked(
    plain: BinaryIO, path: str, encoding: str | None = None
) -> Iterator[io.BufferedReader]:
    """Decompress an open file as its name says; decode it as `open_input` does.

    Reading damaged compressed data raises InputError.
    """
    with _decompressed(plain, path, compression(path)) as stream:
        yield _decoded(stream, encoding, path)


def _decoded(
    stream: io.BufferedReader, encoding: str | None, name: str
) -> io.BufferedReader:
    if encoding is None:
        return stream
    decoded = _layers.Decoded(stream, encoding, name)
    return io.BufferedReader(cast(io.RawIOBase, decoded), _BUFFER)


def first_lines(
    stream: io.BufferedReader, count: int, size: int = AHEAD
) -> tuple[bytes, io.BufferedReader]:
    """Return the first lines of a stream, size bytes at most, and the stream unread."""
    start = stream.tell() if stream.seekable() else None
    head = b""
    for _ in range(count):
        head += stream.readline(size - len(head))
    if start is None:
        return head, joined(head, stream)
    stream.seek(start)
    return head, stream


@contextlib.contextmanager
def _decompressed(
    plain: BinaryIO, name: str, suffix: str
) -> Iterator[io.BufferedReader]:
    if not suffix:
        yield cast(io.BufferedReader, plain)
        return
    unpacked = _layers.decompress(plain, suffix)
    with io.BufferedReader(_Checked(unpacked, name, suffix), _BUFFER) as stream:
        yield cast(io.BufferedReader, stream)


def _standard(stack: contextlib.ExitStack) -> io.BufferedReader:
    buffer = sys.stdin.buffer
    if not isinstance(getattr(buffer, "raw", None), io.FileIO):  # replaced by a caller
        return joined(b"", buffer)
    file = _File(buffer.fileno(), "standard input")
    return stack.enter_context(io.BufferedReader(file, _BUFFER))


def _recognised(plain: io.BufferedReader) -> tuple[io.BufferedReader, str]:
    """Return the stream from its beginning, and the compression it begins with."""
    head = plain.peek(HEAD)[:HEAD]
    if head and undecided(head):
        # A pipe may give a magic number in parts: take bytes while they still fit.
        head = plain.read(len(head))
        while undecided(head) and (more := plain.read(1)):
            head += more
        plain = joined(head, plain)
    return plain, recognised(head)


def joined(head: bytes, rest: object) -> io.BufferedReader:
    """Return a stream of bytes and what an open one still holds."""
    joined = _Joined(head, cast(io.BufferedIOBase, rest))
    return io.BufferedReader(cast(io.RawIOBase, joined), _BUFFER)


class _File(io.FileIO):
    """A file, or standard input; what the system refuses to read is one line."""

    def __init__(self, file: str | int, name: str) -> None:
        super().__init__(file, "rb", closefd=isinstance(file, str))
        self._shown = name

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            count = cast(int, super().readinto(buffer))
        except OSError as error:
            raise InputError(
                f"{self._shown}: cannot be read: {error.strerror}"
            ) from None
        if not count and memoryview(buffer).nbytes:
            self._check_end()
        return count

    def _check_end(self) -> None:
        """Refuse an end before the last byte, or behind it: the file was cut."""
        status = os.fstat(self.fileno())
        if stat.S_ISREG(status.st_mode) and 0 < status.st_size != self.tell():
            raise InputError(f"{self._shown}: it changed while it was read; run again")

    def readall(self) -> bytes:
        blocks, buffer = [], bytearray(_BUFFER)
        while count := self.readinto(buffer):
            blocks.append(bytes(buffer[:count]))
        return b"".join(blocks)


class _Joined(io.RawIOBase):
    """Bytes that were read ahead, then the rest of their stream."""

    def __init__(self, head: bytes, rest: io.BufferedIOBase) -> None:
        super().__init__()
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if not self._head:
            return self._rest.readinto1(buffer) or 0
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._head))
        view[:count] = self._head[:count]
        self._head = self._head[count:]
        return count


class _Checked(io.RawIOBase):
    """Decompressed bytes; damage is an InputError that names the file."""

    def __init__(self, source: _layers.Layer, name: str, suffix: str) -> None:
        super().__init__()
        self._source = source
        self._name = name
        self._suffix = suffix

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            return self._source.readinto(buffer) or 0
        except InputError:
            raise
        except _DAMAGED:
            raise InputError(
                f"{self._name}: damaged or cut off, or not {self._suffix} data at all"
            ) from None

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


def identity(name: str | None, *, written: bool) -> object:
    """Return what is equal for all names of one file; None for a device or a pipe.

    "-" and None stand for standard output if written, else for standard input: a
    shell may have opened a file for either.
    """
    try:
        if is_standard(name):
            stream = sys.stdout if written else sys.stdin
            status = os.fstat(stream.fileno())
        else:
            status = os.stat(str(name))
    except (OSError, ValueError, AttributeError):
        return None if is_standard(name) else os.path.realpath(str(name))
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_dev, status.st_ino


def check_distinct(reads: Sequence[str | None], *writes: str | None) -> None:
    """Refuse to write over what is read, or twice to one file, under whatever name.

    "-" and None stand for the standard streams. Raises UsageError.
    """
    taken = {identity(name, written=False) for name in reads} - {None}
    for name in writes:
        target = identity(name, written=True)
        if target is not None and target in taken:
            shown = "standard output" if is_standard(name) else name
            raise UsageError(
                f"{shown} is read or written by this run already; name another file"
            )
        taken.add(target)
