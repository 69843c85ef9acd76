"""Orders by cosine: what the written rule says, with and without proposals."""

from __future__ import annotations

import numpy as np

from dptext.lexicons import orders


def test_orders_are_those_of_the_rule() -> None:
    """Cosine less 0.7 of the mean of the ten nearest, less 0.2 a nat; barred last."""
    rng = np.random.default_rng(3)
    size, outputs, listed, barred = 900, 200, 12, [4, 17]
    vectors = rng.normal(size=(size + 1, 9)).astype(np.float32)
    vectors[40] = 0.0
    counts = np.sort(rng.pareto(1.0, size) + 1.0)[::-1]
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1.0)
    cosines = unit @ unit[:outputs].T
    near = cosines[:outputs].copy()
    near[np.arange(outputs), np.arange(outputs)] = -2.0
    near[:, barred] = -2.0
    scores = cosines - 0.7 * np.sort(near, axis=1)[:, -10:].mean(axis=1)
    rarer = np.log(counts)[:, None] - np.log(counts)[:outputs]
    scores[:size] -= 0.2 * np.maximum(rarer, 0.0)
    scores[:, barred] = -np.inf
    scores[np.arange(outputs), np.arange(outputs)] = -np.inf
    expected = np.argsort(-scores, axis=1, kind="stable")
    found = orders.orders_by_cosine(vectors, counts, outputs, listed, barred)
    assert (found[:size, 0] == np.arange(size)).all()
    assert (found[:size, 1:] == expected[:size, : listed - 1]).mean() > 0.999
    assert found[size].tolist() == expected[size, :listed].tolist()
