"""Public texts, by whose vectors noisy ones are judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dptext.errors import UsageError
from dptext.types import NUMBER, Lexicon

# So many frequent words stand for public texts where none are named; most that count.
_WORDS, _TEXTS = 1000, 20_000


def frequent(lexicon: Lexicon) -> tuple[str, ...]:
    """Return the most frequent words, as texts of one word each."""
    words = (word for word in lexicon.words if word != NUMBER and word.isalpha())
    return tuple(word for word, _ in zip(words, range(_WORDS), strict=False))


def read(path: str) -> tuple[str, ...]:
    """Read public texts, one a line; lines that are empty or there already are not.

    Raises UsageError.
    """
    try:
        lines: Sequence[str] = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no UTF-8 text"
        msg = f"--public {path}: {reason}"
        raise UsageError(msg) from None
    texts = tuple(dict.fromkeys(line for line in lines if line.strip()))[:_TEXTS]
    if len(texts) < 2:
        msg = f"--public {path}: needs at least two different texts, one a line"
        raise UsageError(msg)
    return texts
