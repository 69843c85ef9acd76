"""Records in several languages: detecting the language, and reading its words.

The language of a record depends only on pieces that every language copies. Splitting,
forms and elisions come first and are the same for all languages. *Function words* are
those of all languages in the run, without name particles and without names in any
list; in lower case, and the most frequent of three or more letters also capitalised,
they are copied in every record, whatever its language. Only they and the number of
lower-case words decide: a record is in the language whose function words it has
most, by public frequencies; in none if it has hardly any among many words; in
the first language of the run if it has none among few. So changing a replaced word
to another one with the same case changes no language
(docs/guarantees.md, 4).

A text in none of the languages becomes a single mark.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np

from dptext.errors import UsageError
from dptext.tokens import (
    common,
    kinds,
    language_data,
    name_cues,
    organisations,
    sentence_starts,
)
from dptext.tokens.forms import FormLayout
from dptext.tokens.languages import (
    COPIED,
    ENGLISH_SHARE,
    FEW_LOWER,
    MANY,
    MARK,
    LanguageLists,
    language_lists,
    languages,
)
from dptext.tokens.policy import Policy
from dptext.tokens.regex import key_of, to_keys
from dptext.tokens.word_reading import WORD, Names, Reader
from dptext.types import ENGLISH, Floats, Ints, Lexicon, Mask

#: A text in none of the languages of the run.
OTHER = ""
#: The form of such a text.
TEXT = "text"
# The share of words in lower case that a record shares with its language at least.
_SHARE = 0.12
# How much likelier, in nats, one in a language that the run lacks is in that language.
_APART = 6.0
# Words that may be part of a name of several words (dptext.tokens.organisations).
_BETWEEN = frozenset(("and", "of", "for"))
_OUTSIDE = frozenset(
    (*(f"{space}{word}" for word in _BETWEEN for space in ("", " ")), "'s", "’s")
)
# Words between a day and its month.
_OF = frozenset((" de", " di"))
_BEFORE_THE = frozenset((" of", " for", "Of", "For"))
# Pieces that may be inside a name of several words.
_JOINED = _OUTSIDE | {" the"}
# The rank of a word that a language lacks.
_RARE = 6000
# Particles of names among so many commonest words are words of the language, too; and
# function words among these are copied in every record with a capital as well.
_FIRST = 150
# Bits of a word until the language of its record is known, and from _ROW on the row of
# its score plus 1.
UNREAD, _DOUBTED, _JOINS = 1 << 39, 1 << 40, 1 << 41
_ROW, _ROWS = 8, (1 << 31) - 1
_DRAWN = kinds.LETTERED.copy()
_DRAWN[[kinds.COMMON, kinds.IDENTIFIER]] = False, True
_CAPITAL = kinds.TITLE | kinds.UPPER
_LEAST = 3


def check(policy: Policy, lexicon: Lexicon) -> None:
    """Raise UsageError for languages without lists or without common words."""
    known = (ENGLISH, *languages())
    for code in policy.languages:
        if code not in known:
            raise UsageError(
                f"tokens.languages: no lists for language {code!r}; available: "
                f"{', '.join(known)}"
            )
    if policy.languages and lexicon.language != ENGLISH:
        raise UsageError(
            f"tokens.languages: the language of lexicon {lexicon.name} is "
            f"{lexicon.language!r}; languages need an English lexicon"
        )


class Languages:
    """The languages of a policy."""

    def __init__(self, policy: Policy, lexicon: Lexicon) -> None:
        """Prepare the lists of all languages. Raises UsageError for unknown ones."""
        check(policy, lexicon)
        self.codes = policy.languages
        others = [code for code in self.codes if code != ENGLISH]
        lists = {code: language_lists(code) for code in others}
        english = _english_names()
        english_function = language_data.stop_words(ENGLISH)
        names = Names(list(lists.values()), english)
        known = dict(lists)
        if len(self.codes) > 1:
            known |= {code: language_lists(code) for code in languages()}
        # Languages that tell a record apart: those of the run, then all others.
        self._known = tuple(dict.fromkeys((*self.codes, ENGLISH, *known)))
        functions = _function_words(known, lexicon)
        listed_names = names.persons | names.strong | names.organisations | english
        listed_names |= language_data.special_words(ENGLISH)
        listed_names = listed_names.union(*(each.special for each in known.values()))
        calendar = (each.months + each.weekdays for each in known.values())
        listed_names |= frozenset(map(key_of, chain(*calendar)))
        function = {*english_function}.union(
            *(each.function_words | each.particles for each in known.values())
        )
        listed = {word for words in functions.values() for word in words}
        is_name = name_cues.cues(ENGLISH).is_name
        every = {
            word for word in listed if word in function or word not in listed_names
        }
        every = {word for word in every if not is_name(word)}
        self._ranks = {
            code: {word: words[word] for word in words if word in every}
            for code, words in functions.items()
        }
        self._particles = frozenset[str]().union(
            *(each.particles for each in known.values())
        )
        #: Words that are copied in every record, as they are spelled.
        first = {
            word
            for words in functions.values()
            for word, rank in words.items()
            if rank < _FIRST
        }
        spelled = every & first & function - listed_names
        capitals = _with_capitals(spelled, self._particles)
        self.copied = frozenset(every | capitals)
        if len(self.codes) == 1:
            self.copied = frozenset()
        # The row of each copied piece in the scores of words.
        self._scores: dict[str, int] = {}
        rows: dict[str, int] = {}
        for word in self.copied:
            row = rows.setdefault(key_of(word), len(rows))
            self._scores[word] = self._scores[f" {word}"] = row
        self._rows = np.array([*map(self._score, rows)])
        common_words = common.common_words(lexicon, *policy.copied_words)
        # Those that tell nothing at some places.
        letters = {word for word in self.copied if len(word) == 1}
        words = self._particles | letters
        self._doubted = _JOINED.union(words, (f" {word}" for word in words))
        self.readers: Mapping[str, Reader] = {
            code: Reader(
                lists[code],
                copied=self.copied,
                names=names,
                classes=policy.classes,
                opinions=policy.opinion == "keep",
                code_listed=common_words.code_listed,
            )
            for code in others
        }
        #: Beginnings of words that are pieces of their own.
        self.elisions = frozenset[str]().union(
            *(each.elisions for each in lists.values())
        )
        self._classes = frozenset(each.kind for each in policy.classes)
        self._is_class = kinds.mask(self._classes)
        self._titles = frozenset[str]().union(*(each.titles for each in lists.values()))

    def _score(self, word: str) -> tuple[float, ...]:
        """Return 1, and the log frequency in each language.

        These are followed by flags for function words per language.
        """
        ranks = [self._ranks[code].get(word) for code in self._known]
        logs = [-math.log(_RARE if rank is None else rank + 3) for rank in ranks]
        known = [float(rank is not None) for rank in ranks]
        return (1.0, *logs, *known)

    def code_unread(self, piece: str) -> int:
        """Return the bits of a word whose language is still unknown."""
        row = self._scores.get(piece, -1)
        bits = UNREAD | (row + 1) << _ROW
        if piece in _JOINED:
            bits |= _JOINS
        return bits | _DOUBTED if row >= 0 and piece in self._doubted else bits

    def find(
        self,
        pieces: Sequence[str],
        codes: Ints,
        ends: Ints,
        *,
        records: Ints,
        declared: Sequence[str | None],
    ) -> list[str]:
        """Return the language of each text, OTHER for another one: (r,).

        records (r,): the record of each text, from 0 and non-decreasing; declared: the
        language given by a column for each record, None without a column.
        """
        by_record = self._find(
            pieces, codes, ends, records=records, count=len(declared)
        )
        for at, each in enumerate(declared):
            if each is not None:
                by_record[at] = each if each in self.codes else OTHER
        return [by_record[at] for at in records.tolist()]

    def _find(
        self,
        pieces: Sequence[str],
        codes: Ints,
        ends: Ints,
        *,
        records: Ints,
        count: int,
    ) -> list[str]:
        """Return the language of each record."""
        if len(self.codes) == 1:
            return [*self.codes] * count
        kind = codes & kinds.KIND
        texts = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        record = records[texts]
        bits = np.where(codes & UNREAD, codes, 0)
        # Parts of words are read already.
        others = np.flatnonzero(kinds.LETTERED[kind] & (codes & UNREAD == 0))
        bits[others] = [self.code_unread(pieces[at]) for at in others.tolist()]
        rows = (bits >> _ROW & _ROWS) - 1
        for at in np.flatnonzero(bits & _DOUBTED).tolist():
            if not self._counts(pieces, codes, at):
                rows[at] = -1
        spots = np.flatnonzero(rows >= 0)
        size, run = len(self._known), len(self.codes)
        weights = self._rows[rows[spots]].T
        sums = np.array([np.bincount(record[spots], each, count) for each in weights]).T
        lower = kinds.LETTERED[kind] & (codes & _CAPITAL == 0)
        for at in np.flatnonzero(bits & _JOINS).tolist():
            lower[at] &= not _may_be_joined(pieces, at)
        words = np.bincount(record[lower], minlength=count)
        scores = sums[:, 1 : 1 + size]
        best = np.argmax(scores[:, :run], axis=1)
        of_best = sums[np.arange(count), 1 + size + best]
        likelier = scores.max(axis=1) - scores[:, :run].max(axis=1)
        is_other = (words >= MANY) & ((of_best < _SHARE * words) | (likelier > _APART))
        by_record = []
        for at, (number, other) in enumerate(zip(best, is_other, strict=True)):
            has_none = not sums[at, 0]
            code = self.codes[0 if has_none else int(number)]
            by_record.append(OTHER if other else code)
        return by_record

    def _counts(self, pieces: Sequence[str], codes: Ints, at: int) -> bool:
        """Return whether a copied function word indicates the language here.

        A particle after a capitalised word may be part of a name, and a letter
        before a period an initial.
        """
        piece = pieces[at]
        if _may_be_joined(pieces, at):
            return False
        body = piece.strip(" ")
        if len(body) == 1:
            return at + 1 == len(pieces) or pieces[at + 1] != "."
        if body not in self._particles:
            return True
        before = at - 1
        while before >= 0 and pieces[before].strip(" ") in self._particles:
            before -= 1
        if before < 0 or not codes[before] & kinds.TITLE:
            return True
        return pieces[before] in self._scores

    def read(
        self,
        pieces: list[str],
        codes: Ints,
        ends: Ints,
        formed: dict[int, FormLayout],
        records: Ints | None,
        declared: Sequence[str | None] | None,
    ) -> tuple[list[str], Ints, Ints, dict[int, FormLayout], list[str]]:
        """Detect the language of each text, and read its words in that language.

        Returns updated pieces, codes, ends and forms, and the languages. Each
        text in another language is one piece.
        """
        if records is None:
            records = np.arange(len(ends))
        if declared is None:
            declared = [None] * (int(records[-1]) + 1 if len(records) else 0)
        texts_in = self.find(pieces, codes, ends, records=records, declared=declared)
        for code, mask in self._masks(ends, texts_in):
            spots = np.flatnonzero(mask & kinds.LETTERED[codes & kinds.KIND])
            spelled = map(pieces.__getitem__, spots.tolist())
            read = map(self.readers[code].codes.__getitem__, spelled)
            new = np.fromiter(read, np.int64, count=len(spots))
            spots, new = spots[new >= 0], new[new >= 0]
            codes[spots] = codes[spots] & (0xFF & ~kinds.KIND) | new
        pieces, codes, ends, formed, _ = without_others(
            pieces, codes, ends, formed=formed, layouts={}, texts_in=texts_in
        )
        return pieces, codes, ends, formed, texts_in

    def finish(
        self,
        pieces: Sequence[str],
        codes: Ints,
        ends: Ints,
        texts_in: Sequence[str],
        formed: dict[int, FormLayout],
    ) -> None:
        """Apply rules that depend on neighbouring words, and add word layouts."""
        begins = np.repeat(np.concatenate(([0], ends))[:-1], np.diff(ends, prepend=0))
        for code, mask in self._masks(ends, texts_in):
            reader, kind = self.readers[code], codes & kinds.KIND
            unknown = np.flatnonzero(mask & (kind == kinds.UNKNOWN))
            starts = unknown[sentence_starts.begin(codes, unknown, begins[unknown])]
            drawn = np.flatnonzero(mask & _DRAWN[kind])
            if kinds.PERSON in self._classes:
                starting = {*starts.tolist()}
                capital = drawn[codes[drawn] & kinds.TITLE != 0]
                where = zip(capital.tolist(), begins[capital].tolist(), strict=True)
                for at, begin in where:
                    is_start = at in starting or reader.is_street(pieces[at])
                    if self._is_person(reader, codes, at, begin=begin, starts=is_start):
                        codes[at] = codes[at] & ~kinds.KIND | kinds.PERSON
            self._find_days(reader, pieces, codes, mask=mask, formed=formed)
            drawn = drawn[~self._is_class[codes[drawn] & kinds.KIND]]
            codes[drawn] = codes[drawn] & ~kinds.KIND | kinds.FORMED
            spots = drawn.tolist()
            layouts = map(reader.layouts.__getitem__, map(pieces.__getitem__, spots))
            formed.update(zip(spots, layouts, strict=True))
            behind = drawn[begins[drawn] < drawn]
            behind = behind[codes[behind - 1] & kinds.KIND == kinds.COMMON]
            for at in behind.tolist():
                if asked := reader.asks_for[pieces[at - 1]]:
                    code, space, rest = formed[at].shown.partition(" ")
                    shown = f"{code}{asked}{space}{rest}"
                    formed[at] = formed[at]._replace(shown=shown)

    @staticmethod
    def _find_days(
        reader: Reader,
        pieces: Sequence[str],
        codes: Ints,
        *,
        mask: Mask,
        formed: dict[int, FormLayout],
    ) -> None:
        """Recognise numbers before months as days: "3 de marzo"."""
        months = np.flatnonzero(mask & (codes & kinds.KIND == kinds.CALENDAR))
        for at in months.tolist():
            before = at - 1 - (pieces[at - 1] in _OF)
            if before < 0 or codes[before] & kinds.KIND != kinds.NUMBER:
                continue
            if layout := reader.day(pieces[before], pieces[at]):
                codes[before] = codes[before] & ~kinds.KIND | kinds.FORMED
                formed[before] = layout

    def _masks(self, ends: Ints, texts_in: Sequence[str]) -> Iterator[tuple[str, Mask]]:
        """Yield each non-English language with a mask of its texts' pieces."""
        sizes = np.diff(ends, prepend=0)
        for code in self.readers:
            if code in texts_in:
                texts = np.fromiter(map(code.__eq__, texts_in), bool)
                yield code, np.repeat(texts, sizes)

    @staticmethod
    def _is_person(
        reader: Reader, codes: Ints, at: int, *, begin: int, starts: bool
    ) -> bool:
        """Return whether a capitalised word in no list is written as a person."""
        kind = int(codes[at]) & kinds.KIND
        before = at - 1
        spaced = before >= begin and bool(codes[at] & kinds.LEAD)
        if spaced:
            code = int(codes[before])
            if code & kinds.KIND == kinds.PERSON and kind != kinds.ORGANISATION:
                return kind != kinds.CALENDAR
            dotted = before > begin and bool(code & common.DOT)
            title = int(codes[before - 1]) if dotted else code
            if title & common.TITLES and title & kinds.KIND == kinds.COMMON:
                return True
            if code & common.GREETS and code & kinds.KIND == kinds.COMMON:
                return (
                    kind in (kinds.UNKNOWN, kinds.PLACE)
                    and not codes[at] & common.STARTS
                )
        if kind != kinds.UNKNOWN or codes[at] & kinds.UPPER:
            return False
        return not starts and not reader.has_capital_nouns

    def is_title(self, piece: str) -> bool:
        """Return whether a word is a title in any of the languages."""
        return key_of(piece.strip(" ")) in self._titles

    def choices(self, shown: str) -> Sequence[str]:
        """Return the words to choose from for a layout."""
        return self.readers[shown.partition(" ")[0].rstrip("'-")].choices[shown]


def in_english(
    codes: Ints,
    ends: Ints,
    records: Ints | None,
    *,
    counted: Mask,
    kept: Sequence[int],
    weights: Floats,
) -> list[str] | None:
    """Return each text's language, English or OTHER; None if all are English.

    The final codes (p,) decide: a record with many words, of which some are in lower
    case and hardly any of these is copied, is in another language. counted (16,): kinds
    of words; kept: positions of other words; weights (p,): how much each counts as
    copied.
    """
    kind = codes & kinds.KIND
    # Emoji are copied, too.
    words = counted[kind] & ((kind != kinds.COMMON) | (codes & kinds.ENDER == 0))
    words[kept] = True
    lower = words & (codes & _CAPITAL == 0)
    texts = np.arange(len(ends)) if records is None else records
    of_piece = np.repeat(texts, np.diff(ends, prepend=0))
    size = int(texts[-1]) + 1 if len(texts) else 0
    every, small = (
        np.bincount(of_piece[each], minlength=size) for each in (words, lower)
    )
    known = np.bincount(of_piece[lower], weights=weights[lower], minlength=size)
    is_other = (every >= MANY) & (small >= FEW_LOWER) & (known < ENGLISH_SHARE * small)
    if not is_other.any():
        return None
    return [OTHER if other else ENGLISH for other in is_other[texts].tolist()]


def without_others(
    pieces: list[str],
    codes: Ints,
    ends: Ints,
    *,
    formed: dict[int, FormLayout],
    layouts: dict[int, str],
    texts_in: Sequence[str] | None,
) -> tuple[list[str], Ints, Ints, dict[int, FormLayout], dict[int, str]]:
    """Replace each non-blank text in another language by a single mark.

    formed and layouts are keyed by position of pieces.
    """
    if texts_in is None or OTHER not in texts_in:
        return pieces, codes, ends, formed, layouts
    out: list[str] = []
    out_codes: list[Ints] = []
    # Where each piece stands then; those of the others stand nowhere.
    places = np.full(len(pieces), -1, np.int64)
    marks, out_ends, begin = [], [], 0
    for end, code in zip(ends.tolist(), texts_in, strict=True):
        words = kinds.WORDLIKE[codes[begin:end] & kinds.KIND]
        if code == OTHER and words.any():
            marks.append(len(out))
            out.append(MARK)
            out_codes.append(np.array([kinds.FORMED], np.int64))
        else:
            places[begin:end] = np.arange(len(out), len(out) + end - begin)
            out += pieces[begin:end]
            out_codes.append(codes[begin:end])
        out_ends.append(len(out))
        begin = end
    moved = places.tolist()
    of_forms = {moved[at]: formed[at] for at in formed if moved[at] >= 0}
    of_forms |= dict.fromkeys(marks, FormLayout(TEXT, MARK))  # type: ignore[arg-type]
    of_names = {moved[at]: layouts[at] for at in layouts if moved[at] >= 0}
    all_ends = np.array(out_ends, np.int64)
    return out, np.concatenate(out_codes), all_ends, of_forms, of_names


def _may_be_joined(pieces: Sequence[str], at: int) -> bool:
    """Return whether a small word may be inside an organisation's name."""
    if pieces[at] == " the":
        return at > 0 and pieces[at - 1] in _BEFORE_THE
    return pieces[at] in _OUTSIDE


@lru_cache(maxsize=4)
def languages_of(policy: Policy, lexicon: Lexicon) -> Languages:
    """Return a policy's prepared languages."""
    return Languages(policy, lexicon)


def is_form(name: str) -> bool:
    """Return whether a piece has one of the forms users can choose."""
    return name not in (WORD, TEXT)


def _english_names() -> frozenset[str]:
    """Return the names in English lists, as keys."""
    lists = language_data.common_lists(ENGLISH)
    names = language_data.person_names(ENGLISH, capital=True)
    names |= language_data.person_names(ENGLISH)
    for name in ("names", "cities", "places", "organisations", "months", "weekdays"):
        names |= lists.get(name, frozenset())
    return names


def _function_words(
    lists: Mapping[str, LanguageLists], lexicon: Lexicon
) -> dict[str, dict[str, int]]:
    """Return each language's function words with their ranks."""
    words_of = {}
    for code, each in lists.items():
        ranks = each.ranks
        words = {*each.function_words, *(w for w in ranks if ranks[w] < COPIED)}
        words |= {word for word in each.particles if ranks.get(word, _FIRST) < _FIRST}
        words_of[code] = {word: ranks.get(word, 500) for word in words - _BETWEEN}
        words_of[code] |= dict.fromkeys(each.elisions, 5)
    order = np.argsort(-lexicon.counts, kind="stable").tolist()
    cues = name_cues.cues(ENGLISH)
    keys = to_keys([lexicon.words[row] for row in order])
    ranked = {key: rank for rank, key in enumerate(keys)}
    first = (each for each in order[:COPIED] if lexicon.words[each].islower())
    stop = {key_of(lexicon.words[row]) for row in first}
    stop = (stop | language_data.stop_words(ENGLISH)) - _BETWEEN
    words_of[ENGLISH] = {
        word: ranked.get(word, 500)
        for word in stop
        if word.isalpha() and not cues.is_name(word)
    }
    return words_of


def _with_capitals(words: set[str], particles: frozenset[str]) -> set[str]:
    """Return function words of three or more letters, with capitals.

    Words that may be acronyms, or part of a name of several words, are excluded, as are
    name particles in capitals ("BIN").
    """
    short = language_data.short_forms(ENGLISH)
    acronyms = frozenset().union(*(map(str.lower, each) for each in short.values()))
    acronyms |= language_data.common_lists(ENGLISH).get(
        "places in capitals", frozenset()
    )
    acronyms |= organisations.ADJECTIVES | {"who"}
    fitting = [word for word in words if len(word) >= _LEAST and word not in acronyms]
    upper = {word.upper() for word in fitting if word not in particles}
    return upper | {word.capitalize() for word in fitting}
