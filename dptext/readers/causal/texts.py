"""Released texts as a language model reads them: candidates between known pieces.

What stands around drawn words is written as the joiner writes it: a capital letter
where a text begins or a sentence has ended, a space between words but before clitics.
Whether a space stands between a mark and a drawn word after it is not released; a mark
that opens something has none. A word that is masked is some word, one that is left out
is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dptext.readers.causal.spelling import ANY_NUMBER, ANY_WORD, Speller, Tokens
from dptext.tokens import kinds
from dptext.types import Released

_MARKS = (kinds.PUNCTUATION, kinds.SPACE)
_OPENING = frozenset("([{<#$£€@¿¡“‘«„")
# These open something after a space, those join two words without one.
_QUOTES, _JOINING = frozenset("\"'`"), frozenset("-–—/\\_*")


@dataclass(frozen=True, slots=True)
class Known:
    """Tokens that stand in a text; whether their ln p counts."""

    tokens: Tokens
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Drawn:
    """A drawn word, number index of its batch, and what is known after it.

    spaced, capital: how a word is written here.
    """

    index: int
    spaced: bool
    capital: bool
    after: list[Known]


@dataclass(frozen=True, slots=True)
class Text:
    """What stands before the first drawn word of a text, and its drawn words."""

    before: list[Known]
    drawn: list[Drawn]


def texts_of(released: Released, speller: Speller) -> Iterator[Text]:
    """Yield the texts of a batch that have drawn words."""
    bounds = np.searchsorted(released.texts, np.arange(len(released.ends) + 1))
    begin = 0
    for row, end in enumerate(released.ends.tolist()):
        index = range(int(bounds[row]), int(bounds[row + 1]))
        if len(index):
            yield _text(released, speller, range(begin, end), index)
        begin = end


def _text(released: Released, speller: Speller, pieces: range, index: range) -> Text:
    drawn_at = dict(zip(released.positions[list(index)].tolist(), index, strict=True))
    text = Text([], [])
    known, state = text.before, _State()
    for position in pieces:
        piece, kind = released.pieces[position], int(released.flags[position])
        if position in drawn_at:
            spaced, capital = state.word()
            drawn = Drawn(drawn_at[position], spaced, capital, [])
            text.drawn.append(drawn)
            known = drawn.after
        elif kind & kinds.KIND in _MARKS:
            state.mark(piece, bool(kind & kinds.ENDER))
            known.append(Known(speller.of(piece)))
        elif piece or kind & kinds.KIND != kinds.STOP_WORD:
            spaced, _ = state.word()
            number = kind & kinds.KIND == kinds.NUMBER
            shown = piece or (ANY_NUMBER if number else ANY_WORD)
            space = " " if spaced and not is_clitic(shown) else ""
            known.append(Known(speller.of(space + shown), bool(piece)))
    return text


class _State:
    """What has been passed: whether a word now gets a space and a capital letter."""

    def __init__(self) -> None:
        self._spaced, self._capital = False, True

    def word(self) -> tuple[bool, bool]:
        """Pass a word; return whether it gets a space and a capital letter."""
        now = (self._spaced, self._capital)
        self._spaced, self._capital = True, False
        return now

    def mark(self, piece: str, ends: bool) -> None:
        """Pass a mark or a space that is none of a single one before a word."""
        body = piece.strip(" ")
        spaced_off = piece != body or not self._spaced
        tight = body in _OPENING or body in (_QUOTES if spaced_off else _JOINING)
        self._spaced = bool(body.strip()) and not tight
        self._capital = self._capital or ends


def is_clitic(word: str) -> bool:
    """Tell whether a word is written without a space after another one."""
    return word[:1] in ("'", "’") or word.lower() in ("n't", "n’t")
