"""Whole texts as words: each text is one word, replaced by one topic.

Nothing of a text is copied, not even marks, word count or length. An empty text gets
a topic like any other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

import numpy as np

from dptext.randomness import RandomBits
from dptext.tokens import kinds
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Ids, Ints, Lexicon, Words
from dptext.writing.joining import Joined, Joiner

# Separates the topics of a set.
SEPARATOR = "; "
# Finds the row of a topic for each text: (n,) int32, -1 without one.
Find = Callable[[Sequence[str]], Ids]


class WholeTexts(Tokenizer):
    """Treats each text as one word, with the row of its nearest topic."""

    def __init__(self, find: Find, inner: Tokenizer | None = None) -> None:
        """Take a topic-finding function, and the tokenizer it uses, if any."""
        self._find = find
        self.inner = inner

    def lookup(self, key: str) -> int:
        """Return -1: no string is a topic."""
        return -1

    def words(
        self,
        texts: Sequence[str],
        records: Ints | None = None,
        declared: Sequence[str | None] | None = None,
    ) -> Words:
        """Return a batch of texts with one word each, in any language."""
        every = np.arange(len(texts), dtype=np.int64)
        return Words(
            pieces=list(texts),
            flags=np.full(len(texts), kinds.WORD, np.uint8),
            ends=every + 1,
            positions=every,
            texts=every,
            ids=self._topics(texts),
        )

    def _topics(self, texts: Sequence[str]) -> Ids:
        """Return the rows of topics, -1 for texts on which the view fails.

        A failure depends on the text, so it must stay hidden: nothing is raised or
        printed, and the other texts of the batch keep their topics.
        """
        with contextlib.suppress(Exception):
            rows = self._find(texts)
            if len(rows) == len(texts):
                return rows
        if len(texts) < 2:
            return np.full(len(texts), -1, np.int32)
        return np.concatenate([self._topics([text]) for text in texts])


class TopicJoiner(Joiner):
    """Writes the topic of each text."""

    def __init__(self, lexicon: Lexicon, ids: bool, words: bool) -> None:
        """Write the topic's number in its set, its words, or both."""
        shown = []
        for row, phrase in enumerate(lexicon.words):
            number = f"topic {row + 1}" if ids else ""
            shown.append(": ".join(filter(None, (number, phrase if words else ""))))
        #: The written form of each topic.
        self.phrases = tuple(shown)
        self._spelled = np.array(shown, object)

    def join(self, words: Words, drawn: Ids, bits: RandomBits) -> Joined:
        """Return the topic of each text, drawn (n,), or its set of topics, (n, k)."""
        spelled = self._spelled[drawn]
        if drawn.ndim == 1:
            return Joined(spelled.tolist(), drawn, spelled)
        texts = [SEPARATOR.join(row) for row in spelled.tolist()]
        # Counts of words are not made of sets, so the first topic is enough here.
        return Joined(texts, drawn[:, 0], np.array(texts, object))

    def redraw(
        self,
        words: Words,
        bits: RandomBits,
        positions: Ints,
        records: Ints | None = None,
    ) -> None:
        """Do nothing: topics have no digits to draw."""

    def candidates(self, words: Words, position: int) -> Sequence[str]:
        """Return no words: a topic has no class."""
        return ()

    def positions_to_redraw(self, words: Words) -> Ints:
        """Return no positions."""
        return np.empty(0, np.int64)
