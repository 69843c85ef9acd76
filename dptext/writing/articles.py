"""Chooses "a" or "an" by the sound of the text after it: an hour, an 8, a $5.

The rule is public and uses only written text: the letters that begin the next word,
the digits that begin the next number. Between the article and this word there may be
opening marks: brackets, quotes, signs of currencies, marks of emphasis.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

ARTICLES = frozenset({"a", "an"})
#: Pieces that are articles.
PIECES = frozenset(
    f"{space}{each}" for space in ("", " ") for each in "a A an An aN AN".split()
)

_VOWEL = re.compile(
    r"(?!uni(?!n|m)|u[bkrst][aeiou]|u[ks]?$|usd$|uah$|eu|one|once)[aeiou]|hour|honest"
    r"|hono|heir"
)
# Eight, eighty, ...; eleven and eighteen, also of hundreds (years) and of thousands.
_NUMBER = re.compile(r"8|1[18](?:[0-9]{2,3})?(?![0-9])")
_FIRST = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]*")
_VOWELS = frozenset("aeiouy")
# Letters with names that begin with a vowel.
_SPELLED = frozenset("aefhilmnorsx")
_OPENING = frozenset("\"'`“”‘’„‚«»‹›([{¿¡*_~")


@lru_cache(maxsize=1024)
def takes_an(text: str) -> bool:
    """Return whether a text takes "an": it begins with a vowel when read aloud.

    Numbers are read by their first group of digits, years in two pairs, words without
    a vowel letter by letter, and # as number.
    """
    plain = unicodedata.normalize("NFKD", text.lstrip()[:64])
    first = _FIRST.search(plain)
    if first is None or plain[0] == "#":
        return False
    if _NUMBER.match(plain, first.start()):
        return True
    word = _LETTERS.findall(first[0])[0]
    key = word.lower()
    is_title = word != key and not word.isupper()
    if key and not is_title and _VOWELS.isdisjoint(key):
        return key[0] in _SPELLED
    return _VOWEL.match(key) is not None


def fit(article: str, text: str) -> str:
    """Return the article that fits the text after it, keeping its capitals."""
    word = "an" if takes_an(text) else "a"
    if article.islower():
        return word
    in_capitals = text.isupper() and sum(map(str.isalpha, text)) > 1
    if article.isupper() and (len(article) > 1 or in_capitals):
        return word.upper()
    return word.capitalize()


def may_stand_between(mark: str) -> bool:
    """Return whether a mark or space may be between an article and its word."""
    if mark.isspace():
        # A line may be broken there; an empty line begins a new paragraph.
        return len(mark.splitlines()) <= 1
    return all(
        each in _OPENING or unicodedata.category(each) == "Sc"
        for each in mark.strip(" ")
    )
