"""Which words are read as names of persons, by their spelling alone.

A lexicon whose meta says `names` has one input for all names of persons: the row of
that word, to which the rows of all names that it knows are equal. Of words that it does
not know, or knows without their accents alone ("Germán"), these are read as names:

- with a capital first letter and a small one, such as "Aisha" and "McIntyre", wherever
  they stand: at the beginning of a sentence, too;
- in capitals throughout, of four letters or more with a vowel among them ("YILMAZ");
- those of the public list dptext/data/words/person_names.txt, however they are written.

Of words that it knows, those that are names as well ("Mark", "Rose") are read as names
where the first letter is a capital and the others are small, and all parts of a word
with a hyphen that begins with a name of that list are ("Min-jun"). Nothing around a
word decides: so a change of one word changes how no other is read.
"""

from __future__ import annotations

import re
import unicodedata

from dptext.tokens import language_data
from dptext.tokens.regex import key_of
from dptext.types import Lexicon

# Letters that do not fall apart into a plain one and an accent.
_PLAIN = str.maketrans(
    {
        **{"ı": "i", "ł": "l", "ø": "o", "ß": "ss", "æ": "ae", "œ": "oe"},
        **{"đ": "d", "ð": "d", "þ": "th", "ə": "e", "ŋ": "n"},
    }
)
_MARKS = re.compile("[-'’]")
_PREFIX = re.compile("[DLO]['’][A-Z]")
_VOWELS = frozenset("aeiouy")
_SHOUTED = 4  # letters of an unknown word in capitals that is read as a name


def fold(key: str) -> str:
    """Return a key without accents."""
    apart = unicodedata.normalize("NFKD", key.translate(_PLAIN))
    return "".join(each for each in apart if not unicodedata.combining(each))


def row_of_names(lexicon: Lexicon) -> int:
    """Return the row that all names of persons are read as, -1 where there is none."""
    named = lexicon.meta.get("names")
    return -1 if named is None else lexicon.row_of.get(key_of(str(named)), -1)


def unknown_is_name(word: str, language: str) -> bool:
    """Tell whether a word outside the vocabulary is read as a name of a person."""
    if not _MARKS.sub("", word).isalpha():
        return False
    if word[:1].isupper() and not word.isupper():
        return True
    folded = fold(key_of(word))
    if word.isupper() and len(word) >= _SHOUTED and _VOWELS & {*folded}:
        return True
    return folded in language_data.person_names(language)


def known_is_name(word: str, language: str) -> bool:
    """Tell whether a word of the vocabulary is read as a name, for its spelling."""
    if not word[:1].isupper() or not word[1:].islower():
        return False
    return key_of(word) in language_data.person_names(language, capital=True)


def is_name_of_parts(word: str, language: str) -> bool:
    """Tell whether a name has small letters behind each hyphen ("Min-jun")."""
    first, *others = word.split("-")
    small = bool(others) and all(each.isalpha() and each.islower() for each in others)
    return small and first.isalpha() and begins_as_name(word, language)


def begins_as_name(word: str, language: str) -> bool:
    """Tell whether all parts of a word are read as names ("Min-jun", "O'Hara").

    They are where the first, up to a hyphen, has a capital and is listed as a name, and
    where one letter stands before an apostrophe and a capital.
    """
    if _PREFIX.match(word):
        return True
    first = word.partition("-")[0]
    if not first[:1].isupper() or first.isupper():
        return False
    folded = fold(key_of(first))
    known = (
        language_data.person_names(language),
        language_data.person_names(language, capital=True),
    )
    return any(folded in listed for listed in known)
