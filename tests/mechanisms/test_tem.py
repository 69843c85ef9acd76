"""tem: gamma, and what it follows from."""

from __future__ import annotations

import numpy as np
import pytest

from dptext.types import Lexicon
from tests import prepared, small
from tests.exponential.formula import distances


def test_gamma_follows_from_beta() -> None:
    """30 000 words, beta 0.001, epsilon 2 give 17.2156741054."""
    size = 30_000
    lexicon = Lexicon(
        name="large",
        words=tuple(f"w{row}" for row in range(size)),
        vectors=np.zeros((size + 1, 1), np.float32),
        counts=np.ones(size),
        orders=np.arange(size + 1, dtype=np.uint16)[:, None] % size,
        far=np.zeros(size + 1, np.float32),
        digest="large",
        meta={},
    )
    mechanism = prepared.ready("tem", lexicon, beta=0.001)
    assert mechanism.truncation(2.0) == pytest.approx(17.2156741054, abs=1e-10)
    # epsilon * gamma does not depend on epsilon.
    assert 7.0 * mechanism.truncation(7.0) == pytest.approx(2.0 * 17.2156741054)
    assert prepared.ready("tem", lexicon, gamma=3.0).truncation(2.0) == 3.0


@pytest.mark.parametrize("beta", [0.3, 0.01])
def test_beta_bounds_the_far_outputs(beta: float) -> None:
    """An output farther than gamma has probability at most beta, for every input."""
    lexicon = small.cloud(80, 5, listed=3)
    mechanism = prepared.ready("tem", lexicon, beta=beta)
    for epsilon in (2.0, 6.0, 30.0):
        far = distances(lexicon) > mechanism.truncation(epsilon)
        share = (prepared.probabilities(mechanism, epsilon) * far).sum(axis=1)
        assert (share[:-1] <= beta * (1 + 1e-6)).all()
