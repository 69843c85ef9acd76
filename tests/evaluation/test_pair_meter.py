"""PP, LOW, CS and English share against cases counted by hand."""

from __future__ import annotations

import pytest

from dptext.evaluation.run import PairMeter
from dptext.tokens.policy import Form, Policy
from dptext.types import Lexicon
from tests import small

LEXICON = small.english("the", "cat", "dog", "runs", "well", "don't")


def test_counted_by_hand() -> None:
    """Of four words in texts with equal counts one changes; capitals do not matter."""
    meter = PairMeter(LEXICON)
    meter.add(["cat dog, runs", "cat zq", "cat"], ["cat well, RUNS", "zq", "Cat"])
    kept = meter.result()
    assert (kept.texts, kept.compared, kept.words) == (3, 2, 4)
    assert kept.pp == pytest.approx(1 / 4)
    # Distinct vocabulary words before: cat, dog, runs; of these cat and runs occur.
    assert kept.low == pytest.approx(2 / 3)
    assert kept.known_before == pytest.approx(5 / 6)
    assert kept.known == pytest.approx(4 / 5)


def test_numbers_and_unknown_words_are_told_apart_by_their_letters() -> None:
    """No such word has its own row, so that rows alone would call them the same."""
    meter = PairMeter(LEXICON)
    meter.add(["41 zq 7 qz"], ["42 zq 7 zq"])
    assert meter.result().pp == pytest.approx(2 / 4)


def test_words_that_the_run_copies_or_leaves_out_are_not_counted() -> None:
    """PP speaks of the words that the policy replaces."""
    before, kept, dropped = ["the cat runs 7"], ["the dog runs 7"], ["dog runs 7"]
    copied = PairMeter(LEXICON, policy=Policy(stop_word="keep", number="keep"))
    copied.add(before, kept)
    assert (copied.result().words, copied.result().pp) == (2, 0.5)
    left = PairMeter(LEXICON, policy=Policy(stop_word="drop"))
    left.add(before, dropped)
    assert (left.result().compared, left.result().words) == (1, 3)
    assert left.result().pp == pytest.approx(1 / 3)


def test_equal_texts_keep_everything() -> None:
    """Cosine 1, nothing perturbed; in one batch or several."""
    texts = ["the cat", "dog runs zq", "!"]
    meter = PairMeter(LEXICON)
    for text in texts:
        meter.add([text], [text])
    kept = meter.result()
    assert (kept.pp, kept.low) == (0.0, 1.0)
    assert kept.mean_cosine == pytest.approx(1.0)
    whole = PairMeter(LEXICON)
    whole.add(texts, texts)
    assert whole.result() == kept


def test_nothing_is_no_figure() -> None:
    """Without words the shares are null."""
    meter = PairMeter(LEXICON)
    meter.add(["", "?"], ["", "?"])
    kept = meter.result()
    assert (kept.pp, kept.low, kept.mean_cosine, kept.known) == (None,) * 4


def test_numbers_that_look_like_a_form_are_numbers(builtin: Lexicon) -> None:
    """A drawn 17:54 is the element of its shape, as the run knows, and no time."""
    policy = Policy(forms=(Form.TIME, Form.PHONE))
    meter = PairMeter(builtin, policy=policy)
    aligned = meter.add(["room 12 is clean"], ["room 17:54 is clean"])
    assert len(aligned.rows_after) == 4
    assert (aligned.ids[1] >= 0).all()
