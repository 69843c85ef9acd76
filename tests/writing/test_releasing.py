from __future__ import annotations

import numpy as np
import pytest

from dptext.tokens import kinds
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Released, Words
from dptext.writing import joining
from tests.tokens.texts import ENGLISH, ITEMS, POLICIES, mixed, seen_in


def read(texts: list[str], policy: Policy) -> Words:
    """Divide texts."""
    return Tokenizer(ENGLISH, policy).words(texts)


def released(words: Words, policy: Policy) -> Released:
    """Release texts, the n-th word of each drawn as the same word."""
    starts = np.searchsorted(words.texts, words.texts, side="left")
    drawn = ((np.arange(len(starts)) - starts) % 10).astype(np.int32)
    return joining.release(policy, words, drawn, np.ones(len(drawn)))


def join_text(batch: Released, row: int) -> object:
    """Return all that a decoder sees of one text of a batch."""
    end = int(batch.ends[row])
    begin = int(batch.ends[row - 1]) if row else 0
    mine = batch.texts == row
    return (
        batch.pieces[begin:end],
        batch.flags[begin:end].tolist(),
        (batch.positions[mine] - begin).tolist(),
        batch.drawn[mine].tolist(),
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_compared_texts_are_released_alike(policy: Policy) -> None:
    """A decoder sees the same of two texts that a statement compares."""
    texts = mixed(ITEMS)[::2]
    if policy.number == "digits":
        texts = [text for text in texts if not any(c.isdecimal() for c in text)]
    words = read(texts, policy)
    batch = released(words, policy)
    first: dict[object, tuple[str, object]] = {}
    for row, view in enumerate(seen_in(words, policy)):
        mine = join_text(batch, row)
        text, shown = first.setdefault(view, (texts[row], mine))
        assert mine == shown, (text, texts[row])
    assert len(texts) - len(first) > 50


def test_kept_pieces_stand_among_the_drawn() -> None:
    """Marks and copied words are there, bodies of masked words and capitals are not."""
    policy = Policy(stop_word="keep", unknown="mask", number="keep")
    batch = released(read(["The dog, zq 42!\nDOG"], policy), policy)
    assert batch.pieces == ["The", "", ",", "", "42", "!", "\n", ""]
    kind = (batch.flags & kinds.KIND).tolist()
    shown = [kinds.STOP_WORD, kinds.WORD, kinds.PUNCTUATION, kinds.UNKNOWN]
    shown += [kinds.NUMBER, kinds.PUNCTUATION, kinds.SPACE, kinds.WORD]
    assert kind == shown
    ends = np.flatnonzero(batch.flags & kinds.ENDER).tolist()
    assert ends == [5, 6]
    assert batch.positions.tolist() == [1, 7]


def test_dropped_marks_are_not_released() -> None:
    """Where marks are dropped, nothing tells where one stood."""
    policy = Policy(punctuation="drop")
    batch = released(read(["dog, dog. dog", "dog"], policy), policy)
    assert batch.pieces == ["", "", "", ""]
    assert batch.ends.tolist() == [3, 4]
    assert batch.positions.tolist() == [0, 1, 2, 3]
    assert not (batch.flags & kinds.ENDER).any()
