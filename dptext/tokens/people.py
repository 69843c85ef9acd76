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
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from dptext.tokens import kinds, language_data, organisations
from dptext.types import Ids, Words

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
    **dict.fromkeys("mr sir king prince lord father uncle brother".split(), _MEN),
    **dict.fromkeys(
        "mrs ms miss madam queen princess lady mother aunt sister".split(), _WOMEN
    ),
}
_ABBREVIATED = frozenset(("mr", "mrs", "ms", "sir", "miss", "madam"))
_SPELLED = {
    f"{space}{spelled}": gender
    for word, gender in _GENDERS.items()
    for spelled in (word, word.capitalize(), word.upper())
    for space in ("", " ")
}
# Pieces on both sides of a name among which a pronoun is beside it.
_BESIDE = 24
_BOTH = "both"
# Bits of a role beside those of genders.
_MARKED, _FAMILY = 4, 8
# Most pieces from a name to the next of its run.
_NEAR = 3
# Kinds of replaced words: which of these one is, is hidden.
_REPLACED = (kinds.WORD, kinds.UNKNOWN, kinds.IDENTIFIER, kinds.STOP_WORD)


@cache
def lists() -> dict[str, tuple[str, ...]]:
    """Return the names that are written: of both, men, women, and families."""
    return {
        name: tuple(words) for name, words in language_data.sections("surrogate_names")
    }


def find(
    words: Words,
    positions: Sequence[int],
    keys: Sequence[tuple[int, str]],
    is_titled: Callable[[int], bool],
    *,
    gendered: Ids | None,
    capitals: bool,
) -> list[Sequence[str]]:
    """Return the names one of which is written for each piece of a person.

    The positions are in order, each with its key: record and text. gendered: rows of
    words of a gender (`gendered_rows`); capitals: whether those of replaced words are
    shown.
    """
    run_of, element_of = _runs(words, positions, capitals=capitals)
    last_of = dict(zip(run_of, element_of, strict=True))
    roles: dict[tuple[int, str], int] = {}
    genders, run, beside, titled = _gendered(words, gendered), -1, 0, False
    begins = {0, *words.ends.tolist()}
    for number, position in enumerate(positions):
        last = last_of[run_of[number]]
        if run != run_of[number]:
            run, titled = run_of[number], is_titled(position)
            beside = _gender_beside(words, genders, position, position + 2 * last)
            if position not in begins:
                beside |= _gender_of_title(words, position)
                titled |= capitals and _follows_initial(words, position)
        role = roles.get(keys[number], 0) | beside
        if (last or titled) and not role & _MARKED:
            role |= _MARKED
            if element_of[number] == last:
                role |= _FAMILY
        roles[keys[number]] = role
    family = 0
    for number in reversed(range(len(positions))):
        # What is said of a family's name is said of the given name before it.
        if element_of[number] == last_of[run_of[number]]:
            family = roles[keys[number]] & (_MEN | _WOMEN)
        else:
            roles[keys[number]] |= family
    named = {role: _names(role) for role in set(roles.values())}
    return [named[roles[key]] for key in keys]


def _names(role: int) -> Sequence[str]:
    """Return the names that are written for a role."""
    if role & _FAMILY:
        return lists()["families"]
    gender = role & (_MEN | _WOMEN)
    return lists()[{_MEN: "men", _WOMEN: "women"}.get(gender, _BOTH)]


def _runs(
    words: Words, positions: Sequence[int], *, capitals: bool
) -> tuple[list[int], list[int]]:
    """Return the run of adjacent names of each piece, and its element in this run.

    Names with hyphens between them are one element.
    """
    run_of, element_of = [], []
    run, element, before = -1, 0, -_NEAR - 1
    begins = {*words.ends.tolist()}
    for position in positions:
        gap = ""
        if position - before <= _NEAR:
            gap = _gap(words, before, position, begins, capitals=capitals)
        if not gap:
            run, element = run + 1, 0
        elif gap == " ":
            element += 1
        run_of.append(run)
        element_of.append(element)
        before = position
    return run_of, element_of


def _gap(
    words: Words, before: int, position: int, begins: set[int], *, capitals: bool
) -> str:
    """Return " " between names of a run, "-" between those of one element, else ""."""
    steps = position - before
    if not begins.isdisjoint(range(before + 1, position + 1)):
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
    hidden = initial & kinds.KIND in _REPLACED or _is_letter(words, before + 1)
    return " " if shown and hidden and led and words.pieces[position - 1] == "." else ""


def _is_letter(words: Words, at: int) -> bool:
    """Tell whether a piece is a replaced capital letter."""
    return words.layouts.get(at) == organisations.LETTER


def _follows_initial(words: Words, position: int) -> bool:
    """Tell whether a letter and a period, or letters with them, are before a name."""
    shown = words.layouts.get(position - 1, "")
    if shown[-1:] == ".":
        return True
    return words.pieces[position - 1] == "." and _is_letter(words, position - 2)


def gendered_rows(row_of: Mapping[str, int]) -> Ids | None:
    """Return the rows of words that tell a gender, None if a lexicon lacks one."""
    if not row_of.keys() >= _GENDERS.keys():
        return None
    return np.array([row_of[word] for word in _GENDERS], np.int32)


def _gendered(words: Words, rows: Ids | None) -> tuple[list[int], list[int]]:
    """Return the positions of copied words of a gender, and their genders."""
    copied = (words.flags & kinds.KIND) == kinds.COMMON
    if rows is not None and words.copied is not None:
        tells = np.zeros(
            max(int(words.copied.max(initial=0)), int(rows.max())) + 2, bool
        )
        tells[rows] = True
        copied &= tells[words.copied]
    spots = np.flatnonzero(copied).tolist()
    positions = [at for at in spots if words.pieces[at] in _SPELLED]
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
    at = max(first - 1 - (words.pieces[first - 1] == "."), 0)
    flags, title = int(words.flags[at]), words.pieces[at].strip(" ")
    is_title = flags & kinds.KIND == kinds.COMMON and (
        bool(flags & kinds.TITLE) or title in _ABBREVIATED
    )
    return _TITLES.get(title.lower(), 0) if is_title else 0
