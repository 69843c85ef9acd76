from __future__ import annotations

import dataclasses

import numpy as np

from dptext.attackers import pairs
from dptext.attackers.pairs import PairAttacker, Topic
from dptext.tokens.policy import Policy
from dptext.types import Released
from tests.attackers import models
from tests.attackers.releases import ENGLISH, SIZE, make_channel, release

# All but one word are rare, as all but a few of a real lexicon are.
COUNTS = np.where(
    np.arange(SIZE) == 0, 1e6, np.where(np.arange(SIZE) == 1, 40.0, 900.0)
)
RARE = dataclasses.replace(ENGLISH, counts=COUNTS)
GRAMMAR = [ENGLISH.words.index("the"), ENGLISH.words.index("of")]
TEXTS = ["cat dog, the runs. of cat", "dog", "", "the of", "runs cat runs dog 42 zq"]


def by_hand(batch: Released, power: float) -> np.ndarray:
    """Return the factors of all words for each drawn one by the definition: (x, n)."""
    rows = ENGLISH.vectors.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows -= rows.mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[GRAMMAR] = 0.0
    worth = np.round(4.0 * np.clip(-np.log(RARE.prior) - 5.0, 0.0, 7.0))
    worth[GRAMMAR] = 0.0
    factors = np.ones((SIZE + 1, len(batch.drawn)))
    for n, text in enumerate(batch.texts):
        others = np.flatnonzero((batch.texts == text) & (worth[batch.drawn] > 0))
        others = others[others != n]
        if len(others):
            drawn = batch.drawn[others]
            mean = worth[drawn] @ rows[drawn]
            mean *= len(others) / (len(others) + 3.0) / np.linalg.norm(mean)
            factors[:, n] = np.exp(power * (rows @ mean))
    return factors


def test_factors_are_those_of_the_definition() -> None:
    """By the cosine with the mean of the other draws, to a step of 1/16 nat."""
    batch = release(Policy(), TEXTS, seed=3)
    rows = np.repeat(np.arange(SIZE + 1)[:, None], len(batch.drawn), axis=1)
    factors = Topic(RARE, 4.0).factors(rows.T.astype(np.int32), batch).T
    wanted = by_hand(batch, 4.0)
    assert np.abs(np.log(factors) - np.log(wanted)).max() < 0.5 / 16 + 0.01
    assert (factors != 1.0).any()
    assert (factors[GRAMMAR] == 1.0).all()


def test_a_text_is_about_itself_alone() -> None:
    """The other texts of a batch change no bit."""
    batch = release(Policy(), TEXTS * 30, seed=5)
    rows = np.arange(SIZE, dtype=np.int32)[:, None].repeat(len(batch.drawn), axis=1)
    together = Topic(RARE, 4.0).factors(rows.T, batch).T
    for text in (0, 4, 77):
        mine = batch.texts == text
        alone = Released(
            pieces=batch.pieces,
            flags=batch.flags,
            ends=batch.ends,
            positions=batch.positions[mine],
            texts=np.zeros(mine.sum(), np.int64),
            drawn=batch.drawn[mine],
            eps=batch.eps[mine],
        )
        factors = Topic(RARE, 4.0).factors(rows[:, mine].T, alone).T
        np.testing.assert_array_equal(factors, together[:, mine])


def test_the_posterior_takes_the_factors() -> None:
    """Words of one text, each with its factor times the prior."""
    channel = dataclasses.replace(make_channel(Policy()), lexicon=RARE)
    model = models.model(ENGLISH)
    batch = release(Policy(), ["cat; dog; cat"], seed=2)
    plain, with_topic = (
        PairAttacker(
            channel, model, count=SIZE + 1, weight=1e-9, topic=power
        ).posterior(batch)
        for power in (0.0, pairs.POWER)
    )
    np.testing.assert_array_equal(plain[0], with_topic[0])
    wanted = plain[1] * Topic(RARE, pairs.POWER).factors(plain[0].T, batch).T
    wanted /= wanted.sum(axis=0)
    np.testing.assert_allclose(with_topic[1], wanted, rtol=1e-4)
    assert np.abs(wanted - plain[1]).max() > 0.01
