"""fastText `.vec`: word2vec text, whose words may hold spaces.

Source: Bojanowski et al., TACL 2017; the files of fasttext.cc. The `.bin` models of
fastText, with their n-grams, are another format and are not read.
"""

from __future__ import annotations

from typing import BinaryIO

from dptext.lexicons.raw import RawVectors
from dptext.lexicons.word2vec import read_header, read_text


def read(stream: BinaryIO, location: str, *, limit: int | None = None) -> RawVectors:
    """Read a file, or its first `limit` words."""
    size, dimensions = read_header(stream, location)
    return read_text(stream, location, size, dimensions, limit)
