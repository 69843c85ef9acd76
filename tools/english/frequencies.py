"""Public frequencies of English words: three sources and a list written by hand.

- A trigram model of news and telephone talk (CMU Sphinx): its words alone.
- Counts of books and the web (SymSpell).
- The order of words in GloVe 6B (encyclopedia and news), by Zipf's law.

Each is brought to sum 1; the frequency of a word is their weighted mean. Half of that
of a closed-class word is what tools.english.forms says of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from dptext.errors import LexiconError
from dptext.lexicons.importing import zipf
from dptext.tokens.regex import key_of
from tools.english import forms as lists
from tools.english.forms import fits
from tools.english.sphinx import SENTENCE, Trie

MILLION = 1e6
# Model, counts, order: from a handful of trials against rows of training files.
WEIGHTS = (0.4, 0.2, 0.4)
# A word with a hyphen is divided when it is unknown: it needs its row less.
HYPHEN = 0.1
# A word that no source has is this part of what the hand-written list says of it.
_LEAST = 0.02


def blended(model: Trie, counts: Path, vector_words: Sequence[str]) -> dict[str, float]:
    """Return key -> tokens per million, for keys that have a vector or are closed."""
    closed_words = {
        key_of(word): 1e3 * figure for word, figure in lists.frequencies().items()
    }
    parts = (
        _of_model(model, closed_words),
        _shares(read_counts(counts)),
        _of_order(vector_words, closed_words),
    )
    keys = {key for key in parts[2] if fits(key)} | closed_words.keys()
    mixed = {key: MILLION * _mean(key, parts) for key in keys}
    for key, figure in closed_words.items():
        mixed[key] = max((mixed[key] + figure) / 2.0, _LEAST * figure)
    return {key: mixed[key] * (HYPHEN if "-" in key else 1.0) for key in sorted(mixed)}


def _mean(key: str, parts: Iterable[Mapping[str, float]]) -> float:
    return sum(
        weight * part.get(key, 0.0) for weight, part in zip(WEIGHTS, parts, strict=True)
    )


def _of_model(model: Trie, closed_words: Mapping[str, float]) -> dict[str, float]:
    """Return shares of the words of a model; a possessive is a word and a clitic."""
    shares: dict[str, float] = {}
    for word, share in zip(model.words, np.exp(model.alone).tolist(), strict=True):
        if word in SENTENCE:
            continue
        key = key_of(word)
        parts = [key]
        if key.endswith("'s") and key not in closed_words:
            parts = [key[:-2], "'s"]
        for part in parts:
            shares[part] = shares.get(part, 0.0) + share
    return _shares(shares)


def read_counts(path: Path) -> dict[str, float]:
    """Read a word and its count a line; LexiconError names a line that has not both."""
    counts: dict[str, float] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LexiconError(f"{path}: no list of words and counts ({error})") from None
    for number, line in enumerate(lines, 1):
        word, _, count = line.strip().partition(" ")
        if not count.isdigit():
            raise LexiconError(f"{path}, line {number}: expected a word and its count")
        counts[key_of(word)] = float(count)
    return counts


def _of_order(
    words: Sequence[str], closed_words: Mapping[str, float]
) -> dict[str, float]:
    shares: dict[str, float] = {}
    for word, share in zip(words, zipf(len(words)).tolist(), strict=True):
        key = key_of(word)
        if key in closed_words or fits(key):
            shares[key] = shares.get(key, 0.0) + share
    return _shares(shares)


def _shares(counts: Mapping[str, float]) -> dict[str, float]:
    total = sum(counts.values())
    return {key: count / total for key, count in counts.items()}
