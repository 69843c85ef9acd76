"""Which words are common, and so copied as they are written: by their spelling alone.

The N commonest words of a lexicon that it writes in lower case are common, and so are
its function words; none is that tells of a special category of personal data (health,
religion, crime, ...), and no single letter but a function word. Copied is

- a common word in lower case, wherever it stands;
- one with a capital first letter where a text, a line or a sentence begins, unless a
  public list has it as a name of a person, a place or an organisation ("Will", "Rose",
  "Apple"); everywhere else such a word is replaced, as names are;
- a function word of three letters or more in any capitals that is no acronym and no
  name by a public list: "The" and "NOT" are, "GREAT", "IT", "US", "WHO" and "Can" are
  not;
- "I", clitics ("'s", "n't"), contractions that cannot be divided ("can't"), titles that
  are not in capitals ("Mr"), and short forms of a public list ("e.g.", "TV").

Where no names of a language are listed, a capital tells of no word that it is no name:
where a sentence begins function words alone are copied, and no noun of German ever is.

A text, line or sentence begins at the beginning of the text, after a line break, or
after a mark that ends sentences and a space; quotes, brackets, dashes and bullets may
stand between. The period of a title ends no sentence ("Mr. Cross"). A capital letter
right before a period is an initial and is replaced ("A. Smith"). So whether a word is
copied follows from its own spelling, from marks, and from copied words (titles) alone:
what a replaced word was, or whether the lexicon knew it, never decides.

A word with a hyphen, an underscore or an apostrophe is divided by its spelling alone
(dptext.tokens.regex.divide), and each part is judged by itself; one that tells as a
whole of a special category ("right-wing") is not divided, and replaced, as is a name
with small letters behind a hyphen ("Min-jun").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from dptext.errors import UsageError
from dptext.tokens import kinds, language_data, names, numbers
from dptext.tokens.policy import WordClass
from dptext.tokens.regex import divide, key_of
from dptext.types import Ids, Ints, Lexicon, Mask

# Above flags, row and name of a code (dptext.tokens.tokenizer): common where a sentence
# begins; a capital letter alone; a title; a mark that may stand before a first word; a
# period.
STARTS, LETTER, TITLES, OPENS, DOT = (1 << bit for bit in range(41, 46))
# Beyond so many of the commonest words names on public lists are not common, even in
# lower case ("sterling").
_COMMONEST = 3000
# Function words in capitals have so many letters, or they could be acronyms.
_SHOUTED = 3
_SHORT = 4  # letters of short forms of months and weekdays ("Sept")
# Languages that write "l'eau" for two words.
ELIDING = frozenset({"ca", "fr", "it"})
# Classes of which a release shows nothing but, perhaps, the class.
_IDENTITIES = ("names", "places", "organisations", "months", "weekdays")
_CLITICS = frozenset({"'s", "'re", "'ve", "'ll", "'d", "'m", "'em", "n't"})
_OPENING = frozenset("\"'`“”‘’„«»‹›()[]{}¿¡-–—*•·>~_|#")
_NO_WORDS: frozenset[str] = frozenset()
_DIVIDES = re.compile("[-_'’]")


class CommonWords:
    """The common words of a lexicon: the count commonest, and its function words."""

    def __init__(self, lexicon: Lexicon, count: int) -> None:
        self._language = lexicon.language
        lists = language_data.common_lists(self._language)
        self._names = _union(lists, ("names", "cities", "places", "organisations"))
        self._proper = lists.get("function words", _NO_WORDS)
        self._contractions = lists.get("contractions", _NO_WORDS)
        #: Keys of tokens that are not divided: contractions, and words of special
        #: categories whose parts are common ("right-wing").
        self.whole = self._contractions | _compounds(self._language)
        self._titles = lists.get("titles", _NO_WORDS)
        short = lists.get("abbreviations", _NO_WORDS)
        self._copied = self._contractions | short | _CLITICS
        self._function = language_data.stop_words(self._language)
        self._words = _words(lexicon, count)
        self._months = lists.get("months", _NO_WORDS)
        self._first_words = lists.get("first words", _NO_WORDS)
        self._places = lists.get("places in capitals", _NO_WORDS)

    @property
    def elisions(self) -> bool:
        """Tell whether words are divided after elisions."""
        return self._language in ELIDING

    def code(self, body: str) -> int:
        """Return kinds.COMMON if a word is copied wherever it stands, or bits, or 0.

        STARTS: copied where a sentence begins; with LETTER, not before a period; with
        TITLES, common, and a period behind it ends no sentence.
        """
        key = key_of(body)
        if key in self._titles:
            # "MS" and "DR" may be an illness and a country.
            return 0 if body.isupper() else kinds.COMMON | TITLES
        if key in self._copied:
            title = body[:1] != body[:1].lower() and key in self._contractions
            return STARTS if title else kinds.COMMON
        if key not in self._words:
            return kinds.COMMON | LETTER if key == "i" and self._english else 0
        if body.islower():
            return kinds.COMMON
        named = key in self._names or names.known_is_name(body, self._language)
        if named and key not in self._first_words:
            return 0
        is_function = key in self._function and key not in self._proper
        if not self._names and not is_function:
            return 0
        title, letters = body[1:] == body[1:].lower(), len(body)
        if letters >= _SHOUTED and is_function:
            return kinds.COMMON if title or body.isupper() else 0
        if letters == 1:
            return STARTS | LETTER
        return STARTS if title else 0

    @property
    def _english(self) -> bool:
        return self._language == "en"

    def rows(self, lexicon: Lexicon) -> Ids:
        """Return the rows that are never replaced: (m,) int32.

        They are copied in lower case, or always divided.
        """
        copied = self._words | self._copied | self._titles
        rows = [
            row
            for row, key in enumerate(lexicon.row_of)
            if key in copied
            or (key == "i" and self._english)
            or not (key.isalpha() or self._is_one(key))
        ]
        return np.array(rows, np.int32)

    def content(self, lexicon: Lexicon) -> Ids:
        """Return the rows of common words that are no function words: (m,) int32."""
        wanted = self._words - self._function
        rows = [row for row, key in enumerate(lexicon.row_of) if key in wanted]
        return np.array(rows, np.int32)

    def _is_one(self, key: str) -> bool:
        """Tell whether a word of the vocabulary is never divided."""
        if not _DIVIDES.search(key) or key in numbers.NAMES:
            return True
        parts = divide(key, lambda _: -1, whole=self.whole, elisions=self.elisions)
        return len(parts) == 1

    def is_person(self, body: str) -> bool:
        """Tell whether a known word with a capital is a name of persons alone."""
        if not (body[:1].isupper() and body[1:].islower()):
            return False
        return names.fold(key_of(body)) in language_data.person_names(self._language)

    def reads_as_place(self, body: str) -> bool:
        """Tell whether a word is a place in capitals alone ("US")."""
        return body.isupper() and key_of(body) in self._places

    def reads_as_month(self, body: str) -> bool:
        """Tell whether a word with a capital is a month and another word without."""
        return body[:1].isupper() and key_of(body) in self._months


@lru_cache(maxsize=4)
def common_words(lexicon: Lexicon, count: int) -> CommonWords:
    """Return the common words of a lexicon.

    Raises UsageError where it does not tell which words are common.
    """
    if len(lexicon.counts) > 1 and lexicon.counts.max() <= lexicon.counts.min():
        raise UsageError(
            f"tokens.common: lexicon {lexicon.name} has no word frequencies, so that "
            "no word is known to be common; import it with --counts, or set it to 0"
        )
    return CommonWords(lexicon, count)


def written(lexicon: Lexicon, group: WordClass) -> tuple[str, ...]:
    """Return the words of a class that are written, each as likely as any other."""
    listed = language_data.closed_classes(lexicon.language)
    listed_of_class = listed.get(group.listed, ())
    apart = language_data.common_lists(lexicon.language)
    short = apart.get("abbreviations", _NO_WORDS) | apart.get("months", _NO_WORDS)
    dated = group in (WordClass.MONTH, WordClass.WEEKDAY)
    if group is WordClass.ORGANISATION and "companies" in apart:
        short |= {word.lower() for word in listed_of_class} - apart["companies"]
    rows, words = lexicon.row_of, lexicon.words
    return tuple(
        words[rows[word.lower()]] if word.lower() in rows else word
        for word in listed_of_class
        if word.lower() not in short and not (dated and len(word) <= _SHORT)
    )


def family_names(lexicon: Lexicon) -> tuple[str, ...]:
    """Return those of the written names of persons that are of families."""
    families = language_data.common_lists(lexicon.language).get("family names", ())
    return tuple(
        name for name in written(lexicon, WordClass.PERSON) if key_of(name) in families
    )


def places_of_two(lexicon: Lexicon) -> tuple[tuple[str, ...], ...]:
    """Return the places that are written where two words of places stand together."""
    listed = language_data.common_lists(lexicon.language).get("places of two words", ())
    return tuple(tuple(place.split("_")) for place in sorted(listed))


def is_title(lexicon: Lexicon, piece: str) -> bool:
    """Tell whether a copied word is a title, after which a family's name stands."""
    lists = language_data.common_lists(lexicon.language)
    return key_of(piece.strip(" ")) in lists.get("titles", _NO_WORDS)


@lru_cache(maxsize=8)
def keys_of_class(lexicon: Lexicon, group: WordClass) -> frozenset[str]:
    """Return the keys of the words that are read as of a class."""
    listed = language_data.closed_classes(lexicon.language).get(group.listed, ())
    row = next((lexicon.row_of.get(key_of(word), -1) for word in listed), -1)
    words = reading(lexicon)[:-1] == row
    return frozenset(key_of(lexicon.words[each]) for each in np.flatnonzero(words))


@lru_cache(maxsize=8)
def kinds_of_rows(lexicon: Lexicon, classes: tuple[WordClass, ...]) -> Ints:
    """Return the kind of piece of each row that is of one of the classes, else 0: (V,).

    Raises UsageError where no words of a class are known.
    """
    out = np.zeros(len(lexicon.words), np.int64)
    read, rows = reading(lexicon)[:-1], lexicon.row_of
    for group in classes:
        words = written(lexicon, group)
        first = language_data.closed_classes(lexicon.language).get(group.listed, ())
        row = next((rows[key_of(w)] for w in first if key_of(w) in rows), -1)
        if not words or row < 0:
            raise UsageError(
                f"tokens.classes: no words of class {group} are known for language "
                f"{lexicon.language!r} (lexicon {lexicon.name}); leave the class out, "
                "so that its words are replaced like others"
            )
        out[read == row] = group.kind
    return out


@lru_cache(maxsize=2)
def reading(lexicon: Lexicon) -> Ids:
    """Return the row that each row is read as, -1 for the unknown word: (V + 1,).

    All names of persons are read as one row, and so are all places, organisations,
    months and weekdays: words that the lexicon writes with a capital and whose orders
    begin with words of the class (dptext/data/words/closed_classes.txt), other than
    themselves.
    """
    size, rows = len(lexicon.words), lexicon.row_of
    read = np.append(np.arange(size, dtype=np.int32), np.int32(-1))
    upper = np.array([word[:1].isupper() for word in lexicon.words], bool)
    first = lexicon.orders[:size, :3].astype(np.int64)
    own = first == np.arange(size)[:, None]
    classes = language_data.closed_classes(lexicon.language)
    for name in _IDENTITIES:
        known = (rows.get(key_of(word), -1) for word in classes.get(name, ()))
        listed = [row for row in known if row >= 0]
        if listed:
            inside = (np.isin(first, listed) | own).all(axis=1) & ~own.all(axis=1)
            read[:-1][inside & upper] = listed[0]
    return read


def _words(lexicon: Lexicon, count: int) -> frozenset[str]:
    language = lexicon.language
    function = language_data.stop_words(language)
    order = np.argsort(-lexicon.counts, kind="stable").tolist()
    ranked = (lexicon.words[row] for row in order)
    lower = [each for each in ranked if each.isalpha() and each.islower()]
    apart = language_data.common_lists(language).get("fragments", _NO_WORDS)
    apart |= language_data.special_words(language)
    lists = language_data.common_lists(language)
    listed = _union(lists, ("names", "cities", "organisations"))
    common = [key_of(each) for each in lower[:count]]
    rarer = {key for key in common[_COMMONEST:] if key in listed}
    words = ({*common} - rarer) | function
    return frozenset(
        key for key in words - apart if len(key) > 1 or key in function - {"i"}
    )


def _compounds(language: str) -> frozenset[str]:
    """Return the words of special categories that their parts do not give away."""
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
    """Return what a mark says of a word behind it."""
    if body == ".":
        return DOT
    return OPENS if body in _OPENING else 0


def settle(codes: Ints, ends: Ints) -> None:
    """Make those pieces common that are for where they stand, in place.

    codes (p,) of all pieces of a batch, ends (r,) the end of each text in them.
    """
    candidates = np.flatnonzero(codes & (STARTS | LETTER))
    if not len(candidates):
        return
    begins = np.concatenate(([0], ends))[np.searchsorted(ends, candidates, "right")]
    copied = (codes[candidates] & STARTS) == 0
    copied |= _begin(codes, candidates, begins)
    last = np.searchsorted(ends, candidates + 1, "right") > np.searchsorted(
        ends, candidates, "right"
    )
    after = codes[np.minimum(candidates + 1, len(codes) - 1)]
    initial = (codes[candidates] & LETTER != 0) & (after & DOT != 0) & ~last
    common = candidates[copied & ~initial]
    codes[common] = codes[common] & ~kinds.KIND | kinds.COMMON
    other = candidates[initial]
    was_common = other[codes[other] & kinds.KIND == kinds.COMMON]
    codes[was_common] = codes[was_common] & ~kinds.KIND | kinds.UNKNOWN


def _begin(codes: Ints, candidates: Ints, begins: Ints) -> Mask:
    """Tell at which candidates a text, line or sentence begins: (m,).

    begins (m,): where the text of each begins.
    """
    kind = codes & kinds.KIND
    ends_here = (codes & kinds.ENDER) != 0
    passed = (codes & OPENS) != 0
    layout = (kind == kinds.SPACE) | (kind == kinds.MARKUP)
    passed |= layout & ~ends_here
    behind = np.maximum.accumulate(np.where(passed, -1, np.arange(len(codes))))
    before = np.concatenate(([-1], behind[:-1]))[candidates]
    first = before < begins
    mark = np.maximum(before, 0)
    # A space somewhere between the mark and the word.
    gaps = np.cumsum(((codes & kinds.LEAD) != 0) | (kind == kinds.SPACE))
    spaced = gaps[candidates] > gaps[mark]
    titled = (codes[np.maximum(mark - 1, 0)] & TITLES) != 0
    titled &= (mark > begins) & ((codes[mark] & DOT) != 0)
    after_line = layout[mark]
    return np.asarray(first | (ends_here[mark] & (after_line | (spaced & ~titled))))
