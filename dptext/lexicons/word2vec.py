"""word2vec: a header `words dimensions`, then the vectors as text or as binary.

In binary an entry is the word, a space, d little-endian float32, and sometimes a line
feed.
Source: Mikolov et al., 2013, and the C program `word2vec` that they published.
"""

from __future__ import annotations

import io
from typing import BinaryIO, cast

import numpy as np

from dptext.errors import LexiconError
from dptext.lexicons.lines import read_lines
from dptext.lexicons.raw import MOST_DIMENSIONS, RawVectors, checked

_BLOCK = 2**24
_LONGEST_WORD = 2**12  # bytes
_OF_NUMBERS = b"+-.0123456789aefintyAEFINTY"  # "nan" and "infinity" are refused later


def read(stream: BinaryIO, location: str, *, limit: int | None = None) -> RawVectors:
    """Read a file, text or binary, or its first `limit` words."""
    if not isinstance(stream, io.BufferedReader):
        stream = io.BufferedReader(cast(io.RawIOBase, stream), 2**20)
    size, dimensions = read_header(stream, location)
    is_text = _looks_like_text(cast(io.BufferedReader, stream), dimensions)
    reader = read_text if is_text else read_binary
    return reader(stream, location, size, dimensions, limit)


def read_fasttext(
    stream: BinaryIO, location: str, *, limit: int | None = None
) -> RawVectors:
    """Read a fastText `.vec` file: word2vec text, whose words may hold spaces.

    Source: Bojanowski et al., TACL 2017; the files of fasttext.cc. The `.bin` models of
    fastText, with their n-grams, are another format and are not read.
    """
    size, dimensions = read_header(stream, location)
    return read_text(stream, location, size, dimensions, limit)


def read_header(stream: BinaryIO, location: str) -> tuple[int, int]:
    """Read the first line: the numbers of words and of dimensions."""
    header = header_of(stream.readline(64))
    if header is None:
        msg = (
            f"{location}, line 1: expected a header, the numbers of words and "
            "dimensions"
        )
        raise LexiconError(msg)
    return header


def header_of(line: bytes) -> tuple[int, int] | None:
    """Return the numbers of words and dimensions if the line is a header."""
    fields = line.removeprefix(b"\xef\xbb\xbf").split()
    if len(fields) != 2 or not line.endswith(b"\n"):
        return None
    if not all(field.isdigit() and len(field) < 12 for field in fields):
        return None
    size, dimensions = map(int, fields)
    return (size, dimensions) if 0 < dimensions <= MOST_DIMENSIONS else None


def read_text(
    stream: BinaryIO, location: str, size: int, dimensions: int, limit: int | None
) -> RawVectors:
    """Read the lines after the header; there must be `size` of them."""
    # One more than the header says, to notice that there are more.
    wanted = size + 1 if limit is None else min(limit, size)
    raw = read_lines(stream, location, dimensions=dimensions, first=2, limit=wanted)
    if len(raw.words) > size:
        msg = f"{location}, line {size + 2}: more than the {size} words of the header"
        raise LexiconError(msg)
    _refuse_truncated(len(raw.words), size, location, limit)
    return raw


def read_binary(
    stream: BinaryIO, location: str, size: int, dimensions: int, limit: int | None
) -> RawVectors:
    """Read the entries after the header; there must be `size` of them."""
    wanted = size if limit is None else min(limit, size)
    words: list[str] = []
    flat = bytearray()
    width = 4 * dimensions
    block, start = b"", 0
    while len(words) < wanted:
        if len(block) - start < _LONGEST_WORD + width:
            more = stream.read(max(_BLOCK, width))
            block, start = block[start:] + more, 0
        space = block.find(b" ", start, start + _LONGEST_WORD)
        if space < 0 or len(block) < space + 1 + width:
            if space < 0 and len(block) - start >= _LONGEST_WORD:
                msg = f"{location}, word {len(words) + 1}: no end; not word2vec binary"
                raise LexiconError(msg)
            break
        words.append(_word(block[start:space], location, len(words) + 1))
        start = space + 1 + width
        flat += block[space + 1 : start]
    _refuse_truncated(len(words), size, location, limit)
    vectors = np.frombuffer(flat, "<f4").astype(np.float32, copy=False)
    raw = RawVectors(words, vectors.reshape(len(words), dimensions))
    return checked(raw, location, unit="word")


def _word(field: bytes, location: str, number: int) -> str:
    try:
        word = field.removeprefix(b"\n").decode()
    except UnicodeDecodeError:
        msg = f"{location}, word {number}: not UTF-8"
        raise LexiconError(msg) from None
    if not word:
        msg = f"{location}, word {number}: the word is empty"
        raise LexiconError(msg)
    return word


def _refuse_truncated(words: int, size: int, location: str, limit: int | None) -> None:
    if words < (size if limit is None else min(limit, size)):
        msg = f"{location}: truncated: the header says {size} words, {words} are whole"
        raise LexiconError(msg)


def _looks_like_text(stream: io.BufferedReader, dimensions: int) -> bool:
    """Tell text by its first line: d fields after the word, of the bytes of numbers."""
    line, feed, _ = stream.peek(2**16)[: 2**16].partition(b"\n")
    fields = line.rstrip().rsplit(b" ", dimensions)
    if feed and len(fields) <= dimensions and len(line) < dimensions:
        return False  # too short for a line of text with a number missing
    numbers = b"".join(fields[1:])
    return not numbers.translate(None, _OF_NUMBERS) if numbers else bool(feed)
