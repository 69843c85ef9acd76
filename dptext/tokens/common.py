"""Common words, which are copied: recognised only by their spelling.

Common words are the N most frequent words of a lexicon that it writes in lower case,
and its function words; with `opinion: keep` also opinion words from a public list.
Words of a special category of personal data (health, religion, crime, ...) and single
letters other than function words are never common. These are copied:

- a common word in lower case, at any place, but names beside a cue
  (dptext.tokens.name_cues);
- a common word with a capital first letter at the beginning of a text, a line or a
  sentence, unless a public list has it as a name of a person, a place or an
  organisation ("Will", "Rose", "Apple"); at other places it is replaced like a name;
- a function word of three letters or more in any capitals, unless a public list has it
  as an acronym or a name, and other words of five letters or more in capitals, unless
  they are nouns or names: "The", "NOT" and "GREAT" are copied, "US", "WHO" and "Can"
  are not; some of these behind a copied word in capitals ("CALL ME", "YOU WILL SEE");
- posts and ranks of a public list with a capital ("Captain", "Manager"), those that
  are names before a replaced word with a capital ("King Charles"), and words of offices
  side by side ("Prime Minister");
- "I", clitics ("'s", "n't"), contractions that cannot be divided ("can't"), titles
  ("Mr"), short forms, closing words, parts of a company and of a contract of public
  lists ("e.g.", "TV", "ASAP", "mg", "sincerely", "Agreement"), emoji of a public list,
  keys of one before an equals sign, and some letters beside marks ("Q:", "(b)");
- a name that is a verb, where a sentence begins and a copied pronoun or article is next
  ("May I", "Mark the"), and a modal before some verbs, too ("Will buy again");
- in headings, where most words have a capital and these are shown, also other words
  with a capital that are no nouns;
- a word of a list of words that many people wrote (dptext.word_file) as it is written
  there, and with a capital first letter where a sentence begins.

In a language without lists of names any word with a capital may be a name: at the
beginning of a sentence only function words are copied, and German nouns never are.

A line begins after a line break, and a sentence after a mark that ends sentences and a
space; quotes, brackets, dashes and bullets may stand between. The period of a title
does not end a sentence ("Mr. Cross"). Emoji end one, and it begins also behind the
comma of a greeting, the colon of a speaker, a semicolon, the mark before a cell of a
table, a date or time at its beginning, and, for words that are no nouns, behind a dash
or a quotation (dptext.tokens.sentence_starts). A capital letter before a period is an
initial and is replaced ("A. Smith"). So the spelling of a word, marks, shown capitals
and copied words alone decide whether it is copied; replaced words, and whether the
lexicon knows them, do not.

A word with a hyphen or an apostrophe is divided by its spelling alone
(dptext.tokens.regex.divide), and each part is judged alone. Not divided, but replaced,
are words that have a special category only as a whole ("right-wing"), names with
small letters after a hyphen ("Min-jun") and words with an underscore ("sweet_tree").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np

from dptext.errors import UsageError
from dptext.run.choices import FOR_PROGRAMS
from dptext.run.interface import option
from dptext.tokens import kinds, language_data, names, numbers
from dptext.tokens.policy import MANY_COMMON
from dptext.tokens.regex import divide, key_of, to_keys
from dptext.types import PARTS, Floats, Ids, Lexicon

# Bits of a code above flags, row and name (dptext.tokens.tokenizer).
STARTS = 1 << 41  # copied at the beginning of a sentence
LETTER = 1 << 42  # a single capital letter
TITLES = 1 << 43  # a title: its period ends no sentence
OPENS = 1 << 44  # a mark that may stand before the first word of a sentence
DOT = 1 << 45  # a period
NAMED = 1 << 40  # read as a name of a person
ACRONYM = 1 << 54  # 2 to 5 capitals that are no copied short form
PRODUCT = 1 << 55  # a word with an inner capital
NATIONALITY = PRODUCT  # of a place: "German"
INSTITUTION = 1 << 56  # "Bank": a word of a kind in names of several words
VERB = 1 << 57  # "May": copied at the beginning of a sentence before a pronoun
BEHIND_VERB = 1 << 58  # such a pronoun, article or demonstrative
FUNCTION = 1 << 59  # a copied function word: it shows no heading
LOG_KEY = 1 << 60  # copied before "="
HEADED = 1 << 62  # copied in headings: no noun
GREETS = 1 << 61  # "Hi": behind the next comma a sentence begins
# Names of public lists are common, in lower case, only among so many commonest words:
# "sterling" is not.
_COMMONEST = 3000
# Commoner words are copied with a capital, too, where a sentence begins; the others are
# copied in lower case alone, and in no list of names or delicate words.
_CAPITALIZED = 8000
_LEAST_SMALL = 3  # letters of these
# Least letters of copied function words in capitals: shorter ones may be acronyms.
_LEAST_CAPITALS = 3
# And of words of opinion of these parts of speech.
_OF_OPINION = frozenset(("noun", "adjective", "adverb"))
_LEAST_OPINION = 4
# Languages with elisions, as in "l'eau".
ELIDING = frozenset({"ca", "fr", "it"})
# Least letters of common words in capitals that are copied.
_LONG_CAPITALS = 5
#: Words that have no capital in headings.
LITTLE = frozenset("a an the of in on to for and or at by with from as vs 's".split())
_NO_TITLES = frozenset(("MS", "DR", "VS", "LT", "PR"))
# Words that others are read as.
_PLACE, _FIRM = "london", "google"
_NOUNS = frozenset(("noun", "name"))
#: Letters copied beside a mark, or between two: "Q:", "20 °C", "Mbit/s", "(b)".
BEHIND_MARKS, BEFORE_MARKS = {"C": "°", "F": "°", "s": "/"}, {"Q": ":"}
BEHIND_MARKS |= dict.fromkeys("bcdegh", "(")
BEFORE_MARKS |= dict.fromkeys("bcdegh", ")")
#: Letters of units, copied behind a number: "1.5 m tall", "98.6 F".
UNITS = frozenset("mglhsvwCFVWA")
#: The same of words with a capital: "5 Stars", "within 3 Days".
COUNTED = frozenset(
    "Star Stars Day Days Week Weeks Month Months Year Years Hour Hours Minute Minutes "
    "Times Points Percent Miles Items".split()
)
_CLITICS = frozenset({"'s", "'re", "'ve", "'ll", "'d", "'m", "'em", "n't"})
#: Marks that may stand before the first word of a sentence.
OPENING = frozenset("\"'`“”‘’„«»‹›()[]{}¿¡-–—*•·>~_|#")
_NO_WORDS: frozenset[str] = frozenset()
_DIVIDES = re.compile("[-_'’]")


class CommonWords:
    """A lexicon's common words: its most frequent words, and its function words."""

    def __init__(
        self,
        lexicon: Lexicon,
        count: int,
        opinions: bool = False,
        listed: frozenset[str] = _NO_WORDS,
    ) -> None:
        #: Words that many people wrote, as they are written (dptext.word_file).
        self.listed = listed
        self._language = lexicon.language
        lists = language_data.common_lists(self._language)
        self._names = _union(lists, ("names", "cities", "places", "organisations"))
        self._proper = lists.get("function words", _NO_WORDS)
        self._function = language_data.stop_words(self._language)
        self._persons = language_data.person_names(self._language)
        #: Keys of common words: they are copied in lower case at any place.
        self.words, self._small = _words(lexicon, count, opinions)
        self._rows, self._parts = lexicon.row_of, lexicon.parts
        self._contractions = lists.get("contractions", _NO_WORDS)
        #: Keys of tokens that are not divided: contractions, and words of special
        #: categories with common parts ("right-wing").
        self.whole = self._contractions | _compounds(self._language)
        self._titles = lists.get("titles", _NO_WORDS)
        short = lists.get("abbreviations", _NO_WORDS)
        self._copied = self._contractions | short | _CLITICS
        self._read_short_forms()
        self._opinions = _NO_WORDS
        if opinions:
            self._opinions = language_data.opinion_words(self._language)
            self._opinions |= language_data.opinion_nouns(self._language)
        #: Words that others are read as, if their capitals allow (`reads_as`).
        self.read_as = {
            word: read
            for name, read in (
                ("months", "june"),
                ("weekdays", "monday"),
                ("places in capitals", _PLACE),
                ("organisations in small letters", _FIRM),
            )
            for word in lists.get(name, _NO_WORDS)
        }
        self._first_words = lists.get("first words", _NO_WORDS)
        #: Whether there are enough common words to tell a text of the language.
        self.are_many = len(self.words) >= MANY_COMMON

    def _read_short_forms(self) -> None:
        """Read the lists of short forms, and of words copied in some positions."""
        lists = language_data.short_forms(self._language)
        small = lists.get("small", _NO_WORDS)
        # A single capital letter may be an initial.
        self._short_starts = {each.capitalize() for each in small if len(each) > 1}
        self._short = small | lists.get("capitals", _NO_WORDS)
        self._short |= lists.get("exactly", _NO_WORDS)
        # Posts and parts of a company: "Sales Manager".
        posts = _union(lists, ("posts", "ranks"))
        self._short |= {each.capitalize() for each in posts}
        self._short |= lists.get("shouted", _NO_WORDS)
        self._openers = {each.capitalize() for each in lists.get("openers", _NO_WORDS)}
        self.whole |= {key_of(each) for each in self._short if "-" in each}
        #: Bits of words that the pieces beside them may decide.
        self.at_places: dict[str, int] = {}
        if lists:
            shouted = lists["shouted behind"] | lists["shouted between"]
            shouted |= {each.capitalize() for each in lists["before of"]}
            shouted |= lists["as opinions"]
            letters = {*BEHIND_MARKS, *BEFORE_MARKS, *UNITS, *COUNTED}
            letters |= {each.capitalize() for each in lists["rooms"]}
            self.at_places |= dict.fromkeys(letters | shouted, LOG_KEY)
            self.at_places |= dict.fromkeys(lists["legal forms"], INSTITUTION)
        #: Pictures that are copied, one character each.
        self.emoji = lists.get("emoji", _NO_WORDS)
        for name, bit, spell in (
            ("verbs before", VERB, str.capitalize),
            ("behind verbs", BEHIND_VERB, str.lower),
            ("behind verbs", BEHIND_VERB, str.capitalize),
            ("institutions", INSTITUTION, str.capitalize),
            ("keys", LOG_KEY, str),
            ("greetings", GREETS, str.capitalize),
            ("greetings", GREETS, str.lower),
        ):
            for word in map(spell, lists.get(name, _NO_WORDS)):
                self.at_places[word] = self.at_places.get(word, 0) | bit

    @property
    def odd(self) -> frozenset[str]:
        """Return words that have their own bits or are read as other words."""
        return frozenset({*self._titles, *LITTLE, *self.read_as, *self.at_places})

    def is_copied_emoji(self, body: str) -> bool:
        """Return whether all emoji in a piece are copied."""
        return body[:1] in self.emoji and self.emoji.issuperset(body)

    @property
    def elisions(self) -> bool:
        """Return whether words are split after elisions."""
        return self._language in ELIDING

    def code(self, body: str, key: str) -> int:
        """Return the kind and bits of a word with a key.

        kinds.COMMON: copied in any position; STARTS: copied at the beginning of a
        sentence; 0: replaced. With LETTER it is not copied before a period.
        """
        if body in self.words and body not in self._titles:  # a fast path
            return kinds.COMMON | FUNCTION if body in LITTLE else kinds.COMMON
        if self.listed and (bits := self.code_listed(body)):
            return bits
        if body in self._short or body in self._openers:
            return kinds.COMMON
        if body in self._short_starts:
            return STARTS
        if key in self._titles:
            # "MS" may be an illness, and "DR" a country.
            return 0 if body in _NO_TITLES else kinds.COMMON | TITLES
        bits = self._code(body, key)
        if bits & (kinds.KIND | LETTER) == kinds.COMMON and key in LITTLE:
            return bits | FUNCTION
        return bits

    def is_listed(self, body: str) -> bool:
        """Return whether a copied word is in the list of words many people wrote."""
        word = spelled(body)
        return word in self.listed or key_of(word) in self.listed

    def code_listed(self, body: str) -> int:
        """Return the bits of a word that many people wrote, 0 for other words."""
        word = spelled(body)
        if word in self.listed:
            return kinds.COMMON
        if not (word[:1].isupper() and word[1:].islower()):
            return 0
        key = key_of(body)
        if key not in self.listed or self._is_named(key):
            return 0
        return STARTS

    def _code(self, body: str, key: str) -> int:
        if key in self._copied:
            title = body[:1] != body[:1].lower() and key in self._contractions
            return STARTS if title else kinds.COMMON
        if key not in self.words:
            return kinds.COMMON | LETTER if key == "i" and self._english else 0
        if body.islower() or key in self._small:
            return kinds.COMMON if body.islower() else 0
        named = key in self._names or names.known_is_name(body, self._language)
        if named and key not in self._first_words:
            return 0
        is_function = key in self._function and key not in self._proper
        if not self._names and not is_function:
            return 0
        title, letters = body[1:] == body[1:].lower(), len(body)
        if body.isupper() and self._is_shouted(key):
            return kinds.COMMON
        if letters >= _LEAST_CAPITALS and is_function:
            return kinds.COMMON if title or body.isupper() else 0
        if letters == 1:
            return STARTS | LETTER
        if not title:
            return 0
        return STARTS if self._is_noun(key) else STARTS | HEADED

    def _is_shouted(self, key: str) -> bool:
        """Return whether a common word is copied in capitals (no noun, or opinion)."""
        if key in self._opinions and self._tells(key):
            return len(key) >= _LEAST_OPINION and not self._is_named(key)
        is_long = len(key) >= _LONG_CAPITALS
        return is_long and not (self._is_noun(key) or self._is_named(key))

    def _tells(self, key: str) -> bool:
        """Return whether an opinion word is a noun, adjective or adverb."""
        row = self._rows.get(key, -1)
        known = self._parts is not None and row >= 0
        return known and PARTS[self._parts[row]] in _OF_OPINION  # type: ignore[index]

    def is_verb(self, body: str) -> bool:
        """Return whether a word is mostly a verb."""
        row = self._rows.get(key_of(body), -1)
        known = self._parts is not None and row >= 0
        return known and PARTS[self._parts[row]] == "verb"  # type: ignore[index]

    def _is_noun(self, key: str) -> bool:
        """Return whether a word is mostly a noun or name, or of unknown class."""
        row = self._rows.get(key, -1)
        if self._parts is None or row < 0:
            return True
        return PARTS[self._parts[row]] in _NOUNS

    def _is_named(self, key: str) -> bool:
        """Return whether a capitalised word may be a name."""
        title = key.capitalize()
        return (
            not self._names
            or key in self._names
            or self.is_person(title)
            or names.known_is_name(title, self._language)
        )

    @property
    def _english(self) -> bool:
        return self._language == "en"

    @cached_property
    def english_weights(self) -> Floats:
        """Return how much each copied word suggests English: (V + 1,).

        The weight is 1; for words of several languages 0, or 0.5 if they are function
        words.
        """
        lists = language_data.common_lists(self._language)
        weights = np.ones(len(self._rows) + 1)
        for word in lists.get("words of several languages", _NO_WORDS):
            if word in self._rows:
                weights[self._rows[word]] = 0.5 * (word in self._function)
        return weights

    def english_weight(self, body: str) -> float:
        """Return how much a word in the owner's list suggests English.

        It counts as without the list: a word that is not otherwise common counts 0.
        """
        key = key_of(body)
        known = key in self.words
        return float(self.english_weights[self._rows.get(key, -1)]) if known else 0.0

    @cached_property
    def rows(self) -> Ids:
        """Return rows of words that are never replaced: (m,) int32.

        They are copied in lower case, or always split.
        """
        copied = self.words | self._copied | self._titles
        copied |= {each for each in self.listed if each.islower()}
        copied |= {"i"} if self._english else set()
        marked = (key for key in self._rows if not key.isalpha())
        copied |= {key for key in marked if not self._is_one(key)}
        known = copied & self._rows.keys()
        return np.array(sorted(map(self._rows.__getitem__, known)), np.int32)

    def content(self, lexicon: Lexicon) -> Ids:
        """Return rows of common words other than function words: (m,) int32."""
        wanted = (self.words - self._function) & lexicon.row_of.keys()
        rows = map(lexicon.row_of.__getitem__, wanted)
        return np.array(sorted(rows), np.int32)

    def _is_one(self, key: str) -> bool:
        """Return whether a vocabulary word is never split."""
        if not _DIVIDES.search(key) or key in numbers.NAMES:
            return True
        parts = divide(key, lambda _: -1, whole=self.whole, elisions=self.elisions)
        return len(parts) == 1

    def is_person(self, body: str) -> bool:
        """Return whether a known capitalised word is only a person's name."""
        if not (body[:1].isupper() and body[1:].islower()):
            return False
        return names.fold(key_of(body)) in self._persons

    def reads_as(self, body: str, key: str) -> str:
        """Return the word that a spelling is read as, "" for most words.

        Capitals make "US" a place and "May" a month; "twitter" is a firm.
        """
        word = self.read_as.get(key, "")
        if not word or word == _FIRM:
            return word
        return word if body.isupper() or (word != _PLACE and body[0].isupper()) else ""


def spelled(body: str) -> str:
    """Normalise a word as in word lists: NFC, with straight apostrophes."""
    if body.isascii():  # as most are
        return body
    return unicodedata.normalize("NFC", body.replace("’", "'"))


@lru_cache(maxsize=4)
def common_words(
    lexicon: Lexicon,
    count: int,
    opinions: bool = False,
    listed: frozenset[str] = _NO_WORDS,
) -> CommonWords:
    """Build the common words of a lexicon.

    listed: words that many people wrote.

    Raises UsageError if the lexicon has no word frequencies.
    """
    if len(lexicon.counts) > 1 and lexicon.counts.max() <= lexicon.counts.min():
        raise UsageError(
            f"tokens.common: lexicon {lexicon.name} has no word frequencies, so that "
            f"no word is known to be common; import it with {option('counts')}, "
            f"set it to 0, or give {option('profile', FOR_PROGRAMS)}"
        )
    return CommonWords(lexicon, count, opinions, listed)


def _words(
    lexicon: Lexicon, count: int, opinions: bool
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the common words, and those that are common only in lower case."""
    language = lexicon.language
    function = language_data.stop_words(language)
    order = np.argsort(-lexicon.counts, kind="stable").tolist()
    ranked = (lexicon.words[row] for row in order)
    lower = (each for each in ranked if each.isalpha() and each.islower())
    apart = language_data.common_lists(language).get("fragments", _NO_WORDS)
    apart |= language_data.special_words(language)
    lists = language_data.common_lists(language)
    listed = _union(lists, ("names", "cities", "organisations"))
    common = to_keys([*islice(lower, count)])
    rarer = {key for key in common[_COMMONEST:] if key in listed}
    words = ({*common[:_CAPITALIZED]} - rarer) | function
    words |= language_data.office_words(language)
    if opinions:
        words |= language_data.opinion_words(language)
    listed |= _union(lists, ("places", "rarer names"))
    listed |= language_data.person_names(language, capital=True)
    listed |= language_data.delicate_words(language)
    small = {k for k in common[_CAPITALIZED:] if len(k) >= _LEAST_SMALL}
    small -= words | listed
    single = function - {"i"}
    return (
        frozenset(k for k in (words | small) - apart if len(k) > 1 or k in single),
        frozenset(small - apart),
    )


def _compounds(language: str) -> frozenset[str]:
    """Return special-category words whose parts are outside these categories."""
    special = language_data.special_words(language)
    return frozenset(
        key
        for key in special
        if "-" in key or ("'" in key and key.partition("'")[0] not in special)
    )


def _union(
    lists: Mapping[str, frozenset[str]], wanted: tuple[str, ...]
) -> frozenset[str]:
    return frozenset().union(*(lists.get(name, _NO_WORDS) for name in wanted))


def bits_of_mark(body: str) -> int:
    """Return a mark's bits, which affect the word after it."""
    if body == ".":
        return DOT
    return OPENS if body in OPENING else 0
