"""Files of vectors: opened, packed or not; their format told; .npz archives read.

The format is told by name and first bytes. An .npz holds the arrays words (V,), vectors
(V, d) and, if it knows them, counts (V,).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from dptext import streams
from dptext.errors import LexiconError, UsageError
from dptext.lexicons import vector_lines
from dptext.lexicons.vector_lines import RawVectors, checked, read_lines
from dptext.progress import Shares

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_DAMAGED = (
    *(EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile),
    zipfile.BadZipFile,
)
ZIP = b"PK\x03\x04"


def quiet(what: str, share: float) -> None:
    """Report no progress."""


@contextmanager
def opened(path: Path, progress: Shares = quiet) -> Iterator[io.BufferedReader]:
    """Open a file, packed or not; what goes wrong in reading is a LexiconError."""
    try:
        with _Watched(path, progress) as file, _unpacked(file) as stream:
            yield stream
    except _DAMAGED as error:
        msg = f"{path}: the packed file is damaged or truncated"
        raise LexiconError(msg) from error
    except OSError as error:
        raise LexiconError(f"{path}: {error.strerror or error}") from error


class _Watched(io.FileIO):
    """A file that tells how much of it was read."""

    def __init__(self, path: Path, progress: Shares) -> None:
        super().__init__(path, "rb")
        self._size = max(1, os.fstat(self.fileno()).st_size)
        self._read = 0
        self._progress = progress

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        count = cast("int | None", super().readinto(buffer))
        self._read += count or 0
        self._progress("reading", min(1.0, self._read / self._size))
        return count


def _unpacked(file: io.FileIO) -> io.BufferedReader:
    buffered = io.BufferedReader(file, 2**20)
    if buffered.peek(4).startswith(ZIP):
        return _only_member(cast(io.BufferedReader, buffered), str(file.name))
    suffix = streams.recognised(buffered.peek(streams.HEAD)[: streams.HEAD])
    if not suffix:
        return cast(io.BufferedReader, buffered)
    unpacked = streams.decompress(cast(BinaryIO, buffered), suffix)
    return io.BufferedReader(cast(io.RawIOBase, unpacked), 2**20)


def _only_member(file: io.BufferedReader, location: str) -> io.BufferedReader:
    """Open the one file of a .zip; an .npz, made of arrays, stays as it is."""
    archive = zipfile.ZipFile(file)
    names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    if any(name.endswith(".npy") for name in names):
        file.seek(0)
        return file
    if len(names) != 1:
        msg = f"{location}: {len(names)} files in it; unpack it and import one of them"
        raise LexiconError(msg)
    return io.BufferedReader(cast(io.RawIOBase, archive.open(names[0])), 2**20)


Array = NDArray[np.generic]  # of any type, until it is checked

_ARRAYS = ("words", "vectors", "counts")


def read_npz(
    stream: BinaryIO, location: str, *, limit: int | None = None
) -> RawVectors:
    """Read an archive, or its first `limit` words."""
    # numpy seeks in the archive, which a stream that is being unpacked cannot.
    source = stream if stream.seekable() else io.BytesIO(stream.read())
    try:
        archive = np.load(source, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            msg = f"{location}: one array and no .npz; it has to name its words as well"
            raise LexiconError(msg)
        with archive:
            present = [name for name in _ARRAYS if name in archive.files]
            arrays = {name: archive[name] for name in present}
    except LexiconError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        msg = f"{location}: not a whole .npz of plain arrays ({type(error).__name__})"
        raise LexiconError(msg) from None
    for name in ("words", "vectors"):
        if name not in arrays:
            raise LexiconError(f"{location}: no array named {name!r} in it")
    words = words_of(arrays["words"], location)
    return assemble(
        words, arrays["vectors"], arrays.get("counts"), location, limit=limit
    )


def words_of(words: Array, location: str) -> list[str]:
    """Turn an array of text or UTF-8 bytes into a list."""
    if words.ndim != 1 or words.dtype.kind not in "US":
        msg = f"{location}: words must be one row of text, found {words.dtype.name}"
        raise LexiconError(msg)
    try:
        return [
            word.decode() if isinstance(word, bytes) else word
            for word in words.tolist()
        ]
    except UnicodeDecodeError:
        raise LexiconError(f"{location}: words are not UTF-8") from None


def assemble(
    words: list[str],
    vectors: Array,
    counts: Array | None,
    location: str,
    *,
    limit: int | None = None,
) -> RawVectors:
    """Check that the arrays of a source fit each other; float16 stays float16."""
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or not vectors.shape[1]:
        raise LexiconError(
            f"{location}: vectors must be a matrix of floats, found "
            f"{vectors.dtype.name}"
        )
    if len(words) != len(vectors):
        raise LexiconError(f"{location}: {len(words)} words but {len(vectors)} vectors")
    if not all(words):
        msg = f"{location}, entry {words.index('') + 1}: the word is empty"
        raise LexiconError(msg)
    counts = _counts(counts, len(words), location)
    kept: type[np.floating] = np.float16 if vectors.dtype == np.float16 else np.float32
    with np.errstate(over="ignore"):  # what overflows is refused as infinite below
        plain = np.ascontiguousarray(vectors[:limit], dtype=kept)
    cut = None if counts is None else counts[:limit]
    return checked(RawVectors(words[:limit], plain, cut), location, unit="entry")


def _counts(
    counts: Array | None, size: int, location: str
) -> NDArray[np.float64] | None:
    if counts is None:
        return None
    if counts.shape != (size,) or counts.dtype.kind not in "iuf":
        msg = f"{location}: counts must be {size} numbers, one for each word"
        raise LexiconError(msg)
    plain = counts.astype(np.float64)
    wrong = ~(np.isfinite(plain) & (plain > 0))
    if wrong.any():
        entry = int(np.argmax(wrong)) + 1
        msg = f"{location}, entry {entry}: the count is not a number above 0"
        raise LexiconError(msg)
    return plain


_READERS: dict[str, Callable[..., RawVectors]] = {
    "glove": read_lines,
    "word2vec": vector_lines.read,
    "fasttext": vector_lines.read_fasttext,
    "npz": read_npz,
}
FORMATS = tuple(_READERS)


def read(
    path: Path, format: str | None, limit: int | None, progress: Shares = quiet
) -> tuple[RawVectors, str]:
    """Read the first `limit` words of a file; return also its format."""
    location = str(path)
    _check_file(path)
    if format is not None and format not in FORMATS:
        msg = f"no lexicon format named {format!r}; known: {', '.join(FORMATS)}"
        raise UsageError(msg)
    with opened(path, progress) as stream:
        format = format or detect(path, stream)
        return _READERS[format](stream, location, limit=limit), format


def sha256(path: Path) -> str:
    """Compute the sha256 of a file as it lies on disk."""
    _check_file(path)
    try:
        with open(path, "rb", buffering=0) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise LexiconError(f"{path}: {error.strerror}") from None


def _check_file(path: Path) -> None:
    streams.check_ends(path, "vectors")
    if path.is_dir():
        raise LexiconError(
            f"{path}: a folder; give one file of vectors, such as an .npz with the "
            "arrays words and vectors"
        )


def detect(path: Path, stream: io.BufferedReader) -> str:
    """Tell the format by suffix and first bytes, which stay unread."""
    head = stream.peek(2**16)[: 2**16]
    suffix = Path(streams.plain_name(path.name.lower())).suffix
    if head.startswith(ZIP) or suffix == ".npz":
        return "npz"
    if not head:
        raise LexiconError(f"{path}: the file is empty")
    first = head.partition(b"\n")[0][:64] + b"\n"
    if vector_lines.header_of(first) is None:
        return "glove"
    return "fasttext" if suffix == ".vec" else "word2vec"
