"""Public tables of vectors: a lexicon, weighted for SIF, or public texts of a model.

A table is a lexicon in form, so that spaces and mechanisms take it as one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dptext import cache, content, lexicons
from dptext.embedding import encoders, public_texts
from dptext.mechanisms._clipped import clip
from dptext.types import Lexicon


def weighted(lexicon: Lexicon, a: float) -> Lexicon:
    """Return a lexicon for smooth inverse frequency (Arora, Liang and Ma 2017).

    Each vector times a / (a + frequency), less its part along the first singular vector
    of the weighted table, words counted by frequency: all of it public. The unknown
    word, whose frequency is not known, has the weight of the rarest word.
    """
    vectors = np.asarray(lexicon.vectors, np.float64)
    prior = np.append(lexicon.prior, lexicon.prior.min())
    rows = vectors * (a / (a + prior))[:, None]
    _, axes = np.linalg.eigh(rows.T @ (rows * prior[:, None]))
    common = axes[:, -1]
    rows -= (rows @ common)[:, None] * common
    digest = content.of_data([lexicon.digest, "sif", a])
    return _table(lexicon, rows.astype(np.float32), digest)


def of_texts(folder: str, digest: str, longest: float, public: str | None) -> Lexicon:
    """Return the table of public texts under the sentence model in a folder."""
    builtin = lexicons.find("builtin")
    texts = (
        public_texts.frequent(builtin) if public is None else public_texts.read(public)
    )
    key = cache.key_of("sentences", digest, content.of_data(texts))

    def compute() -> cache.Arrays:
        return {"vectors": encoders.sentence_vectors(folder, digest, texts)}

    kept = cache.arrays(key, compute, what="encoding public texts")
    vectors = clip(np.asarray(kept["vectors"], np.float64), longest)
    rows = np.vstack((vectors, vectors.mean(axis=0))).astype(np.float32)
    named = content.of_data([digest, content.of_data(texts), longest])
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
    return _table(base, ends, content.of_data(["axes", width, longest]))


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
