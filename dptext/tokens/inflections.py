"""English inflection: the regular forms of a word, and the families of a vocabulary.

Families are made from nothing but the words and their parts of speech (Lexicon.parts):
a regular form counts where it is a word itself; irregular ones are listed
(dptext/data/words/english_inflections.txt). A family that the rules miss is not
inflected, nothing else happens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import language_data
from dptext.types import PARTS, Lexicon

# The forms of a word; a word may be several of them.
SINGULAR, PLURAL, BASE, THIRD, PAST, PARTICIPLE, ING = range(7)
POSITIVE, COMPARATIVE, SUPERLATIVE = range(7, 10)
FORMS = 10

_INFLECTED = ("noun", "verb", "adjective", "other")
_SHORT = 2  # "ad" is no verb for "added" being one


@dataclass(frozen=True, slots=True)
class Inflections:
    """forms (V,) bits, 1 << form; others (V, FORMS) int32, the word of a form, or -1.

    A word of two lemmas has the forms of both; its others are first those of the lemma
    that is of its own part of speech.
    """

    forms: NDArray[np.uint16]
    others: NDArray[np.int32]

    def are(self, form: int) -> NDArray[np.bool_]:
        """Tell which words are of a form: (V,)."""
        return np.asarray((self.forms >> form) & 1 == 1)


def find(lexicon: Lexicon) -> Inflections:
    """Find the families among the words that may be written; none but in English."""
    size = len(lexicon.words)
    forms = np.zeros(size, np.uint16)
    others = np.full((size, FORMS), -1, np.int32)
    if lexicon.parts is None or lexicon.meta.get("language") != "en":
        return Inflections(forms, others)
    outputs = int(lexicon.meta.get("outputs", size))
    rows = {word: row for row, word in enumerate(lexicon.words[:outputs])}
    parts = {word: PARTS[lexicon.parts[row]] for word, row in rows.items()}
    part_of = {word: part for word, part in parts.items() if part in _INFLECTED}
    families = [*_nouns(part_of), *_verbs(part_of), *_adjectives(part_of)]
    # Families of a word's own part of speech come last, and win.
    for of_same_part in (False, True):
        for part, family in families:
            members = [(f, w) for f, w in family.items() if w in part_of]
            for form, word in members:
                if (part_of[word] == part) is of_same_part:
                    forms[rows[word]] |= 1 << form
                    for other, target in members:
                        others[rows[word], other] = rows[target]
    return Inflections(forms, others)


_Family = tuple[str, dict[int, str]]


def _nouns(part_of: Mapping[str, str]) -> Iterator[_Family]:
    words = _irregular()["nouns"]
    odd = dict(zip(words[::2], words[1::2], strict=True))
    plurals, no_plurals = set(odd.values()), set(_irregular()["no plurals"])
    for word in part_of:
        many = odd.get(word) or plural(word)
        if many not in part_of or word in plurals or many in no_plurals:
            continue
        # Adjectives: "Americans" has a singular, "news" has none.
        if "noun" in (part_of[word], part_of[many]):
            yield "noun", {SINGULAR: word, PLURAL: many}


def _verbs(part_of: Mapping[str, str]) -> Iterator[_Family]:
    listed = _irregular()["verbs"]
    odd = {listed[at]: listed[at : at + 3] for at in range(0, len(listed), 3)}
    likely = odd.keys() | _bases(w for w, part in part_of.items() if part == "verb")
    for word in [word for word in part_of if word in likely]:
        regular = past(word)
        _, before, done = odd.get(word, (word, regular, regular))
        ing, third = participle(word), third_person(word)
        verb = {BASE: word, THIRD: third, PAST: before, PARTICIPLE: done, ING: ing}
        others = [form for form in (third, before, done, ing) if form in part_of]
        tell = (word, before, ing) if len(word) > _SHORT else (word,)
        if others and any(part_of.get(form) == "verb" for form in tell):
            yield "verb", verb


def _bases(verbs: Iterable[str]) -> set[str]:
    """Return all words of which one of these may be a form: past or with -ing."""
    bases = set[str]()
    for verb in verbs:
        bases.add(verb)
        for ending in ("ing", "ed"):
            if verb.endswith(ending):
                stem = verb.removesuffix(ending)
                bases |= {stem, stem + "e", stem[:-1]}
                bases |= {stem[:-1] + "ie", stem[:-1] + "y"}
    return bases


def _adjectives(part_of: Mapping[str, str]) -> Iterator[_Family]:
    words = _irregular()["adjectives"]
    odd = dict(zip(words[::3], zip(words[1::3], words[2::3], strict=True), strict=True))
    adjectives = [word for word, part in part_of.items() if part == "adjective"]
    for word in adjectives:
        regular = comparative(word), superlative(word)
        more, most = odd.get(word, regular)
        if part_of.get(more) == "adjective":
            yield "adjective", {POSITIVE: word, COMPARATIVE: more, SUPERLATIVE: most}


@cache
def _irregular() -> Mapping[str, list[str]]:
    """Return the irregular forms by their kind."""
    return dict(language_data.sections("english_inflections"))


_SIBILANTS = ("s", "x", "z", "ch", "sh")
# Letters that may be doubled, and the words that do: of one syllable, with one vowel
# between consonants at the end.
_DOUBLED = tuple("bdgklmnprt")
_DOUBLES = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][bdgklmnprt]$")


def after_consonant(word: str, letter: str) -> bool:
    """Tell whether a word ends in a letter with a consonant before it."""
    return word.endswith(letter) and word[-2:-1] not in ("", *"aeiou")


def plural(noun: str) -> str:
    """Return the regular plural."""
    if noun.endswith("o") and noun not in _irregular()["plurals in -oes"]:
        return noun + "s"
    return third_person(noun)


def third_person(verb: str) -> str:
    """Return the regular form with -s."""
    if after_consonant(verb, "y"):
        return verb[:-1] + "ies"
    if verb.endswith(_SIBILANTS) or after_consonant(verb, "o"):
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
    if not keep_y and after_consonant(word, "y"):
        return word[:-1] + "i"
    if word.endswith(_DOUBLED) and _DOUBLES.search(word):
        return word + word[-1]
    return word + "k" if word.endswith("ic") else word
