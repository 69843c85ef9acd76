"""Word lists and tables of languages, from the files in dptext/data/words.

A file has comments, which begin with "#", and sections: [heading], then words separated
by white space.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dptext.types import ENGLISH

_FOLDER = Path(__file__).parents[1] / "data" / "words"
# The files of delicate words, by language.
_CLASSES = {ENGLISH: "english_classes"}


def sections(name: str, folder: Path = _FOLDER) -> list[tuple[str, list[str]]]:
    """Return a file's headings in order, with their words."""
    parts: list[tuple[str, list[str]]] = []
    for line in lines(name, folder):
        if line.startswith("["):
            parts.append((line[1:-1], []))
        else:
            parts[-1][1].extend(line.split())
    return parts


def lines(name: str, folder: Path = _FOLDER) -> Iterator[str]:
    """Yield the lines of a file except comments."""
    for line in (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line


@cache
def digest() -> str:
    """Return the digest of all lists, for results that depend on them."""
    content = hashlib.sha256()
    for path in sorted(_FOLDER.glob("*.txt")):
        content.update(path.name.encode() + path.read_bytes())
    return content.hexdigest()


def stop_words(language: str) -> frozenset[str]:
    """Return the function words of a language code, empty if unknown.

    They are keys (dptext.tokens.regex.key_of).
    """
    return _by_language("stop_words").get(language, frozenset())


def vulgar_words(language: str) -> frozenset[str]:
    """Return a language's words that must never replace other words."""
    return _by_language("vulgar_words").get(language, frozenset())


def opinion_words(language: str) -> frozenset[str]:
    """Return a language's opinion adjectives, adverbs and verbs, as keys."""
    return _by_language("opinion_words").get(language, frozenset())


def opinion_nouns(language: str) -> frozenset[str]:
    """Return a language's opinion nouns, as keys."""
    return _by_language("opinion_words").get(f"{language} nouns", frozenset())


def office_words(language: str) -> frozenset[str]:
    """Return words of trade, support and offices, and spelling variants, as keys."""
    return _by_language("office_words").get(language, frozenset()) | _by_language(
        "office_words"
    ).get(f"{language} spellings", frozenset())


def illness_cues(language: str) -> Mapping[str, frozenset[str]]:
    """Return lists of context words that indicate an illness, empty if unknown."""
    listed = _by_language("illness_cues").items()
    return {
        heading.removeprefix(f"{language} "): words
        for heading, words in listed
        if heading.startswith(f"{language} ")
    }


@cache
def _by_language(name: str) -> Mapping[str, frozenset[str]]:
    return {language: frozenset(words) for language, words in sections(name)}


@dataclass(frozen=True, slots=True)
class WordClass:
    """A public class of sensitive words."""

    name: str
    #: Keys (dptext.tokens.regex.key_of).
    words: frozenset[str]
    #: The special category of personal data of its words, "" for none.
    special: str
    #: Whether its words should never replace other words.
    never: bool
    #: Whether its words are topics of news: they are written only where they were
    #: drawn.
    news: bool


@cache
def word_classes(language: str) -> tuple[WordClass, ...]:
    """Return a language's sensitive words by class, () without a list."""
    name = _CLASSES.get(language)
    return tuple(word_class(*part) for part in sections(name)) if name else ()


@cache
def special_words(language: str) -> frozenset[str]:
    """Return a language's special-category words."""
    classes = word_classes(language)
    return frozenset().union(*(each.words for each in classes if each.special))


@cache
def delicate_words(language: str) -> frozenset[str]:
    """Return the words in all sensitive classes of a language."""
    return frozenset().union(*(each.words for each in word_classes(language)))


def word_class(heading: str, words: list[str]) -> WordClass:
    """Parse the class in a section with flags."""
    name, _, rest = heading.partition(": ")
    special, never, news = "", False, False
    for flag in rest.split(", "):
        if flag.startswith("special "):
            special = flag.removeprefix("special ")
        never, news = never or flag == "never", news or flag == "news"
    return WordClass(
        name=name, words=frozenset(words), special=special, never=never, news=news
    )


@cache
def closed_classes(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return the words to write per closed class, empty for unknown languages."""
    if language != ENGLISH:
        return {}
    return {name: tuple(words) for name, words in sections("closed_classes")}


@cache
def common_lists(language: str) -> Mapping[str, frozenset[str]]:
    """Return a language's lists that define common words, empty if unknown.

    Words are keys, grouped by the list names in dptext/data/words/common_words.txt.
    """
    return _named_lists("common_words", language)


@cache
def ranks() -> frozenset[str]:
    """Return lower-case offices and ranks that precede a family name."""
    return short_forms("en")["ranks"]


@cache
def posts() -> frozenset[str]:
    """Return posts, ranks and rooms, which are copied with a capital."""
    lists = short_forms("en")
    return lists["posts"] | lists["rooms"] | lists["ranks"]


@cache
def nationalities(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return a language's lists of nationalities to recognise and to write."""
    if language != ENGLISH:
        return {}
    return {name: tuple(words) for name, words in sections("nationalities")}


@cache
def short_forms(language: str) -> Mapping[str, frozenset[str]]:
    """Return a language's lists of short forms, empty if unknown.

    They are spelled as in texts, grouped by list in dptext/data/words/short_forms.txt.
    """
    return _named_lists("short_forms", language)


def _named_lists(file: str, language: str) -> Mapping[str, frozenset[str]]:
    lists = {}
    for heading, words in sections(file):
        code, name = heading.split(" ", 1)
        if code == language:
            lists[name] = frozenset(words)
    return lists


@cache
def invented_names(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return invented names by section, to replace real ones."""
    if language != ENGLISH:
        return {}
    return {name: tuple(words) for name, words in sections("invented_names")}


@cache
def person_names(language: str, *, capital: bool = False) -> frozenset[str]:
    """Return folded person names (dptext.tokens.names), empty if unknown.

    With capital, return other words that are names only if capitalised.
    """
    kind = f"{language} capital" if capital else language
    return _by_language("person_names").get(kind, frozenset())
