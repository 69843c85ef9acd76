"""Attacks on words against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from dptext.measures import attacks, bayes_risk
from tests import prepared, small

LEXICON = small.cloud(25, 3)


@pytest.mark.parametrize("name", ["rank", "santext"])
def test_the_best_guess_is_the_best(name: str) -> None:
    """Argmax over x of prior(x) P(y|x), with the success that is promised."""
    mechanism = prepared.ready(name, LEXICON)
    prior = LEXICON.prior
    ids = np.arange(25, dtype=np.int32)
    law = mechanism.probs(ids, 2.0)
    joint = prior[:, None] * law
    guess = attacks.best(mechanism, 2.0, prior, ids)
    np.testing.assert_allclose(joint[guess, ids], joint.max(axis=0), rtol=1e-12)
    success = joint[guess, ids].sum()
    assert success == pytest.approx(bayes_risk.measure(mechanism, 2.0, prior).success)


def test_success_is_counted() -> None:
    """Shares of four words."""
    assert attacks.nearest(2, 4).success == 0.5
    assert attacks.nearest(0, 0).success == 0.0
    mechanism = prepared.ready("rank", LEXICON)
    outputs = np.array([0, 1, 1, 2], np.int32)
    best = attacks.best(mechanism, 2.0, LEXICON.prior, outputs)
    before = np.array([best[0], best[1], best[2] + 1, best[3]], np.int32)
    found = attacks.bayes(mechanism, 2.0, LEXICON.prior, before, outputs, 0.7)
    assert (found.success, found.words, found.predicted) == (0.75, 4, 0.7)
