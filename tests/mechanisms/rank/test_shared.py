"""Words that share one order are one input, and everything is exact with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dptext.lexicons import store
from dptext.lexicons.orders import rows_of_names
from dptext.types import Lexicon
from tests import distributions, prepared, small

SIZE, OUTPUTS, LISTED = 14, 9, 5
# Names among the outputs and beyond them; the first is what unknown names are read as.
NAMES = (2, 5, 10, 12)


def _named() -> Lexicon:
    """Return a lexicon with one order for all names, which one name is not part of."""
    plain = small.cloud(SIZE, 3)
    orders = np.empty((SIZE + 1, LISTED + 1), np.uint16)
    for row in range(SIZE + 1):
        others = [y for y in plain.orders[row].tolist() if y < OUTPUTS and y != row]
        orders[row] = ([row, *others] if row < SIZE else others)[: LISTED + 1]
    shared = [2, 7, 0, 4, 8, 3]
    for row in NAMES:
        orders[row] = shared if row < OUTPUTS else [row, *shared[:-1]]
    meta = {**plain.meta, "outputs": OUTPUTS, "names": plain.words[2]}
    return replace(plain, orders=orders, meta=meta, digest="named")


def test_names_lose_nothing_to_each_other_and_epsilon_to_others() -> None:
    """0 nats between names, outputs or not; at most epsilon between any two inputs."""
    lexicon = _named()
    store.check(lexicon)
    assert np.flatnonzero(rows_of_names(lexicon)).tolist() == [*NAMES]
    exact = prepared.probabilities(prepared.ready("rank", lexicon, k=LISTED), 3.0)
    names = exact[list(NAMES), :OUTPUTS]
    np.testing.assert_array_equal(names, names[:1].repeat(len(NAMES), axis=0))
    rows = np.sort(exact[:, :OUTPUTS], axis=1)
    np.testing.assert_allclose(rows, rows[:1].repeat(SIZE + 1, axis=0), rtol=1e-12)
    worst = distributions.worst_losses(exact[:, :OUTPUTS])
    assert worst.max() == pytest.approx(3.0)
    # A name that no order of names lists is drawn by the floor alone, as itself, too.
    assert exact[5, 5] == exact[5, :OUTPUTS].min()


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 8.0])
def test_best_guesses_are_exact_for_shared_orders(epsilon: float) -> None:
    """The closed form agrees with all rows, in whatever bands of inputs."""
    lexicon = _named()
    mechanism = prepared.ready("rank", lexicon, k=LISTED)
    prior = np.random.default_rng(3).dirichlet(np.ones(SIZE))
    exact = prepared.probabilities(mechanism, epsilon)[:-1] * prior[:, None]
    bands = [(0, SIZE), (0, 4), (4, 11), (11, SIZE)]
    found = mechanism.best_guesses(prior, epsilon, bands)
    expected = np.stack([exact[begin:end].max(axis=0) for begin, end in bands])
    np.testing.assert_allclose(
        found[:, :OUTPUTS], expected[:, :OUTPUTS], rtol=1e-12, atol=0
    )


def test_likeliest_inputs_are_exact_for_shared_orders() -> None:
    """Of each output the likeliest inputs are those of all rows, with their P(y|x)."""
    mechanism = prepared.ready("rank", _named(), k=LISTED)
    prior = np.random.default_rng(4).dirichlet(np.ones(SIZE + 1))
    exact = prepared.probabilities(mechanism, 2.0)
    rows, logs = mechanism.likeliest_inputs(prior, np.full(SIZE + 1, 2.0), 6)
    for output in range(OUTPUTS):
        worth = exact[:, output] * prior
        np.testing.assert_allclose(
            worth[rows[output]], np.sort(worth)[::-1][:6], rtol=1e-9
        )
        np.testing.assert_allclose(
            np.exp(logs[output]), exact[rows[output], output], rtol=1e-9
        )


def test_draws_follow_the_distribution_of_shared_orders() -> None:
    """Sampled against exact for every input (false alarm 1e-6)."""
    prepared.hold_draws(prepared.ready("rank", _named(), k=LISTED), [1.0, 4.0], 20_000)
