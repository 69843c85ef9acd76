"""Inputs: paths or "-", decompressed and converted to UTF-8, with one-line errors.

Compression is detected from the suffix or the first bytes. Texts in another encoding
are converted to UTF-8 and written back in it (dptext.streams.outputs): whatever is
copied comes back byte for byte, and bytes that would not round-trip through an encoding
are rejected.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import errno
import hashlib
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from dptext.errors import InputError, MissingExtra, UsageError
from dptext.run.interface import noun, option

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

AHEAD = 2**16  # bytes that are looked at before they are read
# Bytes to which any compressed file may unfold, and beyond them, how many times its own
# size. Logs unfold to 20 times it; blank lines, to a thousand times.
UNFOLDED, RATIO = 2**30, 200
_BUFFER = 2**18
_MOST = 2**26
# Least similarity of a name to the one that was meant (difflib).
_NEAR = 0.75
# Names of open files.
_OPEN = re.compile(
    r"/dev/(?P<name>std(?:in|out|err))|(?:/dev|/proc/(?P<process>self|[0-9]+))/fd/"
    r"(?P<number>[0-9]+)"
)
_STANDARD = ("stdin", "stdout", "stderr")


def home_folder() -> Path:
    """Return the home folder, or a path that cannot hold files if there is none."""
    # The user of a container or a service may have no account, and no HOME.
    home = os.path.expanduser("~")
    return Path(home if os.path.isabs(home) else os.devnull)


def digest_of_file(path: str | Path) -> str:
    """Return the sha256 of a file. Raises OSError."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def status(path: str | Path | None) -> tuple[int, ...] | None:
    """Return figures that change when a file is written, None if it is missing."""
    try:
        status = os.stat(str(path))
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def is_standard(path: str | None) -> bool:
    """Return whether a path means standard input or output."""
    return path is None or path == "-"


def descriptor(path: str | Path | None) -> int | None:
    """Return the descriptor that a path names, such as 1 for /dev/stdout, or None."""
    match = _OPEN.fullmatch(os.path.abspath(path or ""))
    if match is None or match["process"] not in (None, "self", str(os.getpid())):
        return None
    return int(match["number"] or _STANDARD.index(match["name"]))


def is_stream(path: str | None) -> bool:
    """Return whether data can be read only once: a pipe, a device, "-" or None."""
    if path is None or is_standard(path):
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_file(path: str | Path, kind: str) -> None:
    """Raise UsageError for a device, which never ends, or a pipe without writer.

    A pipe that is already open, as for `<(...)` in a shell, is allowed. The error
    names the kind of file.
    """
    try:
        mode = os.stat(path).st_mode
    except ValueError:
        raise UsageError(f"{kind}: no path holds the character NUL") from None
    except OSError:  # the reader reports a file that is absent
        return
    is_open_pipe = stat.S_ISFIFO(mode) and _OPEN.fullmatch(os.path.abspath(path))
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or is_open_pipe):
        raise UsageError(
            f"{kind} {path}: not a regular file, so reading may never end; give a "
            "regular file, or <(COMMAND) in the shell"
        )


def unopened(path: str | Path, error: OSError) -> str:
    """Explain why a file cannot be opened, and suggest a similar file name."""
    line = f"{path}: {error.strerror}"
    if error.errno != errno.ENOENT:
        return line
    if os.path.islink(path):
        return f"{line}: it is a link to a missing file"
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        return f"{line}; there is no folder {folder}"
    import difflib

    with contextlib.suppress(OSError):
        names = [each for each in os.listdir(folder or ".") if each[0] != "."]
        for near in difflib.get_close_matches(name, names, 1, _NEAR):
            return f"{line}; did you mean {os.path.join(folder, near)}?"
    return line


def read_small(path: str | Path, kind: str) -> bytes:
    """Read a small file such as settings.

    Raises UsageError, which names the kind of file, for a device or a file of more
    than 64 MiB, and OSError.
    """
    return read_with_status(path, kind)[0]


def read_with_status(path: str | Path, kind: str) -> tuple[bytes, os.stat_result]:
    """Read a small file with its status.

    The name may refer to another file by now. Raises as `read_small`.
    """
    check_file(path, kind)
    with open(path, "rb") as file:
        data, status = file.read(_MOST + 1), os.fstat(file.fileno())
    if len(data) > _MOST:
        raise UsageError(f"{kind} {path}: larger than 64 MiB; use a smaller file")
    return data, status


def is_own(status: os.stat_result) -> bool:
    """Return whether this process's user, or root, owns a file."""
    return status.st_uid in (os.geteuid(), 0)


def identity(name: str | None, *, written: bool) -> object:
    """Return a value equal for all names of a file, None for other kinds.

    "-" and None mean standard output if written, else standard input: a
    shell may have opened a file for either.
    """
    try:
        if is_standard(name):
            status = os.fstat((sys.stdout if written else sys.stdin).fileno())
        else:
            status = os.stat(str(name))
    except (OSError, ValueError, AttributeError):
        return None if is_standard(name) else os.path.realpath(str(name))
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_dev, status.st_ino


def matches(path: PurePath, patterns: Iterable[str]) -> bool:
    """Return whether a path matches one of the glob patterns in any folder.

    `*` also matches folders: "*.csv" matches "2026/a.csv", "old/*" everything below
    "old".
    """
    names = ["/".join(path.parts[begin:]) for begin in range(len(path.parts))]
    return any(fnmatchcase(name, each) for name in names for each in patterns)


def check_distinct(reads: Sequence[str | None], *writes: str | None) -> None:
    """Raise UsageError for overwriting an input, or writing a file twice.

    All names of a file count. "-" and None mean the standard streams.
    """
    used = {identity(name, written=False) for name in reads} - {None}
    for name in writes:
        target = identity(name, written=True)
        if target is not None and target in used:
            shown = "standard output" if is_standard(name) else name
            raise UsageError(
                f"{shown} is already read or written by this run; name another file"
            )
        used.add(target)


@contextlib.contextmanager
def open_input(
    path: str | None, encoding: str | None = None
) -> Iterator[io.BufferedReader]:
    """Open a path, or standard input for "-" or None, as decompressed UTF-8.

    Compression is detected from the suffix, else from the first bytes. encoding is
    a result of `known_encoding`. Raises UsageError if there is no such file to read,
    InputError if reading fails or data are damaged or in another encoding.
    """
    name, suffix = "standard input", compression(path or "")
    with contextlib.ExitStack() as stack:
        if path is None or is_standard(path):
            plain = _standard(stack)
        else:
            name = path
            # An open socket has no other way than its number.
            number = descriptor(path) if is_stream(path) else None
            try:
                file = _File(path if number is None else number, name)
            except OSError as error:
                raise UsageError(unopened(path, error)) from None
            plain = stack.enter_context(io.BufferedReader(file, _BUFFER))
        if not suffix:
            plain, suffix = _recognised(plain)
        yield unpacked(plain, name, encoding, suffix)


def unpacked(
    plain: BinaryIO, name: str, encoding: str | None = None, suffix: str | None = None
) -> io.BufferedReader:
    """Decompress an open file by its name or suffix, and decode it.

    Reading compressed data raises InputError if they are damaged, or expand to more
    than UNFOLDED bytes and RATIO times their size.
    """
    stream = cast(io.BufferedReader, plain)
    if suffix := compression(name) if suffix is None else suffix:
        packed = _Measured(plain)
        blocks = _checked(decompressed(cast(BinaryIO, packed), suffix), packed)
        stream = buffered(_named(blocks, name, suffix))
    return stream if encoding is None else buffered(_decoded(stream, encoding, name))


def first_lines(
    stream: io.BufferedReader, count: int, size: int = AHEAD
) -> tuple[bytes, io.BufferedReader]:
    """Return a stream's first lines, up to `size` bytes, and the stream unread."""
    start = stream.tell() if stream.seekable() else None
    head = b""
    for _ in range(count):
        head += stream.readline(size - len(head))
    if start is None:
        return head, joined(head, stream)
    stream.seek(start)
    return head, stream


def joined(head: bytes, rest: BinaryIO) -> io.BufferedReader:
    """Return a stream of some bytes followed by the rest of an open stream."""

    def blocks() -> Iterator[bytes]:
        yield head
        while block := cast(io.BufferedReader, rest).read1(_BUFFER):
            yield block

    return buffered(blocks())


def buffered(blocks: Iterator[bytes]) -> io.BufferedReader:
    """Wrap blocks of bytes in a buffered stream."""
    return io.BufferedReader(cast(io.RawIOBase, _Blocks(blocks)), _BUFFER)


class _Blocks(io.RawIOBase):
    """A stream over blocks of bytes."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        super().__init__()
        self._blocks, self._ready = blocks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._ready:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._ready = memoryview(block)
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


class _File(io.FileIO):
    """A file or standard input with one-line errors."""

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
            # An end before the last byte, or behind it: the file was cut.
            status = os.fstat(self.fileno())
            if stat.S_ISREG(status.st_mode) and 0 < status.st_size != self.tell():
                raise InputError(
                    f"{self._shown}: changed while it was being read; run again"
                )
        return count

    read = io.RawIOBase.read  # type: ignore[assignment] # FileIO's: no readinto
    readall = io.RawIOBase.readall


def _standard(stack: contextlib.ExitStack) -> io.BufferedReader:
    buffer = sys.stdin.buffer
    if not isinstance(getattr(buffer, "raw", None), io.FileIO):  # replaced by a caller
        return joined(b"", buffer)
    file = _File(buffer.fileno(), "standard input")
    return stack.enter_context(io.BufferedReader(file, _BUFFER))


_BLOCK, _NO_BLOCK = b"1AY&SY", b"\x17rE8P\x90"  # of bz2: pi, or its root at the end
# First bytes of compressed data; the fourth byte of bz2 is its level.
_MAGIC = {
    b"\x1f\x8b\x08": ".gz",
    **dict.fromkeys(
        (b"BZh%d" % n + mark for n in range(1, 10) for mark in (_BLOCK, _NO_BLOCK)),
        ".bz2",
    ),
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    **dict.fromkeys((b"%c\x2a\x4d\x18" % n for n in range(0x50, 0x60)), ".zst"),
}
COMPRESSIONS = tuple(dict.fromkeys(_MAGIC.values()))
HEAD = max(map(len, _MAGIC))


def compression(name: str) -> str:
    """Return the compression suffix of a file name, or ""."""
    suffix = Path(name).suffix.lower()
    return suffix if suffix in COMPRESSIONS else ""


def plain_name(name: str) -> str:
    """Return a name without its compression suffix."""
    return name[: len(name) - len(compression(name))]


def recognised(head: bytes) -> str:
    """Return the suffix of the compression that data begin with, or ""."""
    return next((_MAGIC[magic] for magic in _MAGIC if head.startswith(magic)), "")


def _recognised(plain: io.BufferedReader) -> tuple[io.BufferedReader, str]:
    """Return the stream from its start, and the compression it begins with."""

    def undecided() -> bool:
        return any(magic.startswith(head) and magic != head for magic in _MAGIC)

    head = plain.peek(HEAD)[:HEAD]
    if head and undecided():
        # A pipe may give a magic number in parts: take bytes while they still fit.
        head = plain.read(len(head))
        while undecided() and (more := plain.read(1)):
            head += more
        plain = joined(head, plain)
    return plain, recognised(head)


def zstandard() -> Any:
    """Import the .zst library, which has no type annotations."""
    try:
        import zstandard
    except ImportError:
        raise MissingExtra.for_package("zstd", "zstd") from None
    return zstandard


def decompressed(plain: BinaryIO, suffix: str) -> Iterator[bytes]:
    """Yield the decompressed data of a stream: all frames, to the end.

    The libraries' readers do not notice a truncated end (zstd), and drop the
    rest of a file after the first damaged frame (bz2, xz). Raises EOFError for
    damaged data, and MissingExtra.
    """
    damaged: tuple[type[Exception], ...] = OSError, zlib.error, lzma.LZMAError
    new: Callable[[], Any]  # has decompress, eof and unused_data
    if suffix == ".gz":
        new, padding = partial(zlib.decompressobj, wbits=31), b"\0"
    elif suffix == ".bz2":
        new, padding = bz2.BZ2Decompressor, b""
    elif suffix == ".xz":
        new, padding = lzma.LZMADecompressor, b"\0"
    else:
        library = zstandard()
        new, padding = library.ZstdDecompressor().decompressobj, b""
        damaged = (library.ZstdError,)
    frame: Any = None
    ahead, is_first, padded = b"", True, 0
    while block := ahead or plain.read(2**9):  # which may swell to 16 MiB
        ahead = b""
        if frame is None:
            rest = block if is_first else block.lstrip(padding)
            padded += len(block) - len(rest)
            block = rest
            if not block:
                continue
            _check_padding(padded, suffix)
            padded = 0
            frame, is_first = new(), False
        try:
            yield frame.decompress(block)
        except damaged:
            raise EOFError from None
        if frame.eof:
            frame, ahead = None, frame.unused_data
    if frame is not None or is_first:
        raise EOFError
    _check_padding(padded, suffix)


class _SwollenError(Exception):
    """Compressed data expand more than texts do."""


class _Measured:
    """A stream that counts the bytes read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.size = stream, 0

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes."""
        data = self._stream.read(size)
        self.size += len(data)
        return data


def _checked(blocks: Iterator[bytes], packed: _Measured) -> Iterator[bytes]:
    """Yield decompressed data, up to the size that texts might expand to."""
    size = 0
    for block in blocks:
        size += len(block)
        if size > max(UNFOLDED, RATIO * packed.size):
            raise _SwollenError
        yield block


def _check_padding(size: int, suffix: str) -> None:
    """Reject padding after a frame that the format does not define."""
    if suffix == ".xz" and size % 4:
        raise EOFError


def _named(blocks: Iterator[bytes], name: str, suffix: str) -> Iterator[bytes]:
    """Yield decompressed data, with the file's name in InputError messages."""
    try:
        yield from blocks
    except _SwollenError:
        raise InputError(
            f"{name}: expands to more than {UNFOLDED >> 30} GiB and {RATIO} times its "
            "size, which may be an attack; if you trust it, decompress it first"
        ) from None
    except EOFError:
        raise InputError(
            f"{name}: damaged or truncated, or not {suffix} data; compress it again, "
            f"or remove {suffix} from its name"
        ) from None


_BIG_ENDIAN = {"utf-16-le": codecs.BOM_UTF16_BE, "utf-32-le": codecs.BOM_UTF32_BE}


def known_encoding(name: str) -> str | None:
    """Return Python's name for an encoding; None for UTF-8.

    Raises UsageError for an unknown name, or a codec that is not for text.
    """
    try:
        known = codecs.lookup(name).name
        "a".encode(known)
    except (LookupError, ValueError):
        raise UsageError(
            f"{name!r} is not an encoding; files of Windows and Excel are often in "
            "cp1252 or utf-16"
        ) from None
    if known in ("utf-8", "utf-8-sig", "ascii"):
        return None
    return f"{known}-le" if known in ("utf-16", "utf-32") else known


def _decoded(stream: io.BufferedReader, encoding: str, name: str) -> Iterator[bytes]:
    """Yield a stream converted to UTF-8, including its byte order mark.

    Raises InputError for bytes that are invalid in the encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    past, block = 0, b"-"
    while block:
        block = stream.read1(AHEAD)
        if encoding in _BIG_ENDIAN and not past:
            if block.startswith(_BIG_ENDIAN[encoding]):
                other = encoding.replace("-le", "-be")
                raise InputError(
                    f"{name}: give {noun('encoding')} {other}, as it begins"
                )
        waiting = decoder.getstate()[0]
        try:
            text = decoder.decode(block, not block)
            data, rest = waiting + block, decoder.getstate()[0]
            if text.encode(encoding) != data[: len(data) - len(rest)]:
                raise UnicodeError
        except UnicodeError as error:
            at = past - len(waiting) + getattr(error, "start", 0)
            raise InputError(
                f"{name}: not valid {encoding}, or bytes do not round-trip (near byte "
                f"{at}); give another {option('encoding')}, or convert the file to "
                "UTF-8"
            ) from None
        past += len(block)
        yield text.encode()
