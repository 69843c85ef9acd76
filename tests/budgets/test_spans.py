"""Where words stand, and what other splitters say about them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext.budgets import scores
from dptext.tokens.symbols import visible
from tests.budgets import texts


@given(st.lists(st.text(max_size=40), max_size=4))
def test_spans_and_bodies_agree(given_texts: list[str]) -> None:
    """The text from begin to end is the word as written, without its space."""
    batch = texts.words(*given_texts)
    whole = "".join(batch.pieces)
    assert whole == "".join(map(visible, given_texts))
    cut = [whole[a:b] for a, b in zip(*scores.spans(batch), strict=True)]
    assert cut == scores.bodies(batch)


@given(
    st.lists(st.text(alphabet="ab .!\n", max_size=60), max_size=4), st.integers(1, 5)
)
def test_sentences_and_chunks_are_the_texts(given_texts: list[str], most: int) -> None:
    """Nothing is lost, offsets are right, no part reaches into another text."""
    batch = texts.words(*given_texts)
    whole = "".join(given_texts)
    borders = set(np.cumsum([len(text) for text in given_texts]).tolist())
    for parts in (list(scores.sentences(batch)), list(scores.chunks(batch, most))):
        assert "".join(part for _, part in parts) == whole
        for offset, part in parts:
            assert whole[offset : offset + len(part)] == part
            assert not {offset + inner for inner in range(1, len(part))} & borders


@pytest.mark.parametrize("most", [2, 3, 7])
def test_windows_hold_equally_many_words(most: int) -> None:
    """All words in order, at most so many each; parts of a text differ by one."""
    batch = texts.words(*texts.ODD, "one two three four five six seven eight")
    parts = list(scores.windows(batch, most))
    covered = [word for _, _, low, high in parts for word in range(low, high)]
    assert covered == list(range(len(batch.ids)))
    for begin, end, low, high in parts:
        assert 0 < high - low <= most
        assert len(set(batch.texts[low:high].tolist())) == 1
        assert (batch.positions[low:high] >= begin).all()
        assert (batch.positions[low:high] < end).all()
    sizes = [high - low for _, _, low, high in parts][-(7 // most + 1) :]
    assert max(sizes) - min(sizes) <= 1


def test_a_word_takes_the_greatest_of_what_it_touches() -> None:
    """Divided words: the greatest part; undivided ones: each part the whole's."""
    batch = texts.words("don't well ran", "x")
    begins, ends = scores.spans(batch)
    assert scores.bodies(batch)[-3:] == ["well", "ran", "x"]
    #            do      n't     " well ran"      nothing at x
    tokens = ((0, 2, 3.0), (2, 5, 7.0), (6, 14, 5.0))
    weights = scores.greatest_values(batch, tokens, 1.0)
    assert weights[-3:].tolist() == [5.0, 5.0, 1.0]
    expected = [
        max([v for a, b, v in tokens if a < e and b > s]) if s < 14 else 1.0
        for s, e in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
    assert weights.tolist() == expected
    assert scores.greatest_values(batch, [], 2.0).tolist() == [2.0] * len(weights)


def test_every_token_counts_kept_words() -> None:
    """Stop words and numbers that are kept share too; marks and spaces do not."""
    batch = texts.words("He paid 20 dollars, twice.", policy=texts.KEEP)
    index = {word.lower(): row for row, word in enumerate(texts.english().words)}
    wide, replaced = scores.every_token(batch, index)
    assert scores.bodies(wide) == ["He", "paid", "20", "dollars", "twice"]
    np.testing.assert_array_equal(wide.positions[replaced], batch.positions)
    np.testing.assert_array_equal(wide.ids[replaced], batch.ids)
    assert texts.english().words[wide.ids[0]] == "he"
