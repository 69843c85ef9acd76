"""Scores: how telling each word is in its text, one file each; larger is more telling.

A file holds `Params`, a frozen dataclass and subclass of `scores.Params`: the settings
in a profile. Their `prepare` returns a `Score`. Another package adds one by the entry
point group `dptext.scores`.

Scores that use other tokenizers locate words by character offsets in all texts
of a batch joined. A word that another tokenizer splits takes the maximum of its
parts; the parts of a longer token take the value of that token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from dptext.settings import Prepared
from dptext.tokens import kinds
from dptext.types import Floats, Ints, Lexicon, Words


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a score."""

    @abstractmethod
    def prepare(self, lexicon: Lexicon) -> Score:
        """Find models and data without loading a model.

        Raises UsageError with the command that fetches a missing model.
        """


class Score(Prepared, ABC):
    """A prepared score."""

    __slots__ = ()
    #: A factor on the mean of the other scores; 1 is neutral.
    multiplies: ClassVar[bool] = False

    @property
    @abstractmethod
    def description(self) -> str:
        """Describe the source of the score, for reports."""

    @abstractmethod
    def values(self, words: Words) -> Floats:
        """Return the score of each of words.positions, (n,) float64 >= 0.

        A score depends on the word's own text and public data alone, not on the other
        texts of the batch nor on its size.
        """


@dataclass(frozen=True, slots=True)
class ByRow(Score):
    """A score that depends on the word alone."""

    #: (V + 1,) float64; an unknown word, the last, has the greatest of all.
    by_row: Floats
    #: For reports.
    source: str

    @classmethod
    def from_words(cls, words: Floats, source: str) -> ByRow:
        """Build from the scores of the words: (V,)."""
        return cls(np.append(words, words.max()), source)

    @property
    def description(self) -> str:
        """Describe the source of the score."""
        return self.source

    def values(self, words: Words) -> Floats:
        """Return the score of each word."""
        return np.asarray(self.by_row[words.ids])


Spacy = Any  # pipelines and documents of spaCy
_PIECES = 2000  # of one text that spaCy gets at a time


def bodies(words: Words) -> list[str]:
    """Return the words as written, without leading space."""
    leads = (words.flags[words.positions] & kinds.LEAD) != 0
    pieces = words.pieces
    return [
        pieces[position][1:] if lead else pieces[position]
        for position, lead in zip(words.positions.tolist(), leads.tolist(), strict=True)
    ]


def offsets(words: Words) -> Ints:
    """Return the start offset of each piece, and the final end: (p + 1,) int64."""
    lengths = np.fromiter(map(len, words.pieces), np.int64, len(words.pieces))
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def spans(words: Words) -> tuple[Ints, Ints]:
    """Return the start and end of each word, without leading space: (n,) each."""
    at = offsets(words)
    lead = (words.flags[words.positions] & kinds.LEAD) != 0
    return at[words.positions] + lead, at[words.positions + 1]


def greatest_values(
    words: Words, tokens: Iterable[tuple[int, int, float]], default: float
) -> Floats:
    """Return the maximum value of the tokens that each word overlaps: (n,).

    tokens: start, end and value of each token of another tokenizer, in order;
    default: for words that overlap no token.
    """
    starts, stops = spans(words)
    begins, ends, values = np.array(list(tokens), np.float64).reshape(-1, 3).T
    first = np.searchsorted(ends, starts, side="right")
    last = np.searchsorted(begins, stops, side="left")
    padded = np.append(values, -np.inf)
    if not len(first):
        return np.empty(0)
    # The maximum of each slice first:last; [::2] drops the slices between them.
    pairs = np.stack((first, last), axis=1).ravel()
    most = np.maximum.reduceat(padded, pairs)[::2]
    return np.asarray(np.where(first < last, most, default))


def sentences(words: Words) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each sentence; a mark or line break ends one."""
    cuts = np.union1d(np.flatnonzero(words.flags & kinds.ENDER) + 1, words.ends)
    yield from _parts(words, cuts)


def chunks(words: Words, pieces: int) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each chunk of at most `pieces` pieces."""
    texts = pairwise([0, *words.ends.tolist()])
    cuts = [np.arange(begin + pieces, end, pieces) for begin, end in texts]
    yield from _parts(words, np.unique(np.concatenate((*cuts, words.ends))))


def spacy_documents(words: Words, pipeline: Spacy) -> Iterator[tuple[int, Spacy]]:
    """Yield the offset and spaCy document of each text; long texts are split."""
    # Batches of one: a document must not depend on its neighbours, not even in its last
    # bits.
    parts = list(chunks(words, _PIECES))
    documents = pipeline.pipe((text for _, text in parts), batch_size=1)
    for (offset, _), document in zip(parts, documents, strict=True):
        yield offset, document


def windows(words: Words, most: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (first piece, end piece, first word, end word) of each window.

    A text of n words to be scored has ceil(n / most) parts with equally many of them,
    give or take one; pieces between two words belong to the later.
    """
    counts = np.bincount(words.texts, minlength=len(words.ends))
    begin_piece = begin = 0
    for end_piece, count in zip(words.ends.tolist(), counts.tolist(), strict=True):
        parts = -(-count // most)
        for number in range(parts):
            low = begin + count * number // parts
            high = begin + count * (number + 1) // parts
            start = begin_piece if number == 0 else int(words.positions[low - 1]) + 1
            last = number == parts - 1
            stop = end_piece if last else int(words.positions[high - 1]) + 1
            yield start, stop, low, high
        begin_piece, begin = end_piece, begin + count


def every_token(words: Words, index: Mapping[str, int]) -> tuple[Words, Ints]:
    """Return the batch with unchanged words included as words to score.

    index maps lower-case words to rows. Also returns the positions
    of the replaced words among all, (n,) int64. Punctuation and spaces are not words.
    """
    kind = words.flags & kinds.KIND
    named = kinds.WORDLIKE[kind] & (kind != kinds.IDENTIFIER)
    named[words.positions] = True
    positions = np.flatnonzero(named)
    texts = np.searchsorted(words.ends, positions, side="right")
    wide = replace(words, positions=positions, texts=texts, ids=np.empty(0, np.int32))
    ids = np.array([index.get(body.lower(), -1) for body in bodies(wide)], np.int32)
    replaced = np.searchsorted(positions, words.positions)
    ids[replaced] = words.ids
    return replace(wide, ids=ids), replaced


def _parts(words: Words, cuts: Ints) -> Iterator[tuple[int, str]]:
    at = offsets(words)
    begin = 0
    for end in cuts.tolist():
        if end > begin:
            yield int(at[begin]), "".join(words.pieces[begin:end])
        begin = end
