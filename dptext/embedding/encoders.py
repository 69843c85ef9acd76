"""From texts to vectors without noise: words of a lexicon, means of them, a model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.mechanisms import NoiseMechanism
from dptext.mechanisms._clipped import clip
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Ids

# Texts of more words are summed one by one, in blocks of so many words.
_LONG, _BLOCK = 512, 4096
Wide = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Encoded:
    """The vectors of a batch of texts before noise.

    texts (n,) which text each vector is of, non-decreasing; words, how many there were;
    at gives some of them, (m, d), where the mechanism adds its noise.
    """

    texts: NDArray[np.int64]
    words: int
    at: Callable[[slice], NDArray[np.floating]]


Encoder = Callable[[Sequence[str]], Encoded]


def of_words(tokenizer: Tokenizer, mechanism: NoiseMechanism) -> Encoder:
    """Encode each word as its vector."""

    def encode(texts: Sequence[str]) -> Encoded:
        words = tokenizer.words(texts)
        rows = mechanism.output_vectors
        return Encoded(words.texts, len(words.ids), lambda part: rows[words.ids[part]])

    return encode


def of_means(tokenizer: Tokenizer, mechanism: NoiseMechanism) -> Encoder:
    """Encode each text as the mean of its words; without any, as the unknown word."""
    rows = mechanism.inputs

    def encode(texts: Sequence[str]) -> Encoded:
        words = tokenizer.words(texts)
        counts = np.bincount(words.texts, minlength=len(texts))
        ends = np.cumsum(counts)

        def at(part: slice) -> Wide:
            begin = ends[part] - counts[part]
            means = _sums(rows, words.ids, begin, counts[part])
            means[counts[part] == 0] = rows[-1]
            means /= np.maximum(counts[part], 1)[:, None]
            return mechanism.position(means)

        return Encoded(np.arange(len(texts)), len(words.ids), at)

    return encode


def _sums(
    rows: NDArray[np.floating],
    ids: Ids,
    begins: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> Wide:
    """Sum the vectors of the words of each text: the same in any batch, (m, d)."""
    sums = np.zeros((len(counts), rows.shape[1]))
    short = np.flatnonzero(counts <= _LONG)
    for word in range(int(counts[short].max(initial=0))):
        short = short[counts[short] > word]
        sums[short] += rows[ids[begins[short] + word]]
    for text in np.flatnonzero(counts > _LONG):
        end = begins[text] + counts[text]
        for begin in range(begins[text], end, _BLOCK):
            block = rows[ids[begin : min(begin + _BLOCK, end)]]
            sums[text] += block.sum(axis=0, dtype=np.float64)
    return sums


def of_sentences(
    folder: str, digest: str, longest: float, mechanism: NoiseMechanism
) -> Encoder:
    """Encode each text by a sentence model, shortened where it is too long."""

    def encode(texts: Sequence[str]) -> Encoded:
        vectors = sentence_vectors(folder, digest, texts)

        def at(part: slice) -> Wide:
            return mechanism.position(clip(vectors[part], longest))

        return Encoded(np.arange(len(texts)), 0, at)

    return encode


def sentence_vectors(folder: str, digest: str, texts: Sequence[str]) -> Wide:
    """Return a model's vectors: each text by itself, so that no other changes it."""
    blocks = models.embed(folder, "cpu", [[text] for text in texts], digest)
    if not blocks:
        return np.empty((0, 0))
    return np.concatenate(blocks).astype(np.float64)
