"""How released words appear in a text: spaces, capitals, placeholders.

Text around drawn words is written as by the joiner (dptext.writing.joining): a capital
letter at the beginning of a text and of a sentence, a space between words except before
clitics. A release does not show whether there is a space between a mark and a drawn
word after it; an opening mark has no space after it. A placeholder word stands for a
masked one; a dropped word has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dptext.tokens import kinds, numbers
from dptext.tokens.regex import is_clitic
from dptext.types import NUMBER, Lexicon, Released

# Stand-ins for a number without a form, and for a masked word.
ANY_NUMBER, ANY_WORD = "10", "Smith"
_MARKS = kinds.MARKS
_OPENING = frozenset("([{<#$£€@¿¡“‘«„")
# Quotes open something if a space stands before them.
_QUOTES = frozenset("\"'`")
# Marks that join two words if no space stands before them.
_JOINING = frozenset("-–—/\\_*")


class ReleasedPiece(NamedTuple):
    """A piece of a released text: a drawn word, or known text."""

    #: Number of the drawn word in its batch, -1 for known text.
    drawn: int
    #: Known text as written, "" for a drawn word.
    text: str = ""
    #: Whether the text was released; otherwise it stands for a masked word.
    is_released: bool = True
    #: Whether a drawn word is written here with a space before it.
    spaced: bool = False
    #: Whether a drawn word is written here with a capital letter.
    capital: bool = False

    def written(self, word: str) -> str:
        """Format a word as it would appear in place of the drawn one."""
        shown = word[:1].upper() + word[1:] if self.capital else word
        return " " + shown if self.spaced and not is_clitic(word) else shown


def texts_in_pieces(released: Released) -> Iterator[list[ReleasedPiece]]:
    """Yield the pieces of each text in a batch, skipping texts without drawn words."""
    bounds = np.searchsorted(released.texts, np.arange(len(released.ends) + 1))
    begin = 0
    for row, end in enumerate(released.ends.tolist()):
        index = range(int(bounds[row]), int(bounds[row + 1]))
        if len(index):
            yield _pieces(released, range(begin, end), index)
        begin = end


def _pieces(released: Released, positions: range, index: range) -> list[ReleasedPiece]:
    drawn_at = dict(zip(released.positions[list(index)].tolist(), index, strict=True))
    pieces = []
    # Whether a word that stands here gets a space and a capital letter.
    spaced, capital = False, True
    for position in positions:
        piece, flags = released.pieces[position], int(released.flags[position])
        kind = flags & kinds.KIND
        if position in drawn_at:
            pieces.append(
                ReleasedPiece(drawn_at[position], spaced=spaced, capital=capital)
            )
        elif kind in _MARKS:
            pieces.append(ReleasedPiece(-1, piece))
            spaced = _spaced_after(piece, spaced)
            capital = capital or bool(flags & kinds.ENDER)
            continue
        elif piece or kind != kinds.STOP_WORD:
            shown = piece or (ANY_NUMBER if kind == kinds.NUMBER else ANY_WORD)
            space = " " if spaced and not is_clitic(shown) else ""
            pieces.append(ReleasedPiece(-1, space + shown, is_released=bool(piece)))
        else:
            continue
        spaced, capital = True, False
    return pieces


def _spaced_after(mark: str, spaced: bool) -> bool:
    """Return whether a mark is followed by a space; `spaced`: one precedes it."""
    body = mark.strip(" ")
    tight = _OPENING | (_QUOTES if mark != body or not spaced else _JOINING)
    return bool(body.strip()) and body not in tight


def shown_words(lexicon: Lexicon) -> list[str]:
    """Return the words of a lexicon as displayed in texts."""
    shown = (numbers.example(word) for word in lexicon.words)
    return [ANY_NUMBER if word == NUMBER else word for word in shown]
