"""What is known of English words without any text, and which of them may be outputs.

A word may be an output if
- it is a function word, number word, interjection or abbreviation of the hand-written
  lists; letters and the particles of foreign names there ("von") may not; or
- it is a common name of the hand-written lists; or
- it is a lemma of WordNet or a form or derivation of one, without digits; one of up to
  three letters, or written with several capitals ("HTTP"), only if it is used in two
  glosses; or
- it is one of the words that are known from elsewhere to be English.
All else (markup, misspellings, other languages), however frequent in a file, is known
and is replaced, but never written; so are vulgar words, of whichever list.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.english import lists
from dptext.lexicons.english.forms import Link, candidates
from dptext.lexicons.english.wordnet import (
    Evidence,
    WordNet,
    digest_of_database,
    gather_evidence,
    lemma_weights,
    read_database,
)
from dptext.tokens import kinds
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import key_of, kind_of, split
from dptext.tokens.word_lists import vulgar_words
from dptext.types import ENGLISH

# Classes that are grammar only; what WordNet says of nouns of that spelling ("in" the
# inch) is not about them.
_GRAMMAR = (
    "determiner", "pronoun", "preposition", "conjunction", "auxiliary", "contraction",
    "clitic", "particle", "adverb", "interjection",
)  # fmt: skip


def grammatical() -> frozenset[str]:
    """Return the keys of the words that are grammar only."""
    classes = lists.classes()
    return frozenset(key_of(word) for name in _GRAMMAR for word in classes[name])


def fits(word: str) -> bool:
    """Tell whether the splitter of dptext sees one word, without digits, in it."""
    return (
        split(word) == [word]
        and kind_of(word) == kinds.WORD
        and not any(map(str.isdigit, word))
        and not word.endswith("'s")
        and len(word) > 1
    )


@dataclass(frozen=True, slots=True)
class English:
    """The database, its single words with their ties, how glosses use and write them.

    links: key -> its ties to lemmas; ties: those of words that are not grammar only,
    for "his" is no plural of "hi"; weights: (lemma, part of speech) -> use;
    grammatical: keys of words that are grammar only; digest: that of the files.
    """

    digest: str
    wordnet: WordNet
    links: Mapping[str, tuple[Link, ...]]
    evidence: Evidence
    weights: Mapping[tuple[str, str], float]
    ties: Mapping[str, tuple[Link, ...]]
    grammatical: frozenset[str]


def load(folder: Path) -> English:
    """Read the WordNet 3.0 folder. Raises LexiconError if a file is missing."""
    database = read_database(folder)
    links, closed = candidates(database), grammatical()
    return English(
        digest=digest_of_database(folder),
        wordnet=database,
        links=links,
        evidence=gather_evidence(database),
        weights=lemma_weights(database),
        ties={key: ties for key, ties in links.items() if key not in closed},
        grammatical=closed,
    )


_SHORT = 3
_USED = 2.0  # a definition counts 1, an example 2
_LETTERS = frozenset({"a", "i"})


class Vocabulary:
    """The rules, with what they look up. also: words, as written, that are English."""

    def __init__(self, english: English, also: Container[str] = frozenset()) -> None:
        self._english = english
        self._also = also
        self._listed = {key_of(word) for word in lists.frequencies()} | set(NAMES)
        letters = {key for key in self._listed if len(key) == 1} - _LETTERS
        self._never = letters | _only_particles() | vulgar_words(ENGLISH)
        self._listed |= {key_of(name) for group in lists.names() for name in group}

    def may_be_written(self, word: str) -> bool:
        """Tell whether a word, as it is written, may be an output."""
        key = key_of(word)
        if key in self._never:
            return False
        if key in self._listed:
            return True
        if not fits(key):
            return False
        if len(key) >= _SHORT and word in self._also:
            return True
        if key not in self._english.links:
            return False
        plain = len(key) > _SHORT and sum(map(str.isupper, word)) < 2
        return plain or self._english.evidence.used[key] >= _USED


def _only_particles() -> set[str]:
    classes = {name: set(map(key_of, pairs)) for name, pairs in lists.classes().items()}
    particles = classes.pop("particle")
    return particles.difference(*classes.values())


def arranged(
    counts: NDArray[np.float64],
    may: NDArray[np.bool_],
    outputs: int,
    always: int | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the order in which words stand, and their counts: (V,), (V,).

    By descending count, outputs first. Words that are no outputs count no more than
    the last output; the words from `always` on are outputs and count no less.
    """
    forced = np.arange(len(counts)) >= (len(counts) if always is None else always)
    first = np.lexsort((-counts, ~forced))
    chosen = first[may[first]][:outputs]
    inside = np.zeros(len(counts), np.bool_)
    inside[chosen] = True
    least = counts[chosen][~forced[chosen]].min()
    capped = np.where(inside, np.maximum(counts, least), np.minimum(counts, least))
    return np.lexsort((~inside, -capped)), capped
