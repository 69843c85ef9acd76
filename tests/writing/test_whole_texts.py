"""Whole texts as words: whatever a text is, it is one word, and a failure is silent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dptext.types import Ids
from dptext.writing.whole_texts import SEPARATOR, TopicJoiner, WholeTexts
from tests import distributions, small

HOSTILE = ["", "  ", "rain", "\x00", "a" * 100_000, "Привет 你好 🙂", "\ud800", "; "]


def counted(texts: Sequence[str]) -> Ids:
    """Find a topic by the length of a text."""
    return np.array([len(text) % 4 for text in texts], np.int32)


def test_each_text_is_one_word() -> None:
    """Empty, long, foreign and broken ones: one word with its row, nothing else."""
    words = WholeTexts(counted).words(HOSTILE)
    assert words.pieces == HOSTILE
    np.testing.assert_array_equal(words.ends, np.arange(len(HOSTILE)) + 1)
    np.testing.assert_array_equal(words.texts, np.arange(len(HOSTILE)))
    np.testing.assert_array_equal(words.ids, counted(HOSTILE))
    assert len(WholeTexts(counted).words([]).ids) == 0
    assert WholeTexts(counted).lookup("rain") == -1


@pytest.mark.parametrize("kind", [ValueError, RecursionError, MemoryError, KeyError])
def test_a_text_that_a_view_fails_on_has_no_topic(
    kind: type[Exception], capfd: pytest.CaptureFixture[str]
) -> None:
    """Alone: the others of the batch keep theirs, and nothing is said."""

    def fails(texts: Sequence[str]) -> Ids:
        if "rain" in texts:
            raise kind("rain")
        return counted(texts)

    ids = WholeTexts(fails).words(HOSTILE).ids
    wanted = counted(HOSTILE)
    wanted[HOSTILE.index("rain")] = -1
    np.testing.assert_array_equal(ids, wanted)
    assert capfd.readouterr() == ("", "")


def test_rows_of_another_number_are_no_topics() -> None:
    """A view that gives too few or too many rows has failed."""
    too_many = WholeTexts(lambda texts: np.zeros(len(texts) + 1, np.int32))
    np.testing.assert_array_equal(too_many.words(HOSTILE).ids, -1)


def test_topics_are_written_alone_or_as_a_set() -> None:
    """By words, numbers or both; a set in its order, divided by its mark."""
    lexicon = small.cloud(4, 2)
    words, bits = WholeTexts(counted).words(["a", "b"]), distributions.bits(2)
    one = np.array([2, 0], np.int32)
    phrases = lexicon.words
    by_words = TopicJoiner(lexicon, ids=False, words=True)
    assert by_words.join(words, one, bits).texts == [phrases[2], phrases[0]]
    by_number = TopicJoiner(lexicon, ids=True, words=False)
    assert by_number.join(words, one, bits).texts == ["topic 3", "topic 1"]
    both = TopicJoiner(lexicon, ids=True, words=True)
    assert both.join(words, one, bits).texts[0] == f"topic 3: {phrases[2]}"
    sets = np.array([[0, 2], [1, 3]], np.int32)
    joined = by_number.join(words, sets, bits)
    assert joined.texts == [f"topic 1{SEPARATOR}topic 3", f"topic 2{SEPARATOR}topic 4"]
    assert not len(both.positions_to_redraw(words))
