from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dptext.attackers import ngrams
from dptext.attackers.channel import Channel
from dptext.attackers.ngrams import Gains, Ngrams
from dptext.attackers.pairs import PairAttacker
from dptext.attackers.posterior import Chains, WordCandidates, marginals
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Released
from dptext.writing import joining
from tests import small
from tests.attackers import models
from tests.attackers.releases import (
    ENGLISH,
    EPSILON,
    POLICIES,
    SIZE,
    TEXTS,
    make_channel,
    release,
    sequence,
)


def brute(
    batch: Released, channel: Channel, model: Ngrams
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return posteriors (n, V + 1) and the likeliest texts (n,), by all texts."""
    ids = np.append(np.arange(SIZE), -1).astype(np.int32)
    emitted = channel.mechanism.probs(ids, EPSILON)
    possible = np.flatnonzero(channel.inputs > 0)
    rows = np.arange(SIZE + 2)
    conditional = np.exp(
        [models.log_probs(model, np.full(SIZE + 2, row), rows) for row in rows]
    )
    posterior = np.zeros((len(batch.drawn), SIZE + 1))
    best = np.zeros(len(batch.drawn), np.int64)
    for row in range(len(batch.ends)):
        shown = sequence(batch, row)
        drawn = [index for kind, index in shown if kind == "drawn"]
        # Every text at once: a row for each.
        guesses = np.array([*product(possible, repeat=len(drawn))], np.int64)
        word_of = dict(zip(drawn, guesses.T, strict=True))
        chain = [word_of[i] if kind == "drawn" else i for kind, i in shown]
        chance = np.ones(len(guesses))
        for one, two in pairwise(chain):
            chance *= conditional[one, two]
        for index, words in word_of.items():
            chance *= emitted[words, batch.drawn[index]]
        for index, words in word_of.items():
            np.add.at(posterior[index], words, chance)
        written = np.where((guesses < SIZE).all(axis=1), chance, -1.0)
        best[drawn] = guesses[written.argmax()]
    return posterior / posterior.sum(axis=1, keepdims=True), best


def weighed(model: Ngrams, weight: float) -> Ngrams:
    """Return a model to a power, its gains rounded to the nearest codes."""
    logs = weight * np.log(ngrams.decode_gains(model.gains).astype(np.float64))
    alone, backoff = weight * model.alone, weight * model.backoff
    return replace(model, alone=alone, backoff=backoff, gains=ngrams.encode_gains(logs))


def posteriors(batch: Released, attacker: PairAttacker) -> NDArray[np.float64]:
    """Return the posterior of each word: (n, V + 1)."""
    table = np.zeros((len(batch.drawn), SIZE + 1))
    rows, likely = attacker.posterior(batch)
    for column in range(len(batch.drawn)):
        np.add.at(table[column], rows[:, column], likely[:, column])
    return table


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("name", "weight"), [("rank", 1.0), ("santext", 1.0), ("rank", 0.8)]
)
def test_the_posterior_is_that_of_all_texts(
    policy: Policy, name: str, weight: float
) -> None:
    """Forward-backward gives what summing over every possible text gives."""
    channel, model = make_channel(policy, name), models.model(ENGLISH)
    batch = release(policy, TEXTS)
    wanted, _ = brute(batch, channel, weighed(model, weight))
    table = posteriors(
        batch, PairAttacker(channel, model, count=SIZE + 1, weight=weight)
    )
    np.testing.assert_allclose(table, wanted, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_best_path_is_the_likeliest_text(policy: Policy) -> None:
    """Viterbi gives the likeliest of all texts of words that may be written."""
    channel, model = make_channel(policy), models.model(ENGLISH, seed=8)
    batch = release(policy, TEXTS, seed=4)
    _, wanted = brute(batch, channel, model)
    path = PairAttacker(channel, model, count=SIZE + 1).best_path(batch)
    np.testing.assert_array_equal(path, wanted)


def test_a_few_candidates_are_the_likeliest_ones() -> None:
    """With few candidates the posterior is that of all texts made of these."""
    channel, model = make_channel(Policy()), models.model(ENGLISH)
    batch = release(Policy(), TEXTS)
    rows, likely = PairAttacker(channel, model, count=3).posterior(batch)
    assert rows.shape == likely.shape == (3, len(batch.drawn))
    np.testing.assert_allclose(likely.sum(axis=0), 1.0, rtol=1e-6)
    alone = np.exp(model.alone[: SIZE + 1].astype(np.float64))
    ids = np.append(np.arange(SIZE), -1).astype(np.int32)
    worth = channel.mechanism.probs(ids, EPSILON) * alone[:, None]
    for column, drawn in enumerate(batch.drawn):
        top = np.sort(worth[:, drawn])[-3:]
        np.testing.assert_allclose(np.sort(worth[rows[:, column], drawn]), top)


@pytest.mark.parametrize("name", ["posterior", "best_path"])
def test_texts_are_read_by_themselves(name: str) -> None:
    """Alone, in any batch and any order, a text is read to the same last bit."""
    policy = Policy(stop_word="keep")
    rng = np.random.default_rng(1)
    texts = [
        " ".join(rng.choice(["cat", "dog", "the", "runs.", "zq,", "7"], size))
        for size in rng.integers(0, 40, 700)
    ]
    attacker = PairAttacker(make_channel(policy), models.model(ENGLISH), count=5)
    whole = release(policy, texts)

    def read(batch: Released) -> NDArray[np.generic]:
        result = getattr(attacker, name)(batch)
        rows: NDArray[np.generic]
        rows = result[1].T if isinstance(result, tuple) else result
        return rows

    together = read(whole)
    for row in range(0, 700, 41):
        words = Tokenizer(ENGLISH, policy).words([texts[row]])
        mine = whole.texts == row
        alone = joining.release(policy, words, whole.drawn[mine], whole.eps[mine])
        np.testing.assert_array_equal(read(alone), together[mine])


WIDE = small.english(*(f"w{n}" for n in range(60)))
GAINS = Gains(models.model(WIDE, seed=5), 0.8)


@settings(max_examples=120, deadline=None)
@given(
    st.integers(2, 40),
    st.lists(st.integers(1, 12), min_size=2, max_size=40),
    st.integers(0, 2**32 - 1),
)
def test_a_chain_has_the_same_bits_alone_and_beside_others(
    candidates: int, lengths: list[int], seed: int
) -> None:
    """Every posterior, of some 15,000, is the same to the last bit in every batch."""
    rng = np.random.default_rng(seed)
    total, size = sum(lengths), len(WIDE.words)
    ends = np.cumsum(lengths)
    begins = ends - lengths
    before, after = np.full((2, total), -1, np.int64)
    before[begins] = rng.integers(0, size + 2, len(lengths))
    after[ends - 1] = rng.integers(0, size + 2, len(lengths))
    rows = rng.integers(0, size + 1, (candidates, total))
    weights = np.exp(rng.normal(0.0, 3.0, rows.shape)).astype(np.float32)
    backoff = np.exp(rng.normal(-0.5, 0.4, rows.shape)).astype(np.float32)
    words = WordCandidates(GAINS.slot_of[rows], weights, backoff)
    together = marginals(Chains(before, after), words, GAINS)
    for begin, end in zip(begins, ends, strict=True):
        part = slice(begin, end)
        mine = WordCandidates(words.slots[:, part], weights[:, part], backoff[:, part])
        alone = marginals(Chains(before[part], after[part]), mine, GAINS)
        np.testing.assert_array_equal(
            alone.view(np.int32), together[:, part].view(np.int32)
        )
