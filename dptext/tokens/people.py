"""The names that are written for persons where equal names of a record stay equal.

A name is replaced piece by piece, "Patricia" and "Ivanova" each by one of their own.
Whether a piece becomes a given or a family name follows from its places in the record:
first in a run of names it is given, last in one or behind a copied title family, alone
given. Given names are those of women or of men where copied pronouns, titles or words
such as "son" beside any of its places are of one gender, and those of both where they
are of none or of two.

All of this is shown: places of names, which are equal, copied words, and capitals. No
list is asked about the hidden names.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from dptext.tokens import kinds, language_data
from dptext.types import Words

# Copied words that tell a gender. A title counts right before a name alone.
_MEN, _WOMEN = 1, 2
_GENDERS = {
    **dict.fromkeys(
        "he him his himself man boy gentleman husband father dad son brother uncle "
        "nephew grandfather grandson boyfriend".split(),
        _MEN,
    ),
    **dict.fromkeys(
        "she her hers herself woman girl lady wife mother mum mom daughter sister aunt "
        "niece grandmother granddaughter girlfriend".split(),
        _WOMEN,
    ),
}
_TITLES = {
    **dict.fromkeys(("mr", "sir"), _MEN),
    **dict.fromkeys(("mrs", "ms", "miss", "madam"), _WOMEN),
}
_SPELLED = {
    f"{space}{spelled}": gender
    for word, gender in _GENDERS.items()
    for spelled in (word, word.capitalize(), word.upper())
    for space in ("", " ")
}
# Pieces on both sides of a name among which a pronoun is beside it.
_BESIDE = 24
_BOTH = "both"
# Kinds of replaced words: which of these one is, is hidden.
_REPLACED = (kinds.WORD, kinds.UNKNOWN, kinds.IDENTIFIER, kinds.STOP_WORD)


@cache
def lists() -> dict[str, tuple[str, ...]]:
    """Return the names that are written: of both, men, women, and families."""
    return {
        name: tuple(words) for name, words in language_data.sections("surrogate_names")
    }


class Person:
    """A piece of a name in a record, at all of its places."""

    __slots__ = ("family", "gender", "is_marked")

    def __init__(self) -> None:
        self.is_marked = self.family = False
        self.gender = 0

    @property
    def names(self) -> Sequence[str]:
        """Return the names one of which is written for it."""
        if self.family:
            return lists()["families"]
        return lists()[{_MEN: "men", _WOMEN: "women"}.get(self.gender, _BOTH)]


def find(
    words: Words,
    positions: Sequence[int],
    keys: Sequence[tuple[int, str]],
    is_titled: Callable[[int], bool],
    *,
    capitals: bool,
) -> dict[tuple[int, str], Person]:
    """Return the persons of a batch by record and key, by where their pieces stand.

    The positions are in order. capitals: whether those of replaced words are shown.
    """
    people: dict[tuple[int, str], Person] = {}
    keyed = dict(zip(positions, keys, strict=True))
    genders = _gendered(words)
    runs = _runs(words, positions, capitals=capitals)
    for run in runs:
        last = len(run) - 1
        first = run[0][0]
        gender = _gender_beside(words, genders, first, run[-1][-1])
        titled = is_titled(first)
        if titled:
            gender |= _gender_of_title(words, first)
        for number, element in enumerate(run):
            for position in element:
                person = people.setdefault(keyed[position], Person())
                person.gender |= gender
                if (last or titled) and not person.is_marked:
                    person.is_marked = True
                    person.family = number == last
    for run in runs:
        # What is said of a family's name is said of the given name before it.
        family = people[keyed[run[-1][0]]]
        for position in (position for element in run[:-1] for position in element):
            people[keyed[position]].gender |= family.gender
    return people


def _runs(
    words: Words, positions: Sequence[int], *, capitals: bool
) -> list[list[list[int]]]:
    """Return runs of adjacent names; names with hyphens between are one element."""
    runs: list[list[list[int]]] = []
    begins = {*words.ends.tolist()}
    for position in positions:
        if runs:
            gap = _gap(words, runs[-1][-1][-1], position, begins, capitals=capitals)
            if gap == "-":
                runs[-1][-1].append(position)
                continue
            if gap == " ":
                runs[-1].append([position])
                continue
        runs.append([[position]])
    return runs


def _gap(
    words: Words, before: int, position: int, begins: set[int], *, capitals: bool
) -> str:
    """Return " " between names of a run, "-" between those of one element, else ""."""
    steps = position - before
    if steps > 3 or not begins.isdisjoint(range(before + 1, position + 1)):
        return ""
    led = words.pieces[position][:1] == " "
    if steps == 1:
        return " " if led else ""
    between = words.pieces[before + 1]
    if steps == 2:
        return "-" if between == "-" and not led else ""
    # "John F. Kennedy": a replaced word with a capital and a period.
    initial = int(words.flags[before + 1])
    shown = capitals and bool(initial & kinds.TITLE) and between[:1] == " "
    hidden = initial & kinds.KIND in _REPLACED
    return " " if shown and hidden and led and words.pieces[position - 1] == "." else ""


def _gendered(words: Words) -> tuple[list[int], list[int]]:
    """Return the positions of copied words of a gender, and their genders."""
    count = len(words.pieces)
    spelled = np.fromiter(map(_SPELLED.__contains__, words.pieces), bool, count)
    copied = (words.flags & kinds.KIND) == kinds.COMMON
    positions = np.flatnonzero(spelled & copied).tolist()
    return positions, [_SPELLED[words.pieces[at]] for at in positions]


def _gender_beside(
    words: Words, genders: tuple[list[int], list[int]], first: int, last: int
) -> int:
    """Return the genders of the words beside a run of names, in its text."""
    positions, of_each = genders
    begin = bisect_left(positions, first - _BESIDE)
    end = bisect_left(positions, last + _BESIDE + 1)
    if begin == end:
        return 0
    text = bisect_right(words.ends, first)
    start = int(words.ends[text - 1]) if text else 0
    stop, matches = int(words.ends[text]), 0
    for at in range(begin, end):
        if start <= positions[at] < stop:
            matches |= of_each[at]
    return matches


def _gender_of_title(words: Words, first: int) -> int:
    """Return the gender of the title before a name, with a period or without."""
    at = first - 1 - (words.pieces[first - 1] == ".")
    return _TITLES.get(words.pieces[at].strip(" ").lower(), 0)
