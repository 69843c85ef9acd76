from __future__ import annotations

import dataclasses
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext import profile
from dptext.errors import UsageError
from dptext.guarantees.audit import audit
from dptext.mechanisms import Aim, _laws, rank, ready
from dptext.types import Lexicon
from tests import channels, laws, small

LINE = small.line(0.0, 1.0, 3.0)


@pytest.mark.parametrize(
    ("law", "k", "expected"),
    [
        ("power", 2, [0.7049887541, 0.1996013932, 0.0954098527]),
        ("staircase", 1, [0.7869860422, 0.1065069789, 0.1065069789]),
    ],
)
def test_the_law_is_the_published_vector(
    law: str, k: int, expected: list[float]
) -> None:
    """GUARANTEES 13: ranks 1 to 3 of {0, 1, 3} at epsilon 2, c = 0."""
    channel = channels.ready("rank", LINE, weights=law, k=k, c=0.0)
    exact = channels.law(channel, 2.0)
    by_rank = np.take_along_axis(exact, LINE.orders.astype(np.int64), axis=1)
    np.testing.assert_allclose(by_rank, np.tile(expected, (4, 1)), rtol=0, atol=1e-10)


@pytest.mark.parametrize("law", ["power", "staircase"])
@pytest.mark.parametrize("c", [0.0, 10.0])
@pytest.mark.parametrize(("k", "listed"), [(1, 3), (3, 3), (2, 12), (12, 12), (50, 12)])
def test_weights_are_the_closed_form(law: str, c: float, k: int, listed: int) -> None:
    """w(r) of GUARANTEES 3.13, rank by rank, in plain arithmetic."""
    size, epsilon = 12, 3.5
    lexicon = small.cloud(size, 3, listed=listed)
    if k > listed and listed < size:
        pytest.skip("refused: see below")
    channel = channels.ready("rank", lexicon, weights=law, k=k, c=c)
    shown = min(k, listed)

    def weight(rank_of: int) -> float:
        if law == "staircase":
            return math.exp(epsilon) if rank_of <= shown else 1.0
        power = epsilon / math.log((shown + 1 + c) / (1 + c))
        return ((shown + 1 + c) / (min(rank_of, shown + 1) + c)) ** power

    weights = np.array([weight(rank_of) for rank_of in range(1, size + 1)])
    exact = channels.law(channel, epsilon)
    np.testing.assert_allclose(
        np.sort(exact, axis=1),
        np.tile(np.sort(weights / weights.sum()), (size + 1, 1)),
        rtol=1e-12,
    )
    first = np.take_along_axis(exact, lexicon.orders[:, :shown].astype(np.int64), 1)
    np.testing.assert_allclose(
        first, np.tile(weights[:shown] / weights.sum(), (size + 1, 1)), rtol=1e-12
    )


@pytest.mark.parametrize("law", ["power", "staircase"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0, 25.0])
def test_the_worst_loss_is_epsilon_and_never_more(law: str, epsilon: float) -> None:
    """Over all pairs of words, unknown ones included, the loss reaches epsilon."""
    for seed in range(4):
        lexicon = small.cloud(30, 3, listed=6, seed=seed)
        channel = channels.ready("rank", lexicon, weights=law, k=5, c=2.0)
        ids = channels.repeated(30, 1)
        logs = rank.log_weights(channel.state, ids, np.full(31, epsilon))
        worst = laws.worst_losses(laws.normalised(logs)).max()
        assert worst <= epsilon * (1 + 1e-12)
        assert worst == pytest.approx(epsilon, rel=1e-9)
        promise = rank.guarantee(channel.state, epsilon)
        assert (promise.notion, promise.max_distance) == ("LDP", 1.0)


def test_the_normaliser_is_the_same_for_every_word() -> None:
    """Z depends on no input: what makes the loss exactly a ratio of weights."""
    channel = channels.ready("rank", small.cloud(40, 2, listed=9), k=9)
    ids = channels.repeated(40, 1)
    sums = np.exp(rank.log_weights(channel.state, ids, np.full(41, 7.0))).sum(axis=1)
    np.testing.assert_allclose(sums, sums[0], rtol=1e-13)


@pytest.mark.parametrize("law", ["power", "staircase"])
@pytest.mark.parametrize("listed", [1, 3, 7])
def test_draws_follow_the_law(law: str, listed: int) -> None:
    """Sampled against exact for every input, epsilons mixed in a batch (1e-6)."""
    lexicon = small.cloud(7, 2, listed=listed)
    channel = channels.ready("rank", lexicon, weights=law, k=listed, c=1.0)
    channels.hold_law(channel, [0.2, 2.0, 6.0], 30_000)


def test_draws_follow_the_law_when_every_epsilon_is_its_own() -> None:
    """Many distinct epsilons take another path through the table; same law (1e-6)."""
    channel = channels.ready("rank", small.cloud(5, 2, listed=3), k=3, c=0.5)
    size = 40_000
    ids = np.zeros(size, np.int32)
    eps = 2.0 + np.arange(size) * 1e-9
    drawn = rank.choose(channel.state, ids, eps, laws.bits(size))
    laws.assert_follows(drawn, channels.law(channel, 2.0)[0], laws.ALARM)


def test_both_ways_to_find_a_rank_agree() -> None:
    """Search and count give the same rank, also exactly on a border."""
    cumulative = np.cumsum(np.arange(1.0, 6.0))[None, :]
    target = np.concatenate((cumulative[0], cumulative[0] - 1e-9, [0.0, 99.0]))
    which = np.zeros(len(target), np.intp)
    few = rank._ranks(cumulative, which, target)
    many = rank._ranks(np.tile(cumulative, (9, 1)), which, target)
    np.testing.assert_array_equal(few, many)


def test_an_enormous_epsilon_is_refused_and_a_large_one_works() -> None:
    """500 gives the word back; beyond it a usage error says so."""
    channel = channels.ready("rank", small.cloud(9, 2, listed=4), weights="power", k=4)
    ids = np.arange(9, dtype=np.int32)
    drawn = rank.choose(channel.state, ids, np.full(9, 500.0), laws.bits(9))
    np.testing.assert_array_equal(drawn, ids)
    with pytest.raises(UsageError, match="500"):
        rank.choose(channel.state, ids, np.full(9, 501.0), laws.bits(9))


def test_more_listed_words_than_stored_are_refused() -> None:
    """K beyond the lexicon's orders is an error, unless they hold all of V."""
    with pytest.raises(UsageError, match=r"mechanism\.k: 5 is more than the 4"):
        channels.ready("rank", small.cloud(9, 2, listed=4), weights="power", k=5)
    steps = ((1, 1.0), (5, 0.5))
    with pytest.raises(UsageError, match=r"mechanism\.steps: 5 is more than the 4"):
        channels.ready(
            "rank", small.cloud(9, 2, listed=4), weights="steps", steps=steps
        )
    long = channels.ready("rank", small.cloud(9, 2), weights="power", k=50)
    assert long.state.orders.shape == (10, 9)


def test_one_word_is_drawn_from_a_vocabulary_of_one() -> None:
    """The smallest lexicon works."""
    channel = channels.ready("rank", small.line(1.0), k=1)
    drawn = rank.choose(
        channel.state, np.array([0, -1], np.int32), np.ones(2), laws.bits(2)
    )
    assert drawn.tolist() == [0, 0]


def test_resolution_bounds_what_finite_uniforms_add() -> None:
    """The rarest output is 1/Z; its cell is off by at most 2^-51 of the whole."""
    channel = channels.ready("rank", small.cloud(50, 2, listed=5), k=5)
    for epsilon in (1.0, 10.0, 30.0):
        rarest = channels.law(channel, epsilon).min()
        added = -math.log1p(-min(2.0**-51 / rarest, 0.5))
        assert rank.resolution(channel.state, epsilon) >= added


def test_orders_longer_than_k_are_cut() -> None:
    """Only the first k stored entries count."""
    long = channels.ready("rank", small.cloud(20, 2, listed=9), k=4)
    cut = dataclasses.replace(
        small.cloud(20, 2, listed=9), orders=small.cloud(20, 2, listed=9).orders[:, :4]
    )
    short = channels.ready("rank", cut, k=4)
    np.testing.assert_array_equal(channels.law(long, 3.0), channels.law(short, 3.0))


def _with_outputs(size: int, outputs: int, listed: int) -> Lexicon:
    """Return a lexicon whose orders hold a word and outputs, as the English one's."""
    whole = small.cloud(size, 3)
    found = np.empty((size + 1, listed + 1), np.uint16)
    for row, order in enumerate(whole.orders.tolist()):
        others = [word for word in order if word < outputs and word != row]
        own = [row] if row < size else []
        found[row] = (own + others)[: listed + 1]
    meta = {**whole.meta, "outputs": outputs}
    digest = f"{whole.digest} {outputs} {listed}"
    return dataclasses.replace(whole, orders=found, meta=meta, digest=digest)


@pytest.mark.parametrize("law", ["power", "staircase", "arch"])
@pytest.mark.parametrize("named", [None, 12])
@pytest.mark.parametrize("epsilon", [0.5, 6.0])
def test_with_outputs_every_input_has_the_same_law_on_them(
    law: str, named: int | None, epsilon: float
) -> None:
    """Theorem of docs/rank.md: same support, same weights, worst loss exactly epsilon.

    Whether the lexicon says which words are outputs, or the setting cuts them out.
    """
    lexicon = _with_outputs(30, 12, 5) if named is None else small.cloud(30, 3)
    channel = channels.ready("rank", lexicon, weights=law, k=5, outputs=named)
    exact = channels.law(channel, epsilon)
    assert (exact[:, 12:] == 0).all()
    assert (exact[:, :12] > 0).all()
    np.testing.assert_allclose(
        np.sort(exact[:, :12]), np.tile(np.sort(exact[0, :12]), (31, 1)), rtol=1e-12
    )
    worst = laws.worst_losses(exact[:, :12]).max()
    assert worst == pytest.approx(epsilon, rel=1e-9)
    own = exact[np.arange(12), np.arange(12)]
    np.testing.assert_allclose(own, exact.max(), rtol=1e-12)


def test_both_ways_to_outputs_give_one_law() -> None:
    """A lexicon of outputs and a setting that cuts them out agree."""
    one = channels.ready("rank", _with_outputs(25, 10, 6), k=6)
    two = channels.ready("rank", small.cloud(25, 3), k=6, outputs=10)
    np.testing.assert_array_equal(channels.law(one, 4.0), channels.law(two, 4.0))


def test_short_lists_are_filled_with_the_nearest() -> None:
    """Where the stored orders name too few outputs the nearest others follow."""
    short = small.cloud(40, 3, listed=6)
    filled = channels.ready("rank", short, k=6, outputs=9)
    whole = channels.ready("rank", small.cloud(40, 3), k=6, outputs=9)
    np.testing.assert_array_equal(filled.state.orders, whole.state.orders)


def test_draws_follow_the_law_of_outputs() -> None:
    """Sampled against exact, words outside the outputs included (1e-6)."""
    channel = channels.ready("rank", _with_outputs(9, 5, 3), k=3, weights="arch")
    channels.hold_law(channel, [0.3, 5.0], 30_000)


@pytest.mark.parametrize("named", [None, 8])
def test_best_guesses_are_those_of_the_law(named: int | None) -> None:
    """The closed form is the maximum over the rows of each band."""
    lexicon = small.cloud(30, 3)
    channel = channels.ready("rank", lexicon, k=5, weights="arch", outputs=named)
    prior = np.random.default_rng(4).dirichlet(np.full(30, 0.3))
    joint = prior[:, None] * channels.law(channel, 3.0)[:30]
    bands = [(0, 3), (3, 11), (11, 30)]
    expected = np.array([joint[a:b].max(axis=0) for a, b in bands])
    found = rank.best_guesses(channel.state, prior, 3.0, bands)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_arch_is_its_closed_form() -> None:
    """Ln w(r) = epsilon (1 - ((r - 1) / k)^p), 1 at the floor; p = 1 is a line."""
    params = rank.Params(weights="arch", k=4, p=2.0)
    found = np.log(rank.weights(params, 4, np.array([8.0]))[0])
    np.testing.assert_allclose(found, [8.0, 7.5, 6.0, 3.5], rtol=1e-12)
    line = rank.steps(rank.Params(weights="arch", k=5, p=1.0), 5)
    np.testing.assert_allclose(line, [1.0, 0.8, 0.6, 0.4, 0.2], rtol=1e-12)


@given(
    law=st.sampled_from(["power", "staircase", "arch"]),
    k=st.integers(1, 200),
    c=st.floats(0, 1e4),
    p=st.floats(0.01, 50),
)
def test_every_law_falls_from_one_to_the_floor(
    law: Any, k: int, c: float, p: float
) -> None:
    """Steps begin with 1, never rise and stay at or above 0: all the theorem needs."""
    found = rank.steps(rank.Params(weights=law, k=k, c=c, p=p), k)
    assert found[0] == pytest.approx(1.0)
    assert found.max() <= 1.0 + 1e-12
    assert (np.diff(found) <= 1e-12).all()
    assert found.min() >= 0.0


def test_more_outputs_than_words_are_refused() -> None:
    """Outputs are words of the vocabulary; a list is no longer than they are."""
    with pytest.raises(UsageError, match=r"mechanism\.outputs: 10 is more than the 9"):
        channels.ready("rank", small.cloud(9, 2), outputs=10)
    assert channels.ready(
        "rank", small.cloud(9, 2), weights="arch", outputs=4, k=50
    ).state.orders.shape == (10, 4)
    with pytest.raises(UsageError, match=r"mechanism\.k: 6 is more than the 5"):
        channels.ready("rank", _with_outputs(30, 12, 5), weights="arch", k=6)


def test_an_audit_of_outputs_finds_epsilon() -> None:
    """Words that no input gives are no infinite loss."""
    channel = channels.ready("rank", _with_outputs(30, 12, 5), k=5)
    found = audit(channel, 4.0, None)
    assert found.infinite == 0.0
    assert found.worst == pytest.approx(4.0)
    assert not found.refuted


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
def test_a_law_by_table_has_permuted_rows_and_loses_epsilon(
    table: tuple[tuple[int, float], ...],
    epsilon: float,
    k: int | None,
    outputs: int | None,
) -> None:
    """The theorem for any falling steps: one normaliser, worst loss epsilon.

    The weights of a row are those of the table, up to k, and 1 beyond.
    """
    lexicon = small.cloud(30, 3)
    channel = channels.ready(
        "rank", lexicon, weights="steps", steps=table, k=k, outputs=outputs
    )
    size = outputs or 30
    exact = channels.law(channel, epsilon)
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
    worst = laws.worst_losses(exact).max()
    assert worst <= epsilon * (1 + 1e-12)
    # Less than epsilon only where the lists hold every output, so that none has w = 1.
    loss = math.log(expected[0] / expected[-1])
    assert worst == pytest.approx(loss, rel=1e-9, abs=1e-9)
    if min(table[-1][0], k or size) < size:
        assert loss == pytest.approx(epsilon)


def test_draws_follow_a_law_by_table() -> None:
    """Sampled against exact for every input, epsilons mixed in a batch (1e-6)."""
    table = ((2, 1.0), (3, 0.6), (5, 0.25))
    channel = channels.ready("rank", small.cloud(7, 2), weights="steps", steps=table)
    channels.hold_law(channel, [0.4, 4.0], 30_000)


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"weights": "steps"}, "needs a table"),
        ({"weights": "steps", "steps": [[3, 0.9]]}, "begin with 1"),
        ({"weights": "steps", "steps": [[0, 1]]}, r"steps\[0\]\[0\].*>= 1"),
        ({"weights": "steps", "steps": [[3, 1], [3, 0.5]]}, "3 does not follow 3"),
        ({"weights": "steps", "steps": [[3, 1], [5, 0.4], [6, 0.5]]}, "0.5 after 0.4"),
        ({"weights": "steps", "steps": [[3, 1], [5, 0]]}, r"steps\[1\]\[1\].*> 0"),
        ({"weights": "steps", "steps": [[3, 1], [5, float("nan")]]}, "steps"),
        ({"weights": "steps", "steps": [3, 1]}, "steps"),
        ({"weights": "arch", "steps": [[3, 1]]}, "give weights: steps"),
    ],
)
def test_a_table_that_is_no_law_is_refused(given_: dict[str, Any], said: str) -> None:
    """One line that names the profile's key and what is wrong."""
    with pytest.raises(UsageError, match=said) as caught:
        profile.convert(given_, rank.Params, "x.yaml: mechanism")
    assert str(caught.value).startswith("x.yaml: mechanism")
    assert "\n" not in str(caught.value)


def test_shipped_tables_are_laws_by_rising_risk() -> None:
    """Each prior has its own, of falling steps; closeness rises with the risk."""
    found = _laws.shipped()
    assert len(found) == 2
    for rows in found:
        assert len(rows) > 20
        for row in rows:
            _laws.check(row.steps)
            assert row.steps[-1][0] <= 96
        for one, two in pairwise(rows):
            assert one.risk < two.risk
            assert one.closeness < two.closeness
            # Epsilons are where more gains little, to a quarter of a nat.
            assert one.epsilon < two.epsilon + 0.02


def _large() -> Lexicon:
    """Return a lexicon of more words than the tables were made for, cheaply ordered."""
    size, listed = _laws.OUTPUTS + 9, 96
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


@pytest.mark.parametrize(("epsilon", "risk"), [(None, 0.2), (8.7, 0.19), (99.0, 0.9)])
def test_fitted_becomes_a_table_by_epsilon(epsilon: float | None, risk: float) -> None:
    """The first of at least as much epsilon; that of risk 20% if there is none."""
    space = channels.space_of(LARGE)
    found = ready("rank", rank, rank.Params(), space, Aim(epsilon=epsilon)).params
    (steps,) = (row.steps for row in _laws.shipped()[0] if row.risk == risk)
    assert found == rank.Params(weights="steps", steps=steps, k=steps[-1][0])


def test_fitted_becomes_the_table_of_the_risk_of_its_own_prior() -> None:
    """The first of each prior whose own epsilon has the risk, of these the nearest."""
    space, size = channels.space_of(LARGE), len(LARGE.words)
    prior = np.random.default_rng(2).dirichlet(np.full(size, 0.5))

    def risk_at(row: _laws.Row) -> float:
        made = ready("rank", rank, rank.Params(weights="steps", steps=row.steps), space)
        best = rank.best_guesses(made.state, prior, row.epsilon, [(0, size)])
        return float(best.sum())

    for risk in (0.1, 0.5):
        first = [
            next((row for row in rows if risk_at(row) >= risk * 0.998), rows[-1])
            for rows in _laws.shipped()
        ]
        nearest = min(first, key=lambda row: abs(row.risk - risk))
        aim = Aim(risk=risk, prior=prior)
        assert ready("rank", rank, rank.Params(), space, aim).params.steps == (
            nearest.steps
        )


def test_fitted_is_cut_to_what_is_stored() -> None:
    """Short orders and k take the first ranks of the table."""
    short = dataclasses.replace(LARGE, orders=LARGE.orders[:, :30], digest="short")
    (table,) = (row.steps for row in _laws.shipped()[0] if row.risk == 0.2)
    listed = table[-1][0]
    assert listed > 30
    for lexicon, k, longest in (
        (LARGE, None, listed),
        (short, None, 30),
        (LARGE, 7, 7),
    ):
        channel = channels.ready("rank", lexicon, k=k)
        assert channel.params.weights == "steps"
        assert channel.params.steps[-1][0] == channel.params.k == longest
        assert channel.state.orders.shape[1] == longest
        assert channel.state.params == channel.params
        assert channel.params.steps[:2] == table[:2]


@given(table=tables(), outputs=st.integers(1, 9000))
def test_a_small_lexicon_lists_a_part_in_proportion(
    table: tuple[tuple[int, float], ...], outputs: int
) -> None:
    """Each rank has the step of the rank as far down in the table; it stays a law."""
    found = _laws.scaled(table, outputs)
    _laws.check(found)
    part = min(1.0, outputs / _laws.OUTPUTS)
    listed = math.ceil(table[-1][0] * part)
    assert found[-1][0] == listed <= max(1, table[-1][0])
    whole = _laws.values(table, table[-1][0])
    # A step that ends at e ends at e * part, rounded up.
    expected = [
        whole[
            min(r for r in range(len(whole)) if math.ceil((r + 1) * part) >= position)
        ]
        for position in range(1, listed + 1)
    ]
    np.testing.assert_array_equal(_laws.values(found, listed), expected)


def test_fitted_of_a_tiny_lexicon_is_randomised_response() -> None:
    """One word of six is listed, so that a large epsilon gives the word back."""
    channel = channels.ready("rank", small.cloud(6, 3))
    assert channel.params.steps == ((1, 1.0),)
