"""Agreement: writes drawn words in forms that fit their neighbours.

"he walk" becomes "he walks", "these dog" "these dogs", "to went" "to go", "me is" "I
am". The rules are public (dptext/data/words/english_agreement.txt), so that the written
words depend only on drawn and kept words.

A stream contains the words of texts in order: ids (n,) int32, V for words outside the
vocabulary; adjacent (n - 1,), whether the next word follows directly; free (n,), which
words may be rewritten, None for all. Articles are adjusted after all words are written
(dptext.writing.articles).

Inflection is English: the regular forms of a word, and the families of a vocabulary.
Families are derived only from the words and their parts of speech (Lexicon.parts): a
regular form counts if it is a word itself; irregular forms are listed
(dptext/data/words/english_inflections.txt). Words without a family are not inflected.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.tokens import grammar, language_data
from dptext.types import PARTS, Ids, Lexicon, Mask

# The forms of a word; a word may be several of them.
SINGULAR, PLURAL, BASE, THIRD, PAST, PARTICIPLE, ING = range(7)
POSITIVE, COMPARATIVE, SUPERLATIVE = range(7, 10)
FORMS = 10

_INFLECTED = ("noun", "verb", "adjective", "other")
# Shorter words do not become verbs by their forms: "ad" with "added".
_SHORT = 2
_SIBILANTS = ("s", "x", "z", "ch", "sh")
# Letters that may be doubled, and words with a doubled last letter: one syllable, with
# one vowel between consonants at the end.
_DOUBLED = tuple("bdgklmnprt")
_DOUBLES = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][bdgklmnprt]$")
# Names of the forms in the rules, with the part of speech that has each.
_FORMS: Mapping[str, tuple[int, str]] = {
    "SINGULAR": (SINGULAR, "noun"),
    "PLURAL": (PLURAL, "noun"),
    "BASE": (BASE, "verb"),
    "THIRD": (THIRD, "verb"),
    "PAST": (PAST, "verb"),
    "PARTICIPLE": (PARTICIPLE, "verb"),
    "ING": (ING, "verb"),
    "POSITIVE": (POSITIVE, "adjective"),
    "COMPARATIVE": (COMPARATIVE, "adjective"),
    "SUPERLATIVE": (SUPERLATIVE, "adjective"),
}
# Part of speech, and words by form.
_Family = tuple[str, dict[int, str]]


@dataclass(frozen=True, slots=True)
class Inflections:
    """The forms of words, and the other forms of their lemmas.

    A word with two lemmas has the forms of both: first those of the lemma
    with its part of speech, then those of the other.
    """

    #: (V,) bits, 1 << form.
    forms: NDArray[np.uint16]
    #: (V, FORMS) int32, the row of the word in each form, -1 without one.
    others: Ids

    def have(self, form: int) -> Mask:
        """Return a mask of words in a form: (V,)."""
        return np.asarray((self.forms >> form) & 1 == 1)


def find_inflections(lexicon: Lexicon) -> Inflections:
    """Find the inflection families among writable words, in English only."""
    size = len(lexicon.words)
    forms = np.zeros(size, np.uint16)
    others = np.full((size, FORMS), -1, np.int32)
    if lexicon.parts is None or lexicon.meta.get("language") != "en":
        return Inflections(forms, others)
    outputs = int(lexicon.meta.get("outputs", size))
    content = (
        lexicon.digest,
        outputs,
        cache.digest(lexicon.parts),
        language_data.digest(),
    )
    key = cache.key_of("inflections", 1, *content)

    def compute() -> cache.Arrays:
        _find_families(lexicon, forms, others)
        known = np.flatnonzero(forms)
        return {"rows": known, "forms": forms[known], "others": others[known]}

    def is_sound(cached: cache.Arrays) -> bool:
        rows, targets = cached["rows"], cached["others"]
        shaped = targets.shape == (len(rows), FORMS) == (len(cached["forms"]), FORMS)
        return shaped and all(
            each.min(initial=0) >= -1 and each.max(initial=0) < size
            for each in (rows, targets)
        )

    kept = cache.arrays(key, compute, is_sound, "listing the forms of words")
    forms[kept["rows"]], others[kept["rows"]] = kept["forms"], kept["others"]
    return Inflections(forms, others)


def _find_families(lexicon: Lexicon, forms: NDArray[np.uint16], others: Ids) -> None:
    """Fill in the forms of words (V,) and the rows of their other forms."""
    assert lexicon.parts is not None
    outputs = int(lexicon.meta.get("outputs", len(lexicon.words)))
    rows = {word: row for row, word in enumerate(lexicon.words[:outputs])}
    parts = zip(rows, lexicon.parts[[*rows.values()]].tolist(), strict=True)
    inflected = {word: PARTS[at] for word, at in parts if PARTS[at] in _INFLECTED}
    families = [*_nouns(inflected), *_verbs(inflected), *_adjectives(inflected)]
    # Families with the part of speech of a word come last, and replace others.
    for same_part in (False, True):
        for part, family in families:
            members = [(f, w) for f, w in family.items() if w in inflected]
            for form, word in members:
                if (inflected[word] == part) is same_part:
                    forms[rows[word]] |= 1 << form
                    for other, target in members:
                        others[rows[word], other] = rows[target]


def _nouns(parts: Mapping[str, str]) -> Iterator[_Family]:
    """Yield families of nouns, from words with their parts of speech."""
    words = _irregular()["nouns"]
    odd = dict(zip(words[::2], words[1::2], strict=True))
    plurals, no_plurals = set(odd.values()), set(_irregular()["no plurals"])
    for word in parts:
        many = odd.get(word) or plural(word)
        if many not in parts or word in plurals or many in no_plurals:
            continue
        # One of both is a noun: "Americans" has a singular, "news" does not.
        if "noun" in (parts[word], parts[many]):
            yield "noun", {SINGULAR: word, PLURAL: many}


def _verbs(parts: Mapping[str, str]) -> Iterator[_Family]:
    """Yield families of verbs, from words with their parts of speech."""
    listed = _irregular()["verbs"]
    odd = {listed[at]: listed[at : at + 3] for at in range(0, len(listed), 3)}
    likely = odd.keys() | _bases(w for w, part in parts.items() if part == "verb")
    for word in [word for word in parts if word in likely]:
        regular = past(word)
        _, before, done = odd.get(word, (word, regular, regular))
        ing, third = participle(word), third_person(word)
        verb = {BASE: word, THIRD: third, PAST: before, PARTICIPLE: done, ING: ing}
        others = [form for form in (third, before, done, ing) if form in parts]
        # Forms that show by their part of speech that this is a verb.
        tell = (word, before, ing) if len(word) > _SHORT else (word,)
        if others and any(parts.get(form) == "verb" for form in tell):
            yield "verb", verb


def _bases(verbs: Iterable[str]) -> set[str]:
    """Return all possible bases of verb forms: past, -ing, or any form."""
    bases = set[str]()
    for verb in verbs:
        bases.add(verb)
        for ending in ("ing", "ed"):
            if verb.endswith(ending):
                stem = verb.removesuffix(ending)
                bases |= {stem, stem + "e", stem[:-1]}
                bases |= {stem[:-1] + "ie", stem[:-1] + "y"}
    return bases


def _adjectives(parts: Mapping[str, str]) -> Iterator[_Family]:
    """Yield families of adjectives, from words with their parts of speech."""
    words = _irregular()["adjectives"]
    odd = dict(zip(words[::3], zip(words[1::3], words[2::3], strict=True), strict=True))
    adjectives = [word for word, part in parts.items() if part == "adjective"]
    for word in adjectives:
        regular = comparative(word), superlative(word)
        more, most = odd.get(word, regular)
        if parts.get(more) == "adjective":
            yield "adjective", {POSITIVE: word, COMPARATIVE: more, SUPERLATIVE: most}


@functools.cache
def _irregular() -> Mapping[str, list[str]]:
    """Return the lists of irregular forms."""
    return dict(language_data.sections("english_inflections"))


def after_consonant(word: str, letter: str) -> bool:
    """Return whether a word ends in a letter preceded by a consonant."""
    return word.endswith(letter) and word[-2:-1] not in ("", *"aeiou")


def plural(noun: str) -> str:
    """Return a noun's regular plural."""
    if noun.endswith("o") and noun not in _irregular()["plurals in -oes"]:
        return noun + "s"
    return third_person(noun)


def third_person(verb: str) -> str:
    """Return a verb's regular form with -s."""
    if after_consonant(verb, "y"):
        return verb[:-1] + "ies"
    if verb.endswith(_SIBILANTS) or after_consonant(verb, "o"):
        return verb + "es"
    return verb + "s"


def past(verb: str) -> str:
    """Return a verb's regular form with -ed."""
    return verb + "d" if verb.endswith("e") else stem(verb, keep_y=False) + "ed"


def participle(verb: str) -> str:
    """Return a verb's regular form with -ing."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and len(verb) > 2:
        return verb[:-1] + "ing"
    return stem(verb, keep_y=True) + "ing"


def comparative(adjective: str) -> str:
    """Return an adjective's form with -er."""
    if adjective.endswith("e"):
        return adjective + "r"
    return stem(adjective, keep_y=False) + "er"


def superlative(adjective: str) -> str:
    """Return an adjective's form with -est."""
    return comparative(adjective)[:-1] + "st"


def stem(word: str, *, keep_y: bool) -> str:
    """Return the stem before a vowel ending: doubled, -i for -y, -ck for -c."""
    if not keep_y and after_consonant(word, "y"):
        return word[:-1] + "i"
    if word.endswith(_DOUBLED) and _DOUBLES.search(word):
        return word + word[-1]
    return word + "k" if word.endswith("ic") else word


class Rules(NamedTuple):
    """A language's agreement rules: word classes, and rules for adjacent words."""

    #: By class its words, and the rules for the word after one of them.
    before: dict[str, tuple[list[str], list[str]]]
    #: By class its words, and the rules for the word before one of them.
    after: dict[str, tuple[list[str], list[str]]]
    #: By general rule for the word after another, the classes that it is not for.
    loose: dict[str, list[str]]


@functools.cache
def rules() -> Rules:
    """Read the English rules."""
    shared: dict[str, list[str]] = {}
    read = Rules({}, {}, {})
    for heading, parts in language_data.sections("english_agreement"):
        parts = list(chain.from_iterable(shared.get(each, [each]) for each in parts))
        side, _, name = heading.partition(" ")
        words = [part for part in parts if ">" not in part]
        if side in ("before", "after"):
            classes = read.before if side == "before" else read.after
            classes[name] = words, [part for part in parts if ">" in part]
        elif side == "loose":
            read.loose[name] = words
        else:
            shared[heading] = parts
    return read


def _rule_names() -> set[str]:
    """Return all rules that change a word."""
    sides = rules().before, rules().after
    asked = (rule for side in sides for _, listed in side.values() for rule in listed)
    return {*asked, *rules().loose}


class Inflector:
    """Rewrites words in forms that fit their neighbours.

    It has two flat tables (classes * (W + 1),) int32 of how many rows each word moves
    after, or before, a word of a class. The class of a word (V + 1,) int32 is the index
    in the table where its row begins. The first row is for words without an adjacent
    word. Only the first W words change; column W, without a move, is for all others.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        size = len(lexicon.words)
        self._size = size
        self._rows = lexicon.row_of
        self._outputs = int(lexicon.meta.get("outputs", size))
        self._inflections = find_inflections(lexicon)
        listed = language_data.delicate_words(lexicon.language)
        keys = lexicon.row_of.keys()
        self._delicate = np.fromiter((key in listed for key in keys), bool, size)
        self._step = functools.cache(self._forms)  # classes share their rules
        # Whether no word becomes another one.
        self._empty = not self._inflections.forms.any()
        # Only English words have parts of speech.
        parts = np.full(size, len(PARTS)) if self._empty else lexicon.parts
        self._has_part = {
            name: np.asarray(parts == row) for row, name in enumerate(PARTS)
        }
        self._width = 1 + max(map(self._last_changed, _rule_names()), default=-1)
        have, ends_in_s = self._inflections.have, grammar.edges(lexicon)[1] == ord("s")
        noun, verb = self._has_part["noun"], self._has_part["verb"]
        past = have(PAST) & ~have(PARTICIPLE) & ~have(BASE)
        groups = {
            "plural": noun & have(PLURAL) & ~have(SINGULAR),
            "singular": self._has_part["name"] | (noun & (have(SINGULAR) | ~ends_in_s)),
        }
        self._before, self._before_class = self._table(rules().before, groups)
        groups = {
            "finite": verb & (have(THIRD) | past),
            "mass": noun & (self._inflections.forms == 0) & ~ends_in_s,
            "noun": noun & ~have(BASE),
            "adjective": noun | self._has_part["adjective"],
        }
        self._after, self._after_class = self._table(rules().after, groups)

    def write(self, ids: Ids, adjacent: Mask, free: Mask | None) -> None:
        """Rewrite the free words of a stream in place.

        First by the following word, then by the preceding word, which is already
        rewritten.
        """
        if self._empty:
            return
        before = ids[:-1]
        # Places in the table: the row of the neighbour's class, plus the word.
        places = self._after_class.take(ids[1:])
        places *= adjacent
        places += np.minimum(before, self._width)
        where = True if free is None else free[:-1]
        np.add(before, self._after.take(places), out=before, where=where)
        places = np.zeros(len(ids), np.int32)
        np.multiply(self._before_class.take(before), adjacent, out=places[1:])
        places += np.minimum(ids, self._width)
        where = True if free is None else free
        np.add(ids, self._before.take(places), out=ids, where=where)

    def _table(
        self,
        classes: Mapping[str, tuple[list[str], list[str]]],
        groups: Mapping[str, Mask],
    ) -> tuple[Ids, Ids]:
        """Return a table, and each word's class as an index in it."""
        every, width = self._size + 1, self._width + 1
        if self._empty:
            return np.zeros(width, np.int32), np.zeros(every, np.int32)
        names = ["start", *(name for name in classes if name != "start")]
        offsets = np.full(every, names.index("word") * width, np.int32)
        for number, name in reversed(list(enumerate(names))):
            if name in groups:
                offsets[:-1][groups[name]] = number * width
        for number, name in reversed(list(enumerate(names))):
            listed = [self._rows.get(w.lower(), -1) for w in classes[name][0]]
            offsets[[row for row in listed if row >= 0]] = number * width
        loose = rules().loose if classes is rules().before else {}
        rows = [self._row(name, classes[name][1], loose) for name in names]
        return np.concatenate(rows), offsets

    def _row(self, name: str, asked: list[str], loose: Mapping[str, list[str]]) -> Ids:
        """Return each word's move next to a word of a class: (W + 1,)."""
        row = np.zeros(self._width + 1, np.int32)
        rest = [] if name == "start" else [r for r in loose if name not in loose[r]]
        # Earlier rules have priority.
        for rule in reversed([*asked, *rest]):
            here, there = self._step(rule)
            row[here] = there - here
        return row

    def _last_changed(self, rule: str) -> int:
        """Return the last word that a rule changes, -1 if there is none."""
        return int(self._step(rule)[0].max(initial=-1))

    def _forms(self, rule: str) -> tuple[Ids, Ids]:
        """Return the words that a rule changes, with their new forms."""
        old, _, forms = rule.partition(">")
        new = forms.split("/")
        if old not in _FORMS:
            pair = self._rows.get(old.lower(), -1), self._rows.get(new[0].lower(), -1)
            fits = 0 <= min(pair) and pair[1] < self._outputs
            both = np.array([[row] for row in pair] if fits else [[], []], np.int32)
            return both[0], both[1]
        old_form, part = _FORMS[old]
        which = self._inflections.have(old_form) & self._has_part[part]
        target = np.full(self._size, -1, np.int32)
        for name in reversed(new):
            new_form, _ = _FORMS[name]
            which &= ~self._inflections.have(new_form)
            other = self._inflections.others[:, new_form]
            target = np.where(other >= 0, other, target)
        which &= target >= 0
        # A form must not turn a plain word into a delicate one ("burn" into "burns").
        which &= self._delicate | ~self._delicate[target]
        here = np.flatnonzero(which).astype(np.int32)
        return here, target[here]
