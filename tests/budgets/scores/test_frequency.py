"""Surprisal under public counts."""

from __future__ import annotations

import numpy as np

from dptext.budgets.scores import frequency
from tests import small
from tests.budgets import texts


def test_surprisal_is_that_of_the_counts() -> None:
    """-ln of the share; an unknown word is as rare as the rarest."""
    lexicon = small.lexicon(np.eye(3), counts=[6, 3, 1])
    score = frequency.Params().prepare(lexicon)
    np.testing.assert_allclose(score.by_row, -np.log([0.6, 0.3, 0.1, 0.1]))


def test_rare_words_score_more() -> None:
    """Names above nouns above function words."""
    batch = texts.words(texts.THESIS)
    by = texts.by_word(texts.scored(frequency, {}, batch), batch)
    assert by["Stanford"] > by["engineer"] > by["works"] > by["his"] > by["to"]
    assert by["a"] > 0


def test_scores_follow_from_the_text_alone() -> None:
    """Odd texts too."""
    texts.assert_alone(frequency, {}, *texts.ODD)
