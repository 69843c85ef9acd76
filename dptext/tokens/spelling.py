"""Regular English inflection by spelling: plain functions of one lower-case word."""

from __future__ import annotations

import re

_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$")
CONSONANT_Y = re.compile(r"[^aeiou]y$")
_CONSONANT_O = re.compile(r"[^aeiou]o$")
# Nouns in -o that take -es; the others take -s.
_OES = frozenset(
    "buffalo cargo domino echo embargo go hero mango mosquito motto negro potato "
    "tomato tornado torpedo veto volcano".split()
)
# One vowel between consonants at the end of a one-syllable word: the last is doubled.
_DOUBLES = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][bdgklmnprt]$")


def plural(noun: str) -> str:
    """Return the regular plural."""
    if noun.endswith("o") and noun not in _OES:
        return noun + "s"
    return third_person(noun)


def third_person(verb: str) -> str:
    """Return the regular form with -s."""
    if CONSONANT_Y.search(verb):
        return verb[:-1] + "ies"
    if _SIBILANT.search(verb) or _CONSONANT_O.search(verb):
        return verb + "es"
    return verb + "s"


def past(verb: str) -> str:
    """Return the regular form with -ed."""
    return verb + "d" if verb.endswith("e") else stem(verb, keep_y=False) + "ed"


def participle(verb: str) -> str:
    """Return the regular form with -ing."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and len(verb) > 2:
        return verb[:-1] + "ing"
    return stem(verb, keep_y=True) + "ing"


def comparative(adjective: str) -> str:
    """Return the form with -er."""
    if adjective.endswith("e"):
        return adjective + "r"
    return stem(adjective, keep_y=False) + "er"


def superlative(adjective: str) -> str:
    """Return the form with -est."""
    return comparative(adjective)[:-1] + "st"


def stem(word: str, *, keep_y: bool) -> str:
    """Return what an ending with a vowel is put to: doubled, -i for -y, -ck for -c."""
    if not keep_y and CONSONANT_Y.search(word):
        return word[:-1] + "i"
    if _DOUBLES.search(word):
        return word + word[-1]
    return word + "k" if word.endswith("ic") else word
