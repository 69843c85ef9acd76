"""Agreement: a drawn word is written in the form that its neighbours ask for.

"he walk" becomes "he walks", "these dog" "these dogs", "to went" "to go", "me is" "I
am", "a apple" "an apple". The rules are public, those of
dptext/data/words/english_agreement.txt, so that the written words
are a function of drawn and of kept words.

A stream is a row of words as they will stand in texts: ids (n,) int32, V for a word of
no vocabulary; beside (n - 1,) whether a word has the one after right behind it; free
(n,) which words may be rewritten, None for all; "a" and "an" also right before one of
these: left as it stood, an article would show how the word that is gone began.

Inflection is English: the regular forms of a word, and the families of a vocabulary.
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
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import language_data
from dptext.tokens.numbers import WITH_AN, elements_of
from dptext.types import PARTS, Ids, Lexicon, Mask

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
    others: Ids

    def are(self, form: int) -> Mask:
        """Tell which words are of a form: (V,)."""
        return np.asarray((self.forms >> form) & 1 == 1)


def inflections_of(lexicon: Lexicon) -> Inflections:
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


# Name of a form in the rules -> the form, and the part of speech that has it.
_NAMES = (
    *("SINGULAR", "PLURAL", "BASE", "THIRD", "PAST", "PARTICIPLE", "ING"),
    *("POSITIVE", "COMPARATIVE", "SUPERLATIVE"),
)
_HAVING = (*2 * ["noun"], *5 * ["verb"], *3 * ["adjective"])
_FORMS = dict(zip(_NAMES, enumerate(_HAVING), strict=True))


class Rules(NamedTuple):
    """The rules of a language: classes of words, and what they ask of a word beside.

    before and after hold, by the name of a class, its words, and its rules for the word
    after it and before it; loose, by a rule for endings, the classes it is not for.
    """

    before: dict[str, tuple[list[str], list[str]]]
    after: dict[str, tuple[list[str], list[str]]]
    loose: dict[str, list[str]]


@cache
def rules() -> Rules:
    """Read the rules of English."""
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


def _edges(lexicon: Lexicon) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the first and the last byte of each word in lower case: (V,) both."""
    text = ("\n" + "\n".join(lexicon.row_of) + "\n").encode()
    characters = np.frombuffer(text, np.uint8)
    breaks = np.flatnonzero(characters == ord("\n"))
    return characters[breaks[:-1] + 1], characters[breaks[1:] - 1]


# Words that "an" stands before, by their spelling; exceptions are listed. All that
# begin with a or i are such; what others are, the expression tells.
_SURE, _LIKELY = b"ai", b"eouh"
_VOWEL = re.compile(
    r"(?!uni(?!n|m)|u[bkrst][aeiou]|u\.|u[ks]$|u$|eu|one|once)[aeiou]|hour|honest|hono"
    r"|heir",
    re.IGNORECASE,
)


class Articles:
    """Write "a" or "an" as the word right after it wants."""

    def __init__(self, lexicon: Lexicon) -> None:
        rows = lexicon.row_of
        words = lexicon.words
        self._pair = (rows.get("a", -1), rows.get("an", -1))
        self._article = np.zeros(len(words) + 1, bool)
        if min(self._pair) >= 0:
            self._article[list(self._pair)] = True
        first, _ = _edges(lexicon)
        self._vowel = np.append(np.isin(first, list(_SURE)), False)
        for row in np.flatnonzero(np.isin(first, list(_LIKELY))).tolist():
            self._vowel[row] = _VOWEL.match(words[row]) is not None
        for row in elements_of(lexicon):
            self._vowel[row] |= words[row] in WITH_AN
        self._unknown = len(words)

    def write(self, ids: Ids, beside: Mask, free: Mask | None) -> None:
        """Rewrite the articles that are free or stand before a free word in place."""
        here = self._article[ids[:-1]] & beside & (ids[1:] != self._unknown)
        if free is not None:
            here &= free[:-1] | free[1:]
        position = np.flatnonzero(here)
        vowel = self._vowel[ids[position + 1]]
        ids[position] = np.where(vowel, self._pair[1], self._pair[0])


class Inflector:
    """Write words in the forms that their neighbours ask for, then the articles.

    Tables of a lexicon, flat: (classes * (V + 1),) int32. _before and _after say what a
    word becomes after and before a word of a class; the class of a word, _before_of and
    _after_of (V + 1,) int32, is where in the table its row begins. The first row is
    that of a word with nothing right beside it. Row V of all stands for words of no
    vocabulary. _empty: nothing becomes another.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        size = len(lexicon.words)
        self._size = size
        self._rows = lexicon.row_of
        self._outputs = int(lexicon.meta.get("outputs", size))
        self._inflections = inflections_of(lexicon)
        listed = language_data.delicate_words(lexicon.language)
        keys = lexicon.row_of.keys()
        self._delicate = np.fromiter((key in listed for key in keys), bool, size)
        self._step = cache(self._forms)  # classes share their rules
        self._empty = not self._inflections.forms.any()
        # The part of speech of words; of none but in English.
        parts = np.full(size, len(PARTS)) if self._empty else lexicon.parts
        self._of = {name: np.asarray(parts == row) for row, name in enumerate(PARTS)}
        are, of, in_s = self._inflections.are, self._of, _edges(lexicon)[1] == ord("s")
        noun, verb = of["noun"], of["verb"]
        past = are(PAST) & ~are(PARTICIPLE) & ~are(BASE)
        groups = {
            "plural": noun & are(PLURAL) & ~are(SINGULAR),
            "singular": of["name"] | (noun & (are(SINGULAR) | ~in_s)),
        }
        self._before, self._before_of = self._table(rules().before, groups)
        groups = {
            "finite": verb & (are(THIRD) | past),
            "mass": noun & (self._inflections.forms == 0) & ~in_s,
            "noun": noun & ~are(BASE),
            "adjective": noun | of["adjective"],
        }
        self._after, self._after_of = self._table(rules().after, groups)
        self._articles = Articles(lexicon)

    def write(self, ids: Ids, beside: Mask, free: Mask | None) -> None:
        """Rewrite the free words of a stream and the articles before them in place.

        First by the word after, then by the word before, as it then stands.
        """
        if self._empty:
            self._articles.write(ids, beside, free)
            return
        before = ids[:-1]
        asked = self._after_of.take(ids[1:])
        asked *= beside
        asked += before
        where = True if free is None else free[:-1]
        np.copyto(before, self._after.take(asked), where=where)
        asked = np.zeros(len(ids), np.int32)
        np.multiply(self._before_of.take(before), beside, out=asked[1:])
        asked += ids
        where = True if free is None else free
        np.copyto(ids, self._before.take(asked), where=where)
        self._articles.write(ids, beside, free)

    def _table(
        self,
        classes: Mapping[str, tuple[list[str], list[str]]],
        groups: Mapping[str, Mask],
    ) -> tuple[Ids, Ids]:
        """Return a table and the class of each word."""
        width = self._size + 1
        if self._empty:
            return np.arange(width, dtype=np.int32), np.zeros(width, np.int32)
        names = ["start", *(name for name in classes if name != "start")]
        offsets = np.full(width, names.index("word") * width, np.int32)
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
        """Return what each word becomes beside a word of a class: (V + 1,)."""
        row = np.arange(self._size + 1, dtype=np.int32)
        rest = [] if name == "start" else [r for r in loose if name not in loose[r]]
        # Earlier rules win.
        for rule in reversed([*asked, *rest]):
            here, there = self._step(rule)
            row[here] = there
        return row

    def _forms(self, rule: str) -> tuple[Ids, Ids]:
        """Return the words that a rule turns into others, and these."""
        old, _, forms = rule.partition(">")
        new = forms.split("/")
        if old not in _FORMS:
            pair = self._rows.get(old.lower(), -1), self._rows.get(new[0].lower(), -1)
            fits = 0 <= min(pair) and pair[1] < self._outputs
            both = np.array([[row] for row in pair] if fits else [[], []], np.int32)
            return both[0], both[1]
        old_form, part = _FORMS[old]
        which = self._inflections.are(old_form) & self._of[part]
        target = np.full(self._size, -1, np.int32)
        for name in reversed(new):
            new_form, _ = _FORMS[name]
            which &= ~self._inflections.are(new_form)
            other = self._inflections.others[:, new_form]
            target = np.where(other >= 0, other, target)
        which &= target >= 0
        # A form never makes a delicate word of a plain one ("burn" into "burns").
        which &= self._delicate | ~self._delicate[target]
        here = np.flatnonzero(which).astype(np.int32)
        return here, target[here]
