"""What happens to each class of token."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from dptext.tokens import kinds
from dptext.types import Ints, JsonObject

# What becomes of a piece; the first five by the names of settings.
_NAMES = ("perturb", "keep", "mask", "drop", "digits")
PERTURB, KEEP, MASK, DROP, DIGITS, FORM, MARKUP = range(7)


class Form(StrEnum):
    """Pieces that are known by their form (dptext.tokens.forms)."""

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
    MARKUP = "markup"
    FIXED = "fixed"


class WordClass(StrEnum):
    """Classes of words of which any may stand for any other (dptext.tokens.common)."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    MONTH = "month"
    WEEKDAY = "weekday"

    @property
    def kind(self) -> int:
        """Return its kind of piece."""
        if self in (WordClass.MONTH, WordClass.WEEKDAY):
            return kinds.CALENDAR
        return kinds.NAMES.index(self.value)

    @property
    def listed(self) -> str:
        """Name its list in dptext/data/words/closed_classes.txt."""
        return "names" if self is WordClass.PERSON else f"{self.value}s"


@dataclass(frozen=True, slots=True)
class Listed:
    """A public list: words and phrases, files with one a line, regular expressions.

    contents are the texts of the files as they were read, and no setting.
    """

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    contents: tuple[str, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        """Tell whether anything is listed."""
        return bool(self.words or self.files or self.patterns)

    def settings(self) -> JsonObject:
        """Return it as a profile says it."""
        named = {"words": self.words, "files": self.files, "patterns": self.patterns}
        return {key: list(value) for key, value in named.items() if value}


NOTHING = Listed()


@dataclass(frozen=True, slots=True)
class Policy:
    """One setting per class of token; the defaults cover every word with epsilon.

    unknown speaks of words outside the vocabulary and of identifiers; digits replaces
    each digit of a number by a random one, so that its length and separators stay;
    agreement says which drawn words are rewritten to agree with their neighbours.
    keep and mask are public lists, and forms names pieces that become random ones of
    the same form and layout; all three go before the other settings. Tags and entities
    are marks: with punctuation: drop they are left out. topic says how a topic is
    written that takes the place of a whole text. common copies so many of the commonest
    words of the lexicon (dptext.tokens.common), 0: none; classes names those whose
    words become random ones of the class, whatever they were; grammar tells whether
    the grammatical form of a replaced word is shown (dptext.tokens.grammar).
    """

    unknown: Literal["perturb", "mask", "drop", "keep"] = "perturb"
    number: Literal["perturb", "digits", "mask", "keep"] = "perturb"
    stop_word: Literal["perturb", "keep", "drop"] = "perturb"
    punctuation: Literal["keep", "drop"] = "keep"
    case: Literal["restore", "lower", "copy"] = "restore"
    agreement: Literal["inflect", "articles", "none"] = "inflect"
    keep: Listed = NOTHING
    mask: Listed = NOTHING
    forms: tuple[Form, ...] = ()
    common: Annotated[int, Meta(ge=0)] = 0
    classes: tuple[WordClass, ...] = ()
    grammar: Literal["hide", "show"] = "hide"
    topic: Literal["words", "id", "both"] = "words"

    @property
    def listed(self) -> bool:
        """Tell whether lists or forms name anything."""
        return bool(self.keep or self.mask or self.forms)

    @property
    def treatments(self) -> Ints:
        """Return what becomes of each kind of piece: (kinds.COUNT,)."""
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
        """Return it as a profile says it; lists that name nothing are left out.

        So are classes that are off, and how topics are written by default.
        """
        lists: JsonObject = {
            "keep": self.keep.settings(),
            "mask": self.mask.settings(),
            "forms": [*map(str, self.forms)],
            "common": self.common,
            "classes": [*map(str, self.classes)],
            "grammar": "" if self.grammar == "hide" else self.grammar,
            "topic": "" if self.topic == "words" else self.topic,
        }
        every = {each.name: getattr(self, each.name) for each in fields(self)} | lists
        return {key: value for key, value in every.items() if value or key not in lists}
