"""GloVe text: a word and its numbers a line, no header, by descending frequency.

Source: Pennington et al., EMNLP 2014; the files of nlp.stanford.edu/projects/glove.
"""

from __future__ import annotations

from typing import BinaryIO

from dptext.lexicons.lines import read_lines
from dptext.lexicons.raw import RawVectors


def read(stream: BinaryIO, location: str, *, limit: int | None = None) -> RawVectors:
    """Read a file, or its first `limit` words; the first line sets the dimensions."""
    return read_lines(stream, location, limit=limit)
