"""How released words stand in a text: spaces, capital letters, stand-ins.

What stands around drawn words is written as the joiner writes it: a capital letter
where a text begins or a sentence has ended, a space between words but before clitics.
Whether a space stands between a mark and a drawn word after it is not released; a mark
that opens something has none. A word that is masked is some word, one that is left out
is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dptext.tokens import kinds, numbers
from dptext.tokens.regex import is_clitic
from dptext.types import NUMBER, Lexicon, Released

# What stands for a number of no form, and for a word that is masked.
ANY_NUMBER, ANY_WORD = "10", "Smith"
_MARKS = kinds.MARKS
_OPENING = frozenset("([{<#$£€@¿¡“‘«„")
# These open something after a space, those join two words without one.
_QUOTES, _JOINING = frozenset("\"'`"), frozenset("-–—/\\_*")


class Piece(NamedTuple):
    """A piece of a text: a drawn word, number drawn of its batch, or what is known.

    text, what is known as it is written, "" of a drawn word (drawn -1: none); shown,
    whether that is released, or only stands for a word that is masked; spaced, capital:
    how a drawn word is written here.
    """

    drawn: int
    text: str = ""
    shown: bool = True
    spaced: bool = False
    capital: bool = False

    def written(self, word: str) -> str:
        """Write a word in the place of the drawn one."""
        shown = word[:1].upper() + word[1:] if self.capital else word
        return " " + shown if self.spaced and not is_clitic(word) else shown


def texts_of(released: Released) -> Iterator[list[Piece]]:
    """Yield the texts of a batch that have drawn words."""
    bounds = np.searchsorted(released.texts, np.arange(len(released.ends) + 1))
    begin = 0
    for row, end in enumerate(released.ends.tolist()):
        index = range(int(bounds[row]), int(bounds[row + 1]))
        if len(index):
            yield _text(released, range(begin, end), index)
        begin = end


def _text(released: Released, positions: range, index: range) -> list[Piece]:
    drawn_at = dict(zip(released.positions[list(index)].tolist(), index, strict=True))
    pieces = []
    # Whether a word that stands here gets a space and a capital letter.
    spaced, capital = False, True
    for position in positions:
        piece, flags = released.pieces[position], int(released.flags[position])
        kind = flags & kinds.KIND
        if position in drawn_at:
            pieces.append(Piece(drawn_at[position], spaced=spaced, capital=capital))
        elif kind in _MARKS:
            pieces.append(Piece(-1, piece))
            spaced = _spaced_after(piece, spaced)
            capital = capital or bool(flags & kinds.ENDER)
            continue
        elif piece or kind != kinds.STOP_WORD:
            shown = piece or (ANY_NUMBER if kind == kinds.NUMBER else ANY_WORD)
            space = " " if spaced and not is_clitic(shown) else ""
            pieces.append(Piece(-1, space + shown, shown=bool(piece)))
        else:
            continue
        spaced, capital = True, False
    return pieces


def _spaced_after(mark: str, spaced: bool) -> bool:
    """Tell whether a word gets a space after a mark or space; spaced: before it."""
    body = mark.strip(" ")
    tight = _OPENING | (_QUOTES if mark != body or not spaced else _JOINING)
    return bool(body.strip()) and body not in tight


def shown_words(lexicon: Lexicon) -> list[str]:
    """Return the words of a lexicon as a text shows them: an element as a number."""
    shown = (numbers.example(word) for word in lexicon.words)
    return [ANY_NUMBER if word == NUMBER else word for word in shown]
