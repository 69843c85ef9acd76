"""Where forms stand in a text: pieces with a form (dptext.tokens.forms), in one pass.

The first piece goes before others, and of several that begin at one place the longest;
where two forms have the same piece, the first of RULES.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from dptext.tokens import dates, markup
from dptext.tokens.forms import LISTS, RANK, RULES, SIGN, FormLayout, compiled
from dptext.tokens.policy import Form

# With what a piece may begin; a dot or colon only before what makes a name of a host.
_TRIGGER = re.compile(
    "[0-9@<#`&.:\u2600-\u266e\u2670-\u2767\u2776-\u27bf\U0001f000-\U0001faff]"
    r"(?:(?<![.:&])|(?<=\.)(?=[A-Za-z]{2}|[A-Za-z]\.)|(?<=:)(?=//)"
    r"|(?<=&)(?=#?[A-Za-z0-9]{1,32};))"
)
# Where the characters around a trigger end, which are looked at together.
_STOP = re.compile(
    '[\\s<>`"\u2600-\u266e\u2670-\u2767\u2776-\u27bf\U0001f000-\U0001faff]'
    r"|&(?=#?[A-Za-z0-9]{1,32};)"
)
_SPACE = re.compile(r"\s")
_NEXT = re.compile(r" ([^\s<>`\"&]{1,12})")
# What a piece with spaces may begin with that is looked at for a number behind it.
_IBAN_BEGIN = re.compile(r"[A-Z]{2}[0-9]{2}$", re.IGNORECASE)
# Numbers that have no form by themselves.
_PLAIN = re.compile(
    r"[(\['‘“]*(?:[0-9]{1,6}(?:st|nd|rd|th)?|[0-9]{1,3}(?:,[0-9]{3})?|[0-9]{4}s"
    r"|[0-9]{1,2}(?:-[a-z]+)+)[)\]'’”,;!?]*\.?"
)
_ACROSS = 48  # characters behind a number that a piece with spaces may take
_REMEMBERED, _LONG = 50_000, 64  # pieces remembered, and characters of one
Found = tuple[int, int, FormLayout]
_Patterns = list[tuple[re.Pattern[str], Form]]
_NUMBERS = (Form.CARD, Form.IBAN, Form.PHONE)


class FormFinder:
    """Finds pieces of some forms in texts.

    A text is looked at where a digit or a sign stands that a form has: first up to the
    next space, then, for a number beside a word of a date, time or amount or beside
    another number, across spaces.
    """

    def __init__(self, forms: Iterable[Form]) -> None:
        wanted = sorted(set(forms), key=RANK.__getitem__)
        self._markup = Form.MARKUP in wanted
        self._emoji = Form.EMOJI in wanted
        self._inside = [
            (re.compile(RULES[form].needs), pattern, form)
            for form in wanted
            for pattern in compiled(form, spaced=False)
            if form is not Form.EMOJI
        ]
        spaced = {form: compiled(form, spaced=True) for form in wanted}
        self._numbers: _Patterns = [
            (pattern, form) for form in _NUMBERS for pattern in spaced.get(form, ())
        ]
        # Patterns by the word that stands before a number, or behind it.
        self._before: dict[str, _Patterns] = {}
        self._after: dict[str, _Patterns] = {}
        for form, (before, after) in _beside().items():
            patterns = [(pattern, form) for pattern in spaced.get(form, ())]
            for words, known in ((before, self._before), (after, self._after)):
                for word in words if patterns else ():
                    known[word] = known.get(word, []) + patterns
        self._memory: dict[str, tuple[Found, ...]] = {}

    def find(self, text: str) -> list[Found]:
        """Return begin, end and layout of each piece, in order; none overlap."""
        found: list[Found] = []
        end, reader = 0, None
        while hit := _TRIGGER.search(text, end):
            at = hit.start()
            sign = text[at]
            if sign in markup.BEGINS:
                reader = reader or markup.Reader(text)
                piece = reader.at(at) if self._markup else None
                end = at + 1
                if piece:
                    end = piece[0]
                    found.append((at, end, FormLayout(Form.MARKUP, piece[1])))
            elif sign > "\u25ff":
                match = compiled(Form.EMOJI, spaced=False)[0].match(text, at)
                assert match is not None
                end = match.end()
                if self._emoji:
                    found.append((at, end, FormLayout(Form.EMOJI, "")))
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
                end = last
                if here:
                    found += here
                    end = max(last, here[-1][1])
        return found

    def _around(self, text: str, end: int, begin: int, chunk: str) -> list[Found]:
        """Return the pieces of a chunk, and those across spaces beside it."""
        inside = self._memory.get(chunk)
        if inside is None:
            inside = self._of_chunk(chunk)
        some = [(begin + one, begin + two, layout) for one, two, layout in inside]
        if self._markup and (not begin or text[begin - 1] == "\n"):
            if after := markup.list_number(text, begin):
                number = FormLayout(Form.MARKUP, text[begin:after])
                some.append((begin, after, number))
        last = begin + len(chunk)
        first, patterns = begin, []
        if begin - 1 > end and text[begin - 1] == " ":
            before = max(text.rfind(" ", end, begin - 1) + 1, end)
            word = text[before : begin - 1]
            if "\n" in word:
                before += word.rindex("\n") + 1
                word = text[before : begin - 1]
            patterns = self._before.get(word.lstrip("([").rstrip(".,").lower(), [])
            first = before if patterns else begin
        if behind := _NEXT.match(text, last):
            word = behind[1]
            if word[0] in _AFTER_NUMBER and (word[0] != "(" or "+" in chunk):
                patterns = patterns + self._numbers
            elif _IBAN_BEGIN.search(chunk):
                patterns = patterns + self._numbers
            else:
                more = self._after.get(word.rstrip(".,;:!?)]").lower())
                more = more or self._after.get(word[0])
                patterns = patterns + more if more else patterns
        if patterns:
            some += self._across(text, first, last, patterns)
        return some if len(some) < 2 else _first(some)

    def _across(
        self, text: str, first: int, last: int, patterns: _Patterns
    ) -> Iterator[Found]:
        """Yield the pieces with spaces that begin before last."""
        space = _SPACE.search(text, min(last + _ACROSS, len(text)))
        limit = space.start() if space else len(text)
        for pattern, form in patterns:
            for match in pattern.finditer(text, first, limit):
                if match.start() >= last:
                    break
                one, rule = match[0], RULES[form]
                # Words in capitals may stand behind a form that spaces divide.
                while one and not (pattern.fullmatch(one) and rule.is_one(one)):
                    one = one.rpartition(" ")[0]
                if one:
                    layout = FormLayout(form, rule.shown(one))
                    yield match.start(), match.start() + len(one), layout

    def _of_chunk(self, chunk: str) -> tuple[Found, ...]:
        found = () if _PLAIN.fullmatch(chunk) else self._search(chunk)
        if len(chunk) <= _LONG:
            if len(self._memory) > _REMEMBERED:
                self._memory.clear()
            self._memory[chunk] = found
        return found

    def _search(self, chunk: str) -> tuple[Found, ...]:
        found: list[Found] = []
        for needs, pattern, form in self._inside:
            if needs.search(chunk) is None:
                continue
            rule = RULES[form]
            for match in pattern.finditer(chunk):
                if rule.is_one(match[0]):
                    layout = FormLayout(form, rule.shown(match[0]))
                    found.append((*match.span(), layout))
        return tuple(_first(found))


def spans(form: Form, text: str) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of each piece of a form."""
    for begin, end, _ in _finder(form).find(text):
        yield begin, end


@cache
def _finder(form: Form) -> FormFinder:
    return FormFinder((form,))


def _first(found: list[Found]) -> list[Found]:
    """Keep the first of those that overlap, of several at one place the longest."""
    kept: list[Found] = []
    rank = RANK.__getitem__
    for each in sorted(found, key=lambda one: (one[0], -one[1], rank(one[2].form))):
        if not kept or each[0] >= kept[-1][1]:
            kept.append(each)
    return kept


_AFTER_NUMBER = frozenset("(0123456789")


@cache
def _beside() -> Mapping[Form, tuple[frozenset[str], frozenset[str]]]:
    """Return the words with which a form begins before a number, or goes on behind."""
    signs = re.compile(SIGN)
    marks = {chr(point) for point in range(0x24, 0x10000) if signs.match(chr(point))}
    currencies = {each.lower() for each in LISTS["currencies"]}
    signed = {f"{head.lower()}{mark}" for head in LISTS["signs"] for mark in "$£"}
    words = {each.lower() for name in ("money", "sizes") for each in LISTS[name]}
    of_amounts = frozenset(marks | currencies | signed)
    return {
        Form.DATE: (dates.NAMES, dates.NAMES | {"of"}),
        Form.TIME: (frozenset(), dates.BEHIND),
        Form.AMOUNT: (of_amounts, of_amounts | words | {"%"}),
    }
