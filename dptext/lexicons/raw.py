"""What every reader of vector files returns, and the checks that all of them share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError

# More than any published set has; a header that claims more is not a header.
MOST_DIMENSIONS = 2**16

_ROWS = 2**14  # rows looked at together, so that a check needs little memory


@dataclass(frozen=True, slots=True)
class RawVectors:
    """Words and vectors as a file gives them, before anything is folded or dropped.

    words list[n], distinct; vectors (n, d) float32 (float16 where the source is);
    counts (n,) float64 > 0, or None where the source has none.
    """

    words: list[str]
    vectors: NDArray[np.floating]
    counts: NDArray[np.float64] | None = None


def checked(
    raw: RawVectors, location: str, *, first: int = 1, unit: str = "line"
) -> RawVectors:
    """Return raw if it has words, none twice, and finite vectors.

    Entry i of the file is named `unit` first + i in the message; a word itself never
    is, because a file given by mistake may be a private text.
    """
    if not raw.words:
        msg = f"{location}: no words in it"
        raise LexiconError(msg)
    if len(raw.words) != len(set(raw.words)):
        _refuse_duplicate(raw.words, location, first, unit)
    for start in range(0, len(raw.words), _ROWS):
        finite = np.isfinite(raw.vectors[start : start + _ROWS]).all(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            msg = f"{location}, {unit} {first + row}: a number is NaN or infinite"
            raise LexiconError(msg)
    return raw


def _refuse_duplicate(words: list[str], location: str, first: int, unit: str) -> None:
    first_row: dict[str, int] = {}
    for row, word in enumerate(words):
        if word in first_row:
            msg = (
                f"{location}, {unit} {first + row}: the same word as {unit} "
                f"{first + first_row[word]}; remove one of them"
            )
            raise LexiconError(msg)
        first_row[word] = row
