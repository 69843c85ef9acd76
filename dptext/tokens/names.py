"""Names of persons, recognised only by their spelling.

A lexicon with `names` in its meta has a single input for all names of persons: the row
of that word, equal to the rows of all known names. Among words that the lexicon lacks,
or knows only without accents ("Germán"), these are read as names:

- words with a capital first letter and a small one ("Aisha", "McIntyre"), also at the
  beginning of a sentence;
- words in capitals with four letters or more and a vowel ("YILMAZ");
- words of the public list dptext/data/words/person_names.txt, in any capitals.

Among known words, those that are also names ("Mark", "Rose") are read as names if the
first letter is a capital and the others are small. So are all parts of a word with a
hyphen that begins with a name in that list ("Min-jun"). Neighbouring words do not
matter: changing one word does not change how others are read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from dptext.tokens import kinds, language_data
from dptext.tokens.regex import key_of
from dptext.types import Ints, Lexicon

# Kinds of words that may be part of a name.
_REPLACED = (kinds.WORD, kinds.UNKNOWN, kinds.STOP_WORD)

# Letters that Unicode does not divide into a plain one and an accent.
_PLAIN = str.maketrans(
    dict(
        pair.split(">")
        for pair in "ı>i ł>l ø>o ß>ss æ>ae œ>oe đ>d ð>d þ>th ə>e ŋ>n".split()
    )
)
_MARKS = re.compile("[-'’]")
_PREFIX = re.compile("[DLO]['’][A-Z]")
_VOWELS = frozenset("aeiouy")
# Least letters of an unknown word in capitals that is read as a name.
_LEAST_CAPITALS = 4


def fold(key: str) -> str:
    """Return a key without accents."""
    if key.isascii():  # as most are
        return key
    apart = unicodedata.normalize("NFKD", key.translate(_PLAIN))
    return "".join(each for each in apart if not unicodedata.combining(each))


def name_row(lexicon: Lexicon) -> int:
    """Return the row that all person names are read as, -1 if there is none."""
    word = lexicon.meta.get("names")
    return -1 if word is None else lexicon.row_of.get(key_of(str(word)), -1)


def unknown_is_name(word: str, language: str) -> bool:
    """Return whether a word outside the vocabulary is read as a person's name."""
    if not (word.isalpha() or _MARKS.sub("", word).isalpha()):
        return False
    if word[:1].isupper() and not word.isupper():
        return True
    folded = fold(key_of(word))
    if word.isupper() and len(word) >= _LEAST_CAPITALS and _VOWELS & {*folded}:
        return True
    return folded in language_data.person_names(language)


def known_is_name(word: str, language: str) -> bool:
    """Return whether a known word is read as a person's name."""
    if not word[:1].isupper() or not word[1:].islower():
        return False
    return key_of(word) in language_data.person_names(language, capital=True)


def is_name_of_parts(word: str, language: str) -> bool:
    """Return whether a word is a name with lower case after hyphens ("Min-jun")."""
    first, *others = word.split("-")
    small = bool(others) and all(each.isalpha() and each.islower() for each in others)
    return small and first.isalpha() and begins_as_name(word, language)


def begins_as_name(word: str, language: str) -> bool:
    """Return whether all parts of a word are read as names ("Min-jun", "O'Hara").

    They are if the part before the first hyphen is capitalised and a listed name, or
    if the word begins with a letter, an apostrophe and a capital.
    """
    if not word[:1].isupper():
        return False
    if _PREFIX.match(word):
        return True
    first = word.partition("-")[0]
    if first.isupper():
        return False
    folded = fold(key_of(first))
    known = (
        language_data.person_names(language),
        language_data.person_names(language, capital=True),
    )
    return any(folded in listed for listed in known)


def settle_parts(pieces: Sequence[str], codes: Ints, person: int) -> None:
    """Read capitalised words after a person and a hyphen as persons, in place.

    "Al-Sayed" is a person although "sayed" is a word. The codes (p,) are from
    dptext.tokens.tokenizer; person: the code of a person.
    """
    kind = codes & kinds.KIND
    written = codes & (kinds.TITLE | kinds.UPPER | kinds.LEAD) == kinds.TITLE
    last = kinds.mask(_REPLACED)[kind] & written
    first = (kind[:-2] == kinds.PERSON) & last[2:]
    for at in np.flatnonzero(first).tolist():
        if pieces[at + 1] == "-":
            codes[at + 2] = codes[at + 2] & ~kinds.KIND | person
