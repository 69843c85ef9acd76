"""The names written for persons if equal names of a record stay equal.

A name is replaced piece by piece: "Patricia" and "Ivanova" are replaced separately.
Whether a piece becomes a given or a family name depends on its positions in the record:
first in a run of names: given; last in one or after a copied title: family; alone:
given. Given names are women's or men's if copied pronouns or words such as
"son" near any of its positions have one gender, and of both if they have
none or both. Copied titles right before any of its positions take precedence.

All of this is visible: positions of names, which are equal, copied words, and capitals.
No list is consulted about the hidden names. Other languages have gendered words and
names to write in their lists (dptext.tokens.languages), with the same rules.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from dptext.tokens import kinds, language_data, organisations
from dptext.types import Ids, Words

# Copied words that tell a gender. A title counts right before a name alone, and more.
_MEN, _WOMEN = 1, 2
_WORDS = (
    "he him his himself man boy gentleman husband father dad son brother uncle nephew "
    "grandfather grandson boyfriend".split(),
    "she her hers herself woman girl lady wife mother mum mom daughter sister aunt "
    "niece grandmother granddaughter girlfriend".split(),
)
# Titles, and others that are so only with a capital: "Aunt Ruth".
_TITLES = ("mr sir".split(), "mrs ms miss madam".split())
_CAPITAL_TITLES = (
    "king prince lord father uncle brother".split(),
    "queen princess lady mother aunt sister".split(),
)
# Pieces on both sides of a name among which a pronoun is beside it.
_BESIDE = 24
_BOTH = "both"
# Bits of a role beside those of genders.
_MARKED, _FAMILY = 4, 8
# Most pieces from a name to the next of its run.
_NEAR = 3
# Kinds of replaced words: which of these one is, is hidden.
_REPLACED = (kinds.WORD, kinds.UNKNOWN, kinds.IDENTIFIER, kinds.STOP_WORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The names written in a language, and its words that indicate a gender."""

    men: Sequence[str]
    women: Sequence[str]
    both: Sequence[str]
    families: Sequence[str]
    #: Words beside a name, and titles before one, as they stand in pieces.
    words: Mapping[str, int]
    titles: Mapping[str, int]


def genders_of(
    men: Iterable[str], women: Iterable[str], *, small: bool = True
) -> dict[str, int]:
    """Return the genders of words in all capitalisations, as in pieces.

    small: also in lower case.
    """
    genders = {**dict.fromkeys(men, _MEN), **dict.fromkeys(women, _WOMEN)}
    return {
        f"{space}{spelled}": gender
        for word, gender in genders.items()
        for spelled in ({word} if small else set()) | {word.capitalize(), word.upper()}
        for space in ("", " ")
    }


@cache
def lists() -> dict[str, tuple[str, ...]]:
    """Return the names written in English: both, men, women, families."""
    return {
        name: tuple(words) for name, words in language_data.sections("surrogate_names")
    }


@cache
def english() -> People:
    """Return the names and gendered words of English."""
    names = lists()
    return People(
        men=names["men"],
        women=names["women"],
        both=names[_BOTH],
        families=names["families"],
        words=genders_of(*_WORDS),
        titles=genders_of(*_TITLES) | genders_of(*_CAPITAL_TITLES, small=False),
    )


def gendered_rows(row_of: Mapping[str, int]) -> Ids | None:
    """Return the rows of gendered words, None if the lexicon lacks any."""
    words = {*_WORDS[0], *_WORDS[1]}
    if not row_of.keys() >= words:
        return None
    return np.array([row_of[word] for word in words], np.int32)


def find(
    words: Words,
    positions: Sequence[int],
    keys: Sequence[tuple[int, str]],
    is_titled: Callable[[int], bool],
    *,
    people: Mapping[str, People],
    gendered: Ids | None,
    capitals: bool,
) -> list[Sequence[str]]:
    """Return the names to choose from for each piece of a person.

    The positions are sorted, each with its key: record and text. people: of
    each language; gendered: rows of English words of a gender (`gendered_rows`);
    capitals: whether those of replaced words are shown.
    """
    people_at = [people[words.language_at(position)] for position in positions]
    run_of, element_of = _runs(words, positions, capitals=capitals)
    last_of = dict(zip(run_of, element_of, strict=True))
    roles: dict[tuple[int, str], int] = {}
    by_title: dict[tuple[int, str], int] = {}
    genders = _gendered(words, people, gendered)
    run, beside, before, titled = -1, 0, 0, False
    for number, position in enumerate(positions):
        last = last_of[run_of[number]]
        if run != run_of[number]:
            run, titled = run_of[number], is_titled(position)
            begin, end = words.bounds_at(position)
            near = max(begin, position - _BESIDE)
            after = min(end, position + 2 * last + _BESIDE + 1)
            beside = _gender_between(genders, near, after)
            before = 0
            if position > begin:
                titles = people_at[number].titles
                before = _gender_before(words, position, begin, titles)
                titled |= capitals and _follows_initial(words, position)
        if before and (not last or element_of[number] < last):
            by_title[keys[number]] = by_title.get(keys[number], 0) | before
        role = roles.get(keys[number], 0) | beside | (0 if last else before)
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
    for key, gender in by_title.items():
        roles[key] = roles[key] & ~(_MEN | _WOMEN) | gender
    return [_names(roles[key], each) for key, each in zip(keys, people_at, strict=True)]


def _names(role: int, people: People) -> Sequence[str]:
    """Return the names written for a role."""
    if role & _FAMILY:
        return people.families
    gender = role & (_MEN | _WOMEN)
    return {_MEN: people.men, _WOMEN: people.women}.get(gender, people.both)


def _runs(
    words: Words, positions: Sequence[int], *, capitals: bool
) -> tuple[list[int], list[int]]:
    """Return the run of adjacent names of each piece, and its element in the run.

    Names with hyphens between them are one element.
    """
    run_of, element_of = [], []
    run, element, before = -1, 0, -_NEAR - 1
    for position in positions:
        gap = ""
        if position - before <= _NEAR:
            gap = _gap(words, before, position, capitals=capitals)
        if not gap:
            run, element = run + 1, 0
        elif gap == " ":
            element += 1
        run_of.append(run)
        element_of.append(element)
        before = position
    return run_of, element_of


def _gap(words: Words, before: int, position: int, *, capitals: bool) -> str:
    """Return the separator of names: " " in a run, "-" in an element, else ""."""
    steps = position - before
    if not words.begins.isdisjoint(range(before + 1, position + 1)):
        return ""
    led = words.pieces[position][:1] == " "
    if steps == 1:
        return " " if led else ""
    between = words.pieces[before + 1]
    if steps == 2:
        return "-" if between == "-" and not led else ""
    # "John F. Kennedy": a replaced word with a capital and a period.
    initial = words.flag[before + 1]
    shown = capitals and bool(initial & kinds.TITLE) and between[:1] == " "
    hidden = initial & kinds.KIND in _REPLACED or _is_letter(words, before + 1)
    return " " if shown and hidden and led and words.pieces[position - 1] == "." else ""


def _is_letter(words: Words, at: int) -> bool:
    """Return whether a piece is a replaced capital letter."""
    return words.layouts.get(at) == organisations.LETTER


def _follows_initial(words: Words, position: int) -> bool:
    """Return whether an initial with a period precedes a name."""
    shown = words.layouts.get(position - 1, "")
    if shown[-1:] == ".":
        return True
    return words.pieces[position - 1] == "." and _is_letter(words, position - 2)


def _gendered(
    words: Words, people: Mapping[str, People], rows: Ids | None
) -> tuple[list[int], list[int]]:
    """Return positions of copied gendered words, and their genders."""
    copied = (words.flags & kinds.KIND) == kinds.COMMON
    if len(people) > 1:
        every = frozenset[str]().union(*(each.words for each in people.values()))
        spelled = map(every.__contains__, words.pieces)
        copied &= np.fromiter(spelled, bool, len(words.pieces))
    elif rows is not None and words.copied is not None:
        size = max(int(words.copied.max(initial=0)), int(rows.max())) + 2
        tells = np.zeros(size, bool)
        tells[rows] = True
        copied &= tells[words.copied]
    positions, genders = [], []
    for at in np.flatnonzero(copied).tolist():
        if gender := people[words.language_at(at)].words.get(words.pieces[at]):
            positions.append(at)
            genders.append(gender)
    return positions, genders


def _gender_between(genders: tuple[list[int], list[int]], begin: int, end: int) -> int:
    """Return the genders of the words in a range of pieces."""
    positions, of_each = genders
    matches = 0
    for at in range(bisect_left(positions, begin), bisect_left(positions, end)):
        matches |= of_each[at]
    return matches


def _gender_before(
    words: Words, first: int, begin: int, titles: Mapping[str, int]
) -> int:
    """Return the gender of a copied title before a name, with or without period.

    begin: the first piece of its text.
    """
    at = first - 1
    if at > begin and words.pieces[at] == ".":
        at -= 1
    if at < begin or words.flag[at] & kinds.KIND != kinds.COMMON:
        return 0
    return titles.get(words.pieces[at], 0)
