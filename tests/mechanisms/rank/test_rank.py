from __future__ import annotations

import dataclasses
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext.errors import UsageError
from dptext.guarantees.audit import audit
from dptext.mechanisms import Aim, rank
from dptext.settings import convert
from dptext.types import Lexicon
from tests import distributions, prepared, small

LINE = small.line(0.0, 1.0, 3.0)


@pytest.mark.parametrize(
    ("weights", "k", "expected"),
    [
        ("power", 2, [0.7049887541, 0.1996013932, 0.0954098527]),
        ("staircase", 1, [0.7869860422, 0.1065069789, 0.1065069789]),
    ],
)
def test_probabilities_are_the_published_vector(
    weights: str, k: int, expected: list[float]
) -> None:
    """Ranks 1 to 3 of {0, 1, 3} at epsilon 2, c = 0."""
    mechanism = prepared.ready("rank", LINE, weights=weights, k=k, c=0.0)
    exact = prepared.probabilities(mechanism, 2.0)
    by_rank = np.take_along_axis(exact, LINE.orders.astype(np.int64), axis=1)
    np.testing.assert_allclose(by_rank, np.tile(expected, (4, 1)), rtol=0, atol=1e-10)


@pytest.mark.parametrize("weights", ["power", "staircase"])
@pytest.mark.parametrize("c", [0.0, 10.0])
@pytest.mark.parametrize(("k", "listed"), [(1, 3), (3, 3), (2, 12), (12, 12), (50, 12)])
def test_weights_are_the_closed_form(
    weights: str, c: float, k: int, listed: int
) -> None:
    """w(r) of docs/results/rank.md, rank by rank, in plain arithmetic."""
    size, epsilon = 12, 3.5
    lexicon = small.cloud(size, 3, listed=listed)
    if k > listed and listed < size:
        pytest.skip("refused: see below")
    mechanism = prepared.ready("rank", lexicon, weights=weights, k=k, c=c)
    shown = min(k, listed)

    def weight(rank_of: int) -> float:
        if weights == "staircase":
            return math.exp(epsilon) if rank_of <= shown else 1.0
        power = epsilon / math.log((shown + 1 + c) / (1 + c))
        raised: float = ((shown + 1 + c) / (min(rank_of, shown + 1) + c)) ** power
        return raised

    by_rank = np.array([weight(rank_of) for rank_of in range(1, size + 1)])
    exact = prepared.probabilities(mechanism, epsilon)
    np.testing.assert_allclose(
        np.sort(exact, axis=1),
        np.tile(np.sort(by_rank / by_rank.sum()), (size + 1, 1)),
        rtol=1e-12,
    )
    first = np.take_along_axis(exact, lexicon.orders[:, :shown].astype(np.int64), 1)
    np.testing.assert_allclose(
        first, np.tile(by_rank[:shown] / by_rank.sum(), (size + 1, 1)), rtol=1e-12
    )


@pytest.mark.parametrize("weights", ["power", "staircase"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0, 25.0])
def test_the_worst_loss_is_epsilon_and_never_more(weights: str, epsilon: float) -> None:
    """Over all pairs of words, unknown ones included, the loss reaches epsilon."""
    for seed in range(4):
        lexicon = small.cloud(30, 3, listed=6, seed=seed)
        mechanism = prepared.ready("rank", lexicon, weights=weights, k=5, c=2.0)
        ids = prepared.repeated(30, 1)
        logs = mechanism.log_probs(ids, np.full(31, epsilon))
        worst = distributions.worst_losses(distributions.normalised(logs)).max()
        assert worst <= epsilon * (1 + 1e-12)
        assert worst == pytest.approx(epsilon, rel=1e-9)
        promise = mechanism.guarantee(epsilon)
        assert (promise.notion, promise.max_distance) == ("LDP", 1.0)


def test_the_normaliser_is_the_same_for_every_word() -> None:
    """Z depends on no input: every row has the very same probabilities."""
    mechanism = prepared.ready("rank", small.cloud(40, 2, listed=9), k=9)
    ids = prepared.repeated(40, 1)
    rows = np.sort(mechanism.log_probs(ids, np.full(41, 7.0)), axis=1)
    np.testing.assert_array_equal(rows, np.tile(rows[0], (41, 1)))


@pytest.mark.parametrize("weights", ["power", "staircase"])
@pytest.mark.parametrize("listed", [1, 3, 7])
def test_draws_follow_the_distribution(weights: str, listed: int) -> None:
    """Sampled against exact for every input, epsilons mixed in a batch (1e-6)."""
    lexicon = small.cloud(7, 2, listed=listed)
    mechanism = prepared.ready("rank", lexicon, weights=weights, k=listed, c=1.0)
    prepared.hold_draws(mechanism, [0.2, 2.0, 6.0], 30_000)


def test_draws_follow_the_distribution_when_every_epsilon_differs() -> None:
    """Many distinct epsilons take another path through the table (alarm 1e-6)."""
    mechanism = prepared.ready("rank", small.cloud(5, 2, listed=3), k=3, c=0.5)
    size = 40_000
    ids = np.zeros(size, np.int32)
    eps = 2.0 + np.arange(size) * 1e-9
    drawn = mechanism.sample(ids, eps, distributions.bits(size))
    distributions.assert_follows(
        drawn, prepared.probabilities(mechanism, 2.0)[0], distributions.ALARM
    )


def test_an_enormous_epsilon_is_refused_and_a_large_one_works() -> None:
    """500 gives the word back; beyond it a usage error says so."""
    mechanism = prepared.ready(
        "rank", small.cloud(9, 2, listed=4), weights="power", k=4
    )
    ids = np.arange(9, dtype=np.int32)
    drawn = mechanism.sample(ids, np.full(9, 500.0), distributions.bits(9))
    np.testing.assert_array_equal(drawn, ids)
    with pytest.raises(UsageError, match="500"):
        mechanism.sample(ids, np.full(9, 501.0), distributions.bits(9))


def test_more_listed_words_than_stored_are_refused() -> None:
    """K beyond the lexicon's orders is an error, unless they hold all of V."""
    with pytest.raises(UsageError, match=r"mechanism\.k: 5 is more than the 4"):
        prepared.ready("rank", small.cloud(9, 2, listed=4), weights="power", k=5)
    steps = ((1, 1.0), (5, 0.5))
    with pytest.raises(UsageError, match=r"mechanism\.steps: 5 is more than the 4"):
        prepared.ready(
            "rank", small.cloud(9, 2, listed=4), weights="steps", steps=steps
        )
    long = prepared.ready("rank", small.cloud(9, 2), weights="power", k=50)
    assert long.orders.shape == (10, 9)


def test_one_word_is_drawn_from_a_vocabulary_of_one() -> None:
    """The smallest lexicon works."""
    mechanism = prepared.ready("rank", small.line(1.0), k=1)
    drawn = mechanism.sample(
        np.array([0, -1], np.int32), np.ones(2), distributions.bits(2)
    )
    assert drawn.tolist() == [0, 0]


def test_resolution_bounds_what_finite_uniforms_add() -> None:
    """The rarest output is 1/Z; its cell is off by at most 2^-51 of the whole."""
    mechanism = prepared.ready("rank", small.cloud(50, 2, listed=5), k=5)
    for epsilon in (1.0, 10.0, 30.0):
        rarest = prepared.probabilities(mechanism, epsilon).min()
        added = -math.log1p(-min(2.0**-51 / rarest, 0.5))
        assert mechanism.numerical_slack(epsilon) >= added


def test_orders_longer_than_k_are_cut() -> None:
    """Only the first k stored entries count."""
    long = prepared.ready("rank", small.cloud(20, 2, listed=9), k=4)
    cut = dataclasses.replace(
        small.cloud(20, 2, listed=9), orders=small.cloud(20, 2, listed=9).orders[:, :4]
    )
    short = prepared.ready("rank", cut, k=4)
    np.testing.assert_array_equal(
        prepared.probabilities(long, 3.0), prepared.probabilities(short, 3.0)
    )


def _with_outputs(size: int, outputs: int, listed: int) -> Lexicon:
    """Return a lexicon with orders of a word and outputs, like the English one."""
    whole = small.cloud(size, 3)
    orders = np.empty((size + 1, listed + 1), np.uint16)
    for row, order in enumerate(whole.orders.tolist()):
        others = [word for word in order if word < outputs and word != row]
        itself = [row] if row < size else []
        orders[row] = (itself + others)[: listed + 1]
    meta = {**whole.meta, "outputs": outputs}
    digest = f"{whole.digest} {outputs} {listed}"
    return dataclasses.replace(whole, orders=orders, meta=meta, digest=digest)


@pytest.mark.parametrize("weights", ["power", "staircase", "arch"])
@pytest.mark.parametrize("named", [None, 12])
@pytest.mark.parametrize("epsilon", [0.5, 6.0])
def test_with_outputs_every_input_has_the_same_weights_on_them(
    weights: str, named: int | None, epsilon: float
) -> None:
    """Theorem of docs/results/rank.md: support, weights, worst loss exactly epsilon.

    Whether the lexicon says which words are outputs, or the setting cuts them out.
    """
    lexicon = _with_outputs(30, 12, 5) if named is None else small.cloud(30, 3)
    mechanism = prepared.ready("rank", lexicon, weights=weights, k=5, outputs=named)
    exact = prepared.probabilities(mechanism, epsilon)
    assert (exact[:, 12:] == 0).all()
    assert (exact[:, :12] > 0).all()
    np.testing.assert_allclose(
        np.sort(exact[:, :12]), np.tile(np.sort(exact[0, :12]), (31, 1)), rtol=1e-12
    )
    worst = distributions.worst_losses(exact[:, :12]).max()
    assert worst == pytest.approx(epsilon, rel=1e-9)
    same = exact[np.arange(12), np.arange(12)]
    np.testing.assert_allclose(same, exact.max(), rtol=1e-12)


def test_both_ways_to_outputs_give_one_distribution() -> None:
    """A lexicon of outputs and a setting that cuts them out agree."""
    one = prepared.ready("rank", _with_outputs(25, 10, 6), k=6)
    two = prepared.ready("rank", small.cloud(25, 3), k=6, outputs=10)
    np.testing.assert_array_equal(
        prepared.probabilities(one, 4.0), prepared.probabilities(two, 4.0)
    )


def test_short_lists_are_filled_with_the_nearest() -> None:
    """Where the stored orders name too few outputs the nearest others follow."""
    short = small.cloud(40, 3, listed=6)
    filled = prepared.ready("rank", short, k=6, outputs=9)
    whole = prepared.ready("rank", small.cloud(40, 3), k=6, outputs=9)
    np.testing.assert_array_equal(filled.orders, whole.orders)


def test_draws_follow_the_distribution_over_outputs() -> None:
    """Sampled against exact, words outside the outputs included (1e-6)."""
    mechanism = prepared.ready("rank", _with_outputs(9, 5, 3), k=3, weights="arch")
    prepared.hold_draws(mechanism, [0.3, 5.0], 30_000)


@pytest.mark.parametrize("named", [None, 8])
def test_best_guesses_are_those_of_the_rows(named: int | None) -> None:
    """The closed form is the maximum over the rows of each band."""
    lexicon = small.cloud(30, 3)
    mechanism = prepared.ready("rank", lexicon, k=5, weights="arch", outputs=named)
    prior = np.random.default_rng(4).dirichlet(np.full(30, 0.3))
    joint = prior[:, None] * prepared.probabilities(mechanism, 3.0)[:30]
    bands = [(0, 3), (3, 11), (11, 30)]
    expected = np.array([joint[a:b].max(axis=0) for a, b in bands])
    guesses = mechanism.best_guesses(prior, 3.0, bands)
    np.testing.assert_allclose(guesses, expected, rtol=1e-12)


def test_the_arch_is_its_closed_form() -> None:
    """Ln w(r) = epsilon (1 - ((r - 1) / k)^p), 1 at the floor; p = 1 is a line."""
    params = rank.Params(weights="arch", k=4, p=2.0)
    exponents = 8.0 * params.exponents(4)
    np.testing.assert_allclose(exponents, [8.0, 7.5, 6.0, 3.5], rtol=1e-12)
    line = rank.Params(weights="arch", k=5, p=1.0).exponents(5)
    np.testing.assert_allclose(line, [1.0, 0.8, 0.6, 0.4, 0.2], rtol=1e-12)


@given(
    weights=st.sampled_from(["power", "staircase", "arch"]),
    k=st.integers(1, 200),
    c=st.floats(0, 1e4),
    p=st.floats(0.01, 50),
)
def test_all_weights_fall_from_one_to_the_floor(
    weights: Any, k: int, c: float, p: float
) -> None:
    """Steps begin with 1, never rise and stay at or above 0: all the theorem needs."""
    exponents = rank.Params(weights=weights, k=k, c=c, p=p).exponents(k)
    assert exponents[0] == pytest.approx(1.0)
    assert exponents.max() <= 1.0 + 1e-12
    assert (np.diff(exponents) <= 1e-12).all()
    assert exponents.min() >= 0.0


def test_more_outputs_than_words_are_refused() -> None:
    """Outputs are words of the vocabulary; a list is no longer than they are."""
    with pytest.raises(UsageError, match=r"mechanism\.outputs: 10 is more than the 9"):
        prepared.ready("rank", small.cloud(9, 2), outputs=10)
    assert prepared.ready(
        "rank", small.cloud(9, 2), weights="arch", outputs=4, k=50
    ).orders.shape == (10, 4)
    with pytest.raises(UsageError, match=r"mechanism\.k: 6 is more than the 5"):
        prepared.ready("rank", _with_outputs(30, 12, 5), weights="arch", k=6)


def test_an_audit_of_outputs_finds_epsilon() -> None:
    """Words that no input gives are no infinite loss."""
    mechanism = prepared.ready("rank", _with_outputs(30, 12, 5), k=5)
    result = audit(mechanism, 4.0, None)
    assert result.infinite == 0.0
    assert result.worst == pytest.approx(4.0)
    assert not result.refuted


@st.composite
def tables(draw: st.DrawFn) -> tuple[tuple[int, float], ...]:
    """Make a table of up to six falling steps over at most 20 ranks."""
    count = draw(st.integers(1, 6))
    lasts = draw(st.lists(st.integers(1, 20), min_size=count, max_size=count))
    parts = st.floats(1e-3, 1.0)
    steps = sorted(draw(st.lists(parts, min_size=count, max_size=count)), reverse=True)
    lasts = sorted(set(lasts))
    return tuple(zip(lasts, [1.0, *steps[1:]], strict=False))


@given(
    table=tables(),
    epsilon=st.floats(0.05, 20.0),
    k=st.none() | st.integers(1, 25),
    outputs=st.none() | st.integers(8, 30),
)
def test_weights_by_table_have_permuted_rows_and_lose_epsilon(
    table: tuple[tuple[int, float], ...],
    epsilon: float,
    k: int | None,
    outputs: int | None,
) -> None:
    """The theorem for any falling steps: one normaliser, worst loss epsilon.

    The weights of a row are those of the table, up to k, and 1 beyond.
    """
    lexicon = small.cloud(30, 3)
    mechanism = prepared.ready(
        "rank", lexicon, weights="steps", steps=table, k=k, outputs=outputs
    )
    size = outputs or 30
    exact = prepared.probabilities(mechanism, epsilon)
    assert (exact[:, size:] == 0).all()
    exact = exact[:, :size]
    np.testing.assert_allclose(
        np.sort(exact, axis=1), np.tile(np.sort(exact[0]), (31, 1)), rtol=1e-12
    )
    expected, before = np.ones(size), 0
    for last, step in table:
        expected[before : min(last, k or last)] = math.exp(epsilon * step)
        before = last
    expected /= expected.sum()
    np.testing.assert_allclose(np.sort(exact[0])[::-1], expected, rtol=1e-11)
    worst = distributions.worst_losses(exact).max()
    assert worst <= epsilon * (1 + 1e-12)
    # Less than epsilon only where the lists hold every output, so that none has w = 1.
    loss = math.log(expected[0] / expected[-1])
    assert worst == pytest.approx(loss, rel=1e-9, abs=1e-9)
    if min(table[-1][0], k or size) < size:
        assert loss == pytest.approx(epsilon)


def test_draws_follow_weights_by_table() -> None:
    """Sampled against exact for every input, epsilons mixed in a batch (1e-6)."""
    table = ((2, 1.0), (3, 0.6), (5, 0.25))
    mechanism = prepared.ready("rank", small.cloud(7, 2), weights="steps", steps=table)
    prepared.hold_draws(mechanism, [0.4, 4.0], 30_000)


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"weights": "steps"}, "needs a table"),
        ({"weights": "steps", "steps": [[3, 0.9]]}, "descending from 1"),
        ({"weights": "steps", "steps": [[0, 1]]}, r"steps\[0\]\[0\].*of at least 1"),
        ({"weights": "steps", "steps": [[3, 1], [3, 0.5]]}, "ranks ascending"),
        (
            {"weights": "steps", "steps": [[3, 1], [5, 0.4], [6, 0.5]]},
            "descending from 1",
        ),
        ({"weights": "steps", "steps": [[3, 1], [5, 0]]}, r"steps\[1\]\[1\].*above 0"),
        ({"weights": "steps", "steps": [[3, 1], [5, float("nan")]]}, "steps"),
        ({"weights": "steps", "steps": [3, 1]}, "steps"),
        ({"weights": "arch", "steps": [[3, 1]]}, "give weights: steps"),
    ],
)
def test_a_table_that_does_not_fall_is_refused(
    given_: dict[str, Any], said: str
) -> None:
    """One line that names the key of the profile and the error."""
    with pytest.raises(UsageError, match=said) as caught:
        convert(given_, rank.Params, "x.yaml: mechanism")
    assert str(caught.value).startswith("x.yaml: mechanism")
    assert "\n" not in str(caught.value)


def test_shipped_tables_fall_and_have_rising_risks() -> None:
    """Each prior has its own, of falling steps; closeness rises with the risk."""
    tables = rank.shipped()
    assert len(tables) == 2
    for rows in tables:
        assert len(rows) > 20
        for row in rows:
            rank.check(row.steps)
            assert row.steps[-1][0] <= 96
        for one, two in pairwise(rows):
            assert one.risk < two.risk
            assert one.closeness < two.closeness
            # Epsilons are where more gains little, to a quarter of a nat.
            assert one.epsilon < two.epsilon + 0.02


def _large() -> Lexicon:
    """Return a lexicon of more words than the tables were made for, cheaply ordered."""
    size, listed = rank.OUTPUTS + 9, 96
    whole = small.cloud(120, 3)
    orders = (np.arange(size + 1)[:, None] + np.arange(listed)) % size
    names = tuple(f"{row}x" for row in range(size - 1))
    return dataclasses.replace(
        whole,
        words=(*names, whole.words[-1]),
        vectors=np.ones((size + 1, 2), np.float32),
        counts=1.0 / np.arange(1.0, size + 1),
        orders=orders.astype(np.uint16),
        far=np.zeros(size + 1, np.float32),
        digest="large",
    )


LARGE = _large()


@pytest.mark.parametrize(("epsilon", "risk"), [(None, 0.2), (8.7, 0.15), (99.0, 0.9)])
def test_fitted_becomes_a_table_by_epsilon(epsilon: float | None, risk: float) -> None:
    """The first table with at least this epsilon, else the table of risk 20%."""
    space = prepared.space_of(LARGE)
    params = rank.Params().prepare(space, Aim(epsilon=epsilon)).params
    (steps,) = (row.steps for row in rank.shipped()[0] if row.risk == risk)
    assert params == rank.Params(weights="steps", steps=steps, k=steps[-1][0])


def test_fitted_becomes_the_table_of_the_risk_of_its_own_prior() -> None:
    """Of the first table of each prior with the risk at its epsilon, the nearest."""
    space, size = prepared.space_of(LARGE), len(LARGE.words)
    prior = np.random.default_rng(2).dirichlet(np.full(size, 0.5))

    def risk_at(row: rank.FittedTable) -> float:
        params = rank.Params(weights="steps", steps=row.steps)
        mechanism = params.prepare(space, Aim())
        best = mechanism.best_guesses(prior, row.epsilon, [(0, size)])
        return float(best.sum())

    for risk in (0.1, 0.5):
        first = [
            next((row for row in rows if risk_at(row) >= risk * 0.998), rows[-1])
            for rows in rank.shipped()
        ]
        nearest = min(first, key=lambda row: abs(row.risk - risk))
        aim = Aim(risk=risk, prior=prior)
        assert rank.Params().prepare(space, aim).params.steps == nearest.steps


def test_fitted_is_cut_to_what_is_stored() -> None:
    """Short orders and k take the first ranks of the table."""
    short = dataclasses.replace(LARGE, orders=LARGE.orders[:, :30], digest="short")
    (table,) = (row.steps for row in rank.shipped()[0] if row.risk == 0.2)
    listed = table[-1][0]
    assert listed > 30
    for lexicon, k, longest in (
        (LARGE, None, listed),
        (short, None, 30),
        (LARGE, 7, 7),
    ):
        mechanism = prepared.ready("rank", lexicon, k=k)
        assert mechanism.params.weights == "steps"
        assert mechanism.params.steps[-1][0] == mechanism.params.k == longest
        assert mechanism.orders.shape[1] == longest
        assert mechanism.params.steps[:2] == table[:2]


@given(table=tables(), outputs=st.integers(1, 9000))
def test_a_small_lexicon_lists_a_part_in_proportion(
    table: tuple[tuple[int, float], ...], outputs: int
) -> None:
    """Each rank has the step of the rank as far down in the table, and they fall."""
    short = rank.scaled(table, outputs, table[-1][0])
    rank.check(short)
    part = min(1.0, outputs / rank.OUTPUTS)
    listed = math.ceil(table[-1][0] * part)
    assert short[-1][0] == listed <= max(1, table[-1][0])
    whole = rank.values(table, table[-1][0])
    # A step that ends at e ends at e * part, rounded up.
    expected = [
        whole[
            min(r for r in range(len(whole)) if math.ceil((r + 1) * part) >= position)
        ]
        for position in range(1, listed + 1)
    ]
    np.testing.assert_array_equal(rank.values(short, listed), expected)


def test_fitted_of_a_tiny_lexicon_is_randomised_response() -> None:
    """One word of six is listed, so that a large epsilon gives the word back."""
    mechanism = prepared.ready("rank", small.cloud(6, 3))
    assert mechanism.params.steps == ((1, 1.0),)
