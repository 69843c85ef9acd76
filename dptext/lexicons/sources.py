"""Files of vectors: opens them, detects their format, reads .npz archives.

The format is detected from name and first bytes. An .npz has the arrays words (V,),
vectors (V, d) and, optionally, counts (V,). Text has a word and d numbers per line,
separated by spaces. A word may contain spaces and no-break spaces (GloVe 840B has
both), so lines are split from the right; bytes are split, not text, since Python counts
no-break spaces as blanks. GloVe files are such lines, without a header, by descending
frequency (Pennington et al., EMNLP 2014; nlp.stanford.edu/projects/glove). word2vec has
a header `words dimensions`, then text or binary: the word, a space, d little-endian
float32, and sometimes a line feed (Mikolov et al., 2013, and the C program `word2vec`
that they published).
"""

from __future__ import annotations

import io
import lzma
import os
import zipfile
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, BinaryIO, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from dptext import progress, streams
from dptext.errors import LexiconError, UsageError
from dptext.types import Floats, Vectors

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_DAMAGED = EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile
# Other exceptions of NumPy for an invalid header.
_NO_ARRAYS = TypeError, KeyError, ValueError, RuntimeError, SyntaxError, TokenError
ZIP = b"PK\x03\x04"
Array = NDArray[np.generic]  # of any type, until it is checked
# More than any published set has; a header that claims more is not a header.
MOST_DIMENSIONS = 2**16
_ROWS = 2**14  # rows looked at together, so that a check needs little memory
_BLANKS = b" \t\r\n"
# Three times as fast as float() on each field, 1.6 times as fast as numpy.fromstring,
# and equal to both in every bit; fields that are no JSON take the slow path.
_numbers = msgspec.json.Decoder(list[float]).decode
_LONGEST = 2**26  # bytes of a line
_BLOCK = 2**24
_LONGEST_WORD = 2**12  # bytes
_OF_NUMBERS = b"+-.0123456789aefintyAEFINTY"  # "nan" and "infinity" are refused later
FORMATS = ("glove", "word2vec", "fasttext", "npz")


@contextmanager
def open_packed(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file, compressed or not; raise read errors as LexiconError."""
    try:
        watched = io.BufferedReader(_Watched(path), 2**20)
        with watched, _decompress(cast(io.BufferedReader, watched)) as stream:
            yield stream
    except _DAMAGED as error:
        raise LexiconError(
            f"{path}: the compressed file is damaged or truncated"
        ) from error
    except OSError as error:
        raise LexiconError(f"{path}: {error.strerror or error}") from error


class _Watched(io.FileIO):
    """A file that reports how much of it has been read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._size = max(1, os.fstat(self.fileno()).st_size)
        self._read = 0

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        count = cast("int | None", super().readinto(buffer))
        self._read += count or 0
        progress.share("reading", min(1.0, self._read / self._size))
        return count


def _decompress(file: io.BufferedReader) -> io.BufferedReader:
    if file.peek(4).startswith(ZIP):
        try:
            return _unzip(file)
        except RuntimeError:
            raise LexiconError(
                f"{file.name}: password-protected, or compressed in an unknown way; "
                "decompress it and import the file in it"
            ) from None
    suffix = streams.recognised(file.peek(streams.HEAD)[: streams.HEAD])
    if not suffix:
        return file
    return streams.buffered(streams.decompressed(file, suffix))


def _unzip(file: io.BufferedReader) -> io.BufferedReader:
    archive = zipfile.ZipFile(file)
    names = [name for name in archive.namelist() if not name.endswith("/")]
    if any(name.endswith(".npy") for name in names):  # an .npz is not unpacked
        file.seek(0)
        return file
    if len(names) != 1:
        raise LexiconError(
            f"{file.name}: {len(names)} files in it; extract it and import one of them"
        )
    return io.BufferedReader(cast(io.RawIOBase, archive.open(names[0])), 2**20)


def read_npz(
    stream: BinaryIO, location: str, *, limit: int | None = None
) -> RawVectors:
    """Read an archive, or its first `limit` words, stored as text or UTF-8 bytes."""
    # numpy seeks in the archive, which a stream that is being unpacked cannot.
    source = stream if stream.seekable() else io.BytesIO(stream.read())
    try:
        with np.load(source, allow_pickle=False) as archive:
            words, vectors = archive["words"], archive["vectors"]
            counts = archive["counts"] if "counts" in archive.files else None
        if words.dtype.kind == "S":
            words = np.char.decode(words, "utf-8")
    except (*_DAMAGED, *_NO_ARRAYS, OSError) as error:
        raise LexiconError(
            f"{location}: not a complete .npz file with the arrays words and vectors "
            f"({type(error).__name__})"
        ) from None
    if words.ndim != 1 or words.dtype.kind != "U":
        raise LexiconError(
            f"{location}: words must be a one-dimensional array of text, found "
            f"{words.dtype.name}"
        )
    return assemble(words.tolist(), vectors, counts, location, limit=limit)


def assemble(
    words: list[str],
    vectors: Array,
    counts: Array | None,
    location: str,
    *,
    limit: int | None = None,
) -> RawVectors:
    """Check that a source's arrays match each other; float16 stays float16."""
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or not vectors.shape[1]:
        kind = vectors.dtype.name
        msg = f"{location}: vectors must be a matrix of floats, found {kind}"
        raise LexiconError(msg)
    if len(words) != len(vectors):
        raise LexiconError(f"{location}: {len(words)} words but {len(vectors)} vectors")
    if not all(words):
        msg = f"{location}, entry {words.index('') + 1}: the word is empty"
        raise LexiconError(msg)
    plain_counts = None
    kept: type[np.floating] = np.float16 if vectors.dtype == np.float16 else np.float32
    with np.errstate(over="ignore"):  # overflow is refused as infinite
        plain = np.ascontiguousarray(vectors[:limit], dtype=kept)
        if counts is not None:
            fits = counts.shape == (len(words),) and counts.dtype.kind in "iuf"
            plain_counts = counts.astype(np.float64)[:limit] if fits else np.zeros(1)
            if not ((plain_counts > 0).all() and np.isfinite(plain_counts.sum())):
                msg = f"counts must be {len(words)} positive numbers with a finite sum"
                raise LexiconError(f"{location}: {msg}")
    return check(RawVectors(words[:limit], plain, plain_counts), location, "entry")


@dataclass(frozen=True, slots=True)
class RawVectors:
    """Words and vectors as in the file, before anything is folded or dropped.

    words list[n]; vectors (n, d) float32 (float16 if the source is);
    counts (n,) float64 > 0, or None if the source has none.
    """

    words: list[str]
    vectors: Vectors
    counts: Floats | None = None


def check(
    raw: RawVectors, location: str, unit: str = "line", first: int = 1
) -> RawVectors:
    """Return raw unchanged if it has words and finite vectors.

    Errors refer to entry i of the file as `unit` first + i; a word itself never
    appears, because a file given by mistake may be a private text.
    """
    if not raw.words:
        raise LexiconError(f"{location}: it contains no words")
    for start in range(0, len(raw.words), _ROWS):
        finite = np.isfinite(raw.vectors[start : start + _ROWS]).all(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            raise LexiconError(
                f"{location}, {unit} {first + row}: a number is NaN or infinite"
            )
    return raw


def count_dimensions(line: bytes) -> int:
    """Count the numbers at the end of a line; the first field never counts."""
    fields = line.replace(b"\t", b" ").rstrip(_BLANKS).split(b" ")
    count = 0
    while count < len(fields) - 1 and _is_number(fields[-1 - count]):
        count += 1
    return count


def divide(line: bytes, d: int) -> tuple[bytes, list[float]] | None:
    """Split a line into a word and d numbers, or return None."""
    word, _, rest = line.partition(b" ")
    try:
        values = _numbers(b"[" + rest.rstrip(_BLANKS).replace(b" ", b",") + b"]")
    except (msgspec.DecodeError, UnicodeDecodeError):
        values = []
    if len(values) == d and word and b"," not in rest:
        return word, values
    # Blanks in the word, tabs, numbers as JSON has none, or no such line.
    word, *fields = line.replace(b"\t", b" ").rstrip(_BLANKS).rsplit(b" ", d)
    tail = word.rpartition(b" ")[2]
    # A word that ends in a decimal fraction is a line with a number too many.
    too_many = tail != word and b"." in tail and _is_number(tail)
    if not word or too_many or len(fields) != d or not all(map(_is_number, fields)):
        return None
    return word, [float(field) for field in fields]


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    # float() takes underscores between digits and blanks around them.
    return b"_" not in field and field == field.strip()


def read_lines(
    stream: BinaryIO,
    location: str,
    *,
    dimensions: int | None = None,
    first: int = 1,
    limit: int | None = None,
) -> RawVectors:
    """Read lines `word v1 ... vd` to the end, or up to `limit` of them.

    dimensions: d from a header, else from the first line; first is
    the number of the first line, for messages. Needs the memory of the vectors and one
    line. Raises LexiconError naming the line.
    """
    words: list[str] = []
    flat = array("f")
    # Of a line that is too long no more than the limit.
    lines = iter(lambda: stream.readline(_LONGEST + 1), b"")
    for number, line in enumerate(lines, first):
        where = f"{location}, line {number}"
        if limit is not None and len(words) == limit:
            break
        if len(line) > _LONGEST:
            raise LexiconError(f"{where}: longer than 64 MiB")
        if line.isspace():
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if dimensions is None:
            dimensions = count_dimensions(line)
        divided = divide(line, dimensions)
        if divided is None or not 0 < dimensions <= MOST_DIMENSIONS:
            raise LexiconError(
                f"{where}: expected a word and {dimensions or 'its'} numbers"
            )
        words.append(_decode(divided[0], where))
        flat.fromlist(divided[1])
    vectors = np.frombuffer(flat, np.float32).reshape(len(words), -1 if words else 0)
    return check(RawVectors(words, vectors), location, first=first)


def _decode(word: bytes, where: str) -> str:
    try:
        return word.decode()
    except UnicodeDecodeError:
        raise LexiconError(f"{where}: the word is not UTF-8") from None


def read_word2vec(
    stream: BinaryIO, location: str, *, limit: int | None = None, text: bool = False
) -> RawVectors:
    """Read a word2vec file or its first `limit` words; text: it is not binary."""
    if not isinstance(stream, io.BufferedReader):
        stream = io.BufferedReader(cast(io.RawIOBase, stream), 2**20)
    header = parse_header(stream.readline(64))
    if header is None:
        msg = "expected a header, the numbers of words and dimensions"
        raise LexiconError(f"{location}, line 1: {msg}")
    size, d = header
    wanted = size if limit is None else min(limit, size)
    if text or _looks_like_text(cast(io.BufferedReader, stream), d):
        # One more than the header says, to notice that there are more.
        most = wanted + (limit is None)
        raw = read_lines(stream, location, dimensions=d, first=2, limit=most)
    else:
        raw = _read_binary(stream, location, d, wanted)
    if len(raw.words) != wanted:
        msg = f"truncated or damaged, does not hold the {size} words of its header"
        raise LexiconError(f"{location}: {msg}")
    return check(raw, location, "word")


# fastText `.vec` files are word2vec text, but words may hold spaces. Source:
# Bojanowski et al., TACL 2017; the files of fasttext.cc. The `.bin` models of fastText,
# with their n-grams, are another format and are not read.
read_fasttext = partial(read_word2vec, text=True)


def parse_header(line: bytes) -> tuple[int, int] | None:
    """Return the numbers of words and dimensions in a header, None if it is none."""
    fields = line.removeprefix(b"\xef\xbb\xbf").split()
    if len(fields) != 2 or not line.endswith(b"\n"):
        return None
    if not all(field.isdigit() and len(field) < 12 for field in fields):
        return None
    size, dimensions = map(int, fields)
    return (size, dimensions) if 0 < dimensions <= MOST_DIMENSIONS else None


def _read_binary(stream: BinaryIO, location: str, d: int, wanted: int) -> RawVectors:
    """Read the wanted entries after the header, fewer if the stream ends."""
    words: list[str] = []
    flat = bytearray()
    width = 4 * d
    block, start = b"", 0
    while len(words) < wanted:
        if len(block) - start < _LONGEST_WORD + width:
            more = stream.read(max(_BLOCK, width))
            block, start = block[start:] + more, 0
        space = block.find(b" ", start, start + _LONGEST_WORD)
        if space < 0 or len(block) < space + 1 + width:
            break
        where = f"{location}, word {len(words) + 1}"
        words.append(_decode(block[start:space].removeprefix(b"\n"), where))
        if not words[-1]:
            raise LexiconError(f"{where}: the word is empty")
        start = space + 1 + width
        flat += block[space + 1 : start]
    vectors = np.frombuffer(flat, "<f4").astype(np.float32, copy=False)
    return RawVectors(words, vectors.reshape(len(words), d))


def _looks_like_text(stream: io.BufferedReader, dimensions: int) -> bool:
    """Return whether the first line is text: a word and d numeric fields."""
    line, feed, _ = stream.peek(2**16)[: 2**16].partition(b"\n")
    fields = line.rstrip().rsplit(b" ", dimensions)
    if feed and len(fields) <= dimensions and len(line) < dimensions:
        return False  # too short for a line of text with a number missing
    numbers = b"".join(fields[1:])
    return not numbers.translate(None, _OF_NUMBERS) if numbers else bool(feed)


_ATTACKERS = read_lines, read_word2vec, read_fasttext, read_npz


def read(path: Path, format: str | None, limit: int | None) -> tuple[RawVectors, str]:
    """Read the first `limit` words of a file; also return its format."""
    location = str(path)
    streams.check_file(path, "vectors")
    if format is not None and format not in FORMATS:
        raise UsageError(
            f"no lexicon format named {format!r}; known: {', '.join(FORMATS)}"
        )
    with open_packed(path) as stream:
        format = format or _detect(path, stream)
        read_format = _ATTACKERS[FORMATS.index(format)]
        return read_format(stream, location, limit=limit), format


def sha256(path: Path) -> str:
    """Compute the sha256 of a file as stored on disk."""
    streams.check_file(path, "vectors")
    try:
        return streams.digest_of_file(path)
    except OSError as error:
        raise LexiconError(f"{path}: {error.strerror}") from None


def _detect(path: Path, stream: io.BufferedReader) -> str:
    """Detect the format from suffix and first bytes, without consuming them."""
    head = stream.peek(2**16)[: 2**16]
    suffix = Path(streams.plain_name(path.name.lower())).suffix
    if head.startswith(ZIP) or suffix == ".npz":
        return "npz"
    if not head:
        raise LexiconError(f"{path}: the file is empty")
    first = head.partition(b"\n")[0][:64] + b"\n"
    if parse_header(first) is None:
        return "glove"
    return "fasttext" if suffix == ".vec" else "word2vec"
