"""Finds pieces with a form (dptext.tokens.forms) in a text, in one pass.

The earliest piece has priority, then the longest, then the first form of RULES.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from dptext.tokens import dates, markup
from dptext.tokens.forms import LISTS, RANK, RULES, SIGN, FormLayout, compiled
from dptext.tokens.policy import Form

# Possible beginnings of a piece. A dot or colon counts only inside the name of a host.
_TRIGGER = re.compile(
    "[0-9@<#`&.:\u2600-\u266e\u2670-\u2767\u2776-\u27bf\U0001f000-\U0001faff]"
    r"(?:(?<![.:&])|(?<=\.)(?=[A-Za-z]{2}|[A-Za-z]\.)|(?<=:)(?=//)"
    r"|(?<=&)(?=#?[A-Za-z0-9]{1,32};))"
)
# Ends of the chunk of characters around a trigger.
_STOP = re.compile(
    '[\\s<>`"\u2600-\u266e\u2670-\u2767\u2776-\u27bf\U0001f000-\U0001faff]'
    r"|&(?=#?[A-Za-z0-9]{1,32};)"
)
_SPACE = re.compile(r"\s")
_NEXT = re.compile(r" ([^\s<>`\"&]{1,12})")
# The beginning of an IBAN with spaces.
_IBAN_BEGIN = re.compile(r"[A-Z]{2}[0-9]{2}$", re.IGNORECASE)
# Numbers without a form.
_PLAIN = re.compile(
    r"[(\['‘“]*(?:[0-9]{1,6}(?:st|nd|rd|th)?|[0-9]{1,3}(?:,[0-9]{3})?|[0-9]{4}s"
    r"|[0-9]{1,2}(?:-[a-z]+)+)[)\]'’”,;!?]*\.?"
)
# Most characters after a number that belong to a piece with spaces.
_ACROSS = 48
# Chunks that are remembered, and most characters of one.
_REMEMBERED, _LONG = 50_000, 64
# Begin, end and layout of a piece.
Found = tuple[int, int, FormLayout]
_Patterns = list[tuple[re.Pattern[str], Form]]
# Forms of several numbers with spaces between them.
_NUMBERS = (Form.CARD, Form.IBAN, Form.PHONE)
# First characters of a word after a number that may belong to the same piece.
_AFTER_NUMBER = frozenset("(0123456789")


class FormFinder:
    """Finds pieces of some forms in texts.

    Only places with a digit or a sign of a form are searched: first the chunk up to the
    next space. Spaces are crossed only next to another number, or to a word of a date,
    a time or an amount.
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
        # Patterns by the word before a number, and by the word after it.
        self._before: dict[str, _Patterns] = {}
        self._after: dict[str, _Patterns] = {}
        for form, (before, after) in _neighbours().items():
            patterns = [(pattern, form) for pattern in spaced.get(form, ())]
            for words, known in ((before, self._before), (after, self._after)):
                for word in words if patterns else ():
                    known[word] = known.get(word, []) + patterns
        self._memory: dict[str, tuple[Found, ...]] = {}

    def find(self, text: str) -> list[Found]:
        """Return begin, end and layout of each piece in order, without overlaps."""
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
            elif sign > "\u25ff":
                match = compiled(Form.EMOJI, spaced=False)[0].match(text, at)
                assert match is not None
                end = match.end()
                if self._emoji:
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
                end = last
                if here:
                    forms += here
                    end = max(last, here[-1][1])
        return forms

    def _around(self, text: str, end: int, begin: int, chunk: str) -> list[Found]:
        """Return the pieces of a chunk, and those across the spaces around it."""
        inside = self._memory.get(chunk)
        if inside is None:
            inside = self._find_in_chunk(chunk)
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
        """Yield the pieces with spaces that begin before `last`."""
        space = _SPACE.search(text, min(last + _ACROSS, len(text)))
        limit = space.start() if space else len(text)
        for pattern, form in patterns:
            for match in pattern.finditer(text, first, limit):
                if match.start() >= last:
                    break
                piece, rule = match[0], RULES[form]
                # Words in capitals after an IBAN match as well: drop the last ones.
                while piece and not (pattern.fullmatch(piece) and rule.accepts(piece)):
                    piece = piece.rpartition(" ")[0]
                if piece:
                    layout = FormLayout(form, rule.find_layout(piece))
                    yield match.start(), match.start() + len(piece), layout

    def _find_in_chunk(self, chunk: str) -> tuple[Found, ...]:
        forms = () if _PLAIN.fullmatch(chunk) else self._search(chunk)
        if len(chunk) <= _LONG:
            if len(self._memory) > _REMEMBERED:
                self._memory.clear()
            self._memory[chunk] = forms
        return forms

    def _search(self, chunk: str) -> tuple[Found, ...]:
        forms: list[Found] = []
        for needs, pattern, form in self._inside:
            if needs.search(chunk) is None:
                continue
            rule = RULES[form]
            for match in pattern.finditer(chunk):
                if rule.accepts(match[0]):
                    layout = FormLayout(form, rule.find_layout(match[0]))
                    forms.append((*match.span(), layout))
        return tuple(_first(forms))


def spans(form: Form, text: str) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of each piece of a form."""
    for begin, end, _ in _finder(form).find(text):
        yield begin, end


@cache
def _finder(form: Form) -> FormFinder:
    return FormFinder((form,))


def _first(forms: list[Found]) -> list[Found]:
    """Return pieces by priority, without overlaps."""
    kept: list[Found] = []
    rank = RANK.__getitem__
    for each in sorted(forms, key=lambda one: (one[0], -one[1], rank(one[2].form))):
        if not kept or each[0] >= kept[-1][1]:
            kept.append(each)
    return kept


@cache
def _neighbours() -> Mapping[Form, tuple[frozenset[str], frozenset[str]]]:
    """Return the words of a form before a number, and those after a number."""
    # At once: a look at each character takes a hundredth of the time of one line.
    marks = {*re.findall(SIGN, "".join(map(chr, range(0x10000))))}
    currencies = {each.lower() for each in LISTS["currencies"]}
    signed = {f"{head.lower()}{mark}" for head in LISTS["signs"] for mark in "$£"}
    words = {each.lower() for name in ("money", "sizes") for each in LISTS[name]}
    amounts = frozenset(marks | currencies | signed)
    return {
        Form.DATE: (dates.NAMES, dates.NAMES | {"of"}),
        Form.TIME: (frozenset(), dates.BEHIND),
        Form.AMOUNT: (amounts, amounts | words | {"%"}),
    }
