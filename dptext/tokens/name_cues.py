"""Names next to copied cue words: "hi mark", "mrs young", "Name: Summer".

A common word that is also a name is copied in lower case because of its spelling. Next
to a cue it is replaced as a name: a greeting, a title, "talk to", "my name is", a key
such as "customer:". A capitalised word in no class becomes a person or a place there.
dptext/data/words/name_cues.txt lists the cues and the names after each.

A cue is a word that is copied because of its spelling, and no cue is a name in these
lists. So changing replaced words changes no cue. What follows a cue is inspected in
order: a word is judged by its spelling, by whether the words since the cue are replaced
(not by which they are), by marks, and by the number of words before the next mark. So
the set of copied pieces stays the same if a replaced word is changed to another one.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from dptext.tokens import kinds, language_data
from dptext.types import ENGLISH, Ints, Mask

# The bits of a code (dptext.tokens.tokenizer) that hold the role of a word or mark.
ROLE = 46
_BITS = 0xFF
# Roles of words that are no cues.
_CONTENT, _OTHER, _COMMA, _COLON, _DOT, _HYPHEN, _END, _AND = range(8)
_LETTER, _ADJECTIVE = range(8, 10)
_GIVEN, _FUNCTION_NAME, _FAMILY, _NAME, _PLACE = range(10, 15)
_ADDRESSEE, _EQUALS = 15, 16
_RANK, _RANK_ADDRESSEE, _GIVEN_RANK, _BEFORE_RANK, _BEFORE_PLACE = range(17, 22)
_FIELD, _FIRST_CUE = 22, 23
_MARKS = {",": _COMMA, ":": _COLON, "=": _EQUALS, ".": _DOT, "-": _HYPHEN}
_MARKS |= dict.fromkeys('!?;)/|…"”', _END)
# Flags of cues, by the sections of the file.
_SECTIONS = (
    "weak",
    "calls",
    "copulas",
    "greetings",
    "closings",
    "keys",
    "place_keys",
    "titles",
    "persons",
    "in",
    "live_in",
)
(
    _WEAK,
    _CALLS,
    _COPULAS,
    _GREETINGS,
    _CLOSINGS,
    _KEYS,
    _PLACE_KEYS,
    _TITLES,
    _PERSONS,
    _IN,
    _LIVE_IN,
) = (1 << number for number in range(len(_SECTIONS)))
# Flags of states after a cue.
_AT_END, _LISTED, _SECOND = (1 << number for number in range(11, 14))
# Most names after one cue, and most words of one name.
_NAMES, _WORDS = 8, 3
_REPLACED = (
    kinds.WORD,
    kinds.NUMBER,
    kinds.IDENTIFIER,
    kinds.STOP_WORD,
    kinds.UNKNOWN,
    kinds.PERSON,
    kinds.PLACE,
    kinds.ORGANISATION,
    kinds.CALENDAR,
)
_NO_CLASS = (kinds.WORD, kinds.UNKNOWN)
_CLASSES = (kinds.PLACE, kinds.ORGANISATION, kinds.CALENDAR)
_NO_CLASSES_OR_PERSON = (*_NO_CLASS, kinds.PERSON, kinds.COMMON)
# Kinds that offices with a capital may have by their spelling.
_OF_RANKS = (*_NO_CLASS, kinds.STOP_WORD, kinds.COMMON)
# Kind, row and whether it is a name of a person.
_NAME_BITS = kinds.KIND | 0xFFFFFFFF << 8 | 1 << 40
# Most words of an office: "Deputy Prime Minister".
_RANKS = 3


# Roles before names: (_BITS + 1,).
_BEFORE_NAMES = np.isin(np.arange(_BITS + 1), (_COLON, _EQUALS, _COMMA, _DOT, _AND))


class Bits(NamedTuple):
    """Bits in codes (dptext.tokens.tokenizer)."""

    #: Kind, row and flags of a name of a person, and of a place.
    persons: int
    places: int
    #: The bit of a word that is common but for its capital.
    common: int


class NameCues:
    """The cues and names of English; other languages have none."""

    def __init__(self, language: str) -> None:
        self._function = language_data.stop_words(language)
        self._roles: dict[str, int] = {}
        self._next = _FIRST_CUE
        self._adjectives: frozenset[str] = frozenset()
        self._after_modals: frozenset[int] = frozenset()
        # Roles of words with a capital that have no other role there.
        self._capitals: dict[str, int] = {}
        self._are_ranks, self._before_ranks, self._given_ranks = np.zeros(
            (3, _BITS + 1), bool
        )
        self._addressed_cues = frozenset((_ADDRESSEE,))
        self._single = np.zeros(_BITS + 1, np.int64)
        self._pair = np.zeros((_BITS + 1, _BITS + 1), np.int64)
        if language == ENGLISH:
            self._read()
        self._last = (self._single != 0) | (self._pair != 0).any(axis=0)

    def _read(self) -> None:
        lists = dict(language_data.sections("name_cues"))
        names = language_data.common_lists(ENGLISH)["names"]
        self._roles = dict.fromkeys(self._function, _OTHER)
        self._roles |= dict.fromkeys(names, _NAME) | {"and": _AND}
        self._roles |= dict.fromkeys(lists["family"], _FAMILY)
        self._roles |= dict.fromkeys(lists["places"], _PLACE)
        self._roles |= dict.fromkeys(lists["function"], _FUNCTION_NAME)
        self._roles |= dict.fromkeys(lists["given"], _GIVEN)
        self._roles |= dict.fromkeys(lists["people"], _CONTENT)
        self._roles |= dict.fromkeys(lists["after_titles"], _OTHER)
        self._adjectives = frozenset(lists["adjectives"])
        for number, section in enumerate(_SECTIONS):
            for phrase in lists[section]:
                first, _, second = phrase.partition("_")
                row = self._cue(first)
                if second:
                    self._pair[row, self._cue(second)] |= 1 << number
                else:
                    self._single[row] |= 1 << number
        self._after_modals = frozenset(map(self._cue, lists["after_modals"]))
        roles = (self._roles.get(word, 0) for word in lists["addressees"])
        cues = {role for role in roles if role >= _FIRST_CUE}
        self._addressed_cues = frozenset({_ADDRESSEE, *cues})
        offices, calls = lists["ranks_of_given"], lists["calls"]
        self._capitals = dict.fromkeys(lists["before_places"], _BEFORE_PLACE)
        self._capitals |= dict.fromkeys(lists["before_ranks"], _BEFORE_RANK)
        self._capitals |= dict.fromkeys(offices, _GIVEN_RANK)
        self._capitals |= dict.fromkeys(lists["fields"], _FIELD)
        self._capitals |= dict.fromkeys(lists["addressees"], _ADDRESSEE)
        for word in language_data.posts() - {*lists["fields"], *lists["before_ranks"]}:
            is_addressee = word in lists["addressees"]
            self._capitals[word] = _RANK_ADDRESSEE if is_addressee else _RANK
        self._addressed_cues |= {_RANK_ADDRESSEE}
        self._given_ranks[[_GIVEN_RANK]] = True
        self._given_ranks[[self._roles[each] for each in offices if each in calls]] = (
            True
        )
        of_fields = {_FIELD, *(self._roles.get(each, 0) for each in lists["fields"])}
        paired = [_RANK, *self._addressed_cues]
        paired += [role for role in of_fields if role >= _FIELD]
        self._are_ranks[paired] = True
        self._before_ranks[[_BEFORE_RANK, *paired]] = True

    def _cue(self, word: str) -> int:
        if self._roles.get(word, 0) < _FIRST_CUE:
            self._roles[word] = self._next
            self._next += 1
        return self._roles[word]

    def role(self, body: str, key: str, *, may_be_name: bool = True) -> int:
        """Return the role of a word or mark as bits, from bit ROLE on."""
        role = self._roles.get(key, _CONTENT)
        if role >= _FIRST_CUE:
            return role << ROLE
        if not body.isalpha():
            role = _OTHER if body[:1].isupper() else role or _MARKS.get(body, _OTHER)
        elif len(body) == 1:
            role = _LETTER
        elif body[0].isupper():
            if role != _FUNCTION_NAME:
                role = _ADJECTIVE if key in self._adjectives else _OTHER
                role = self._capitals.get(key, role)
        if not may_be_name and role == _CONTENT:
            role = _OTHER
        return role << ROLE

    @staticmethod
    def are_letters(codes: Ints) -> Mask:
        """Return a mask of pieces that are single letters: (p,)."""
        return np.asarray(codes >> ROLE & _BITS == _LETTER)

    def may_name(self, codes: Ints) -> Mask:
        """Return a mask of pieces right after a cue, its mark or a comma: (p,)."""
        role = codes >> ROLE & _BITS
        common = (codes & kinds.KIND) == kinds.COMMON
        shows = (self._last[role] & common) | _BEFORE_NAMES[role]
        return np.append(False, shows[:-1])

    def is_name(self, key: str) -> bool:
        """Return whether a word becomes a name next to a cue."""
        return _GIVEN <= self._roles.get(key, _CONTENT) <= _PLACE

    def settle_capitals(self, codes: Ints, ends: Ints, bits: Bits) -> None:
        """Copy capitalised office words, in place.

        Posts are copied everywhere (dptext.tokens.common), and here words next to them
        ("Prime Minister", "Order Number"). Those that are also names are copied before
        a name ("King Charles"), unless a replaced capitalised word precedes.
        """
        role, kind = codes >> ROLE & _BITS, codes & kinds.KIND
        capital = codes & (kinds.TITLE | kinds.UPPER) == kinds.TITLE
        capital &= role >= _ADDRESSEE
        if not capital.any():
            return
        # Pieces that directly follow another one of their text.
        follow = codes & kinds.LEAD != 0
        follow[np.append(0, ends[:-1])[ends > np.append(0, ends[:-1])]] = False
        shown = (codes & kinds.TITLE != 0) & kinds.mask(_REPLACED)[kind]
        of_ranks = kinds.mask(_OF_RANKS)[kind]
        before = capital & self._before_ranks[role] & of_ranks
        copied = capital & self._are_ranks[role] & of_ranks
        copied &= follow & np.append(False, before[:-1])
        names = (
            capital & self._given_ranks[role] & ~(follow & np.append(False, shown[:-1]))
        )
        copied |= names & np.append((shown & follow)[1:], False)
        for _ in range(_RANKS - 1):
            copied[:-1] |= before[:-1] & (copied & follow)[1:]
        new = np.flatnonzero(copied & (kind != kinds.COMMON))
        hidden = kinds.KIND | 1 << 40 | bits.common
        codes[new] = codes[new] & ~hidden | kinds.COMMON

    @staticmethod
    def may_begin_places(codes: Ints, bits: Bits) -> list[int]:
        """Return positions of words that may begin a place of several words."""
        if bits.places & kinds.KIND != kinds.PLACE:
            return []
        firsts: list[int] = np.flatnonzero(
            codes >> ROLE & _BITS == _BEFORE_PLACE
        ).tolist()
        return firsts

    def settle(self, codes: Ints, ends: Ints, bits: Bits) -> None:
        """Replace names next to cues, in place.

        The codes (p,) are for a batch of texts that end at ends (r,).
        """
        role = codes >> ROLE & _BITS
        common = (codes & kinds.KIND) == kinds.COMMON
        cues = np.flatnonzero(self._last[role] & common)
        if not len(cues):
            return
        text = np.searchsorted(ends, cues, "right")
        begins = np.concatenate(([0], ends))[text]
        before = np.maximum(cues - 1, 0)
        paired = common[before] & (before >= begins) & (before < cues)
        flags = self._single[role[cues]]
        flags = flags | np.where(paired, self._pair[role[before], role[cues]], 0)
        # Most cues stand before another common word, which is no name.
        after = np.minimum(cues + 1, len(codes) - 1)
        plain = common[after] & ((role[after] == _OTHER) | (role[after] >= _FIRST_CUE))
        titled = (flags & _TITLES) != 0
        plain |= common[after] & (role[after] == _CONTENT) & ~titled
        plain |= (flags == _IN) & ~self._are_capital(codes[after])
        here = np.flatnonzero((flags != 0) & ~plain & (cues + 1 < ends[text]))
        walk = _Walk(
            codes=codes,
            role=role,
            bits=bits,
            after_modals=self._after_modals,
            addressees=self._addressed_cues,
        )
        limits = ends[text[here]]
        for cue, flag, end in zip(
            cues[here].tolist(), flags[here].tolist(), limits.tolist(), strict=True
        ):
            walk.follow(cue, flag, end)

    @staticmethod
    def _are_capital(codes: Ints) -> Mask:
        """Return a mask of words with only an initial capital that are in no class."""
        title = (codes & (kinds.TITLE | kinds.UPPER)) == kinds.TITLE
        return np.asarray(title & kinds.mask(_NO_CLASS)[codes & kinds.KIND])


@cache
def cues(language: str) -> NameCues:
    """Return a language's cues."""
    return NameCues(language)


class _Walk:
    """Inspects the pieces after cues."""

    def __init__(
        self,
        codes: Ints,
        role: Ints,
        bits: Bits,
        after_modals: frozenset[int],
        addressees: frozenset[int],
    ) -> None:
        self._codes, self._role, self._bits = codes, role, bits
        self._after_modals, self._addressees = after_modals, addressees

    def follow(self, cue: int, flags: int, end: int) -> None:
        """Replace the names after a cue; the text ends at `end`."""
        at, flags = self._behind(cue, flags, end)
        if flags & (_IN | _LIVE_IN | _PLACE_KEYS):
            self._name_place(at, flags, end)
        flags &= ~(_IN | _LIVE_IN | _PLACE_KEYS)
        for _ in range(_NAMES if flags else 0):
            count = 0
            while count < _WORDS and self._name(at, flags, end):
                at, count = at + 1, count + 1
                flags |= _SECOND
                if flags & _WEAK:
                    break
            at, listed = self._pass_separator(at, end)
            if not count or not listed or flags & (_AT_END | _TITLES | _WEAK):
                break
            flags = _LISTED | (0 if flags & _GREETINGS else flags & _PERSONS)

    def _behind(self, cue: int, flags: int, end: int) -> tuple[int, int]:
        """Return the position after a cue and its mark, and the flags for it."""
        at, broken = self._skip(cue + 1, end)
        mark = int(self._role[at]) if at < end else _END
        if mark == _EQUALS and flags & (_KEYS | _PLACE_KEYS):
            at = self._skip_quote(at + 1, end)
            flags = flags & _PLACE_KEYS | (_TITLES if flags & _KEYS else 0)
        elif mark in (_COLON, _EQUALS):
            named = _AT_END | _PERSONS if flags & _KEYS else 0
            flags = flags & _PLACE_KEYS | named
            at, broken = self._skip(at + 1, end)
        elif flags & _TITLES and mark == _DOT:
            at, broken = self._skip(at + 1, end)
        elif mark == _COMMA or broken:
            flags = _AT_END if flags & (_CLOSINGS | _GREETINGS) else 0
            if mark == _COMMA:
                at, _ = self._skip(at + 1, end)
        else:
            flags &= ~(_KEYS | _PLACE_KEYS | _CLOSINGS)
        return at, flags

    def _skip(self, at: int, end: int) -> tuple[int, bool]:
        """Return the next non-space piece, and whether a line ends before it."""
        broken = False
        while at < end and int(self._codes[at]) & kinds.KIND == kinds.SPACE:
            broken = broken or bool(self._codes[at] & kinds.ENDER)
            at += 1
        return at, broken

    def _skip_quote(self, at: int, end: int) -> int:
        """Return the position of a key's value, as in user="bob"."""
        is_mark = at < end and int(self._codes[at]) & kinds.KIND == kinds.PUNCTUATION
        return at + is_mark

    def _pass_separator(self, at: int, end: int) -> tuple[int, bool]:
        """Return the next name in a list after a comma or "and"."""
        listed = False
        if at < end and self._role[at] == _COMMA:
            at, listed = self._skip(at + 1, end)[0], True
        if at < end and self._role[at] == _AND:
            at, listed = self._skip(at + 1, end)[0], True
        return at, listed

    def _ends(self, at: int, end: int) -> bool:
        """Return whether a position has a mark, or ends a line or text."""
        if at >= end:
            return True
        code = int(self._codes[at])
        kind = code & kinds.KIND
        if kind == kinds.PUNCTUATION:
            is_end = int(self._role[at]) in (_COMMA, _DOT, _END, _COLON, _EQUALS)
            return is_end or bool(code & kinds.LEAD)
        return kind == kinds.MARKUP or (
            kind == kinds.SPACE and bool(code & kinds.ENDER)
        )

    def _one_more(self, at: int, end: int) -> bool:
        """Return whether exactly one more possible name precedes a mark or end."""
        if at >= end or not self._ends(at + 1, end):
            return False
        kind = int(self._codes[at]) & kinds.KIND
        is_name = kind == kinds.COMMON and _GIVEN <= self._role[at] <= _PLACE
        return is_name or kind in _REPLACED

    def _name(self, at: int, flags: int, end: int) -> bool:
        """Replace a word if it is a name here; return whether it is replaced."""
        if at >= end:
            return False
        code, role = int(self._codes[at]), int(self._role[at])
        kind = code & kinds.KIND
        is_addressee = role in self._addressees and bool(code & kinds.TITLE)
        if is_addressee and flags & _GREETINGS and kind in _NO_CLASSES_OR_PERSON:
            # "Dear Friends", "Hi Customer Service".
            self._codes[at] = code & ~(kinds.KIND | 1 << 40) | kinds.COMMON
            return True
        if kind in _REPLACED:
            if kind in _CLASSES:
                self._name_of_class(at, kind, flags, end)
            elif kind in _NO_CLASS and role not in (_LETTER, _ADJECTIVE):
                self._name_replaced(at, flags, end)
            elif kind == kinds.STOP_WORD and self._is_capital_name(at, flags, end):
                self._codes[at] = self._as_person(code)
            return True
        if kind != kinds.COMMON or not self._is_name(at, role, flags, end):
            return False
        self._codes[at] = self._as_person(code)
        return True

    def _name_of_class(self, at: int, kind: int, flags: int, end: int) -> None:
        """Turn "May" after "Hi" and "OKORO" or "Wellington" after "Mr" into persons."""
        code = int(self._codes[at])
        is_name = False
        if kind == kinds.CALENDAR:
            greeted = bool(flags & _GREETINGS)
            is_name = greeted and self._is_capital_name(at, flags | _AT_END, end)
        elif flags & (_TITLES | _SECOND) == _TITLES:
            is_name = kind == kinds.PLACE or bool(code & kinds.UPPER)
        if is_name and self._bits.persons & kinds.KIND:
            self._codes[at] = self._as_person(code)

    def _name_replaced(self, at: int, flags: int, end: int) -> None:
        """Turn a replaced word into a person if cue and spelling allow it."""
        code = int(self._codes[at])
        if not flags & (_PERSONS | _TITLES) or not self._bits.persons & kinds.KIND:
            return
        if code & kinds.TITLE:
            is_name = bool(flags & _AT_END) or not code & kinds.UPPER
        elif code & kinds.KIND == kinds.UNKNOWN:
            first = flags & (_TITLES | _COPULAS) and not flags & _SECOND
            at_end = self._ends(at + 1, end)
            is_name = bool(first) or at_end or self._one_more(at + 1, end)
        else:
            is_name = flags & (_TITLES | _SECOND) == _TITLES
        if is_name:
            self._codes[at] = self._as_person(code)

    def _is_capital_name(self, at: int, flags: int, end: int) -> bool:
        """Return whether "Will" is a name: "Dear Will," but "Hi, Will you"."""
        is_title = int(self._codes[at]) & (kinds.TITLE | kinds.UPPER) == kinds.TITLE
        is_name = self._role[at] == _FUNCTION_NAME and is_title
        if not is_name or not self._bits.persons & kinds.KIND:
            return False
        at_end = self._ends(at + 1, end)
        return at_end or not (flags & _AT_END or self._is_modal(at + 1))

    def _is_modal(self, at: int) -> bool:
        """Return whether "will" or "may" before a position is a verb."""
        is_copied = int(self._codes[at]) & kinds.KIND == kinds.COMMON
        return is_copied and int(self._role[at]) in self._after_modals

    def _is_first_part(self, at: int, end: int) -> bool:
        """Return whether a hyphen and more of the word follow: "rose-red"."""
        if at + 1 >= end or self._role[at] != _HYPHEN:
            return False
        mark, after = int(self._codes[at]), int(self._codes[at + 1])
        is_word = bool(kinds.WORDLIKE[after & kinds.KIND])
        return is_word and not (mark | after) & kinds.LEAD

    def _is_name(self, at: int, role: int, flags: int, end: int) -> bool:
        if role == _CONTENT:
            lower = not int(self._codes[at]) & kinds.TITLE
            return lower and bool(flags & _TITLES) and not flags & _SECOND
        if role in (_RANK, _RANK_ADDRESSEE):
            return flags & (_TITLES | _SECOND) == _TITLES  # "Mr. Street"
        if not _GIVEN <= role <= _PLACE:
            return False
        if self._is_first_part(at + 1, end):
            return False
        if flags & _TITLES and not flags & _SECOND:
            return True
        at_end = self._ends(at + 1, end)
        if flags & _AT_END:
            return at_end or (role != _FUNCTION_NAME and self._one_more(at + 1, end))
        if role == _GIVEN or (role == _FAMILY and flags & _SECOND):
            return True
        if role == _FUNCTION_NAME and flags & _COPULAS and not flags & _SECOND:
            return at_end or not self._is_modal(at + 1)
        return at_end and bool(flags & (_GREETINGS | _SECOND))

    def _name_place(self, at: int, flags: int, end: int) -> None:
        """Replace the word after a place cue if it is a place or capitalised."""
        if at >= end:
            return
        code = int(self._codes[at])
        kind = code & kinds.KIND
        capital = code & kinds.TITLE and not code & kinds.UPPER
        named = kind in _NO_CLASS and capital and self._role[at] != _ADJECTIVE
        if code & self._bits.common:
            # "in Second Quarter": a common word in a heading.
            named = named and self._is_alone(at + 1, end)
        if named and self._bits.places & kinds.KIND:
            self._codes[at] = self._as_place(code)
        if kind == kinds.COMMON and self._role[at] == _PLACE and flags & ~_IN:
            self._codes[at] = self._as_place(code)

    def _is_alone(self, at: int, end: int) -> bool:
        """Return whether a position has a mark, an end or a copied function word."""
        if self._ends(at, end):
            return True
        is_common = int(self._codes[at]) & kinds.KIND == kinds.COMMON
        role = int(self._role[at])
        return is_common and (role in (_OTHER, _AND) or role >= _FIRST_CUE)

    def _as_person(self, code: int) -> int:
        return code & ~kinds.KIND | self._bits.persons

    def _as_place(self, code: int) -> int:
        return code & ~_NAME_BITS | self._bits.places
