"""Headings: lines and sentences in which most words are capitalised.

The capitals are shown. A line with a user name or hashtag is not a heading: posts
contain titles of songs and films.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dptext.tokens import common, kinds
from dptext.tokens.forms import FormLayout
from dptext.tokens.policy import Form
from dptext.types import Ints, Mask, Words

# A line is a heading if so many words, and this share of them, have a capital.
_HEADING, _SHARE = 4, 0.85
# Fewest adjacent words in capitals that are shouted.
_SHOUTED = 4
_POSTED = (Form.HANDLE, Form.HASHTAG)


def settle(
    pieces: Sequence[str],
    codes: Ints,
    ends: Ints,
    *,
    counted: Mask,
    formed: Mapping[int, FormLayout],
    is_verb: Callable[[str], bool],
) -> Mask:
    """Make words in headings common, in place; return which pieces are in one: (p,).

    Most words of such a line or sentence have a capital. Kinds that are counted (16,)
    count, but little words; a name of several words is one by then. formed: the forms
    by position. A verb behind "The" and before no word is a name: "The Kill".
    """
    words = counted[codes & kinds.KIND] & (codes & common.FUNCTION == 0)
    capital = words & (codes & kinds.TITLE != 0)
    sums = np.zeros((2, len(codes) + 1), np.int64)
    np.cumsum((words, capital), axis=1, out=sums[:, 1:])
    is_last = codes & kinds.ENDER != 0
    is_last[ends[ends > 0] - 1] = True  # empty texts have no last piece
    stops = np.flatnonzero(is_last)
    count, high = np.diff(sums[:, np.concatenate(([0], stops + 1))])
    is_heading = (count >= _HEADING) & (high >= _SHARE * count)
    posted = [at for at, layout in formed.items() if layout.form in _POSTED]
    is_heading[np.searchsorted(stops, posted)] = False
    sizes = np.diff(stops, prepend=-1)
    heading: Mask = np.repeat(is_heading, sizes)
    hidden = (codes & common.HEADED != 0) & (codes & kinds.KIND != kinds.COMMON)
    behind = np.append(codes[1:] & kinds.LEAD != 0, False)
    for at in np.flatnonzero(hidden & heading & ~behind).tolist():
        if at and pieces[at - 1] == " The" and is_verb(pieces[at].strip(" ")):
            hidden[at] = False
    headed = np.flatnonzero(hidden & heading)
    codes[headed] = codes[headed] & ~(kinds.KIND | common.NAMED) | kinds.COMMON
    return heading


def shouted(words: Words) -> Mask:
    """Return which pieces (p,) are among several words in capitals: not "US GDP"."""
    lettered = np.flatnonzero(kinds.LETTERED[words.flags & kinds.KIND])
    upper = words.flags[lettered] & kinds.UPPER != 0
    text = np.searchsorted(words.ends, lettered, "right")
    run = np.cumsum(~upper | np.append(True, text[1:] != text[:-1]))
    out = np.zeros(len(words.pieces), bool)
    out[lettered] = upper & (np.bincount(run, upper)[run] >= _SHOUTED)
    return out
