"""Vectors of texts without noise, and the public tables that they come from.

A vector is that of a word of a lexicon, a mean of such, or that of a sentence model. A
table is a lexicon in form, so that spaces and mechanisms take it as one: a lexicon,
weighted for SIF, or public texts under a model, by which noisy vectors are judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dptext import cache, lexicons, models, settings
from dptext.errors import LexiconError, UsageError
from dptext.mechanisms.gaussian import clip
from dptext.types import NUMBER, Ids, Lexicon

# Texts of more words are summed one by one, in blocks of so many words.
_LONG, _BLOCK = 512, 4096
Wide = NDArray[np.float64]


def means(
    rows: NDArray[np.floating], ids: Ids, counts: NDArray[np.int64], part: slice
) -> Wide:
    """Return means of the vectors of some texts' words, without any the unknown word's.

    counts (n,) how many of ids each text has; the same in any batch: (m, d).
    """
    ends, counts = np.cumsum(counts)[part], counts[part]
    begins = ends - counts
    sums = np.zeros((len(counts), rows.shape[1]))
    short = np.flatnonzero(counts <= _LONG)
    for word in range(int(counts[short].max(initial=0))):
        short = short[counts[short] > word]
        sums[short] += rows[ids[begins[short] + word]]
    for text in np.flatnonzero(counts > _LONG):
        for begin in range(begins[text], ends[text], _BLOCK):
            block = rows[ids[begin : min(begin + _BLOCK, ends[text])]]
            sums[text] += block.sum(axis=0, dtype=np.float64)
    sums[counts == 0] = rows[-1]
    means: Wide = sums / np.maximum(counts, 1)[:, None]
    return means


def sentence_vectors(folder: str, digest: str, texts: Sequence[str]) -> Wide:
    """Return a model's vectors: each text by itself, so that no other changes it."""
    blocks = models.embed(folder, "cpu", [[text] for text in texts], digest)
    if not blocks:
        return np.empty((0, 0))
    return np.concatenate(blocks).astype(np.float64)


# So many frequent words stand for public texts where none are named; most that count.
_WORDS, _TEXTS = 1000, 20_000


def frequent(lexicon: Lexicon) -> tuple[str, ...]:
    """Return the most frequent words, as texts of one word each."""
    words = (word for word in lexicon.words if word != NUMBER and word.isalpha())
    return tuple(islice(words, _WORDS))


def read(path: str) -> tuple[str, ...]:
    """Read public texts, one a line; lines that are empty or there already are not.

    Raises UsageError.
    """
    try:
        lines: Sequence[str] = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"--public {path}: {reason}") from None
    texts = tuple(dict.fromkeys(line for line in lines if line.strip()))[:_TEXTS]
    if len(texts) < 2:
        raise UsageError(
            f"--public {path}: needs at least two different texts, one a line"
        )
    return texts


def weighted(lexicon: Lexicon, a: float) -> Lexicon:
    """Return a lexicon for smooth inverse frequency (Arora, Liang and Ma 2017).

    Each vector times a / (a + frequency), less its part along the first singular vector
    of the weighted table, words counted by frequency: all of it public. The unknown
    word, whose frequency is not known, has the weight of the rarest word.
    Raises LexiconError where nothing is left.
    """
    vectors = np.asarray(lexicon.vectors, np.float64)
    prior = np.append(lexicon.prior, lexicon.prior.min())
    rows = vectors * (a / (a + prior))[:, None]
    _, axes = np.linalg.eigh(rows.T @ (rows * prior[:, None]))
    common = axes[:, -1]
    longest = np.abs(rows).max(initial=0.0)
    rows -= (rows @ common)[:, None] * common
    if np.abs(rows).max(initial=0.0) <= 1e-9 * longest:
        raise LexiconError(
            f"lexicon {lexicon.name}: its vectors lie in one direction, which "
            "--pool sif takes off; use --pool mean"
        )
    digest = settings.digest_of_data([lexicon.digest, "sif", a])
    return _table(lexicon, rows.astype(np.float32), digest)


def of_texts(folder: str, digest: str, longest: float, public: str | None) -> Lexicon:
    """Return the table of public texts under the sentence model in a folder."""
    builtin = lexicons.find("builtin")
    texts = frequent(builtin) if public is None else read(public)
    key = cache.key_of("sentences", digest, settings.digest_of_data(texts))

    def compute() -> cache.Arrays:
        return {"vectors": sentence_vectors(folder, digest, texts)}

    kept = cache.arrays(key, compute, what="encoding public texts")
    vectors = clip(np.asarray(kept["vectors"], np.float64), longest)
    rows = np.vstack((vectors, vectors.mean(axis=0))).astype(np.float32)
    named = settings.digest_of_data([digest, settings.digest_of_data(texts), longest])
    base = replace(
        builtin,
        words=texts,
        counts=np.ones(len(texts)),
        meta={"prior": "none: public texts count alike"},
    )
    return _table(base, rows, named)


def axes(width: int, longest: float) -> Lexicon:
    """Return a table of two opposite vectors, for vectors that may lie anywhere."""
    ends = np.zeros((3, width), np.float32)
    ends[:2, 0] = longest, -longest
    base = replace(
        lexicons.find("builtin"), name="axes", words=("+", "-"), counts=np.ones(2)
    )
    return _table(base, ends, settings.digest_of_data(["axes", width, longest]))


def _table(lexicon: Lexicon, vectors: NDArray[np.float32], digest: str) -> Lexicon:
    """Put other vectors into a lexicon, without what followed from the old ones."""
    meta = {name: value for name, value in lexicon.meta.items() if name != "geometry"}
    return replace(
        lexicon,
        vectors=vectors,
        digest=digest,
        meta=meta,
        orders=np.zeros((len(vectors), 1), np.uint32),
        far=np.zeros(len(vectors), np.float32),
    )
