"""An attacker reads with the pairs of all words, not only of the likeliest."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given

from dptext.attackers import kernel, ngrams
from dptext.attackers.channel import Channel
from dptext.attackers.ngrams import Gains, Ngrams, WholeGains, decode_gains
from dptext.attackers.pairs import PairAttacker
from dptext.attackers.reader import Reader
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import BudgetDescription, BudgetKind, Lexicon, Released
from dptext.writing import joining
from tests import prepared, small
from tests.attackers import models
from tests.attackers import test_kernel as kernels

# The table of a decoder has so many rows here, and the lexicon more words.
SLOTS = 400
MANY = SLOTS + 100
FIRST, SECOND = MANY - 20, MANY - 10


@cache
def large() -> Lexicon:
    """Return a lexicon of many words, frequent ones first."""
    vectors = np.random.default_rng(1).normal(size=(MANY, 2))
    return small.lexicon(vectors, counts=[2.0 * MANY - row for row in range(MANY)])


def pair_model() -> Ngrams:
    """Return a model in which one rare word all but tells the next."""
    words = large().words
    alone = np.log(np.append(large().prior * 0.98, [0.01, 0.01]))
    gains = ngrams.encode_gains(np.array([np.log(2.0**15)]))
    return ngrams.assemble(
        words=words,
        alone=alone,
        backoff=np.zeros(MANY + 2),
        contexts=np.array([FIRST]),
        following=np.array([SECOND]),
        gains=gains,
        meta={},
    )


def test_a_pair_of_rare_words_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attacker finds the word behind another rare one; a table of few does not."""
    monkeypatch.setattr(ngrams, "SLOTS", SLOTS)
    lexicon = large()
    mechanism = prepared.ready("rank", lexicon, k=40)
    budget = BudgetDescription(BudgetKind.WORD, 1.0, 1.0)
    prior = np.array(lexicon.prior)
    channel = Channel(lexicon, Policy(), mechanism, budget, prior=prior)
    given = Tokenizer(lexicon, Policy()).words([" ".join(lexicon.words[:2])])
    # Two words that were drawn as themselves, as one cannot know.
    drawn = np.array([FIRST, SECOND], np.int32)
    batch = joining.release(Policy(), given, drawn, np.ones(2))
    model = pair_model()

    def chance(attacker: PairAttacker | Reader) -> float:
        rows, likely = attacker.posterior(batch)
        return float(likely[rows[:, 1] == SECOND, 1].sum())

    table = PairAttacker(channel, model, count=256)
    assert chance(Reader(channel, model)) > 5 * chance(table) > 0


def test_gains_are_those_of_the_model() -> None:
    """Each pair that the model has, and 1 for others."""
    model = models.model(kernels.LEXICON, seed=5)
    rows = np.arange(model.size + 2, dtype=np.int32)
    square = np.zeros((len(rows), len(rows)), np.int8)
    square[model.contexts, np.asarray(model.following)] = np.asarray(model.gains)
    found = WholeGains(model).lookup(rows[:, None], rows[None, :])
    np.testing.assert_array_equal(found, square)
    table = Gains(model)
    slots = table.slot_of[rows]
    np.testing.assert_array_equal(found, table.lookup(slots[:, None], slots[None, :]))
    assert (decode_gains(found) != 1.0).any()


@kernels.needs_kernel
@given(kernels.released())
def test_the_kernel_gives_the_bytes_of_numpy(batch: Released) -> None:
    """Of any batch."""
    whole = Reader(kernels.channel(BudgetKind.WORD), kernels.MODEL)
    rows, likely = whole.posterior(batch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "library", None)
        plain = whole.posterior(batch)
    np.testing.assert_array_equal(rows, plain[0])
    np.testing.assert_array_equal(likely, plain[1])
