"""The treatment of each token class."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from dptext.tokens import kinds
from dptext.types import Ints, JsonObject
from dptext.word_file import WordFile

# Treatments of a piece; the first five are names of settings.
_NAMES = ("perturb", "keep", "mask", "drop", "digits")
PERTURB, KEEP, MASK, DROP, DIGITS, FORM, MARKUP = range(7)
#: Fewest common words that tell a text of their language.
MANY_COMMON = 5000


class Form(StrEnum):
    """Forms by which pieces are recognised (dptext.tokens.forms)."""

    CARD = "card"
    IBAN = "iban"
    EMAIL = "email"
    DATE = "date"
    PHONE = "phone"
    TIME = "time"
    AMOUNT = "amount"
    CODE = "code"
    VERSION = "version"
    URL = "url"
    HANDLE = "handle"
    HASHTAG = "hashtag"
    EMOJI = "emoji"
    FILE = "file"
    IP = "ip"
    AGE = "age"
    ADDRESS = "address"
    NUMBER_WORDS = "number-words"
    MARKUP = "markup"
    FIXED = "fixed"


class WordClass(StrEnum):
    """Classes of words that can replace each other (dptext.tokens.common)."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    MONTH = "month"
    WEEKDAY = "weekday"

    @property
    def kind(self) -> int:
        """Return the class's kind of piece."""
        return _KINDS[self]

    @property
    def list_name(self) -> str:
        """Return the name of the list in dptext/data/words/closed_classes.txt."""
        return "names" if self is WordClass.PERSON else f"{self.value}s"


_KINDS = {
    WordClass.PERSON: kinds.PERSON,
    WordClass.PLACE: kinds.PLACE,
    WordClass.ORGANISATION: kinds.ORGANISATION,
    WordClass.MONTH: kinds.CALENDAR,
    WordClass.WEEKDAY: kinds.CALENDAR,
}


@dataclass(frozen=True, slots=True)
class WordList:
    """A public list of words, phrases and patterns."""

    words: tuple[str, ...] = ()
    #: Paths of files with one word or phrase a line.
    files: tuple[str, ...] = ()
    #: Regular expressions.
    patterns: tuple[str, ...] = ()
    #: The texts of the files; not a setting.
    contents: tuple[str, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        """Return whether the list has any entry."""
        return bool(self.words or self.files or self.patterns)

    def settings(self) -> JsonObject:
        """Return the list's settings in a profile."""
        named = {"words": self.words, "files": self.files, "patterns": self.patterns}
        return {key: list(value) for key, value in named.items() if value}


NOTHING = WordList()


@dataclass(frozen=True, slots=True)
class Policy:
    """Token settings. The defaults replace every word with epsilon.

    keep, mask and forms have priority over the other settings.
    """

    #: Words outside the vocabulary, and identifiers.
    unknown: Literal["perturb", "mask", "drop", "keep"] = "perturb"
    #: Numbers; "digits" draws each digit, so that length and separators stay.
    number: Literal["perturb", "digits", "mask", "keep"] = "perturb"
    stop_word: Literal["perturb", "keep", "drop"] = "perturb"
    #: Marks, among them tags and entities if they are recognised as forms.
    punctuation: Literal["keep", "drop"] = "keep"
    #: Capital letters: those of sentences, none, or those of the input.
    case: Literal["restore", "lower", "copy"] = "restore"
    #: Drawn words that are rewritten to agree with their neighbours.
    agreement: Literal["inflect", "articles", "none"] = "inflect"
    #: Public words that are copied.
    keep: WordList = NOTHING
    #: Public words that become [masked].
    mask: WordList = NOTHING
    #: Forms with pieces that become random ones of the same form and layout.
    forms: tuple[Form, ...] = ()
    #: Number of commonest words of the lexicon that are copied (dptext.tokens.common).
    common: Annotated[int, Meta(ge=0)] = 0
    #: Words that many people wrote, which are common words, too (dptext.word_file).
    words: WordFile | None = None
    #: Whether words of opinion of a public list are common words, too.
    opinion: Literal["perturb", "keep"] = "perturb"
    #: Codes of the languages that records may be in, beside common words. (): records
    #: are read by the lexicon alone (dptext.tokens.multilingual).
    languages: tuple[str, ...] = ()
    #: Classes of words that become random ones of the class.
    classes: tuple[WordClass, ...] = ()
    #: Whether the grammatical form of a replaced word is shown (dptext.tokens.grammar).
    grammar: Literal["hide", "show"] = "hide"
    #: Whether equal names, forms and numbers of a record stay equal
    #: (dptext.writing.redrawing).
    repeat: Literal["none", "record"] = "none"
    #: The first and the last year that a date or number may get; None: any usual one.
    years: tuple[int, int] | None = None
    #: Whether marks such as [name 1] stand in place of invented words.
    marks: bool = False
    #: How the topic that replaces a whole text is written.
    topic: Literal["words", "id", "both"] = "words"

    @property
    def copied_words(self) -> tuple[int, bool, frozenset[str]]:
        """Return the number of common words, whether opinions count, and a list."""
        listed = frozenset[str]() if self.words is None else self.words.copied
        return self.common, self.opinion == "keep", listed

    @property
    def marks_others(self) -> bool:
        """Return whether a text that is not in English becomes a mark.

        True if the lexicon is English and has enough common words, unless unknown
        words have another treatment, or numbers are replaced like words.
        """
        like_words = self.unknown == "perturb" and self.number != "perturb"
        many = self.common >= MANY_COMMON and like_words
        return many and self.case == "copy" and not self.languages

    @property
    def has_lists(self) -> bool:
        """Return whether there are any lists or forms."""
        return bool(self.keep or self.mask or self.forms)

    @property
    def treatments(self) -> Ints:
        """Return the treatment of each kind of piece: (kinds.COUNT,)."""
        codes = np.full(kinds.COUNT, PERTURB)
        codes[[kinds.UNKNOWN, kinds.IDENTIFIER]] = _NAMES.index(self.unknown)
        codes[[kinds.PUNCTUATION, kinds.SPACE]] = _NAMES.index(self.punctuation)
        codes[kinds.NUMBER] = _NAMES.index(self.number)
        codes[kinds.STOP_WORD] = _NAMES.index(self.stop_word)
        codes[[kinds.KEPT, kinds.MASKED, kinds.FORMED]] = KEEP, MASK, FORM
        codes[kinds.MARKUP] = DROP if self.punctuation == "drop" else MARKUP
        codes[kinds.COMMON] = KEEP
        codes[[each.kind for each in self.classes]] = FORM
        return codes

    def settings(self) -> JsonObject:
        """Return the policy's settings in a profile, without empty lists and defaults.

        Defaults of newer settings are omitted, so that older profiles keep their
        digest.
        """
        lists: JsonObject = {
            "keep": self.keep.settings(),
            "mask": self.mask.settings(),
            "forms": [*map(str, self.forms)],
            "common": self.common,
            "words": None if self.words is None else self.words.settings(),
            "opinion": "" if self.opinion == "perturb" else self.opinion,
            "languages": [*self.languages],
            "classes": [*map(str, self.classes)],
            "grammar": "" if self.grammar == "hide" else self.grammar,
            "repeat": "" if self.repeat == "none" else self.repeat,
            "years": None if self.years is None else [*self.years],
            "marks": self.marks,
            "topic": "" if self.topic == "words" else self.topic,
        }
        every = {each.name: getattr(self, each.name) for each in fields(self)} | lists
        return {key: value for key, value in every.items() if value or key not in lists}
