"""Where bytes come from and go to: paths, "-", compression by suffix.

An output file appears whole or not at all: it is written beside its target under a
hidden name and renamed when it is complete.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import hashlib
import io
import lzma
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from dptext.errors import InputError, MissingExtra, OutputError, UsageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_BUFFER = 2**18
_DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)


def compression(name: str) -> str:
    """Return the suffix of a name that tells its compression, or an empty string."""
    suffix = Path(name).suffix.lower()
    return suffix if suffix in COMPRESSIONS else ""


def plain_name(name: str) -> str:
    """Return a name without the suffix of its compression."""
    return name[: len(name) - len(compression(name))]


def is_standard(path: str | None) -> bool:
    """Tell whether a path stands for standard input or output."""
    return path is None or path == "-"


@contextlib.contextmanager
def open_input(path: str | None) -> Iterator[io.BufferedReader]:
    """Open a path, or standard input for "-" or None; decompress by suffix.

    Raises UsageError when there is no such file to read; reading damaged compressed
    data raises InputError.
    """
    if path is None or path == "-":
        yield cast(io.BufferedReader, sys.stdin.buffer)
        return
    try:
        plain = open(path, "rb", buffering=_BUFFER)
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise UsageError(msg) from None
    with plain:
        suffix = compression(path)
        if not suffix:
            yield cast(io.BufferedReader, plain)
            return
        checked = _Checked(_decompress(plain, suffix), path)
        with io.BufferedReader(checked, _BUFFER) as unpacked:
            yield cast(io.BufferedReader, unpacked)


def check_ends(path: str | Path, what: str) -> None:
    """Refuse a device such as /dev/zero, which never ends, where a file is meant.

    Pipes may be read. Raises UsageError, in which what says what was to be read.
    """
    with contextlib.suppress(OSError):  # what is not there is reported by the reader
        if stat.S_ISCHR(os.stat(path).st_mode):
            msg = f"{what} {path}: a device, which may never end; give a file"
            raise UsageError(msg)


def _decompress(plain: BinaryIO, suffix: str) -> IO[bytes]:
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=plain, mode="rb"))
    if suffix == ".bz2":
        return bz2.BZ2File(plain)
    if suffix == ".xz":
        return lzma.LZMAFile(plain)
    return cast(IO[bytes], _Zstd(plain))


class _Checked(io.RawIOBase):
    """Decompressed bytes; damage is an InputError that names the file."""

    def __init__(self, source: IO[bytes], path: str) -> None:
        super().__init__()
        self._source = source
        self._path = path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            return cast(Any, self._source).readinto(buffer) or 0
        except _DAMAGED:
            kind = compression(self._path)
            msg = f"{self._path}: damaged or cut off, or not {kind} data at all"
            raise InputError(msg) from None

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


class _Zstd(io.RawIOBase):
    """Decompressed zstd frames; the library's reader does not notice a cut-off end."""

    def __init__(self, source: BinaryIO) -> None:
        super().__init__()
        self._library = _zstandard()
        self._source = source
        self._frame: Any = None
        self._ahead = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        while not self._ready:
            if not self._fill():
                return 0
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _fill(self) -> bool:
        """Decompress a little: a kilobyte may swell to 32 MiB."""
        block = self._ahead or self._source.read(2**10)
        self._ahead = b""
        if not block:
            if self._frame is not None:
                raise EOFError
            return False
        if self._frame is None:
            self._frame = self._library.ZstdDecompressor().decompressobj()
        try:
            self._ready = memoryview(self._frame.decompress(block))
        except self._library.ZstdError:
            raise EOFError from None
        if self._frame.eof:
            self._ahead = self._frame.unused_data
            self._frame = None
        return True


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra.of("zstd", "zstd") from None
    return zstandard


def check_distinct(inputs: Sequence[str | None], output: str | None) -> None:
    """Refuse an output that is one of the inputs, under whatever name.

    Raises UsageError.
    """
    try:
        target = os.fstat(sys.stdout.fileno()) if is_standard(output) else None
        target = target or os.stat(cast(str, output))
    except (OSError, ValueError, AttributeError):
        return
    if not stat.S_ISREG(target.st_mode):
        return
    for path in inputs:
        if path is None or path == "-":
            continue
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(path), target):
                msg = f"{path} is both input and output; write to another file"
                raise UsageError(msg)


class Output:
    """An opened output: write to `stream`; `digest` and `size` are known at the end.

    digest is the sha256, in hexadecimal, of the bytes that left (compressed, if so),
    size how many there were.
    """

    def __init__(self, path: str | None) -> None:
        self.digest: str | None = None
        self.size = 0
        self._name = path if path is not None and path != "-" else "standard output"
        self._target: Path | None = None
        self._part: Path | None = None
        with _reported(self._name):
            self._file = self._open(None if is_standard(path) else path)
        self._sink = _Sink(self._file, self._name)
        plain = io.BufferedWriter(self._sink, _BUFFER)
        self._layers: list[IO[bytes]] = [plain]
        self.stream: BinaryIO = plain
        try:
            packed = _compress(plain, compression(self._name))
        except MissingExtra:
            self.discard()
            raise
        if packed is not None:
            self.stream = io.BufferedWriter(cast(io.RawIOBase, packed), _BUFFER)
            self._layers = [self.stream, packed, plain]

    def _open(self, path: str | None) -> BinaryIO:
        if path is None:
            buffer = sys.stdout.buffer
            buffer.flush()
            # What is left in Python's own buffer would be written again at exit.
            return cast(BinaryIO, getattr(buffer, "raw", buffer))
        # A link stays a link: what it points to is replaced.
        target = Path(os.path.realpath(path))
        mode = 0o666
        if target.exists():
            if target.is_dir():
                msg = f"{path}: {os.strerror(errno.EISDIR)}; give a file name"
                raise UsageError(msg)
            if not target.is_file():  # a device or a named pipe
                return open(target, "wb", buffering=0)
            if not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            mode = stat.S_IMODE(target.stat().st_mode)
        part = target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(part, flags, mode)
        self._target, self._part = target, part
        if target.exists():
            os.chmod(part, mode)  # what the umask took away
        return open(descriptor, "wb", buffering=0)

    def finish(self) -> None:
        """Write out all that is held back and put the file in its place."""
        with _reported(self._name):
            for layer in self._layers:
                layer.flush() if layer is self._layers[-1] else layer.close()
            if self._part is not None and self._target is not None:
                os.fsync(self._file.fileno())
                self._file.close()
                os.replace(self._part, self._target)
                _sync_folder(self._target.parent)
        self.digest, self.size = self._sink.digest(), self._sink.size
        self._close()

    def discard(self) -> None:
        """Leave nothing behind, and the target as it was."""
        self._close()
        if self._part is not None:
            with contextlib.suppress(OSError):
                self._part.unlink()

    def _close(self) -> None:
        self._sink.deaf = True
        for layer in self._layers:
            with contextlib.suppress(Exception):
                layer.close()
        if self._name != "standard output":
            with contextlib.suppress(OSError):
                self._file.close()


@contextlib.contextmanager
def open_output(path: str | None) -> Iterator[Output]:
    """Open an output; a file takes its place only when the block ends well.

    None and "-" stand for standard output. Raises OutputError when writing fails; a
    closed pipe stays a BrokenPipeError.
    """
    output = Output(path)
    try:
        yield output
        output.finish()
    except BaseException:
        output.discard()
        raise


def _compress(plain: BinaryIO, suffix: str) -> IO[bytes] | None:
    if suffix == ".gz":
        packed: object = gzip.GzipFile("", "wb", 6, plain, mtime=0)
    elif suffix == ".bz2":
        packed = bz2.BZ2File(plain, "wb")
    elif suffix == ".xz":
        packed = lzma.LZMAFile(plain, "wb")
    elif suffix == ".zst":
        packed = _zstandard().ZstdCompressor().stream_writer(plain, closefd=False)
    else:
        packed = None
    return cast("IO[bytes] | None", packed)


class _Sink(io.RawIOBase):
    """The last stage before the file: counts every byte into the digest."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        super().__init__()
        self.deaf = False
        self.size = 0
        self._file = file
        self._name = name
        self._hash = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int | None:
        view = memoryview(data).cast("B")
        if self.deaf:
            return len(view)
        with _reported(self._name):
            count = cast("int | None", self._file.write(view))
        self._hash.update(view[:count] if count is not None else b"")
        self.size += count or 0
        return count

    def digest(self) -> str:
        return self._hash.hexdigest()


@contextlib.contextmanager
def _reported(name: str) -> Iterator[None]:
    """Turn what the operating system refuses into one line."""
    try:
        yield
    except (BrokenPipeError, OutputError):
        raise
    except OSError as error:
        msg = f"{name}: {error.strerror}"
        raise OutputError(msg) from None


def _sync_folder(folder: Path) -> None:
    """Make a rename last; not every system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
