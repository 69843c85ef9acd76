"""Words of other languages: which are copied, and what replaces the rest.

The language's lists (dptext.tokens.languages) and the spelling of a word decide. No
vocabulary contains these words, so none is drawn with an epsilon. Copied are:

- a common word in lower case, unless it is strong: a name of a person, country, region,
  city, people or known organisation in a list of any language of the run;
- a common word with a capital at the beginning of a text, a line or a sentence, unless
  a list has it as a name;
- function words of three letters and more in any capitals, particles of names with a
  capital; a single letter that is a function word, not before a period; titles,
  greetings, closing words, short forms, words of streets;
- in German a common noun with a capital, unless it is a name or a public body;
- a word of a list of words that many people wrote, as in English.

Months, weekdays, names of persons and places, acronyms and words with an inner capital
belong to classes. Every other word becomes a random word from a public list with the
same ending class and capitals (`layout`, `choices`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain

from dptext.tokens import common, kinds, organisations
from dptext.tokens.draws import CONSONANTS
from dptext.tokens.forms import FormLayout
from dptext.tokens.languages import LanguageLists
from dptext.tokens.memory import Memory
from dptext.tokens.people import People, genders_of
from dptext.tokens.policy import WordClass
from dptext.tokens.regex import is_clitic, is_elision, key_of
from dptext.types import Words

#: The form of a word that is drawn from a list (dptext.types.Words.formed).
WORD = "word"
# Fewest letters of function words that are copied inside sentences.
_LEAST = 3
# Kinds and capitals in layouts.
_NOUN, _OTHER, _LETTER = "noun", "word", "letter"
_TITLE, _UPPER, _LOWER = "Title", "UPPER", "lower"
_DAY, _ROMAN, _STREET = "day", "roman", "street"
_DAYS = {1: tuple("123456789"), 2: tuple(map(str, range(10, 29)))}
_ROMAN_NUMBER = re.compile("(?=[IVX]{2})X{0,2}(?:IX|IV|V?I{0,3})")
_ROMANS = tuple(
    "II III IV VI VII VIII IX XI XII XIII XIV XV XVI XVII XVIII XIX".split()
)
_VOWELS = frozenset("aeiouhàâéèêëîïôûùáíóúäöü")
_INNER = re.compile(r"\w*[^\W\d_A-ZÀ-Þ][A-ZÀ-Þ]\w*")
# Short forms of things, which all languages write so.
_SHORT = frozenset(
    "OK Ok PDF USB SMS TV DVD CD PC GPS WLAN PIN IBAN BIC SEPA HTML URL QR LED LCD FAQ "
    "SIM HD MB GB km kg cm mm ml e-mail e-mails E-mail E-mails E-Mail E-Mails".split()
)


def beginning(words: Sequence[str], *, vowels: bool) -> Sequence[str]:
    """Return words that begin with a vowel or h, or the other words; all if none."""
    return [each for each in words if (each[0].lower() in _VOWELS) is vowels] or words


def copied_before(words: Words, position: int, begins: Collection[int]) -> str:
    """Return the copied piece before another in its text, or "".

    begins: the first pieces of texts.
    """
    before = position - 1
    if before < 0 or position in begins:
        return ""
    is_copied = words.flag[before] & kinds.KIND == kinds.COMMON
    return words.pieces[before] if is_copied else ""


def _parts(phrases: Iterable[str]) -> frozenset[str]:
    """Return the words in phrases, which use "_" as space."""
    return frozenset(part for each in phrases for part in each.split("_"))


class Names:
    """Names of persons, places etc. in all languages of a run."""

    def __init__(
        self, lists: Sequence[LanguageLists], english: Collection[str]
    ) -> None:
        """Merge the lists; english: capitalised names from English lists."""
        self.strong = frozenset[str]().union(*(each.strong for each in lists))
        self.persons = frozenset[str]().union(*(each.names for each in lists))
        self.places = frozenset[str]().union(*(each.places for each in lists))
        first_names = (each.women | each.men | each.given_names for each in lists)
        regions = frozenset[str]().union(*(each.regions for each in lists))
        #: Places that are read as such, though they are family names, too.
        self.likelier_places = regions - frozenset[str]().union(*first_names)
        bodies = (each.organisations for each in lists)
        self.organisations = frozenset[str]().union(*bodies)
        self.every = self.strong | self.persons | self.places | self.organisations
        self.every |= frozenset(english)


class Reader:
    """Reads the words of a single language."""

    def __init__(
        self,
        lists: LanguageLists,
        *,
        copied: Collection[str],
        names: Names,
        classes: Sequence[WordClass],
        opinions: bool,
        code_listed: Callable[[str], int],
    ) -> None:
        """Prepare for a language.

        copied: words that every language copies, as spelled; opinions: whether words of
        opinion count as common; code_listed: returns the bits of a word that many
        people wrote, as in dptext.tokens.common.CommonWords.
        """
        self._lists, self._copied, self._names = lists, copied, names
        self._code_listed = code_listed
        self._special = lists.special
        self._function = lists.function_words | lists.particles
        known = lists.common | lists.opinions if opinions else lists.common
        self._common = (known - self._special) | self._function
        self._common -= lists.demonyms
        exceptions = self._function | lists.plain
        self._lower = self._common - (names.strong - exceptions)
        self._capital = self._common - names.every - lists.bodies
        self._capital |= self._common & lists.first_words
        self._nouns = (lists.nouns - names.strong) | lists.plain_nouns
        self._nouns -= lists.bodies | self._special
        streets = {word for word in lists.streets if len(word) >= _LEAST}
        self._nouns |= streets - lists.strong - lists.names - lists.bodies
        self._written_nouns = frozenset(
            map(key_of, chain(*lists.writable_nouns.values()))
        )
        self._kinds = frozenset(each.kind for each in classes)
        self._months = frozenset(map(key_of, lists.months))
        # What is written: no "montags", and "terça" alone of "terça" and "terça-feira".
        days = lists.weekdays
        first = {day.partition("-")[0] for day in days if "-" in day}
        self._weekdays = [
            day
            for day in days
            if (day in first or not first) and not (day[-1] == "s" and day[:-1] in days)
        ]
        self._calendar = self._months | frozenset(map(key_of, lists.weekdays))
        # Behind the last word of a greeting a name stands.
        self._greetings = frozenset(each.rpartition("_")[2] for each in lists.greetings)
        phrases = (*lists.closings, *lists.abbreviations, *lists.titles)
        self._short = _parts(phrases) | _parts(lists.greetings)
        # "le" and "la" are "l'" before a vowel.
        self._before_consonants = frozenset(
            each[:-1] + vowel for each in lists.elisions for vowel in "ae"
        )
        #: "'" for a copied piece before vowels, "-" for one before consonants, else "".
        self.asks_for = Memory(self._asks_for)
        #: The names to write, and words that tell a gender.
        self.people = People(
            men=lists.men_to_write,
            women=lists.women_to_write,
            both=lists.women_to_write + lists.men_to_write,
            families=lists.families_to_write,
            words=genders_of(lists.words_of_men, lists.words_of_women),
            titles=genders_of(lists.titles_of_men, lists.titles_of_women),
        )
        #: The words to write by layout.
        self.choices = Memory(self._choices)
        #: Codes and layouts by piece, for this process only.
        self.codes = Memory(self.code)
        self.layouts = Memory(lambda piece: FormLayout(WORD, self.layout(piece)))  # type: ignore[arg-type]
        #: Whether nouns have a capital, so that an unlisted word with one is no name.
        self.has_capital_nouns = bool(lists.nouns)

    def code(self, piece: str) -> int:
        """Return a piece's kind and bits, -1 if it has no letter.

        kinds.WORD means a replaced word, and kinds.UNKNOWN one that
        is capitalised and in no list.
        """
        body = piece.strip(" ")
        if not any(map(str.isalpha, body)):
            return -1
        code, listed = self._code(body), self._code_listed(body)
        if code & kinds.KIND == kinds.COMMON:
            return code
        if listed & kinds.KIND:
            return listed
        return code if key_of(body) in self._names.every else code | listed

    def _code(self, body: str) -> int:
        key = key_of(body)
        if body in self._copied:
            return kinds.COMMON | (common.LETTER if len(body) == 1 else 0)
        if body in _SHORT or is_clitic(body):
            return kinds.COMMON
        if key in self._lists.titles:
            return kinds.COMMON | common.TITLES
        if key in self._greetings:
            return kinds.COMMON | common.GREETS
        if key in self._short or key in self._lists.elisions:
            return kinds.COMMON
        if key in self._calendar:
            return self._of_class(kinds.CALENDAR, body)
        if body == body.lower():
            if len(key) == 1:
                is_function = key in self._function
                return kinds.COMMON | common.LETTER if is_function else kinds.WORD
            return kinds.COMMON if key in self._lower else kinds.WORD
        return self._code_capital(body, key)

    def _code_capital(self, body: str, key: str) -> int:
        title = body[1:] == body[1:].lower()
        # Particles in capitals may be acronyms.
        words = self._function if title else self._lists.function_words
        if key in words and (title or body.isupper()):
            if len(key) == 1:
                return kinds.UNKNOWN | common.STARTS | common.LETTER
            if len(key) >= _LEAST and key not in self._names.persons:
                return kinds.COMMON
            return kinds.UNKNOWN | (common.STARTS if title else 0)
        if title and key in self._nouns:
            return kinds.COMMON
        if title and key in self._capital:
            return kinds.UNKNOWN | common.STARTS
        return self._code_name(body, key)

    def _code_name(self, body: str, key: str) -> int:
        """Return the kind of a capitalised word that is not copied."""
        if key in self._special:
            return kinds.WORD
        if _ROMAN_NUMBER.fullmatch(body):
            return kinds.WORD
        if not (body.isupper() and key in self._common):
            if organisations.is_plural_acronym(body) or organisations.is_acronym(body):
                return self._of_class(kinds.ORGANISATION, body) | common.ACRONYM
            if _INNER.fullmatch(body) and organisations.has_inner_capital(body):
                return self._of_class(kinds.ORGANISATION, body) | common.PRODUCT
        if key in self._lists.bodies or key in self._names.organisations:
            return self._of_class(kinds.ORGANISATION, body)
        if key in self._names.persons and key not in self._names.likelier_places:
            return self._of_class(kinds.PERSON, body)
        is_noun = key in self._written_nouns
        if key in self._names.places and not is_noun:
            return self._of_class(kinds.PLACE, body)
        return kinds.UNKNOWN

    def _of_class(self, kind: int, body: str) -> int:
        if kind in self._kinds:
            return kind
        return kinds.WORD if body == body.lower() else kinds.UNKNOWN

    def layout(self, piece: str) -> str:
        """Return the layout of a word to draw from a list."""
        body = piece.strip(" ")
        capital, kind = _LOWER, _OTHER
        if body[:1] != body[:1].lower():
            capital = _UPPER if body.isupper() and len(body) > 1 else _TITLE
            kind = _NOUN if self.has_capital_nouns else _OTHER
        if len(body) == 1:
            return f"{self._lists.code} {_LETTER} {capital} "
        if _ROMAN_NUMBER.fullmatch(body):
            return f"{self._lists.code} {_ROMAN} {capital} "
        if capital == _TITLE and (ending := self._street_ending(body)):
            return f"{self._lists.code} {_STREET} {capital} {ending}"
        ending = self._lists.ending(key_of(body))
        return f"{self._lists.code} {kind} {capital} {ending}"

    def is_street(self, piece: str) -> bool:
        """Return whether a word has a street ending: "Kerkstraat"."""
        return bool(self._street_ending(piece.strip(" ")))

    def _street_ending(self, body: str) -> str:
        key = key_of(body)
        endings = self._lists.street_endings
        return next((e for e in endings if key.endswith(e) and key != e), "")

    def day(self, number: str, month: str) -> FormLayout | None:
        """Return the layout of a day before a month, None for other numbers."""
        body = number.strip(" ")
        is_month = key_of(month.strip(" ")) in self._months
        if not is_month or not body.isdecimal() or len(body) > len("31"):
            return None
        return FormLayout(WORD, f"{self._lists.code} {_DAY} {_LOWER} {len(body)}")  # type: ignore[arg-type]

    def _asks_for(self, before: str) -> str:
        body = before.strip(" ")
        if is_elision(body):
            return "'"
        return "-" if key_of(body) in self._before_consonants else ""

    def _choices(self, shown: str) -> Sequence[str]:
        """Return the words to choose from for a layout, all equally likely."""
        code, kind, capital, ending = shown.split(" ")
        if kind == _LETTER:
            words: Sequence[str] = CONSONANTS.lower()
        elif kind == _DAY:
            words = _DAYS[int(ending)]
        elif kind == _ROMAN:
            words = _ROMANS
        elif kind == _STREET:
            words = [f"{name}{ending}" for name in self._lists.families_to_write]
        else:
            nouns = kind == _NOUN
            groups = self._lists.writable_nouns if nouns else self._lists.writable
            words = groups.get(ending) or tuple(chain(*groups.values()))
            if code[-1] in "'-":
                words = beginning(words, vowels=code[-1] == "'")
        if capital == _UPPER:
            return tuple(map(str.upper, words))
        if capital == _TITLE:
            return tuple(word[:1].upper() + word[1:] for word in words)
        return tuple(words)

    def names(
        self,
        kind: int,
        body: str,
        *,
        family: bool,
        title: bool,
        before: str,
    ) -> Sequence[str]:
        """Return the words to choose from for a word of a class.

        The body only matters for months. title: capitalised;
        before: the preceding copied piece, "" for none.
        """
        return self.fitting(
            self._names_of(kind, body, family=family, title=title), before
        )

    def fitting(self, listed: Sequence[str], before: str) -> Sequence[str]:
        """Return the words that can follow a copied piece."""
        asked = self.asks_for[before]
        return beginning(listed, vowels=asked == "'") if asked else listed

    def _names_of(
        self, kind: int, body: str, *, family: bool, title: bool
    ) -> Sequence[str]:
        lists = self._lists
        if kind == kinds.PERSON:
            return self.people.families if family else self.people.both
        if kind == kinds.PLACE:
            return lists.places_to_write
        if kind == kinds.ORGANISATION:
            return lists.organisations_to_write or organisations.choices("")
        listed = lists.months if key_of(body) in self._months else self._weekdays
        return [each.capitalize() if title else each.lower() for each in listed]
