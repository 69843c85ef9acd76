"""Small lexicons with exact laws that can be computed by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.types import NUMBER, Lexicon


def lexicon(
    vectors: NDArray[np.floating],
    *,
    words: Sequence[str] | None = None,
    counts: Sequence[float] | None = None,
    listed: int | None = None,
) -> Lexicon:
    """Make a lexicon of the given vectors (V, d); the unknown row is their mean.

    The last word is the number element, unless words are given.
    """
    size = len(vectors)
    names = tuple(words or [f"{chr(97 + row % 26)}{row}x" for row in range(size - 1)])
    names = names if words else (*names, NUMBER)
    table = np.vstack([vectors, vectors.mean(axis=0)]).astype(np.float32)
    wide = table.astype(np.float64)
    gaps = np.linalg.norm(wide[:, None, :] - wide[None, :size, :], axis=2)
    gaps[np.arange(size), np.arange(size)] = -1.0
    order = np.argsort(gaps, axis=1, kind="stable")
    gaps = np.maximum(gaps, 0.0)
    k = min(listed or size, size)
    far = np.take_along_axis(gaps, order[:, k:], axis=1).min(axis=1, initial=np.inf)
    pairs = gaps[:size][np.triu_indices(size, 1)]
    near = np.sort(gaps[:size], axis=1)[:, 1] if size > 1 else np.zeros(1)
    frequencies = np.array(counts if counts else np.arange(size, 0, -1.0), np.float64)
    # Everything is in the digest: results are kept under it.
    content = repr((names, k)).encode() + table.tobytes() + frequencies.tobytes()
    return Lexicon(
        name="small",
        words=names,
        vectors=table,
        counts=frequencies,
        orders=order[:, :k].astype(np.uint16),
        far=np.nextafter(far.astype(np.float32), np.float32(-np.inf)),
        digest=hashlib.sha256(content).hexdigest(),
        meta={
            "prior": "made for tests",
            "geometry": {
                "nearest_min": float(near.min()),
                "nearest_median": float(np.median(near)),
                "median": float(np.median(pairs)) if len(pairs) else 0.0,
                "diameter": float(gaps.max()),
            },
        },
    )


def line(*points: float, listed: int | None = None) -> Lexicon:
    """Make a lexicon of points on a line."""
    return lexicon(np.array(points, np.float64)[:, None], listed=listed)


def cloud(
    size: int, width: int, *, listed: int | None = None, seed: int = 7
) -> Lexicon:
    """Make a lexicon of normal points."""
    rng = np.random.default_rng(seed)
    return lexicon(rng.normal(size=(size, width)), listed=listed)


def english(*words: str, listed: int | None = None, width: int = 3) -> Lexicon:
    """Make a lexicon of real words and the number element, at normal points."""
    rng = np.random.default_rng(11)
    names = (*words, NUMBER)
    return lexicon(rng.normal(size=(len(names), width)), words=names, listed=listed)


def zipf(size: int, seed: int = 0) -> NDArray[np.float64]:
    """Return an uneven prior, most frequent first."""
    rng = np.random.default_rng(seed)
    weights = np.sort(rng.pareto(1.0, size) + 0.01)[::-1]
    prior: NDArray[np.float64] = weights / weights.sum()
    return prior
