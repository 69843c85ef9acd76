"""Names of organisations and products by visible patterns, and their replacements.

Real firms are never written. Every name becomes an invented one from a public list
(dptext/data/words/invented_names.txt), chosen by its layout, which is shown:

- "Superior Court of Fulton County": words with a capital before a word of a kind such
  as Court, or behind it and "of" or "for", are one name. The layout is that word. Where
  names of persons, headings or other words begin does not matter: capitals, the listed
  word and copied words alone decide;
- "NASA", "NGOs": two to five capitals that are no copied short form. The layout is the
  number of letters, and the s of a plural. A capital letter that is replaced ("J.
  Smith", "Plan B") has the layout of one letter, and letters with periods ("J.K.") have
  their number with periods;
- "3B": one or two digits and a letter. The layout is the number of digits, and whether
  the letter is a capital;
- "CloudDesk", "SP2": a word with an inner capital, or capitals before one or two
  digits. The layout is "product";
- other names of organisations have no layout.

"United States", "New York" and the like are one place, by a list. A nationality
("German", "French", "Germans") is a place with a layout: its list in
dptext/data/words/nationalities.txt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import cycle, product
from string import ascii_uppercase
from typing import TypeVar

import numpy as np

from dptext.tokens import common, kinds, language_data, names, written_classes
from dptext.tokens.policy import WordClass
from dptext.tokens.regex import key_of
from dptext.types import ENGLISH, PARTS, Ids, Ints, Lexicon, Mask

T = TypeVar("T")
#: Kinds of words that may be acronyms or products by their spelling.
OTHERS = frozenset(
    (kinds.WORD, kinds.UNKNOWN, kinds.PERSON, kinds.ORGANISATION, kinds.STOP_WORD)
)
_PRODUCT, _PLACE = "product", "place"
_NATIONALITIES = "nationality", "other nationality", "nationalities"
_ACRONYM = re.compile("[A-Z]{2,5}s?")
_DOTTED = re.compile("(?:[A-Z][.]){1,2}[A-Z][.]?")
#: The layout of a single letter.
LETTER = "1"
# "3B" as in addresses, and its layout, which has 9 for each digit.
_FLAT, _OF_FLAT = re.compile("[0-9]{1,2}[A-Za-z]"), "flat "
_FLATS = "ABCDEFGH"
_INNER_CAPITAL = re.compile("[A-Za-z]*[a-z][A-Z][A-Za-z]*|[A-Z]{1,5}[0-9]{1,2}")
# "McIntyre" and "DeShawn" are persons.
_PERSON = re.compile("(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|Al|El|Ben|Da|Ja|St)[A-Z]")
# Least letters, with a vowel, of rarer names in capitals.
_LEAST_NAME = 4
_VOWELS = frozenset("aeiouy")
# Replaced words in no class.
_WORDS = kinds.mask((kinds.WORD, kinds.UNKNOWN, kinds.STOP_WORD))
# Most pieces of a name on either side of the word of its kind.
_REACH = 7
# Kinds that are copied or have another shown form: no parts of such a name.
_NO_PARTS = frozenset(
    (kinds.COMMON, kinds.FORMED, kinds.KEPT, kinds.MASKED, kinds.NUMBER, *kinds.MARKS)
)
_BEFORE_NAMES = frozenset((" of", " for"))
#: Copied at the beginning of a sentence, these are part of the name behind them.
ADJECTIVES = frozenset(
    "superior general first national central high supreme federal district municipal "
    "state community medical city county regional royal grand united international "
    "public primary secondary junior technical business memorial local".split()
)
# A noun that is copied since a sentence begins, and those that are no part of a name.
_BEGINS = kinds.COMMON | kinds.TITLE | common.STARTS
_NO_NOUN = common.HEADED | common.GREETS | common.LETTER
_NO_FIRST = frozenset(
    "Yesterday Today Tomorrow Tonight Thanks Mum Mom Dad Regards Love Cheers".split()
)
_BETWEEN = frozenset((" and", " &", "-", "'s", "’s"))
# Copied words before a kind that stands alone: "the Company", "Head of Department".
_BEFORE_ALONE = frozenset("the our your their his her my this of".split())
# Alone these are names: "the Union".
_NOT_ALONE = frozenset("Union Federation Confederation Trust".split())
# And these behind "the", as public bodies.
_PUBLIC_BODIES = frozenset("Commission Council Ministry Bureau Agency".split())
# Copied words before and behind a firm in small letters: "back to apple today".
_BEFORE_FIRMS = frozenset("from at by into via".split())
_ARTICLES = frozenset(("the", "a"))
_BEFORE_TO = frozenset(("back", "went"))
_BEHIND_FIRMS = frozenset(
    "today yesterday tomorrow tonight again now because but when which for is was has "
    "had will i we they he she 's ’s".split()
)
_JOINING = frozenset(("-", "/", "&", " &"))


def is_acronym(body: str) -> bool:
    """Return whether a word is spelled as an acronym, and is not a listed name."""
    if not _ACRONYM.fullmatch(body):
        return False
    key = names.fold(key_of(body))
    if len(key) >= _LEAST_NAME and not _VOWELS.isdisjoint(key):
        if key in language_data.person_names(ENGLISH, capital=True):
            return False
    return key not in language_data.person_names(ENGLISH)


def is_plural_acronym(body: str) -> bool:
    """Return whether a word is spelled as an acronym with a plural s."""
    return body[-1:] == "s" and _ACRONYM.fullmatch(body) is not None


def is_dotted(body: str) -> bool:
    """Return whether a word is spelled as two or three capitals with periods."""
    return body[1:2] == "." and _DOTTED.fullmatch(body) is not None


def is_flat(body: str) -> bool:
    """Return whether a word is one or two digits followed by a letter."""
    return body[:1].isdecimal() and _FLAT.fullmatch(body) is not None


def has_inner_capital(body: str) -> bool:
    """Return whether a word is spelled as a product, and is not a listed name."""
    if not _INNER_CAPITAL.fullmatch(body) or _PERSON.match(body):
        return False
    return names.fold(key_of(body)) not in language_data.person_names(ENGLISH)


def layout(piece: str) -> str:
    """Return the layout of an acronym, a product or a nationality."""
    body = piece.strip(" ")
    if body in nationalities():
        return nationalities()[body]
    if len(body) == 1:
        return LETTER
    if is_flat(body):
        letter = "A" if body[-1].isupper() else "a"
        return _OF_FLAT + "9" * (len(body) - 1) + letter
    if is_dotted(body):
        return re.sub("[A-Z]", LETTER, body)
    if not _ACRONYM.fullmatch(body):
        return _PRODUCT
    plural = body[-1] == "s"
    return f"{len(body) - plural}{'s' if plural else ''}"


@cache
def nationalities() -> Mapping[str, str]:
    """Map nationalities, as keys with the capitals they need, to layouts."""
    lists = language_data.nationalities(ENGLISH)
    capital = lists["with a capital"]
    return {
        spelled: name
        for name in _NATIONALITIES
        for key in lists[name]
        for spelled in (key, key.capitalize(), key.upper())
        if spelled != key or key not in capital
    }


@cache
def choices(shown: str) -> Sequence[str]:
    """Return the names to choose from for a layout, all equally likely."""
    if shown in _NATIONALITIES:
        return language_data.nationalities(ENGLISH)[f"{shown} to write"]
    invented = language_data.invented_names(ENGLISH)
    if shown == _PRODUCT:
        return invented["products"]
    if shown.startswith(_OF_FLAT):
        least = 10 ** (shown.count("9") - 1)
        flats = product(range(least, 10 * least), _FLATS)
        names = (f"{number}{letter}" for number, letter in flats)
        return tuple(names if shown[-1] == "A" else map(str.lower, names))
    if shown[:1] == LETTER:
        spell = shown.replace(LETTER, "{}").format
        letters = product(*(ascii_uppercase,) * shown.count(LETTER))
        return tuple(spell(*each) for each in letters)
    if not shown[:1].isdigit():
        return tuple(f"{name} {shown}".rstrip() for name in invented["organisations"])
    # Short forms of two letters all mean something: a longer name stands for them.
    codes = invented.get(shown[0], invented["organisations"])
    return tuple(code + shown[1:] for code in codes)


def is_word(lexicon: Lexicon, row: int) -> bool:
    """Return whether a row is a lower-case word, not an acronym."""
    if not lexicon.words[row].islower():
        return False
    # "fia", which no dictionary has, is one.
    return lexicon.parts is None or PARTS[lexicon.parts[row]] != "other"


def look(lexicon: Lexicon, body: str, row: int, is_person: bool) -> int:
    """Return the bit of an acronym, flat or product by its spelling, else 0.

    is_person: whether the word's row, -1 if unknown, is a person's name.
    """
    if is_flat(body):
        return common.ACRONYM
    if body[1:].islower():  # as most words are
        return 0
    if is_plural_acronym(body) or is_dotted(body):
        return common.ACRONYM
    if row >= 0 and body.isupper() and (is_person or is_word(lexicon, row)):
        return 0  # "SMITH" is a person, and "GOOD" a word
    if is_acronym(body):
        return common.ACRONYM
    return common.PRODUCT if has_inner_capital(body) else 0


@lru_cache(maxsize=2)
def spellings(lexicon: Lexicon) -> Mapping[int, str]:
    """Map each row of a brand to the invented name that is written for it."""
    invented = language_data.invented_names(lexicon.language).get("organisations", ())
    classes = (WordClass.ORGANISATION,) if invented else ()
    named = written_classes.kinds_of_rows(lexicon, classes) > 0
    lists = language_data.common_lists(lexicon.language)
    # "TV" and "CEO" are in the class, but no brands.
    short = lists.get("abbreviations", frozenset())
    also = lists.get("organisations in small letters", frozenset())
    rows = {*np.flatnonzero(named).tolist()}
    rows |= {lexicon.row_of[key] for key in also if key in lexicon.row_of}
    rows -= {lexicon.row_of[key] for key in short if key in lexicon.row_of}
    invented_in_turn = cycle(invented)
    return {row: next(invented_in_turn) for row in sorted(rows)} if invented else {}


def join_places(
    pieces: list[str], codes: Ints, ends: Ints, firsts: Sequence[int]
) -> tuple[list[str], Ints, Ints, Ints | None, dict[int, str]]:
    """Merge listed places of several words, such as "United Arab Emirates".

    firsts: positions of words that may begin a place. Returns the same as `join`.
    """
    spans: list[tuple[int, int, str]] = []
    for at in firsts:
        stop = int(ends[np.searchsorted(ends, at, "right")])
        for size in (4, 3, 2):
            spelled = "".join(pieces[at : min(at + size, stop)]).removeprefix(" ")
            if spelled in _whole_places() and not (spans and spans[-1][1] > at):
                spans.append((at, at + size, _PLACE))
    return _joined(pieces, codes, ends, spans)


@cache
def _whole_places() -> frozenset[str]:
    listed = language_data.common_lists(ENGLISH)["whole places"]
    places = {each.replace("_", " ") for each in listed}
    return frozenset(places | {each.upper() for each in places})


class SmallLetters:
    """Finds firms and places in small letters by copied words: "back to apple".

    Not in runs of several languages, where copied words tell that of a record.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        """Prepare the lists for the rows of a lexicon."""
        lists = language_data.common_lists(lexicon.language)
        listed = dict.fromkeys(lists.get("whole organisations", ()), "")
        named = lists.get("whole places in small letters", ())
        listed |= dict.fromkeys(named, _PLACE)
        self._phrases = {name.replace("_", " "): listed[name] for name in listed}
        self._us = lexicon.row_of.get("us", -2)
        self._most = max((each.count(" ") + 1 for each in self._phrases), default=0)
        self._firms = lists.get("firms behind prepositions", frozenset())
        words = [each.split(" ") for each in self._phrases]
        # By row: whether a word is the first one of a phrase, the second, or a firm.
        masks = np.zeros((3, len(lexicon.words) + 1), bool)
        self._first, self._second, self._firm = masks
        for mask, keys in (
            (self._first, {each[0] for each in words}),
            (self._second, {each[1] for each in words}),
            (self._firm, self._firms),
        ):
            mask[[lexicon.row_of[key] for key in keys if key in lexicon.row_of]] = True

    def settle(
        self, pieces: list[str], codes: Ints, ends: Ints, rows: Ids
    ) -> tuple[list[str], Ints, Ints, Ints | None]:
        """Read firms and places as such, of whose words all are copied.

        rows: those of pieces (p,), -1 for unknown. Returns what `join` returns,
        but the layouts.
        """
        copied = codes & kinds.KIND == kinds.COMMON
        for at in np.flatnonzero(self._firm[rows] & copied).tolist():
            if self._is_alone(pieces, codes, ends, at):
                codes[at] = codes[at] & kinds.LEAD | kinds.ORGANISATION
                copied[at] = False
        begins = {*ends.tolist()}
        for at in np.flatnonzero((rows == self._us) & copied).tolist():
            is_led = at > 0 and pieces[at - 1].strip(" ").lower() in _ARTICLES
            if is_led and copied[at - 1] and at not in begins:
                codes[at] = codes[at] & kinds.LEAD | kinds.PLACE
                copied[at] = False
        copied &= codes & kinds.TITLE == 0
        first = self._first[rows[:-1]] & self._second[rows[1:]]
        spans: list[tuple[int, int, str]] = []
        for at in np.flatnonzero(first & copied[:-1] & copied[1:]).tolist():
            if spans and spans[-1][1] > at:
                continue
            end = min(at + self._most, int(ends[np.searchsorted(ends, at, "right")]))
            for stop in range(end, at + 1, -1):
                spelled = "".join(pieces[at:stop]).removeprefix(" ")
                is_whole = stop == len(pieces) or pieces[stop] != "-"
                if spelled in self._phrases and is_whole and copied[at:stop].all():
                    spans.append((at, stop, self._phrases[spelled]))
                    break
        return _joined(pieces, codes, ends, spans)[:4]

    def _is_alone(
        self, pieces: Sequence[str], codes: Ints, ends: Ints, at: int
    ) -> bool:
        """Return whether a firm in small letters stands alone behind a preposition."""
        text = int(np.searchsorted(ends, at, "right"))
        begin, after = int(ends[text - 1]) if text else 0, at + 1

        def is_copied(position: int, words: frozenset[str]) -> bool:
            copied = codes[position] & kinds.KIND == kinds.COMMON
            return bool(copied) and pieces[position].strip(" ").lower() in words

        is_led = at > begin and is_copied(at - 1, _BEFORE_FIRMS)
        if at > begin + 1 and is_copied(at - 2, _BEFORE_TO):
            is_led |= pieces[at - 1] == " to"
        if not is_led or codes[at] & kinds.TITLE or after == ends[text]:
            return is_led and not codes[at] & kinds.TITLE
        if kinds.WORDLIKE[codes[after] & kinds.KIND]:
            return is_copied(after, _BEHIND_FIRMS)
        return pieces[after] not in _JOINING


def join(
    pieces: list[str], codes: Ints, ends: Ints
) -> tuple[list[str], Ints, Ints, Ints | None, dict[int, str]]:
    """Merge the pieces of each name of several words.

    Returns updated pieces, codes and ends of texts, by how many places each
    piece has moved back (None: no piece), and the layouts of names by position.
    """
    begins = np.concatenate(([0], ends))
    spans: list[tuple[int, int, str]] = []
    posts = frozenset(map(str.capitalize, language_data.posts()))
    end = 0
    for at in np.flatnonzero(codes & common.INSTITUTION).tolist():
        if at < end or not _is_part(int(codes[at])):
            continue
        text = int(np.searchsorted(ends, at, "right"))
        after = at + 1
        if after < int(ends[text]) and _is_part(int(codes[after])):
            if codes[after] & common.INSTITUTION and pieces[after][:1] == " ":
                continue  # "School District"
        first = _first(pieces, codes, at, max(end, int(begins[text])))
        end_here = _last(pieces, codes, at, int(ends[text]))
        if end_here - first > 1 and not _is_titled(codes, first, int(begins[text])):
            end = end_here
            spans.append((first, end, pieces[at].strip(" ")))
        elif end_here - first == 1:
            beside = range(max(at - 1, int(begins[text])), min(after + 1, ends[text]))
            is_led = at > int(begins[text]) and (
                pieces[at - 1].strip(" ").lower() in _BEFORE_ALONE
            )
            # Also "IT Department".
            is_led |= at > int(begins[text]) and bool(codes[at - 1] & kinds.UPPER)
            is_led &= bool(codes[at - 1] & kinds.KIND == kinds.COMMON)
            is_led &= pieces[at].strip(" ") not in _NOT_ALONE
            if pieces[at - 1].strip(" ").lower() == "the":
                is_led &= pieces[at].strip(" ") not in _PUBLIC_BODIES
            ends_name = after >= int(ends[text]) or (
                not _is_part(int(codes[after])) and pieces[after] != "-"
            )
            if (is_led and ends_name) or any(
                codes[each] & kinds.KIND == kinds.COMMON
                and pieces[each].lstrip(" ") in posts
                for each in beside
            ):
                # "Returns Department", "Store Manager", "the Company"
                codes[at] = codes[at] & ~kinds.KIND | kinds.COMMON
    return _joined(pieces, codes, ends, spans)


def settle_letters(
    pieces: list[str], codes: Ints, ends: Ints, single: Mask, *, persons: int
) -> None:
    """Read replaced capital letters as one-letter acronyms, in place.

    single: mask of single letters (p,). A replaced capitalised word after one and a
    period is a person, with the given bits, 0 for none.
    """
    single = single | (codes & common.LETTER != 0)
    single &= codes & (kinds.TITLE | kinds.UPPER) == kinds.TITLE
    at = np.flatnonzero(single & _WORDS[codes & kinds.KIND])
    codes[at] = codes[at] & ~kinds.KIND | kinds.ORGANISATION | common.ACRONYM
    shown = kinds.TITLE | kinds.UPPER | kinds.LEAD
    for here in np.flatnonzero(codes & common.ACRONYM).tolist() if persons else ():
        after = here + 1
        if pieces[here][-1] != "." and len(pieces[here].strip(" ")) == 1:
            after += after < len(pieces) and pieces[after] == "."
        is_initial = pieces[min(after, len(pieces)) - 1][-1] == "."
        if not is_initial or after >= ends[np.searchsorted(ends, here, "right")]:
            continue
        code = int(codes[after])
        is_title = code & shown == kinds.TITLE | kinds.LEAD
        if is_title and _WORDS[code & kinds.KIND]:
            codes[after] = code & ~kinds.KIND | persons


def join_others(
    pieces: list[str], codes: Ints, ends: Ints, apart: Mask, heading: Mask
) -> tuple[list[str], Ints, Ints, Ints | None, dict[int, str]]:
    """Merge adjacent replaced capitalised words, such as "Golden Anchor".

    They are in no class, and no person's name follows, whose title they could be.
    Pieces in `apart` (p,) are excluded. A noun that begins a sentence outside headings
    (p,) is part of what follows: "Star Gas". Returns the same as `join`.
    """
    kind = codes & kinds.KIND
    shown = kinds.TITLE | kinds.UPPER
    is_nationality = (kind == kinds.PLACE) & (codes & common.NATIONALITY != 0)
    part = (_WORDS[kind] | is_nationality) & (codes & shown == kinds.TITLE) & ~apart
    begins = codes & (kinds.KIND | shown | _NO_NOUN | common.STARTS) == _BEGINS
    begins &= ~heading
    for at in np.flatnonzero(begins[:-1] & part[1:]).tolist():
        begins[at] = _begins(pieces[at].strip(" "), int(codes[at]))
    led = part & (codes & kinds.LEAD != 0)
    # "Payment Failed" is no name.
    led[1:] &= part[:-1] | (begins[:-1] & (codes[1:] & common.HEADED == 0))
    led[np.append(0, ends[:-1])[ends > np.append(0, ends[:-1])]] = False
    # Every word after the first of its run.
    firsts = np.flatnonzero(led[1:] & ~led[:-1])
    lasts = np.flatnonzero(led & ~np.append(led[1:], False)) + 1
    spans = [
        (first, last, "")
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
        if last >= len(codes) or kind[last] != kinds.PERSON
    ]
    return _joined(pieces, codes, ends, spans)


def _joined(
    pieces: list[str], codes: Ints, ends: Ints, spans: list[tuple[int, int, str]]
) -> tuple[list[str], Ints, Ints, Ints | None, dict[int, str]]:
    """Merge each span into one piece with its kind, "" for none."""
    if not spans:
        return pieces, codes, ends, None, {}
    keeps = np.ones(len(pieces), bool)
    layouts: dict[int, str] = {}
    codes, joined, before = codes.copy(), list[str](), 0
    for first, end, kind in spans:
        keeps[first + 1 : end] = False
        joined += pieces[before:first]
        joined.append("".join(pieces[first:end]))
        before = end
        shown = int(codes[first]) & (kinds.LEAD | kinds.TITLE)
        of_class = kinds.PLACE if kind == _PLACE else kinds.ORGANISATION
        codes[first] = of_class | shown
        if kind and kind != _PLACE:
            layouts[first] = kind
    moved = np.cumsum(~keeps)
    return (
        joined + pieces[before:],
        codes[keeps],
        ends - moved[ends - 1],
        moved,
        {at - int(moved[at]): kind for at, kind in layouts.items()},
    )


def _is_part(code: int) -> bool:
    """Return whether a piece is a replaced capitalised word."""
    return bool(code & kinds.TITLE) and code & kinds.KIND not in _NO_PARTS


def _is_adjective(piece: str, code: int) -> bool:
    """Return whether a copied capitalised word belongs to the name after it."""
    capital = code & (kinds.KIND | kinds.TITLE) == kinds.COMMON | kinds.TITLE
    body = piece.strip(" ")
    return capital and (body.lower() in ADJECTIVES or _begins(body, code))


def _begins(body: str, code: int) -> bool:
    """Return whether a copied noun that begins a sentence may begin a name."""
    bits = code & (kinds.KIND | kinds.TITLE | kinds.UPPER | _NO_NOUN | common.STARTS)
    return bits == _BEGINS and body not in _NO_FIRST


def _first(pieces: list[str], codes: Ints, at: int, begin: int) -> int:
    """Return the first piece of the name before a kind word such as Court."""
    first = at
    for here in range(at - 1, max(begin, at - _REACH) - 1, -1):
        if pieces[here + 1][:1] != " " and pieces[here + 1] not in _BETWEEN:
            if pieces[here] != "-":
                break
        if _is_part(int(codes[here])) or _is_adjective(pieces[here], int(codes[here])):
            first = here
        elif pieces[here] not in _BETWEEN or pieces[here] == " and":
            break
    return first


def _last(pieces: list[str], codes: Ints, at: int, end: int) -> int:
    """Return the end of the name after a kind word and "of" or "for"."""
    after = at + 1
    if after >= end or pieces[after] not in _BEFORE_NAMES:
        return after
    last = after
    after += 1 + (after + 1 < end and pieces[after + 1] == " the")
    for here in range(after, min(end, at + _REACH)):
        if _is_part(int(codes[here])) and (
            pieces[here][:1] == " " or pieces[here - 1] == "-"
        ):
            last = here + 1
        elif pieces[here] not in _BETWEEN or last <= at + 1:
            break
    return last if last > at + 1 else at + 1


def _is_titled(codes: Ints, first: int, begin: int) -> bool:
    """Return whether a title such as Mr precedes a piece: a person follows."""
    before = first - 1
    if before > begin and codes[before] & common.DOT:
        before -= 1
    return before >= begin and bool(codes[before] & common.TITLES)


def moved_keys(named: dict[int, T], moved: Ints | None) -> dict[int, T]:
    """Shift positions by `moved` in a mapping keyed by position."""
    if moved is None:
        return named
    return {at - int(moved[at]): each for at, each in named.items()}
