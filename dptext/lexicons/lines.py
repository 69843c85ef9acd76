"""Vectors as text: a word and d numbers a line, parted by spaces.

A word may hold spaces and no-break spaces (GloVe 840B has both), so a line is divided
from the right. Bytes are divided, not text: Python counts no-break spaces as blanks.

GloVe files are such lines, without a header, by descending frequency (Pennington et
al., EMNLP 2014; nlp.stanford.edu/projects/glove).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import BinaryIO

import msgspec
import numpy as np

from dptext.errors import LexiconError
from dptext.lexicons.raw import MOST_DIMENSIONS, RawVectors, checked

_BLANKS = b" \t\r\n"

# Three times as fast as float() on each field, 1.6 times as fast as numpy.fromstring,
# and equal to both in every bit; what is not JSON takes the slow path.
_numbers = msgspec.json.Decoder(list[float]).decode


def read_lines(
    stream: BinaryIO,
    location: str,
    *,
    dimensions: int | None = None,
    first: int = 1,
    limit: int | None = None,
) -> RawVectors:
    """Read lines `word v1 ... vd` to the end, or `limit` of them.

    dimensions is d where a header said it, else what the first line holds; first is
    the number of the first line, for messages. Needs the memory of the vectors and one
    line. Raises LexiconError naming the line.
    """
    words: list[str] = []
    flat = array("f")
    for number, line in enumerate(_not_blank(stream, location, first), first):
        if limit is not None and len(words) == limit:
            break
        if dimensions is None:
            dimensions = _dimensions(line, location, number)
        word, values = _divide(line, dimensions, location, number)
        try:
            words.append(word.decode())
        except UnicodeDecodeError:
            msg = f"{location}, line {number}: the word is not UTF-8"
            raise LexiconError(msg) from None
        flat.fromlist(values)
    vectors = np.frombuffer(flat, np.float32).reshape(len(words), -1 if words else 0)
    return checked(RawVectors(words, vectors), location, first=first)


def _not_blank(stream: BinaryIO, location: str, first: int) -> Iterator[bytes]:
    """Yield the lines; blank ones may only stand at the end."""
    blank = 0
    for number, line in enumerate(stream, first):
        if line.isspace():
            blank = blank or number
            continue
        if blank:
            msg = f"{location}, line {blank}: the line is empty"
            raise LexiconError(msg)
        yield line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


def _dimensions(line: bytes, location: str, number: int) -> int:
    """Count the numbers at the end of a line; the first field is never one."""
    fields = line.replace(b"\t", b" ").rstrip(_BLANKS).split(b" ")
    count = 0
    while count < len(fields) - 1 and _is_number(fields[-1 - count]):
        count += 1
    if not 0 < count <= MOST_DIMENSIONS:
        msg = f"{location}, line {number}: expected a word and its numbers, found none"
        raise LexiconError(msg)
    return count


def _divide(
    line: bytes, d: int, location: str, number: int
) -> tuple[bytes, list[float]]:
    word, _, rest = line.partition(b" ")
    try:
        values = _numbers(b"[" + rest.rstrip(_BLANKS).replace(b" ", b",") + b"]")
    except (msgspec.DecodeError, UnicodeDecodeError):
        values = []
    if len(values) == d and word and b"," not in rest:
        return word, values
    return _divide_slowly(line, d, f"{location}, line {number}")


def _divide_slowly(line: bytes, d: int, where: str) -> tuple[bytes, list[float]]:
    """Divide a line that has blanks in its word, tabs, odd numbers, or is wrong."""
    fields = line.replace(b"\t", b" ").rstrip(_BLANKS).rsplit(b" ", d)
    if len(fields) <= d:
        msg = f"{where}: expected a word and {d} numbers, found {len(fields) - 1}"
        raise LexiconError(msg)
    word = fields[0]
    # A word that ends in a decimal fraction is a line with a number too many.
    if b"." in (tail := word.rpartition(b" ")[2]) and tail != word and _is_number(tail):
        msg = f"{where}: expected a word and {d} numbers, found more"
        raise LexiconError(msg)
    if not word:
        msg = f"{where}: no word before the numbers"
        raise LexiconError(msg)
    wrong = [
        at for at, field in enumerate(fields, 1) if at > 1 and not _is_number(field)
    ]
    if wrong:
        msg = f"{where}: field {wrong[0]} is not one of the {d} numbers expected"
        raise LexiconError(msg)
    return word, [float(field) for field in fields[1:]]


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    # float() takes underscores between digits and blanks around them.
    return b"_" not in field and field == field.strip()
