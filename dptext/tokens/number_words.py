"""Numbers in English words as forms: runs of number words, dates and ages.

A run is two or more number words ("two hundred and fifty", "ninety-seven", "five
five oh one"), always a single piece. A single number word is a word.

The layout of a run has a field for each word: {d} a digit of a row of digits, {u} one
to nine, {t} ten to nineteen, {T} twenty to ninety, {o}, {s}, {z} the same of ordinals,
{y} all words of a year; a time of day ("ten thirty") has {hu} or {ht} for its hour and
{mT} for its tens of minutes. That of a date has {D} for its day, {C} for one that is no
ordinal, {m} or {M} for its month, {y}, {yy} or {yyyy} for its year. The layout of an
age has {W} for its words and {N} for its digits. "^" begins a layout with a capital.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from dptext.tokens import language_data
from dptext.tokens.dates import MONTHS
from dptext.tokens.draws import YEARS, Integers, only_digits
from dptext.tokens.regex import guarded

_UNITS = "one two three four five six seven eight nine".split()
_TEENS = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = "hundred thousand million billion trillion".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth".split()
_LATER = (
    "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth "
    "eighteenth nineteenth"
).split()
_LAST = "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth".split()
_REPEATS = ("double", "triple")
_LETTERS = {
    **dict.fromkeys(["zero", "oh", *_UNITS], "u"),
    **dict.fromkeys(_TEENS, "t"),
    **dict.fromkeys(_TENS, "T"),
    **dict.fromkeys(_ORDINALS, "o"),
    **dict.fromkeys(_LATER, "s"),
    **dict.fromkeys([*_LAST, "ninetieth"], "z"),
}


def _any(*lists: Sequence[str]) -> str:
    words = sorted((word for each in lists for word in each), key=len, reverse=True)
    return f"(?:{'|'.join(words)})"


_SPACE = "[ \xa0-]"
_DIGIT = _any(["zero", "oh"], _UNITS, _REPEATS)
_WORD = _any(_UNITS, _TEENS, _TENS, [*_SCALES, "zero"])
_STEP = rf"{_SPACE}(?:(?:(?<=red.)|(?<=sand.)|(?<=ion.))and{_SPACE})?"
_ORDINAL_END = (
    rf"(?:(?<=ty)|(?<=red)|(?<=sand)|(?<=ion)){_STEP}{_any(_ORDINALS, _LATER, _LAST)}"
)
_RUN = (
    rf"(?:an? (?={_any(_SCALES)}))?{_WORD}"
    rf"(?:(?:{_STEP}{_WORD})+(?:{_ORDINAL_END})?|{_ORDINAL_END})"
)
_ROW = rf"{_DIGIT}(?:(?:, |{_SPACE}){_DIGIT}){{2,}}"
_BELOW = rf"(?:{_any(_UNITS, _TEENS)}|{_any(_TENS)}(?:{_SPACE}{_any(_UNITS)})?)"
_YEAR = (
    rf"(?:(?:eighteen|nineteen|twenty){_SPACE}"
    rf"(?:{_any(_TEENS)}|(?:{_any(_TENS)}(?:{_SPACE}{_any(_UNITS)})?)"
    rf"|oh{_SPACE}{_any(_UNITS)})"
    rf"|two thousand(?: and)? {_BELOW})"
)
_NAMES = _any(MONTHS)
# Without a year or "of", only with a capital: "you may first", "third may be".
_MONTH = rf"(?:(?-i:(?=[A-Z])){_NAMES}|(?!may|march){_NAMES})"
_DAY = (
    rf"(?:(?:twenty{_SPACE})?{_any(_ORDINALS)}|{_any(_LATER)}|twentieth|thirtieth"
    rf"|thirty{_SPACE}first)"
)
_COUNT = (
    rf"(?:{_any(_UNITS, _TEENS)}|twenty(?:{_SPACE}{_any(_UNITS)})?"
    rf"|thirty(?:{_SPACE}one)?)"
)
_IN_YEAR = (
    rf"(?P<year>{_YEAR}|{_any(_TENS)}{_SPACE}{_any(_UNITS)}|[12][0-9]{{3}})(?!{_SPACE}"
    rf"{_WORD})"
)
_DATES = (
    rf"(?P<day>{_DAY})(?: day)? of (?P<month>{_NAMES})(?:,? {_IN_YEAR})?",
    rf"(?P<day>{_DAY}) (?P<month>{_NAMES}),? {_IN_YEAR}",
    rf"(?P<day>{_DAY}) (?P<month>{_MONTH})",
    rf"(?P<month>{_NAMES}) (?:the )?(?P<day>{_DAY}),? {_IN_YEAR}",
    rf"(?P<month>{_MONTH}) (?:the )?(?P<day>{_DAY})",
    rf"(?P<count>{_COUNT}) (?:of )?(?P<month>{_MONTH})(?:,? {_IN_YEAR})?",
    rf"(?P<month>{_NAMES}) (?P<count>{_COUNT}),? {_IN_YEAR}",
    rf"(?P<month>{_MONTH}) (?P<count>{_COUNT})",
    rf"(?P<month>{_NAMES}),? (?P<year>{_YEAR})",
)
#: All words of runs.
WORDS = frozenset([*_LETTERS, *_SCALES, *_REPEATS, *MONTHS])
#: Single words that may be an age of ninety or more.
OLDEST = frozenset({"ninety", "hundred"})
PATTERNS = (_RUN, _ROW, *_DATES)
#: The text after a run or date.
GUARD = r"(?![\w@])"
SHOWS = (
    "whether they are a date, with the order and kind of its parts, a year or digits "
    "in a row, and else which of their words are units, ten to nineteen, tens, "
    "ordinals of these, or stay (hundred and beyond, double, and), what stands between "
    "words, and a capital at the beginning and of a month"
)
_WHOLE_ROW = re.compile(f"{_DIGIT}(?:(?:, |{_SPACE}){_DIGIT})+", re.IGNORECASE)
_WHOLE_YEAR = re.compile(_YEAR, re.IGNORECASE)
_PART = re.compile("[a-z]+", re.IGNORECASE)
# Two numbers that are no one number: "ten thirty", "nine fifteen", "six forty-five".
_CLOCK = re.compile(rf"\{{([ut])\}}({_SPACE})\{{(?:t\}}|(T)\}}(?:{_SPACE}\{{u\}})?)")
_FIELD = re.compile(r"\{(\w+)\}")

# Ages.

_OLD = (
    rf"(?:{_SPACE}?(?:years?|yrs?|y){_SPACE}?olds?|[ -]years? of age|[ -]?yrs"
    r"|[ -]?y/?o|[ -]?y\.o\.?)"
)
_AGED = r"(?:age[ds]?:?|age of|of age) "
_NUMBER = "[0-9]{1,3}"
_TO = rf"(?:(?: to | and | or | ?[-–] ?){_NUMBER})?"
AGE_PATTERNS = (rf"{_NUMBER}{_OLD}",)
AGE_SPACED = (rf"{_NUMBER}{_OLD}", rf"{_AGED}{_NUMBER}{_TO}(?!{_SPACE}?[%$])")
# A single word below ninety is a word like others.
_OLDEST = rf"(?:{_RUN}|ninety|an? hundred|hundred)"
AGE_WORDS = (rf"{_OLDEST}{_OLD}", rf"{_AGED}{_OLDEST}(?!{_SPACE}(?:percent|dollars))")
AGE_SHOWS = (
    "the words beside the number, whether it is in digits or in words, and whether "
    "there are two, as in aged 4 to 8"
)
_AGE_NUMBER = rf"[0-9]+|\b{_OLDEST}\b"
_LISTS = dict(language_data.sections("form_words"))
# Words beside ages of things, and beside spans of time ("for 5 yrs", "5 yrs ago").
_THING = _any(_LISTS["things"])
_OF_THING = rf" {_THING}\b(?! {_any(_LISTS['people-with-things'])}\b)"
_THING_IS = rf"\b{_THING} (?:is|was|are|were) (?:{_any(_LISTS['about'])} )?$"
_IN_SPAN = rf"\b{_any([*_LISTS['before-spans'], *_LISTS['about']])} $"
_SPAN_ENDS = rf" {_any(_LISTS['after-spans'])}\b"
# Most characters of the words before an age that are looked at.
_BEFORE = 40


# The values of number words.
_VALUES = {word: n for n, word in enumerate([*_UNITS, *_TEENS], 1)} | {"dozen": 12}
_VALUES |= {word: 10 * n for n, word in enumerate(_TENS, 2)}
_POWERS = {word: 1000**n for n, word in enumerate(_SCALES[1:], 1)}


def value(text: str) -> int:
    """Return the value of number words; 0 if they are no plain number."""
    total = part = 0
    for word in re.split("[ \xa0-]", text.lower()):
        if word in _VALUES and not part % (10 if _VALUES[word] < 10 else 100):
            part += _VALUES[word]
        elif word == "hundred":
            part = 100 * (part or 1)
        elif word in _POWERS:
            total, part = total + _POWERS[word] * (part or 1), 0
        elif word not in ("and", "a", "an"):
            return 0
    return total + part


@cache
def _compiled_dates() -> tuple[re.Pattern[str], ...]:
    return tuple(guarded(each, GUARD) for each in _DATES)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def find_layout(text: str) -> str:
    """Return the layout of a run of number words, or of a date in words."""
    layout = _layout_of_date(text) or _layout_of_run(text)
    return f"^{layout}" if text[:1].isupper() else layout


def _layout_of_date(text: str) -> str:
    match = next(
        filter(None, (each.fullmatch(text) for each in _compiled_dates())), None
    )
    if match is None:
        return ""
    out, end = "", 0
    groups = [(match.span(key), key) for key, part in match.groupdict().items() if part]
    for (begin, after), key in sorted(groups):
        part = match[key]
        field = {"day": "D", "count": "C", "month": "M" if part[0].isupper() else "m"}
        out += text[end:begin].lower() + f"{{{field.get(key) or _year_field(part)}}}"
        end = after
    return out + text[end:].lower()


def _year_field(text: str) -> str:
    if text.isdigit():
        return "yyyy"
    return "y" if _WHOLE_YEAR.fullmatch(text) else "yy"


def _layout_of_run(text: str) -> str:
    if _WHOLE_YEAR.fullmatch(text):
        return "{y}"
    is_row = _WHOLE_ROW.fullmatch(text) is not None

    def field(match: re.Match[str]) -> str:
        word = match[0].lower()
        letter = _LETTERS.get(word, "")
        if is_row and letter:
            letter = "d"
        return f"{{{letter}}}" if letter else word

    layout = _PART.sub(field, text)
    if clock := _CLOCK.fullmatch(layout):
        rest = layout[clock.end(2) :].replace("{T}", "{mT}")
        return f"{{h{clock[1]}}}{clock[2]}{rest}"
    return layout


def write(layout: str, draws: Integers) -> str:
    """Return random words for a layout."""
    out = _FIELD.sub(lambda field: _draw(field[1], draws), layout.removeprefix("^"))
    return out[:1].upper() + out[1:] if layout[:1] == "^" else out


def _draw(field: str, draws: Integers) -> str:
    """Return random words for a layout's field.

    Words that would make a run look like a year are never drawn.
    """
    if field in ("m", "M"):
        name = MONTHS[draws.below(12)]
        return name.capitalize() if field == "M" else name
    if field == "y":
        return _year(draws.between(*(draws.years or YEARS)))
    if field == "yyyy":
        return str(draws.between(*(draws.years or YEARS)))
    if field == "yy":
        return _below_hundred(10 * draws.between(5, 9) + draws.between(1, 9))
    words = {
        "d": ["zero", *_UNITS],
        "u": _UNITS[2:],
        "t": _TEENS[:8],
        "T": _TENS[1:7],
        "o": _ORDINALS,
        "s": _LATER,
        "z": _LAST[1:],
        "D": [*_ORDINALS, *_LATER],
        "C": [*_UNITS, *_TEENS],
        "hu": _UNITS[2:],
        "ht": _TEENS[:3],
        "mT": _TENS[:4],
        "W": [_below_hundred(n) for n in range(21, 90) if n % 10],
    }[field]
    return words[draws.below(len(words))]


def _below_hundred(number: int) -> str:
    if number < 20:
        return [*_UNITS, *_TEENS][number - 1]
    tens = _TENS[number // 10 - 2]
    return f"{tens}-{_UNITS[number % 10 - 1]}" if number % 10 else tens


def _year(year: int) -> str:
    """Spell a year of the 20th or 21st century in words."""
    if year < 2000:
        return f"nineteen {_below_hundred(year - 1900)}"
    if year < 2010:
        return f"two thousand and {_below_hundred(year % 10 or 10)}"
    return f"twenty {_below_hundred(year - 2000)}"


def is_of_person(text: str, begin: int, end: int) -> bool:
    """Return whether an age is a person's, judging by neighbouring words."""
    before = text[max(begin - _BEFORE, 0) : begin]
    if text[begin:end].lower().endswith("yrs"):
        before_it, behind = _compiled(_IN_SPAN), _compiled(_SPAN_ENDS)
    else:
        before_it, behind = _compiled(_THING_IS), _compiled(_OF_THING)
    return not (before_it.search(before) or behind.match(text, end))


def find_age_layout(text: str) -> str:
    """Return an age's layout: all words except the number."""
    field = "{N}" if only_digits(text) else "{W}"
    number = _compiled(_AGE_NUMBER)
    layout = number.sub(field, text.lower(), count=2 if field == "{N}" else 1)
    return f"^{layout}" if text[:1].isupper() else layout


def write_age(layout: str, draws: Integers) -> str:
    """Return a random age below 90 with a layout, or two ages in order."""
    ages = sorted(str(draw_age(draws)) for _ in range(layout.count("{N}")))
    return spell_age(layout, ages or [_draw("W", draws)])


def draw_age(draws: Integers, *, young: bool = False) -> int:
    """Return a random age below 90, or a child's age."""
    return draws.between(10, 17) if young else draws.between(18, 89)


def spell_age(layout: str, ages: Sequence[str]) -> str:
    """Write ages in a layout, in digits or words."""
    parts = iter(ages)
    out = re.sub(r"\{[NW]\}", lambda _: next(parts), layout.removeprefix("^"))
    return out[:1].upper() + out[1:] if layout[:1] == "^" else out
