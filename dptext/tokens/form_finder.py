"""Finds pieces with a form (dptext.tokens.forms) in a text in a single pass.

The earliest piece has priority, then the longest, then the first form of RULES.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise

from dptext.tokens import dates, markup
from dptext.tokens.addresses import STREETS
from dptext.tokens.codes import STATES
from dptext.tokens.forms import (
    LISTS,
    RANK,
    RULES,
    SIGN,
    SPACED_SIGNS,
    FormLayout,
    compiled,
)
from dptext.tokens.number_words import OLDEST, WORDS, is_of_person
from dptext.tokens.policy import Form
from dptext.tokens.regex import BEHIND, PICTURES

# Possible beginnings of a piece. A dot or colon counts only inside the name of a host.
_TRIGGER = re.compile(
    f"[0-9@<#`&.:_/{PICTURES}]"
    r"(?:(?<![.:&_/])|(?<=\.)(?=[A-Za-z]{2}|[A-Za-z]\.)|(?<=:)(?=//)"
    r"|(?<=[^\W_]_)(?=[^\W_])|(?<=[^\W_] _)(?= [^\W_])|(?<=\b[A-Za-z]/)"
    r"|(?<=&)(?=#?[A-Za-z0-9]{1,32};))"
)
# Ends of the chunk of characters around a trigger.
_STOP = re.compile(
    rf'[\s<>`"{PICTURES}]'
    r"|&(?=#?[A-Za-z0-9]{1,32};)"
)
_SPACE = re.compile(r"\s")
# Places at which a piece with spaces may begin.
_START = re.compile(rf"{BEHIND}(?s:.)")
_NEXT = re.compile(r" ([^\s<>`\"&]{1,12})")
# The beginning of an IBAN with spaces.
_IBAN_BEGIN = re.compile(r"[A-Z]{2}[0-9]{2}$", re.IGNORECASE)
# The first half of a postcode.
_POSTCODE_BEGIN = re.compile(
    r"(?<![^\W_])[A-Z]{1,2}[0-9][A-Z0-9]?$|[A-Z][0-9][A-Z]$", re.IGNORECASE
)
# Numbers without a form.
_PLAIN = re.compile(
    r"[(\['‘“]*(?:[0-9]{1,6}(?:st|nd|rd|th)?|[0-9]{1,3}(?:,[0-9]{3})?|[0-9]{4}s"
    r"|[0-9]{1,2}(?!-y)(?:-[a-z]+)+)[)\]'’”,;!?]*\.?"
)
# Names of users with spaces in them: "@ sweet_tree", "climb _ chairman".
_SPACED_HANDLES = {
    "@": re.compile(
        r"@ (?:[^\W_]+(?: ?_ ?[^\W_]+)+|(?=\w*(?:[^\W\d_]\d|[a-z][A-Z]))\w+)(?![\w@])"
    ),
    "_": re.compile(r"[^\W_]+(?: ?_ ?[^\W_]+)+(?![\w@])"),
}
# Names of users in logs: "10.0.0.1 - frank [10/Oct/2000:", "for frank from 10.0.0.1".
_STAMP = re.compile(r"\[[0-9]{2}/[A-Za-z]{3}/[0-9]{4}:")
_IPV4 = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![\w.])")
_OF_ACCESS = re.compile(r"(?<= - )([^\W_][\w.\\-]{0,63}) \Z")
_OF_LOGIN = re.compile(r"(?:(?<= for )|(?<= user ))([^\W_][\w.\\-]{0,63}) from \Z")
# Words after the number of an age.
_AGES = frozenset(
    "year years yrs yr y/o yo y.o old olds year-old years-old year-olds yr-old".split()
)
_BEFORE_AGES = frozenset(("age", "aged", "ages", "age:", "aged:", "ages:", "age of"))
# Most characters after a number that belong to a piece with spaces.
_ACROSS = 48
# Chunks that are remembered, and most characters of one.
_REMEMBERED, _LONG = 50_000, 64
# Begin, end and layout of a piece.
Found = tuple[int, int, FormLayout]
# Forms whose patterns are compiled when they are first needed, each once in a list.
_Patterns = list[Form]
# Forms of several numbers with spaces between them.
_NUMBERS = (Form.CARD, Form.IBAN, Form.PHONE)
# First characters of a word after a number that may belong to the same piece.
_AFTER_NUMBER = frozenset("(0123456789")


class FormFinder:
    """Finds pieces of given forms in texts.

    Only positions with a digit or a sign of a form are searched: first the chunk up to
    the next space. Spaces are crossed only next to another number, or to a word of a
    date, a time or an amount.
    """

    def __init__(
        self, forms: Iterable[Form], copied_emoji: frozenset[str] = frozenset()
    ) -> None:
        wanted = sorted(set(forms), key=RANK.__getitem__)
        self._copied_emoji = copied_emoji
        self._markup = Form.MARKUP in wanted
        self._emoji = Form.EMOJI in wanted
        self._handles = Form.HANDLE in wanted
        self._inside = [
            (re.compile(RULES[form].needs), form)
            for form in wanted
            if form is not Form.EMOJI and RULES[form].patterns
        ]
        spaced = [form for form in wanted if RULES[form].spaced]
        self._numbers: _Patterns = [form for form in _NUMBERS if form in spaced]
        self._codes: _Patterns = [form for form in spaced if form is Form.CODE]
        # Patterns by the word before a number, and by the word after it.
        self._before: dict[str, _Patterns] = {}
        self._after: dict[str, _Patterns] = {}
        for form, (before, after) in _neighbours().items():
            for words, known in ((before, self._before), (after, self._after)):
                for word in words if form in spaced else ():
                    known[word] = [*known.get(word, []), form]
        self._memory: dict[str, tuple[Found, ...]] = {}

    def find(self, text: str) -> list[Found]:
        """Return start, end and layout of each piece in order, without overlaps."""
        forms: list[Found] = []
        end, finder = 0, None
        while hit := _TRIGGER.search(text, end):
            at = hit.start()
            sign = text[at]
            if sign in markup.BEGINS:
                finder = finder or markup.MarkupFinder(text)
                piece = finder.at(at) if self._markup else None
                end = at + 1
                if piece:
                    end = piece[0]
                    forms.append((at, end, FormLayout(Form.MARKUP, piece[1])))
            elif sign > "\u2300":
                match = compiled(Form.EMOJI, "patterns")[0].match(text, at)
                assert match is not None
                end = match.end()
                copied = self._copied_emoji.issuperset(match[0])
                if self._emoji and not copied:
                    forms.append((at, end, FormLayout(Form.EMOJI, "")))
            else:
                begin = text.rfind(" ", end, at) + 1 or end
                stop = _STOP.search(text, at)
                last = stop.start() if stop else len(text)
                chunk = text[begin:last]
                if "\n" in chunk or "\t" in chunk:
                    begin = max(text.rfind(each, begin, at) + 1 for each in "\n\t ")
                    begin = max(begin, end)
                    chunk = text[begin:last]
                here = self._around(text, end, begin, chunk)
                if self._handles and (user := _user_of_log(text, begin, chunk)):
                    forms += [user] if not forms or forms[-1][1] <= user[0] else []
                end = last
                if here:
                    forms += here
                    end = max(last, here[-1][1])
        return forms

    def _around(self, text: str, end: int, begin: int, chunk: str) -> list[Found]:
        """Return pieces in a chunk, and pieces across the spaces around it."""
        inside = self._memory.get(chunk)
        if inside is None:
            inside = self._find_in_chunk(chunk)
        some = [
            (begin + one, begin + two, layout)
            for one, two, layout in inside
            if _fits(text, begin + one, begin + two, layout)
        ]
        if self._markup and chunk[-1] in ".)" and len(chunk) <= len("10."):
            if after := markup.list_number(text, begin):
                number = FormLayout(Form.MARKUP, text[begin:after])
                some.append((begin, after, number))
        if chunk in _SPACED_HANDLES and self._handles:
            some += _spaced_handle(text, end, begin, chunk)
        last = begin + len(chunk)
        start, patterns = begin, []
        if begin - 1 > end and text[begin - 1] == " ":
            before, word = _word_before(text, end, begin)
            word = word.lstrip("([").rstrip(".,")
            patterns = self._before.get(word) or self._before.get(word.lower(), [])
            start = before if patterns else begin
        if behind := _NEXT.match(text, last):
            patterns = patterns + self._patterns_before(behind[1], chunk)
        if patterns:
            some += self._across(text, start, last, patterns)
        return some if len(some) < 2 else first(some)

    def _patterns_before(self, word: str, chunk: str) -> _Patterns:
        """Return the forms of pieces that continue with a word after a chunk."""
        if word[0] in _AFTER_NUMBER and (word[0] != "(" or "+" in chunk):
            is_begun = _POSTCODE_BEGIN.search(chunk)
            return [*self._numbers, *self._codes] if is_begun else self._numbers
        if _IBAN_BEGIN.search(chunk):
            return self._numbers
        more = self._after.get(word.rstrip(".,;:!?)]").lower())
        return more or self._after.get(word[0]) or []

    def _across(
        self, text: str, first: int, last: int, patterns: _Patterns
    ) -> Iterator[Found]:
        """Yield the pieces containing spaces that begin before `last`."""
        space = _SPACE.search(text, min(last + _ACROSS, len(text)))
        limit = space.start() if space else len(text)
        # No piece begins at another place: to try these alone saves time.
        starts = [hit.start() for hit in _START.finditer(text, first, last)]
        every = ((p, form) for form in patterns for p in compiled(form, "spaced"))
        for pattern, form in every:
            end = first
            for start in starts:
                match = pattern.match(text, start, limit) if start >= end else None
                if match is None:
                    continue
                end = match.end()
                piece, rule = match[0], RULES[form]
                # Words in capitals after an IBAN match as well: drop the last ones.
                while piece and not (pattern.fullmatch(piece) and rule.accepts(piece)):
                    piece = piece.rpartition(" ")[0]
                if piece:
                    layout = FormLayout(form, rule.find_layout(piece))
                    if _fits(text, start, start + len(piece), layout):
                        yield start, start + len(piece), layout

    def _find_in_chunk(self, chunk: str) -> tuple[Found, ...]:
        forms = () if _PLAIN.fullmatch(chunk) else self._search(chunk)
        if len(chunk) <= _LONG:
            if len(self._memory) > _REMEMBERED:
                self._memory.clear()
            self._memory[chunk] = forms
        return forms

    def _search(self, chunk: str) -> tuple[Found, ...]:
        forms: list[Found] = []
        for needs, form in self._inside:
            if needs.search(chunk) is None:
                continue
            rule = RULES[form]
            for pattern in compiled(form, "patterns"):
                for match in pattern.finditer(chunk):
                    if rule.accepts(match[0]):
                        layout = FormLayout(form, rule.find_layout(match[0]))
                        forms.append((*match.span(), layout))
        return tuple(first(forms))


class WordFinder:
    """Finds pieces of forms recognised by words, not digits or signs.

    Only positions near two number words, or near digits and a word for a street, are
    tried.
    """

    def __init__(self, forms: Iterable[Form]) -> None:
        patterns: dict[bool, _Patterns] = {True: [], False: []}
        for form in sorted(set(forms), key=RANK.__getitem__):
            patterns[form is Form.ADDRESS] += [form] if RULES[form].worded else []
        self._addresses, self._numbers = patterns[True], patterns[False]
        none = frozenset[str]()
        self._number_words = _spell(WORDS) if self._numbers else none
        self._streets = _spell(STREETS) if self._addresses else none
        self._clues = self._number_words | self._streets

    def find(self, text: str, pieces: Sequence[str]) -> list[Found]:
        """Return start, end and layout of each such piece in a text."""
        few = self._clues.intersection(pieces)
        hyphens = bool(self._numbers) and "-" in text and bool(_HYPHENED.search(text))
        if not hyphens and (not few or (len(few) == 1 and self._is_alone(few, pieces))):
            return []
        spots = [(at, self._numbers) for at in self._near_numbers(pieces, hyphens)]
        if not self._streets.isdisjoint(few):
            spots += [(at, self._addresses) for at in self._near_streets(pieces)]
        if not spots:
            return []
        # The place of each piece in the text, without the space before it.
        begins = list(accumulate(map(len, pieces), initial=0))
        matches: list[Found] = []
        for at, patterns in spots:
            begin = begins[at] + (pieces[at][0] == " " != pieces[at])
            for form in patterns:
                for pattern in compiled(form, "worded"):
                    if match := pattern.match(text, begin):
                        layout = FormLayout(form, RULES[form].find_layout(match[0]))
                        matches.append((*match.span(), layout))
        return first([each for each in matches if _fits(text, *each)])

    def _is_alone(self, few: frozenset[str], pieces: Sequence[str]) -> bool:
        """Return whether the text's only clue begins no form."""
        (word,) = few
        begins = word in self._streets or word in _OLDEST
        return not begins and pieces.count(word) == 1

    def _near_numbers(self, pieces: Sequence[str], hyphens: bool) -> set[int]:
        """Return the pieces where a run of number words may begin."""
        words = self._number_words
        hyphened = {
            number
            for number, piece in enumerate(pieces if hyphens else ())
            if _HYPHENED.search(piece)
        }
        at = [n for n, piece in enumerate(pieces) if piece in words or n in hyphened]
        here = {
            one
            for one, two in pairwise(at)
            if two - one == 1 or _BETWEEN.issuperset(pieces[one + 1 : two])
        }
        here |= hyphened | {number for number in at if pieces[number] in _OLDEST}
        # A word before the number belongs to some: "a hundred", "aged", "age of".
        before = {n - back for n in here for back in (1, 2) if n >= back}
        return here | {n for n in before if pieces[n].lower().strip() in _BEFORE_NUMBER}

    def _near_streets(self, pieces: Sequence[str]) -> set[int]:
        """Return the pieces where an address may begin."""
        here = set[int]()
        for at, piece in enumerate(pieces):
            if piece in self._streets:
                begin = max(at - _NEAR - 1, 0)
                near = pieces[begin : at + _NEAR + 1]
                if any(each.strip()[:1].isdigit() for each in near):
                    here.update(range(begin, at))
        return here


def _spaced_handle(text: str, end: int, begin: int, sign: str) -> list[Found]:
    """Return a user name with spaces around its sign, if there is one."""
    if sign == "_":
        begin = max(text.rfind(each, end, max(begin - 1, end)) + 1 for each in " \n\t")
        begin = max(begin, end)
    match = _SPACED_HANDLES[sign].match(text, begin)
    if match is None:
        return []
    layout = FormLayout(Form.HANDLE, RULES[Form.HANDLE].find_layout(match[0]))
    return [(*match.span(), layout)]


def _user_of_log(text: str, begin: int, chunk: str) -> Found | None:
    """Return the name of a user before the time of a line of an access log.

    Also before an address in "for frank from 10.0.0.1" and "user frank from 10.0.0.1".
    """
    first = max(begin - _LONG, 0)
    if chunk[:1] == "[":
        match = _OF_ACCESS.search(text, first, begin) if _STAMP.match(chunk) else None
    elif text.endswith(" from ", first, begin):
        match = _OF_LOGIN.search(text, first, begin) if _IPV4.match(chunk) else None
    else:
        return None
    return None if match is None else (*match.span(1), FormLayout(Form.HANDLE, ""))


def _fits(text: str, begin: int, end: int, layout: FormLayout) -> bool:
    """Return whether a piece is compatible with its neighbouring words."""
    return layout.form is not Form.AGE or is_of_person(text, begin, end)


def _spell(words: Iterable[str]) -> frozenset[str]:
    """Return words in all usual capitalisations, with and without leading space."""
    every = {each for w in words for each in (w, w.capitalize(), w.upper())}
    return frozenset(every | {f" {each}" for each in every})


_OLDEST = _spell(OLDEST)
_BEFORE_NUMBER = frozenset("a an age aged ages aged: age: ages: of".split())
# Pieces between two number words of one form.
_BETWEEN = frozenset((",", "-", " and", " of", " day", " the", " And", " Of", " The"))
# Most words between the number and the street of an address.
_NEAR = 3
# With the mark first, this takes no time in texts without it.
_HYPHENED = re.compile(
    f"-(?<=[a-zA-Z0-9]-)(?i:(?:{'|'.join(sorted(WORDS))}|years?-olds?)(?![a-z]))"
)


def _word_before(text: str, end: int, begin: int) -> tuple[int, str]:
    """Return the last word between `end` and a chunk with its position, or "age of"."""
    before = max(text.rfind(" ", end, begin - 1) + 1, end)
    word = text[before : begin - 1]
    if "\n" in word:
        before += word.rindex("\n") + 1
        word = text[before : begin - 1]
    if word == "of" and text[max(before - 4, end) : before].lower() == "age ":
        return before - 4, "age of"
    return before, word


def spans(form: Form, text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each piece with a form."""
    for begin, end, _ in _finder(form).find(text):
        yield begin, end


@cache
def _finder(form: Form) -> FormFinder:
    return FormFinder((form,))


def first(forms: list[Found]) -> list[Found]:
    """Return the pieces by priority, without overlaps."""
    kept: list[Found] = []
    rank = RANK.__getitem__
    for each in sorted(forms, key=lambda one: (one[0], -one[1], rank(one[2].form))):
        if not kept or each[0] >= kept[-1][1]:
            kept.append(each)
    return kept


@cache
def _neighbours() -> Mapping[Form, tuple[frozenset[str], frozenset[str]]]:
    """Return words that may precede, and words that may follow, a number per form."""
    # At once: a look at each character takes a hundredth of the time of one line.
    marks = {*re.findall(SIGN, "".join(map(chr, range(0x10000))))}
    currencies = {each.lower() for each in LISTS["currencies"]}
    signed = {f"{head.lower()}{mark}" for head in LISTS["signs"] for mark in "$£"}
    words = {each.lower() for name in ("money", "sizes") for each in LISTS[name]}
    amounts = frozenset(marks | currencies | signed)
    return {
        Form.DATE: (dates.NAMES, dates.NAMES | {"of"}),
        Form.TIME: (frozenset(), dates.BEHIND),
        Form.AGE: (
            frozenset("age aged ages age: aged: ages:".split()) | {"age of"},
            _AGES,
        ),
        Form.AMOUNT: (amounts | SPACED_SIGNS, amounts | words | {"%"}),
        Form.CODE: (frozenset(STATES), frozenset()),
    }
