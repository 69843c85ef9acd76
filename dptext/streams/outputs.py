"""Outputs: complete files at their targets or none; several appear together.

An output is written to a hidden file beside its target, locked by the writing process,
and renamed when it is complete, unless another run was faster. A process that was
killed leaves its part behind without a lock; the next run to the same output removes
it.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import errno
import fcntl
import gzip
import hashlib
import io
import lzma
import os
import re
import secrets
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from dptext.errors import MissingExtra, OutputError, UsageError
from dptext.streams import (
    compression,
    descriptor,
    digest_of_file,
    is_standard,
    is_stream,
    status,
    zstandard,
)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_BUFFER = 2**18
_PART = re.compile(r"\..*\.[0-9a-f]{8}\.part")
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL


@contextlib.contextmanager
def reported(name: str) -> Iterator[None]:
    """Turn an operating system error into one line."""
    try:
        yield
    except (BrokenPipeError, OutputError):
        raise
    except OSError as error:
        raise OutputError(f"{name}: {error.strerror}") from None


class OutputFile:
    """An open output: write to `stream`; `digest` and `size` are known at the end.

    A file is at its target once published; with held, bytes for a pipe wait until
    then too, in an unnamed file. With encoding, a result of `known_encoding`, bytes
    are written to `stream` as UTF-8 and converted.
    """

    def __init__(
        self, path: str | None, encoding: str | None = None, *, held: bool = False
    ) -> None:
        #: sha256 in hexadecimal of the bytes that left, compressed or not.
        self.digest: str | None = None
        #: The number of these bytes.
        self.size = 0
        # The hidden file that holds the output until it is published.
        self.part: Path | None = None
        self._name = "standard output" if is_standard(path) else str(path)
        self._target = Path()
        self._mode = 0
        # The status of the file at the target when this one was opened.
        self._before: tuple[int, ...] | None = None
        # The second name of the earlier file at the target, held open.
        self._old: tuple[Path, BinaryIO] | None = None
        self._is_backed_up = False
        self._pipe: BinaryIO | None = None
        written = self._name
        with reported(self._name):
            self._standard = _standard() if is_standard(path) else None
            self._file = self._standard or self._open(str(path))
            if held and self.part is None:
                self._pipe = self._file
                self._file = cast(BinaryIO, tempfile.TemporaryFile(buffering=0))
                folder = tempfile.gettempdir()
                written = f"{folder} (the output waits there, TMPDIR names another)"
        self._sink = _Sink(self._file, written)
        plain = io.BufferedWriter(self._sink, _BUFFER)
        self._layers: list[BinaryIO] = [plain]
        try:
            packed = _compressed(plain, compression(self._name))
        except MissingExtra:
            self.discard()
            raise
        if packed is not None:
            stream = io.BufferedWriter(cast(io.RawIOBase, packed), _BUFFER)
            self._layers = [stream, packed, plain]
        self.stream: BinaryIO = self._layers[0]
        self._encoded = None if encoding is None else Encoded(self.stream, encoding)
        if self._encoded is not None:
            self.stream = cast(BinaryIO, self._encoded)

    def _open(self, path: str) -> BinaryIO:
        if (number := descriptor(path)) is not None:
            return open(os.dup(number), "wb", buffering=0)
        if is_stream(path):
            return open(path, "wb", buffering=0)
        # A link stays a link, and its target is replaced.
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise UsageError(f"{path}: {os.strerror(errno.EISDIR)}; give a file name")
        if target.exists():
            if not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            self._mode = stat.S_IMODE(target.stat().st_mode)
        else:
            if not target.parent.is_dir():
                folder = shlex.quote(str(Path(path).parent))
                raise OutputError(
                    f"{path}: {os.strerror(errno.ENOENT)}; make its folder with: "
                    f"mkdir -p {folder}"
                )
            umask = os.umask(0o077)  # that of the process is read by setting another
            os.umask(umask)
            self._mode = 0o666 & ~umask
        self._before = status(target)
        # Until it is released nobody else may read it.
        self._target, (self.part, file) = target, _hidden(target)
        return file

    @property
    def can_be_discarded(self) -> bool:
        """Return whether no process can read the output before it is published."""
        return self.part is not None or self._pipe is not None

    @property
    def replaced(self) -> int:
        """Return how many characters the encoding lacks, which were written as "?"."""
        return 0 if self._encoded is None else self._encoded.replaced

    def complete(self) -> None:
        """Flush all buffers; a file's bytes are then on disk."""
        if self.digest is not None:
            return
        with reported(self._name):
            for layer in self._layers[:-1]:
                layer.close()
            self._layers[-1].flush()
            if self.part is not None:
                os.fsync(self._file.fileno())
        self.digest, self.size = self._sink.hash.hexdigest(), self._sink.size

    @contextlib.contextmanager
    def content(self) -> Iterator[BinaryIO]:
        """Open a complete, unpublished output's bytes for a block."""
        assert self.can_be_discarded
        with reported(self._name):
            if self.part is not None:
                with self.part.open("rb") as file:
                    yield file
                return
            # The reader of a stream may close it.
            with open(os.dup(self._file.fileno()), "rb") as file:
                file.seek(0)
                yield file

    def publish(self) -> None:
        """Rename a complete file to its target; send held bytes to a pipe.

        A previous file at the target is kept until `settle` decides which one stays.
        Raises OutputError if another run or program has written it meanwhile.
        """
        with reported(self._name):
            if self._pipe is not None:
                self._file.seek(0)
                while chunk := self._file.read(_BUFFER):
                    view = memoryview(chunk)
                    while view:  # a pipe may take a part at a time
                        view = view[self._pipe.write(view) or 0 :]
                self._pipe.flush()
            if self.part is None:
                return
            with contextlib.suppress(OSError):  # not every file system has modes
                os.chmod(self.part, self._mode)
            while not self._is_backed_up:
                self._put(self.part)
        self.part = None

    def _put(self, part: Path) -> None:
        """Rename the part, unless another file appears at the target meanwhile."""
        old = _backup(self._target)
        if old is None:
            with contextlib.suppress(FileExistsError):
                _create(part, self._target)
                self._is_backed_up = True
            return
        is_changed = status(self._target) != self._before
        if is_changed and digest_of_file(self._target) != self.digest:
            old[0].unlink()
            old[1].close()
            raise OutputError(
                f"{self._name}: another run has just written this file, so this run's "
                "output was discarded: use that file, or name another output"
            )
        self._old, self._is_backed_up = old, True
        os.replace(part, self._target)

    def settle(self, stays: bool) -> None:
        """Keep the new file for good, or restore the previous one."""
        target, old = self._target, self._old
        if self._is_backed_up:
            with contextlib.suppress(OSError):
                if old is None and not stays:
                    target.unlink()
                elif old is not None:
                    old[0].unlink() if stays else os.replace(old[0], target)
                    # Replacing a file by another name of itself leaves both.
                    old[0].unlink(missing_ok=True)
            if old is not None:
                old[1].close()
            _sync_folder(target.parent)
        self._close()

    def discard(self) -> None:
        """Remove everything, leaving the target unchanged."""
        if self.part is not None:
            with contextlib.suppress(OSError):
                self.part.unlink()
        self.part = None
        self._close()

    def _close(self) -> None:
        self._sink.deaf = True
        for layer in self._layers:
            with contextlib.suppress(Exception):
                layer.close()
        for file in (self._file, self._pipe):
            if file is not None and file is not self._standard:
                with contextlib.suppress(OSError):
                    file.close()


def _standard() -> BinaryIO:
    buffer = sys.stdout.buffer
    buffer.flush()
    # Bytes in Python's own buffer would be written again at exit.
    return cast(BinaryIO, getattr(buffer, "raw", buffer))


def _hidden(target: Path) -> tuple[Path, BinaryIO]:
    """Remove parts of killed runs beside a target; open a new locked part."""
    _clear(target)
    while True:
        part = _part_name(target)
        file = open(os.open(part, _FLAGS, 0o600), "wb", buffering=0)
        _lock(file)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(part), os.fstat(file.fileno())):
                return part, file
        # Another run took the part for one of a killed run before it had its lock.
        file.close()


def _backup(target: Path) -> tuple[Path, BinaryIO] | None:
    """Link a file to a second, hidden and locked name; None if it is missing.

    On a file system without links it is copied and synced. The target
    stays in place throughout.
    """
    try:
        file = target.open("rb")
    except FileNotFoundError:
        return None
    _lock(file)
    kept = _part_name(target)
    try:
        os.link(target, kept)
        return kept, file
    except OSError:
        kept, copy = _hidden(target)
    with file:
        try:
            shutil.copyfileobj(file, copy, _BUFFER)
            os.chmod(kept, stat.S_IMODE(os.fstat(file.fileno()).st_mode))
            os.fsync(copy.fileno())
        except OSError:
            copy.close()
            kept.unlink()
            raise
    return kept, copy


def _create(part: Path, target: Path) -> None:
    """Rename a file to an unused name. Raises FileExistsError if it exists."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError from None
        os.replace(part, target)
    else:
        part.unlink()


def _part_name(target: Path) -> Path:
    return target.with_name(f"{_prefix(target)}{secrets.token_hex(4)}.part")


def _prefix(target: Path) -> str:
    return f".{target.name[:50]}."


def is_part(name: str) -> bool:
    """Return whether a name is an unfinished output's."""
    return _PART.fullmatch(name) is not None


def _lock(file: BinaryIO) -> None:
    """Lock a file until it is closed; without locks nothing is ever removed."""
    with contextlib.suppress(OSError):  # not every file system has locks
        fcntl.flock(file, fcntl.LOCK_EX)


def _clear(target: Path) -> None:
    """Remove a target's parts that no process has locked."""
    own = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{8}\.part")
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    with contextlib.suppress(OSError):
        for name in filter(own.fullmatch, os.listdir(target.parent)):
            part = target.with_name(name)
            with contextlib.suppress(OSError), open(os.open(part, flags)) as file:
                if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    part.unlink()


def _sync_folder(folder: Path) -> None:
    """Make a rename durable, where the system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _compressed(plain: BinaryIO, suffix: str) -> BinaryIO | None:
    """Return a compressing stream over another, None for any other suffix.

    Compressed data contain no name, time or size, so that equal outputs have equal
    bytes.
    """
    if suffix == ".gz":
        packed: Any = gzip.GzipFile("", "wb", 6, plain, mtime=0)
    elif suffix == ".bz2":
        packed = bz2.BZ2File(plain, "wb")
    elif suffix == ".xz":
        packed = lzma.LZMAFile(plain, "wb")
    elif suffix == ".zst":
        packed = zstandard().ZstdCompressor().stream_writer(plain, closefd=False)
    else:
        return None
    return cast(BinaryIO, packed)


class _Sink(io.RawIOBase):
    """The last stage before the file: adds every byte to the digest."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        super().__init__()
        self.deaf = False
        self.size = 0
        self.hash = hashlib.sha256()
        self._file, self._name = file, name

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int | None:
        view = memoryview(data).cast("B")
        if self.deaf:
            return len(view)
        with reported(self._name):
            count = cast("int | None", self._file.write(view))
        self.hash.update(view[: count or 0])
        self.size += count or 0
        return count


class Encoded:
    """Converts UTF-8 to another encoding, with "?" for characters it lacks."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        #: The number of characters written as "?".
        self.replaced = 0
        self._stream, self._encoding = stream, encoding
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    @property
    def closed(self) -> bool:
        """Return whether the underlying stream is closed."""
        return self._stream.closed

    def write(self, data: bytes) -> int:
        """Write UTF-8 bytes."""
        text = self._decoder.decode(data)
        try:
            written = text.encode(self._encoding)
        except UnicodeEncodeError:
            written = text.encode(self._encoding, "replace")
            kept = text.encode(self._encoding, "ignore").decode(self._encoding)
            self.replaced += len(text) - len(kept)
        self._stream.write(written)
        return len(data)

    def flush(self) -> None:
        """Flush the underlying stream."""
        self._stream.flush()


class Quarantine:
    """A file that records are appended to; a failed run removes what it added.

    A new file is readable only by its owner.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._is_new = not os.path.lexists(path)
        with reported(path):
            self._path.touch(mode=0o600)
            self._file = self._path.open("ab")
            self._before = os.fstat(self._file.fileno()).st_size

    def add(self, data: bytes) -> None:
        """Append bytes. Raises OutputError if writing fails."""
        with reported(str(self._path)):
            self._file.write(data)

    def complete(self) -> None:
        """Flush all buffers; a file's bytes are then on disk."""
        with reported(str(self._path)):
            self._file.flush()
            if self._path.is_file():
                os.fsync(self._file.fileno())

    def close(self, stays: bool) -> None:
        """Keep the appended records, or remove them."""
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            if self._path.is_file() and not stays:
                if self._is_new:
                    self._path.unlink()
                else:
                    os.truncate(self._path, self._before)


class Release:
    """Several outputs: all appear or none; a `with` block discards unpublished ones.

    They appear in reverse order of opening, the first one last. So data
    opened before their report never appear without it.
    """

    def __init__(self) -> None:
        self._outputs: list[OutputFile] = []
        self._quarantines: list[Quarantine] = []

    def __enter__(self) -> Release:
        return self

    def __exit__(self, *error: object) -> None:
        for output in self._outputs:
            output.discard()
        for each in self._quarantines:
            each.close(stays=False)

    def open(
        self, path: str | None, encoding: str | None = None, *, held: bool = False
    ) -> OutputFile:
        """Open an output of this release; encoding and held: as in OutputFile."""
        self._outputs.append(OutputFile(path, encoding, held=held))
        return self._outputs[-1]

    def open_quarantine(self, path: str) -> Quarantine:
        """Open a file that this release appends to."""
        self._quarantines.append(Quarantine(path))
        return self._quarantines[-1]

    def complete(self) -> None:
        """Flush all outputs, so that little can fail afterwards.

        Raises OutputError.
        """
        for each in self._quarantines:
            each.complete()
        for output in reversed(self._outputs):
            output.complete()

    def commit(self) -> None:
        """Make all outputs appear, or none. Raises OutputError."""
        self.complete()
        begun: list[OutputFile] = []
        stay = False
        try:
            for output in reversed(self._outputs):
                begun.append(output)
                output.publish()
            stay = True
        finally:
            for output in reversed(begun):
                output.settle(stay)
            if stay:
                for each in self._quarantines:
                    each.close(stays=True)
                self._outputs, self._quarantines = [], []


@contextlib.contextmanager
def open_output(path: str | None) -> Iterator[OutputFile]:
    """Open an output; a file appears only if the block succeeds.

    None and "-" mean standard output. Raises OutputError if writing fails; a
    closed pipe stays a BrokenPipeError.
    """
    with Release() as release:
        yield release.open(path)
        release.commit()
