"""Writes realistic numbers with the layout of another, by public rules.

The writer gets the layout of a number, the adjacent copied words and marks, the
shown form of replaced words, and random bits. The digits are not used. These are
the rules:

- no number begins with 0, an ordinal of two digits is a day of a month (10th to 31st)
  and its ending fits it, and decades end in 0;
- a single digit is 2 to 9 before a plural, and 1 before one unit
  (dptext.writing.counting); a star or stars behind it ask for 1 to 5, "type" or
  "stage" before it for 1 to 4;
- the two numbers of a range ascend ("2-3", "10 to 15", "1/2"), those of 120/80 are 100
  to 179 and 50 to 99;
- a rating of 5, 10 or 100 ("4/5", "4.5/5", "8 out of 10") stays within its scale, which
  is a part of its layout; where opinions are copied, ratings that copied words tell
  ("rated 4/5", "4 stars", "8 out of 10") are copied, too (dptext.writing.ratings);
- in brackets beside number words a number is theirs: "fourteen (14)";
- after "I am", "aged" and the like two digits are 10 to 89, after "at" without a noun
  behind them 10 to 23;
- 9:30 is a time of day;
- behind "born" a year is one of an adult;
- other four digits are a year of the window that the settings have, unless a copied
  word beside them tells that they are none ("room 1402", "1402 people").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dptext.tokens import dates, grammar, kinds, language_data, number_words
from dptext.tokens.draws import DIGITS, YEARS, Integers
from dptext.tokens.policy import Form
from dptext.types import Lexicon, Words
from dptext.writing.counting import Count, Counting, copied, is_number
from dptext.writing.ratings import STARS, Ratings, Scale, rating

#: Numbers of so many digits and more that are equal in a record stay equal.
NAMED = 3
YEAR = 4  # digits of a year
_OLDEST = 89
_LAST_HOUR = 23
#: The largest age beside a copied word for a child, and the pieces that are looked at.
CHILD = 17
_BEFORE_CHILD, _BEHIND_CHILD = 2, 4
# Marks before and behind an age that stands after a name.
_BEHIND_AGES = {",": ",", "(": ")"}
_WHOLE = 100
_TYPES = 4
_DIGIT = re.compile(r"\d")
_RUN = re.compile(r"\d+")
_RANGE = re.compile(r"(\d+)-(\d+)")
_SLASHED = re.compile(r"(\d+)(\.\d)?/(\d+)")
_TENTHS = re.compile(r"\d\.\d")
_STAMP = re.compile(r"(\d\d)/([a-z]{3})/(\d{4}):(.*)", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,2}):\d\d")
_ORDINAL = re.compile(r"(\d+)(st|nd|rd|th)", re.IGNORECASE)
_DECADES = re.compile(r"(\d+)(s)", re.IGNORECASE)
# Marks after which a number begins anew: "5-12" has two numbers, "3.05" has one.
_APART = re.compile(r"([-/])")
# Pieces before the date of a birth among which "born" is.
_BORN = 3
# Years of birth that are written: so many before the first one of the window.
_FIRST_BIRTH, _ADULT = 1950, 18
_DASHES = frozenset("-–—")
_DAYS = 31
_DAYS_OF_ALL = 28  # days that every month has
_ENDINGS = ("th", "st", "nd", "rd")
# Words and marks between ages.
_BETWEEN_AGES = (",", "and", "&", "or")


class Frame(NamedTuple):
    """What the words next to a number require of it."""

    asked: Count = Count.ANY
    #: Whether four digits are a year.
    is_year: bool = True
    #: The largest number that it may be; 0: any.
    most: int = 0
    #: Whether two digits are a decade ("the 80's").
    is_decade: bool = False
    #: Whether a year is that of a birth.
    is_born: bool = False


def births(years: tuple[int, int] | None) -> tuple[int, int]:
    """Return the first and last year of birth to write."""
    return _FIRST_BIRTH, max((years or YEARS)[0] - _ADULT, _FIRST_BIRTH)


def layout(body: str) -> str:
    """Return a number's layout: 1 for each digit; a rating keeps its scale."""
    if rating(body):
        digits, _, scale = body.partition("/")
        return f"{_DIGIT.sub('1', digits)}/{scale}"
    return _DIGIT.sub("1", body).lower()


class Frames:
    """Reads the words next to numbers, with an English lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.counting = Counting(lexicon)
        lists = dict(language_data.sections("number_frames"))
        self._lists = {name: frozenset(words) for name, words in lists.items()}
        self.ratings = Ratings(self.counting, lexicon.language)

    def find(self, words: Words, position: int) -> Frame:
        """Return what the words next to a number require of it."""
        digits = max(map(len, _RUN.findall(words.pieces[position])))
        if digits > YEAR:
            return Frame()
        count = self.counting.find(words, position)
        begin, end = words.bounds_at(position)
        before = copied(words, position - 1) if position > begin else ""
        if before == "." and position - 1 > begin:
            before = copied(words, position - 2)  # "No. 5"
        behind = copied(words, position + 1) if position + 1 < end else ""
        if digits == YEAR:
            is_year = self._is_year(words, position, before=before, behind=behind)
            is_born = self.is_born(words, position)
            return Frame(count, is_year or is_born, is_born=is_born)
        most = self._most_of_two(words, position, before, behind) if digits == 2 else 0
        if digits == NAMED and behind in ("percent", "per"):
            most = _WHOLE  # 100 percent
        if behind == "-" and position + 2 < end:
            behind = copied(words, position + 2)  # "5-star"
        if digits == 1 and behind in self._lists["stars"]:
            most = STARS
        elif digits == 1 and before in self._lists["types"]:
            most = _TYPES
        elif digits == 1 and self.ratings.is_before_half(words, position, end):
            most = STARS - 1
        scale = self.ratings.scale_of(words, position)
        is_decade = digits == 2 and behind in ("'s", "’s")
        return Frame(count, most=scale or most, is_decade=is_decade)

    def number_words(self, words: Words, position: int) -> int:
        """Return the position of number words that a number repeats, -1 without them.

        One of the two stands in brackets: "fourteen (14)", "14 (fourteen)".
        """
        behind = "".join(words.pieces[position + 1 : position + 2])
        if behind[:1] != ")" and behind != " (":
            return -1
        begin, end = words.bounds_at(position)
        if position + 1 >= end:
            return -1
        if behind[:1] == ")" and position - 2 >= begin:
            at = position - 2 if words.pieces[position - 1] == " (" else -1
        elif behind == " (" and position + 3 < end:
            at = position + 2 if words.pieces[position + 3][:1] == ")" else -1
        else:
            return -1
        if at < 0:
            return -1
        if at in words.formed:
            return at if words.formed[at][0] is Form.NUMBER_WORDS else -1
        return at if number_words.value(copied(words, at)) else -1

    def _most_of_two(
        self, words: Words, position: int, before: str, behind: str
    ) -> int:
        """Return the most that a number of two digits may be, 0 without a limit."""
        begin, end = words.bounds_at(position)
        is_age = before in self._lists["ages"] or (
            behind == _BEHIND_AGES.get(before)
            and position - 2 >= begin
            and words.flag[position - 2] & kinds.KIND == kinds.PERSON
        )
        if is_age or self._is_behind_age(words, position, begin):
            return _OLDEST
        if before not in self._lists["hours"]:
            return 0
        has_unit = position + 1 < end and self._is_noun(words, position + 1)
        return 0 if has_unit else _LAST_HOUR

    def _is_noun(self, words: Words, at: int) -> bool:
        form = self.counting.shown(words, at)[1]
        return form in (grammar.NOUN, grammar.PLURAL)

    def of_age(self, words: Words, position: int) -> Frame:
        """Return what the words next to an age require, such as a child's age."""
        begin, end = words.bounds_at(position)
        first = max(begin, position - _BEFORE_CHILD)
        beside = range(first, min(position + _BEHIND_CHILD, end))
        near = {copied(words, at) for at in beside if at != position}
        return Frame(most=0 if near.isdisjoint(self._lists["children"]) else CHILD)

    def _is_behind_age(self, words: Words, position: int, begin: int) -> bool:
        """Return whether a number is in a list after an age: "aged 4, 7 and 11"."""
        at = position - 2
        while at >= begin and copied(words, at + 1) in _BETWEEN_AGES:
            layout = words.formed.get(at)
            if layout is not None:
                return layout[0] == Form.AGE
            if not is_number(words, at):
                break
            if copied(words, max(at - 1, begin)) in self._lists["ages"]:
                return True
            at -= 2
        return False

    def _is_year(
        self, words: Words, position: int, *, before: str, behind: str
    ) -> bool:
        """Return whether four digits are a year, by adjacent words."""
        if before in self._lists["years"]:
            return True
        if before in self._lists["no-years"] or behind in self._lists["counts"]:
            return False
        after, end = position + 1, words.bounds_at(position)[1]
        if after < end and copied(words, after):
            if words.flag[after] & kinds.TITLE:
                return True  # "2015 - 2019 Sales Assistant"
        return after >= end or self.counting.shown(words, after)[1] != grammar.PLURAL

    def is_born(self, words: Words, position: int) -> bool:
        """Return whether "born" or "birth" is copied shortly before a date."""
        begin = max(words.bounds_at(position)[0], position - _BORN)
        before = [copied(words, at) for at in range(begin, position)]
        return not self._lists["births"].isdisjoint(before)

    def next_of_range(self, words: Words, position: int) -> int:
        """Return the position of a range's second number, -1 if there is none.

        They are separated by a dash, "to", "or", "of", or "and" after "between".
        """
        begin, end = words.bounds_at(position)
        second = position + 2
        if second >= end:
            return -1
        between = copied(words, position + 1)
        if between in _DASHES:
            led = [words.pieces[at][:1] == " " for at in (position + 1, second)]
            return second if led[0] == led[1] else -1
        if between in self._lists["ranges"] or between == "of":
            is_the = between == "of" and copied(words, second) == "the"
            return second + is_the if second + is_the < end else -1
        if between == "and" and position > begin:
            return second if copied(words, position - 1) == "between" else -1
        return -1


def write(body: str, frame: Frame, draws: Integers, named: Callable[[str], str]) -> str:
    """Write a random number with the layout of another.

    named: returns the replacement of a plain number of three or more digits.
    """

    def plain(digits: str) -> str:
        if len(digits) >= NAMED and frame.most != _WHOLE:
            return named(digits)
        return draw_plain(len(digits), frame, draws)

    if body.isdecimal():
        return plain(body)
    if match := _RANGE.fullmatch(body):
        return _write_range(match, plain, draws, frame)
    for pattern, writer in _WRITERS:
        if match := pattern.fullmatch(body):
            return writer(match, frame, draws)
    parts = (_draw_digits(part, draws) for part in _APART.split(body))
    return "".join(parts)


def draw_plain(digits: int, frame: Frame, draws: Integers) -> str:
    """Return a random plain number of `digits` digits; four may be a year."""
    if digits == YEAR and frame.is_year:
        return str(draws.between(*(draws.years or YEARS)))
    if digits == 1:
        if frame.asked is Count.ONE:
            return "1"
        least = 2 if frame.asked is Count.SEVERAL else 1
        return str(draws.between(least, min(frame.most or 9, 9)))
    if digits == NAMED and frame.most == _WHOLE:
        return str(_WHOLE)
    if digits == 2 and frame.is_decade:
        return f"{draws.between(1, 9)}0"
    if digits == 2:
        return str(
            draws.between(10, min(max(frame.most, 10), 99) if frame.most else 99)
        )
    return draws.characters(DIGITS[1:]) + draws.characters(DIGITS, digits - 1)


def _write_range(
    match: re.Match[str], plain: Callable[[str], str], draws: Integers, frame: Frame
) -> str:
    """Write a range's two numbers; of equal lengths the first is smaller."""
    one, two = match.groups()
    first = plain(one)
    if len(one) == YEAR and len(two) == 2 and frame.is_year:
        return f"{first}-{(int(first) + draws.between(1, 5)) % 100:02d}"  # 2016-17
    if is_short_range(one, two):
        return "-".join(draw_range(len(one), len(two), frame, draws))
    return f"{first}-{plain(two)}"


def is_short_range(one: str, two: str) -> bool:
    """Return whether two numbers are written as a range of close numbers."""
    return len(one) <= len(two) < NAMED


def draw_range(one: int, two: int, frame: Frame, draws: Integers) -> tuple[str, str]:
    """Return two random numbers with one or two digits each, smaller first.

    With two digits the second is at most twice the first, plus 8 after
    a single digit.
    """
    least = 2 if frame.asked is Count.SEVERAL and two == 1 else 1
    last = min(frame.most or 99, 99 if two > 1 else 9)
    if two == 1:
        last = max(last, least + 1)
        one, two = draws.between(least, last), draws.between(least, last - 1)
        first, second = sorted((one, two + (two >= one)))
    elif one == 1:
        first = draws.between(2, 9)
        second = draws.between(10, max(min(8 + 2 * first, last), 10))
    else:
        first = draws.between(10, max(last - 1, 10))
        second = draws.between(first + 1, min(2 * first, max(last, first + 1)))
    return str(first), str(second)


def parts_of_range(body: str) -> tuple[str, str] | None:
    """Return the numbers of a range that are replaced consistently, or None."""
    match = _RANGE.fullmatch(body)
    if match is None or len(match[1]) != len(match[2]) or len(match[1]) < NAMED:
        return None
    return match[1], match[2]


def is_clock(body: str) -> bool:
    """Return whether a number has the layout of a time of day, like 9:30."""
    return _CLOCK.fullmatch(body) is not None


def begins_line(words: Words, position: int) -> bool:
    """Return whether only marks and dates precede a piece in its line."""
    for at in range(position - 1, words.bounds_at(position)[0] - 1, -1):
        flags = words.flag[at]
        kind = flags & kinds.KIND
        if kind == kinds.SPACE and flags & kinds.ENDER:
            return True
        is_date = at in words.formed and words.formed[at][0] is Form.DATE
        if not is_date and kind not in kinds.MARKS:
            return False
    return True


def minutes(text: str) -> tuple[int, ...]:
    """Return a time's numbers, afternoon last, as a sort key."""
    if stamp := _STAMP.match(text):
        day, month, year, rest = stamp.groups()
        names = [name[:3] for name in dates.MONTHS]
        date = int(year), names.index(month.lower()) + 1, int(day)
        return *date, *map(int, _RUN.findall(rest))
    hour, *others = map(int, _RUN.findall(text))
    later = re.search(r"[ap]\.?m", text.lower())
    if later is not None:
        hour = hour % 12 + 12 * (later[0][0] == "p")
    return hour, *others


def hour(text: str) -> tuple[int, ...]:
    """Return the hour of a time with am or pm, without which of the two."""
    return (minutes(text)[0] % 12,)


def runs(body: str) -> list[str]:
    """Return the numbers in a piece."""
    return _RUN.findall(body)


def digits(body: str) -> int:
    """Return the number of digits in a piece."""
    return len(_DIGIT.findall(body))


def is_named(body: str) -> bool:
    """Return whether equal numbers with this layout stay equal as a whole."""
    if body.isdecimal() or _RANGE.fullmatch(body):
        return False  # number by number
    return digits(body) >= NAMED


def _write_rating(rating: Scale, draws: Integers) -> str:
    least = 10 ** (rating.digits - 1)
    if not rating.part:
        number = draws.between(least, min(rating.scale, 10 * least - 1))
        return f"{number}/{rating.scale}"
    number = draws.between(least, max(min(rating.scale, 10 * least) - 1, least))
    part = draws.below(10) if number < rating.scale else 0
    return f"{number}.{part}/{rating.scale}"


def _write_slashed(match: re.Match[str], frame: Frame, draws: Integers) -> str:
    """Write a rating, 120/80, fraction, or day and month; others digit by digit."""
    if scale := rating(match[0]):
        return _write_rating(scale, draws)
    one, two = len(match[1]), len(match[3])
    if one == two == 1 and frame.most == STARS and not match[2]:
        return "1/2"  # stars
    if one < NAMED and two == YEAR and not match[2]:
        first, last = draws.years or YEARS
        month = draws.between(1, 9) if one == 1 else draws.between(10, 12)
        return f"{month}/{draws.between(first, last)}"
    if match[2] or max(one, two) > NAMED or two >= NAMED:
        return "/".join(_draw_digits(part, draws) for part in match[0].split("/"))
    if one == NAMED:
        least, most = (50, 99) if two == 2 else (1, 9)
        return f"{draws.between(100, 179)}/{draws.between(least, most)}"
    first, second = _draw_day(one, draws), _draw_day(two, draws)
    while second == first:
        second = _draw_day(two, draws)
    if one == two:
        first, second = sorted((first, second))
    return f"{first}/{second}"


def _draw_day(digits: int, draws: Integers) -> int:
    """Return a random one-digit number, or a two-digit day of a month."""
    return draws.between(1, 9) if digits == 1 else draws.between(10, _DAYS_OF_ALL)


def _write_clock(match: re.Match[str], frame: Frame, draws: Integers) -> str:
    hour = draws.between(1, 9) if len(match[1]) == 1 else draws.between(10, 23)
    return f"{hour}:{draws.below(60):02d}"


def _write_tenths(match: re.Match[str], frame: Frame, draws: Integers) -> str:
    """Write a number such as 4.5, within a following scale."""
    most = min(frame.most, 10) - 1 if frame.most else 9
    return f"{draws.between(1, most)}.{draws.below(10)}"


def _write_ordinal(match: re.Match[str], frame: Frame, draws: Integers) -> str:
    if len(match[1]) == 2:
        number = str(draws.between(10, _DAYS))
    else:
        number = _draw_digits(match[1], draws)
    last = int(number[-1]) if number[-2:-1] != "1" else 0
    ending = _ENDINGS[last if last < len(_ENDINGS) else 0]
    return number + (ending.upper() if match[2].isupper() else ending)


def _write_decade(match: re.Match[str], frame: Frame, draws: Integers) -> str:
    """Write a decade: 1990s from the window, 90s, or others digit by digit."""
    digits = len(match[1])
    if digits == YEAR:
        first, last = draws.years or YEARS
        return f"{10 * draws.between(first // 10, last // 10)}{match[2]}"
    return f"{_draw_digits('1' * (digits - 1), draws)}0{match[2]}"


_WRITERS: tuple[
    tuple[re.Pattern[str], Callable[[re.Match[str], Frame, Integers], str]], ...
] = (
    (_SLASHED, _write_slashed),
    (_CLOCK, _write_clock),
    (_TENTHS, _write_tenths),
    (_ORDINAL, _write_ordinal),
    (_DECADES, _write_decade),
)


def _draw_digits(body: str, draws: Integers) -> str:
    """Return a random digit for each digit; the first is not 0."""

    def fill() -> Iterator[str]:
        if _DIGIT.search(body):
            yield draws.characters(DIGITS[1:])
        while True:
            yield draws.characters(DIGITS)

    digits = fill()
    return _DIGIT.sub(lambda _: next(digits), body)
