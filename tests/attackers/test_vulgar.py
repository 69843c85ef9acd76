from __future__ import annotations

import numpy as np
import pytest

from dptext import open_pipeline
from dptext.attackers.pairs import PairAttacker
from dptext.lexicons import word_classes
from dptext.tokens import language_data
from dptext.tokens.policy import Policy
from dptext.types import Lexicon
from tests.attackers import models
from tests.attackers.releases import ENGLISH, SIZE, make_channel, release


def test_what_is_vulgar_may_be_guessed_and_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The posterior is the same; of candidates only the others may be written."""
    channel, model = make_channel(Policy()), models.model(ENGLISH)
    batch = release(Policy(), ["cat dog, the runs. of cat"])
    before = PairAttacker(channel, model, count=SIZE + 1)
    assert before.weighed(batch).writable.any()
    monkeypatch.setattr(
        language_data, "vulgar_words", lambda language: frozenset(["cat"])
    )
    after = PairAttacker(make_channel(Policy()), model, count=SIZE + 1)
    rows, likely = before.posterior(batch)
    for left, right in zip((rows, likely), after.posterior(batch), strict=True):
        np.testing.assert_array_equal(left, right)
    cat = rows == ENGLISH.words.index("cat")
    assert before.weighed(batch).writable[cat].any()
    assert not after.weighed(batch).writable[cat].any()
    other = ~cat
    np.testing.assert_array_equal(
        before.weighed(batch).writable[other], after.weighed(batch).writable[other]
    )


def test_the_built_in_lexicon_draws_none(builtin: Lexicon) -> None:
    """It knows vulgar words, and none is among the words that are written."""
    bad = np.flatnonzero(word_classes.vulgar_rows(builtin))
    assert len(bad) > 20
    assert bad.min() >= int(builtin.meta["outputs"])


def test_a_closed_class_is_written_where_it_was_drawn(builtin: Lexicon) -> None:
    """Of a drawn name only itself may be written, and no name of another draw."""
    channel = open_pipeline("balanced").channel
    table = channel.candidates(channel.budget.high, 32)
    closed = np.append(word_classes.written_as_drawn(builtin), False)
    itself = table.rows == np.arange(len(table.rows))[:, None]
    written = closed[table.rows] & table.writable
    assert not (written & ~itself).any()
    drawn = np.flatnonzero(closed[: len(table.rows)])
    assert not (table.writable[drawn] & ~itself[drawn]).any()
