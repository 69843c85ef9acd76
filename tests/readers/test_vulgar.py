from __future__ import annotations

import numpy as np
import pytest

from dptext import open_pipeline
from dptext.lexicons import vulgar
from dptext.readers.pairs import PairReader
from dptext.tokens.policy import Policy
from tests.readers import models
from tests.readers.test_posterior import ENGLISH, SIZE, channel_of, release


def test_what_is_vulgar_may_be_guessed_and_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The posterior is the same; of candidates only the others may be written."""
    channel, model = channel_of(Policy()), models.model(ENGLISH)
    batch = release(Policy(), ["cat dog, the runs. of cat"])
    before = PairReader(channel, model, SIZE + 1)
    monkeypatch.setattr(vulgar, "WORDS", frozenset(["cat"]))
    after = PairReader(channel, model, SIZE + 1)
    rows, likely = before.posterior(batch)
    for left, right in zip((rows, likely), after.posterior(batch), strict=True):
        np.testing.assert_array_equal(left, right)
    cat = rows == ENGLISH.words.index("cat")
    assert before.writable(batch)[cat].any()
    assert not after.writable(batch)[cat].any()
    other = ~cat
    np.testing.assert_array_equal(
        before.writable(batch)[other], after.writable(batch)[other]
    )


def test_the_default_profile_writes_next_to_none() -> None:
    """Of all outputs but one or two the built-in lexicon has another candidate."""
    ready = open_pipeline("balanced")
    drawn = np.arange(8000, dtype=np.int32)
    words = ready.tokenizer.words(["word. " * len(drawn)])
    written = ready.decode(words, drawn, np.full(len(drawn), 9.5))
    bad = vulgar.rows(ready.lexicon)
    assert bad[drawn].sum() > 20
    assert bad[written].sum() <= 2
