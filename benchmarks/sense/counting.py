"""Faults of outputs, found in the texts alone: what is written for which piece."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, cached_property
from itertools import combinations, pairwise

from benchmarks.sense import lists
from benchmarks.sense.records import Made, Piece
from dptext.tokens.language_data import delicate_words, opinion_nouns, opinion_words
from dptext.tokens.regex import key_of

# An address, a word or number with inner marks, or one mark.
_TOKEN = re.compile(r"[\w.+-]+@[\w.-]*\w|\w+(?:(?:['’](?!s\b)|[./,:–-])\w+)*|[^\w\s]")
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Years that a reader takes for some of today's.
_YEARS = range(2010, 2036)
_AGES = range(10, 90)
_PRESSURES = range(30, 261)
# Of diabetes, hepatitis and the like.
_LAST_TYPE = 4
# "May" is a short and a long form.
_DAY_LAYOUTS = ("%Y-%m-%d", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y")
# Rows whose pieces are copied, or as good as: an acronym, a common word, a key.
_COPIED = {
    "acronym": "acronyms lost",
    "capital": "common word with a capital replaced after a mark or greeting",
    "modal": "modal or verb before a pronoun or article replaced",
    "after": "first word after emoji lost",
    "key": "key of a log changed",
    "keep": "Windows, Error and the like lost",
}
_EQUAL = {
    "given": "equal names become unequal",
    "family": "equal names become unequal",
    "email": "equal e-mail addresses become unequal",
    "order": "equal order numbers become unequal",
    "phone": "equal phone numbers become unequal",
    "product": "equal products become unequal",
    "handle": "equal usernames become unequal",
}
Count = tuple[str, bool]


@dataclass(frozen=True)
class Written:
    """A made record beside its output."""

    record: Made
    texts: Sequence[str]

    @cached_property
    def aligned(self) -> list[Alignment]:
        """Return the alignment of each field."""
        pairs = zip(self.record.texts, self.texts, strict=True)
        return [Alignment(before, after) for before, after in pairs]

    def before(self, piece: Piece) -> str:
        """Return a piece of the original."""
        return self.record.texts[piece.field][piece.begin : piece.end]

    def after(self, piece: Piece) -> str:
        """Return the text that was written for a piece."""
        return self.aligned[piece.field].written(piece.begin, piece.end)

    def marked(self, row: str) -> Iterator[tuple[str, str]]:
        """Yield the pieces of a mark before and after."""
        for piece in self.record.pieces:
            if piece.row == row:
                yield self.before(piece), self.after(piece)


class Alignment:
    """Which words of an output stand for which of the original."""

    def __init__(self, before: str, after: str) -> None:
        self.before, self.after = before, after
        self._old = [*_TOKEN.finditer(before)]
        self._new = [*_TOKEN.finditer(after)]
        # Of each word: the first and the last of those that stand for it.
        self._places = _aligned(
            [token[0] for token in self._old], [token[0] for token in self._new]
        )

    def written(self, begin: int, end: int) -> str:
        """Return the words in place of those from begin to end, "" for none."""
        inside = [
            place
            for token, place in zip(self._old, self._places, strict=True)
            if token.start() < end and token.end() > begin
        ]
        if not inside:
            return ""
        new = self._new[min(p[0] for p in inside) : max(p[1] for p in inside)]
        return self.after[new[0].start() : new[-1].end()] if new else ""

    def replaced(self) -> Iterator[tuple[str, str]]:
        """Yield words with the one word that was written in their place."""
        for token, (begin, end) in zip(self._old, self._places, strict=True):
            if end - begin == 1 and token[0] != self._new[begin][0]:
                yield token[0], self._new[begin][0]

    def plain(self) -> Iterator[tuple[str, str]]:
        """Yield replaced words in small letters, without those of times of day."""
        for pair in self.replaced():
            if all(word.isalpha() and word.islower() for word in pair):
                if pair[0] not in ("am", "pm"):
                    yield pair


def _aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the place of each word in another text: best sum of likenesses."""
    shapes, new_shapes = [*map(_shape, old)], [*map(_shape, new)]
    # Best sums of the first words of new, and the steps that lead there.
    best = [_GAP * j for j in range(len(new) + 1)]
    steps = []
    for i, (word, shape) in enumerate(zip(old, shapes, strict=True), 1):
        row, step = [_GAP * i], [_SKIP_OLD]
        for j, (other, other_shape) in enumerate(zip(new, new_shapes, strict=True), 1):
            if word == other:
                like = _EQUAL_WORDS
            else:
                like = _SAME_SHAPE if shape == other_shape else _OTHER_SHAPE
            score, move = best[j - 1] + like, _BOTH
            if best[j] + _GAP > score:
                score, move = best[j] + _GAP, _SKIP_OLD
            if row[j - 1] + _GAP > score:
                score, move = row[j - 1] + _GAP, _SKIP_NEW
            row.append(score)
            step.append(move)
        best = row
        steps.append(step)
    places = [(0, 0)] * len(old)
    i, j = len(old), len(new)
    while i:
        move = steps[i - 1][j] if j else _SKIP_OLD
        if move == _SKIP_NEW:
            j -= 1
            continue
        i -= 1
        places[i] = (j - 1, j) if move == _BOTH else (j, j)
        j -= move == _BOTH
    return places


_GAP, _EQUAL_WORDS, _SAME_SHAPE, _OTHER_SHAPE = -1.0, 6.0, 1.0, -0.5
_BOTH, _SKIP_OLD, _SKIP_NEW = range(3)


def _shape(word: str) -> str:
    """Return a mark itself, else 0, A or a for a number, a capital, another word."""
    if not word[0].isalnum() and word[0] != "_":
        return word
    if any(map(str.isdigit, word)):
        return "0"
    return "@" if "@" in word else "A" if word[0].isupper() else "a"


def counts(written: Written) -> Iterator[Count]:
    """Yield each chance of a fault, by its row, and whether it is one."""
    for counter in _COUNTERS:
        yield from counter(written)


def _equal_ones(written: Written) -> Iterator[Count]:
    """Count repeats that differ from the first of a person or thing."""
    first: dict[tuple[str, str], str] = {}
    for piece in written.record.pieces:
        if piece.row in _EQUAL:
            new = written.after(piece).casefold()
            key = piece.row, piece.label
            if key in first:
                yield _EQUAL[piece.row], first[key] != new
            first.setdefault(key, new)


def _two_people(written: Written) -> Iterator[Count]:
    """Count pairs of people with different names who share a name."""
    names: dict[tuple[str, str], tuple[str, str]] = {}
    for piece in written.record.pieces:
        if piece.row in ("given", "family"):
            pair = written.before(piece), written.after(piece).casefold()
            names.setdefault((piece.row, piece.label), pair)
    for one, other in combinations(names, 2):
        (old, new), (old_2, new_2) = names[one], names[other]
        if one[0] == other[0] and old != old_2:
            yield "two people get one name", new == new_2


def _pronouns(written: Written) -> Iterator[Count]:
    """Count people with a pronoun of the other gender than their given name."""
    said: dict[str, set[str]] = {}
    named: dict[str, set[str]] = {}
    for piece in written.record.pieces:
        new = written.after(piece).casefold()
        if piece.row == "pronoun" and new in _GENDERS:
            said.setdefault(piece.label, set()).add(_GENDERS[new])
        elif piece.row == "given" and (gender := _given_genders().get(new)):
            named.setdefault(piece.label, set()).add(gender)
    for label, pronouns in said.items():
        if label in {p.label for p in written.record.pieces if p.row == "given"}:
            yield "he or she against the name", bool(named.get(label, set()) - pronouns)


_GENDERS = {"he": "m", "him": "m", "his": "m", "she": "f", "her": "f"}


@cache
def _given_genders() -> dict[str, str]:
    """Return names that are of one gender in the lists of faker, for most people."""
    from faker.providers.person.en_US import Provider

    men = {name.casefold() for name in Provider.first_names_male}
    women = {name.casefold() for name in Provider.first_names_female}
    both = (men & women) | lists.UNISEX
    return dict.fromkeys(men - both, "m") | dict.fromkeys(women - both, "f")


def _opinions(written: Written) -> Iterator[Count]:
    """Count marked opinions that are turned, lost or added."""
    for old, new in written.marked("opinion"):
        before, after = _signs(old), _signs(new)
        turned = any(after[sign] > before[sign] for sign in (1, -1))
        yield "polarity turned", turned or before[0] != after[0]
    # Names of firms are written anew.
    firms = " ".join(old for old, _ in written.marked("chain"))
    listed = opinion_words("en") - {*map(key_of, _WORD.findall(firms))}
    words = [
        (key_of(old), key_of(new))
        for each in written.aligned
        for old, new in each.replaced()
    ]
    yield "text with an opinion lost", any(old in listed for old, _ in words)
    # An illness may be written as a problem.
    all_listed = (listed | opinion_nouns("en")) - lists.ILLNESSES
    yield (
        "text with an opinion added",
        any(new in all_listed and old not in all_listed for old, new in words),
    )


def _denied(written: Written) -> Iterator[Count]:
    """Count denials that are lost, or get an opinion or another delicate word."""
    unfit = lists.GOOD | lists.BAD | delicate_words("en")
    for old, new in written.marked("denied"):
        added = {*map(key_of, _WORD.findall(new))} - {*map(key_of, _WORD.findall(old))}
        is_lost = _signs(old)[0] != _signs(new)[0]
        yield "denial of a delicate word turned", is_lost or bool(added & unfit)


def _plain_words(written: Written) -> Iterator[Count]:
    """Count plain words that stand twice and become two, and two that become one."""
    first: dict[str, str] = {}
    for each in written.aligned:
        for old, new in each.plain():
            if old in first:
                yield "equal plain words become unequal", first[old] != new
            else:
                yield "different plain words become equal", new in first.values()
                first[old] = new


def _signs(text: str) -> Counter[int]:
    """Count words of praise (1), of blame (-1) and those that deny (0)."""
    signs: Counter[int] = Counter()
    for word in map(key_of, _WORD.findall(text)):
        signs[1] += word in lists.GOOD
        signs[-1] += word in lists.BAD
        signs[0] += word in lists.NEGATIONS
    return signs


def _illnesses(written: Written) -> Iterator[Count]:
    """Count phrases that end in no illness, name two, or have a type above 4."""
    for _, new in written.marked("illness"):
        words = _WORD.findall(new.casefold())
        named = [word for word in words if word in lists.ILLNESSES]
        is_right = len(named) == 1 and words[-1] == named[0]
        types = map(int, _NUMBER.findall(new))
        yield (
            "illness without a word of illness",
            not is_right or any(number > _LAST_TYPE for number in types),
        )


def _numbers(written: Written) -> Iterator[Count]:
    """Count numbers that cannot be, by the marks of their layouts."""
    for _, new in written.marked("plural"):
        yield "1 before a plural", new.startswith("1 ") and new.endswith("s")
    times = [new for _, new in written.marked("at")]
    for one, other in pairwise(times):
        yield "times of a chat out of order", one > other
    for row, name, is_right in _LAYOUTS:
        for _, new in written.marked(row):
            numbers = [int(number) for number in _NUMBER.findall(new)]
            yield name, not (numbers and is_right(numbers))


_LAYOUTS: tuple[tuple[str, str, Callable[[list[int]], bool]], ...] = (
    ("range", "range backwards", lambda n: len(n) == 2 and n[0] < n[1]),
    ("clock", "range backwards", lambda n: len(n) == 4 and n[:2] < n[2:]),
    ("years", "range backwards", lambda n: len(n) == 2 and n[0] < n[1]),
    ("years", "year outside 2010 to 2035", lambda n: all(y in _YEARS for y in n)),
    ("year", "year outside 2010 to 2035", lambda n: n[0] in _YEARS),
    ("rating", "rating above its scale", lambda n: len(n) == 2 and n[0] <= n[1]),
    ("percent", "percentage above 100", lambda n: n[0] <= 100),
    ("age", "age below 10 or above 89", lambda n: n[0] in _AGES),
    (
        "pressure",
        "blood pressure that cannot be",
        lambda n: len(n) == 2 and n[0] > n[1] and all(p in _PRESSURES for p in n),
    ),
)


def _dates(written: Written) -> Iterator[Count]:
    """Count dates outside the years, and those in another order than before."""
    days = []
    for piece in written.record.pieces:
        if piece.row in ("date", "dmy", "mdy"):
            before, new = _day(written.before(piece)), _day(written.after(piece))
            yield (
                "date that is none or outside 2010 to 2035",
                new is None or new.year not in _YEARS,
            )
            if before and new:
                days.append((before, new))
    days.sort()
    for (old, new), (old_2, new_2) in pairwise(days):
        yield "dates out of order", (new > new_2) if old < old_2 else (new != new_2)


def _day(text: str) -> date | None:
    for layout in _DAY_LAYOUTS:
        try:
            return datetime.strptime(text, layout).date()
        except ValueError:
            continue
    return None


def _emoji(written: Written) -> Iterator[Count]:
    for _, new in written.marked("emoji"):
        yield "emoji become words or nothing", not new or any(map(str.isalnum, new))


def _copied(written: Written) -> Iterator[Count]:
    for row, name in _COPIED.items():
        for old, new in written.marked(row):
            yield name, old.casefold() not in new.casefold()


def _headings(written: Written) -> Iterator[Count]:
    for old, new in written.marked("heading"):
        words = _WORD.findall(new)
        for word in _WORD.findall(old):
            yield "word of a heading in capitals changed", word not in words


def _weekdays(written: Written) -> Iterator[Count]:
    for _, new in written.marked("weekday"):
        yield "weekday becomes another word", "day" not in new


def _brands(written: Written) -> Iterator[Count]:
    """Count texts with a brand that the original did not have."""
    new = _brands_of(written.texts) - _brands_of(written.record.texts)
    yield "real brand invented", bool(new)


def _brands_of(texts: Sequence[str]) -> set[str]:
    words = {token[0].casefold() for text in texts for token in _TOKEN.finditer(text)}
    return words & lists.BRANDS


def _chains(written: Written) -> Iterator[Count]:
    """Count chains of capitals that got another common word than they had."""
    for old, new in written.marked("chain"):
        added = {*_WORD.findall(new.casefold())} - {*_WORD.findall(old.casefold())}
        yield (
            "organisation of capitals becomes words",
            not new or bool(added & _common()),
        )


@cache
def _common() -> frozenset[str]:
    """Return the commonest words of English that are no names."""
    from dptext import lexicons
    from dptext.tokens.language_data import person_names

    words = lexicons.find("english").words[:6000]
    common = {word for word in words if word.islower()} - lists.ORGANISATION_WORDS
    return frozenset(common - person_names("en"))


def _usernames(written: Written) -> Iterator[Count]:
    for piece in written.record.pieces:
        if piece.row == "handle":
            name = written.before(piece).strip("@ ")
            text = written.texts[piece.field]
            yield "username with underscores kept whole", name in text


_COUNTERS: tuple[Callable[[Written], Iterator[Count]], ...] = (
    _equal_ones,
    _two_people,
    _pronouns,
    _opinions,
    _denied,
    _plain_words,
    _illnesses,
    _numbers,
    _dates,
    _emoji,
    _copied,
    _headings,
    _weekdays,
    _brands,
    _chains,
    _usernames,
)
