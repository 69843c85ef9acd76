"""Word lists of other languages, from the folders in dptext/data/languages.

A folder is a language; its name is the code. Its files `*.txt` have the same format as
in dptext/data/words (dptext.tokens.language_data): "#" begins a comment, [heading] a
section. A section may be in any file, and a missing one is empty, so adding a language
means adding a folder. docs/languages.md lists the sections. places.txt and shared.txt
beside the folders apply to all languages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from dptext.tokens import language_data
from dptext.tokens.language_data import WordClass
from dptext.tokens.names import fold
from dptext.tokens.regex import to_keys
from dptext.types import ENGLISH

#: What is written in the place of a text in none of the languages of a run.
MARK = "[text in another language]"
#: Fewest words in lower case of a record that may be in none of them.
MANY = 8
#: Fewest of these of a record of MANY words that is not read in English alone.
FEW_LOWER = 5
#: The share of those that are copied English words at least, or it is in none.
ENGLISH_SHARE = 0.2
#: So many commonest words of a language are copied in every record.
COPIED = 2000

_FOLDER = Path(__file__).parents[1] / "data" / "languages"


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageLists:
    """A language's lists; a field holds the section of the same name.

    Words are keys (dptext.tokens.regex.key_of). Names and places appear with accents
    and again without (dptext.tokens.names.fold), so keys need no folding.
    In phrases "_" represents a space.
    """

    code: str
    #: The name of the language in English.
    name: str
    #: The commonest words, and those of trade, support and offices.
    common: frozenset[str]
    #: Words of opinion: they are never written in the place of others.
    opinions: frozenset[str]
    #: Names of lists that begin sentences as other words far more often.
    first_words: frozenset[str]
    #: The place of each of these by frequency, from 0.
    ranks: Mapping[str, int]
    #: Nouns that are copied with a capital inside a sentence, for languages that write
    #: all nouns with one.
    nouns: frozenset[str]
    #: Names of lists that are nearly always such a noun: "Zeit".
    plain_nouns: frozenset[str]
    #: Words that are copied under every language and tell the language.
    function_words: frozenset[str]
    #: Parts of names that are function words, too: "von". They tell no language.
    particles: frozenset[str]
    #: Given names by gender, and those without one; some are in two lists.
    women: frozenset[str]
    men: frozenset[str]
    given_names: frozenset[str]
    families: frozenset[str]
    #: Words that are names or places, too, but rarely in small letters: "grand".
    plain: frozenset[str]
    #: Words of names of countries, regions and cities.
    regions: frozenset[str]
    #: The same, and of towns.
    places: frozenset[str]
    #: Words never copied, also in small letters: names of persons, countries, regions,
    #: cities, peoples and known organisations, without function words and plain ones.
    strong: frozenset[str]
    #: Public bodies and parties, whose names are common words: "bundestag".
    bodies: frozenset[str]
    #: Known organisations.
    organisations: frozenset[str]
    #: Peoples and adjectives of places: "belge".
    demonyms: frozenset[str]
    #: Delicate words; those of a special category have its name.
    classes: tuple[WordClass, ...]
    abbreviations: frozenset[str]
    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    greetings: frozenset[str]
    closings: frozenset[str]
    titles: frozenset[str]
    #: Titles and greetings that tell the gender of a name behind them.
    titles_of_women: frozenset[str]
    titles_of_men: frozenset[str]
    #: Words that tell the gender of names near them: "mother".
    words_of_women: frozenset[str]
    words_of_men: frozenset[str]
    streets: frozenset[str]
    #: Ends of names of streets in one word: "straße", "laan".
    street_endings: tuple[str, ...]
    #: Beginnings of words that end with an apostrophe: "l'".
    elisions: frozenset[str]
    #: Words never written in the place of others.
    vulgar: frozenset[str]
    #: Words to write in the place of others, by their ending.
    writable: Mapping[str, tuple[str, ...]]
    #: The same for nouns, where these have a capital.
    writable_nouns: Mapping[str, tuple[str, ...]]
    #: The endings of `writable`.
    endings: frozenset[str]
    #: What is written in the place of names, spelled as in texts.
    women_to_write: tuple[str, ...]
    men_to_write: tuple[str, ...]
    families_to_write: tuple[str, ...]
    places_to_write: tuple[str, ...]
    organisations_to_write: tuple[str, ...]
    legal_forms: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """Return all person names."""
        return self.women | self.men | self.given_names | self.families

    @property
    def special(self) -> frozenset[str]:
        """Return the special-category words."""
        return frozenset().union(*(each.words for each in self.classes if each.special))

    def ending(self, key: str) -> str:
        """Return the ending class of a key, which is a key of `writable` etc.

        It is the longest matching ending with two letters before it, or "".
        """
        return _ending(key, self.endings)


def languages(folder: Path = _FOLDER) -> tuple[str, ...]:
    """Return the codes of all languages that have lists, sorted."""
    codes = {path.parent.name for path in folder.glob("*/*.txt")}
    return tuple(sorted(codes))


@cache
def name_of(code: str) -> str:
    """Return a language's English name, reading only what is needed."""
    if code == ENGLISH:
        return "English"
    for path in sorted((_FOLDER / code).glob("*.txt")):
        sections = dict(language_data.sections(path.stem, path.parent))
        if "name" in sections:
            return " ".join(sections["name"])
    return code


def names_without_special(codes: Iterable[str]) -> tuple[str, ...]:
    """Return the names of languages without a special-category list."""
    lists = [language_lists(code) for code in codes if code != ENGLISH]
    return tuple(each.name for each in lists if not each.special)


@cache
def digest(folder: Path = _FOLDER) -> str:
    """Return the digest of all language lists, for results that depend on them."""
    content = hashlib.sha256()
    for path in sorted(folder.rglob("*.txt")):
        content.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return content.hexdigest()


@cache
def language_lists(code: str, folder: Path = _FOLDER) -> LanguageLists:
    """Return the lists of a language.

    Raises KeyError for a code that is not in `languages`.
    """
    if code not in languages(folder):
        raise KeyError(code)
    own_sections = _read(folder / code)
    classes = [
        language_data.word_class(heading, own_sections.pop(heading))
        for heading in [*own_sections]
        if ": " in heading
    ]
    lists = _Sections(own_sections)
    function = lists.keys("function words")
    plain = lists.keys("no names")
    women, men, given_names, families = (
        lists.names(heading, f"{heading} to write") - function
        for heading in ("women", "men", "given names", "family names")
    )
    named = _Sections(_shared(folder))
    regions = lists.names("places", "countries", "cities")
    regions |= _shared_names(folder, "countries", "cities")
    organisations = lists.names("organisations") | named.names("organisations")
    demonyms = lists.names("demonyms")
    common = lists.keys("common")
    # Those that a list of another language has without accents: "Cádiz".
    regions |= {word for word in common if fold(word) in regions}
    strong = women | men | given_names | families | regions | organisations | demonyms
    strong |= {
        word
        for word in common
        for ending in lists.texts("name endings")
        if word.endswith(ending) and word.removesuffix(ending) in strong
    }
    bodies, vulgar = lists.keys("public bodies"), lists.keys("vulgar words")
    opinions = lists.keys("opinions")
    avoided = strong | function | plain | bodies | vulgar | opinions
    avoided |= lists.keys("never written") | named.keys("never written")
    avoided = avoided.union(*(each.words for each in classes))
    towns = _shared_names(folder, "towns") | lists.names("towns")
    places = (regions | towns) - function
    known = women | men | given_names | families | places | bodies
    if nouns := lists.keys("nouns"):
        nouns = (nouns | lists.keys("office words")) - known
    invented = language_data.invented_names(ENGLISH)["organisations"]
    endings = lists.keys("endings")
    computed = {
        "code": code,
        "name": " ".join(own_sections.get("name", [code])),
        "common": common | lists.keys("office words"),
        "ranks": {word: rank for rank, word in enumerate(lists.texts("common"))},
        "nouns": nouns,
        "women": women,
        "men": men,
        "given_names": given_names,
        "families": families,
        "plain": plain,
        "regions": regions - function,
        "places": places,
        "strong": strong - function - plain,
        "bodies": bodies,
        "organisations": organisations - function,
        "demonyms": demonyms - function,
        "classes": tuple(classes),
        "vulgar": vulgar,
        "writable": _by_ending(lists.texts("writable"), endings, avoided),
        "writable_nouns": _by_ending(lists.texts("writable nouns"), endings, avoided),
        "families_to_write": lists.texts("family names to write"),
        "organisations_to_write": lists.texts("organisations to write") or invented,
    }
    return LanguageLists(**(_read_fields(lists) | computed))


def _read_fields(lists: _Sections) -> dict[str, Any]:
    """Return the section for each field of LanguageLists with the same name."""
    of_field = {"frozenset[str]": lists.keys, "tuple[str, ...]": lists.texts}
    return {
        each.name: of_field[str(each.type)](each.name.replace("_", " "))
        for each in fields(LanguageLists)
        if str(each.type) in of_field
    }


@cache
def _shared(folder: Path) -> dict[str, list[str]]:
    """Return the sections that apply to all languages."""
    return _read(folder)


@cache
def _shared_names(folder: Path, *headings: str) -> frozenset[str]:
    return _Sections(_shared(folder)).names(*headings)


def _read(folder: Path) -> dict[str, list[str]]:
    """Return the words of each section in a folder's files."""
    lists: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.txt")):
        for heading, words in language_data.sections(path.stem, folder):
            lists.setdefault(heading, []).extend(words)
    return lists


class _Sections:
    def __init__(self, sections: Mapping[str, list[str]]) -> None:
        self._sections = sections

    def keys(self, heading: str) -> frozenset[str]:
        return frozenset(self._sections.get(heading, ()))

    def names(self, *headings: str) -> frozenset[str]:
        """Return keys, with and without accents."""
        words = {*to_keys([word for each in headings for word in self.texts(each)])}
        accented = (word for word in words if not word.isascii())
        return frozenset(words.union(map(fold, accented)))

    def texts(self, heading: str) -> tuple[str, ...]:
        return tuple(self._sections.get(heading, ()))


def _by_ending(
    words: Iterable[str], endings: frozenset[str], avoided: frozenset[str]
) -> Mapping[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for word in (each for each in words if each not in avoided):
        ending = _ending(word, endings)
        groups.setdefault(ending, []).append(word)
    return {ending: tuple(words) for ending, words in groups.items()}


def _ending(key: str, endings: frozenset[str]) -> str:
    """Return the longest ending with two letters before it, or ""."""
    tails = (key[begin:] for begin in range(2, len(key)))
    return next((tail for tail in tails if tail in endings), "")
