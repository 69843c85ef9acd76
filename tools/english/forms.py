"""English words: the forms of lemmas by rule, and which words may be outputs.

Regular inflection is that of dptext.writing.agreement. No text is looked at. A word
may be an output if
- it is a function word, number word, interjection or abbreviation of the hand-written
  lists; letters and the particles of foreign names there ("von") may not; or
- it is a common name of the hand-written lists; or
- it is a lemma of WordNet or a form or derivation of one, without digits; one of up to
  three letters, or written with several capitals ("HTTP"), only if it is used in two
  glosses; or
- it is one of the words that are known from elsewhere to be English.
All else (markup, misspellings, other languages), however frequent in a file, is known
and is replaced, but never written; so are vulgar words, of any list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dptext.tokens import kinds
from dptext.tokens.language_data import lines, sections, vulgar_words
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import key_of, kind_of, split
from dptext.types import ENGLISH
from dptext.writing import agreement
from tools.english.wordnet import (
    LISTS,
    LemmaWeights,
    Link,
    Links,
    Synset,
    WordNet,
    digest_of_database,
    lemma_weights,
    read_database,
    used_in_glosses,
)

_VOWELS = re.compile(r"[aeiouy]+")
# -our words of British English that have -or in American English.
_OUR = (
    "arbour|ardour|armour|behaviour|candour|clamour|colour|demeanour|endeavour|favour|"
    "fervour|flavour|glamour|harbour|honour|humour|labour|neighbour|odour|parlour|"
    "rancour|rigour|rumour|saviour|savour|splendour|succour|tumour|valour|vapour|vigour"
)
_TO_AMERICAN = (
    (re.compile(rf"^((?:dis|mis|un)?)({_OUR})"), lambda m: m[1] + m[2][:-2] + "r"),
    (
        re.compile(r"^(cent|fib|goit|lit|lust|meag|och|sab|somb|spect|theat|tit)re"),
        r"\1er",
    ),
    (re.compile(r"yse(?=$|[drs])"), "yze"),
    (re.compile(r"^(def|off|pret|lic)ence"), r"\1ense"),
    (re.compile(r"^(anal|catal|dial|mon)ogue"), r"\1og"),
)
_TO_BRITISH = (
    (re.compile(r"(?<=[a-z]{3})iz(?=(?:e[drs]?|ers|es|ing|ation|ations|able)$)"), "is"),
    (re.compile(r"yz(?=(?:e[drs]?|ers|es|ing)$)"), "ys"),
)
_NOT_VARIANTS = frozenset({"capsize", "resize", "downsize", "oversize", "seize"})
# The part that each form has in the use of its lemma: rules of thumb, from no corpus.
SHARES = {
    ("n", "base"): 0.72, ("n", "plural"): 0.28,
    ("v", "base"): 0.36, ("v", "third"): 0.12, ("v", "past"): 0.32, ("v", "ing"): 0.20,
    ("a", "base"): 0.95, ("a", "er"): 0.025, ("a", "est"): 0.025,
    ("r", "base"): 0.98, ("r", "er"): 0.01, ("r", "est"): 0.01,
}  # fmt: skip
# Derived words that WordNet does not list, as a part of their base's use.
DERIVED_SHARE = 0.01
VARIANT_SHARE = 0.25
# Forms that the rules allow and usage mostly does not ("goodnesses").
RARE_SHARE = 0.04
_MASS = ("ness", "ism", "hood", "ship", "ing")
# Capitalised nouns with a plural: persons ("Americans") and times ("Mondays").
_COUNTED_FILES = frozenset({18, 28})
# Classes that are grammar only; what WordNet says of nouns of that spelling ("in" the
# inch) is not about them.
_GRAMMAR = (
    "determiner", "pronoun", "preposition", "conjunction", "auxiliary", "contraction",
    "clitic", "particle", "adverb", "interjection",
)  # fmt: skip
_SHORT = 3
_USED = 2.0  # a definition counts 1, an example 2
_LETTERS = frozenset({"a", "i"})


@cache
def classes() -> dict[str, dict[str, float]]:
    """Return class -> word -> tokens per thousand of running English."""
    return {
        name: dict(zip(parts[::2], map(float, parts[1::2]), strict=True))
        for name, parts in sections("classes", LISTS)
    }


def frequencies() -> dict[str, float]:
    """Return word -> tokens per thousand, over all classes; the first class wins."""
    merged: dict[str, float] = {}
    for pairs in classes().values():
        merged |= {word: share for word, share in pairs.items() if word not in merged}
    return merged


def groups() -> tuple[tuple[str, ...], ...]:
    """Return groups of closed-class words that stand for each other, in lower case."""
    return tuple(tuple(line.lower().split()) for line in lines("groups", LISTS))


def names() -> dict[str, str]:
    """Return key -> name, for common names of men, women and families."""
    return {
        key_of(name): name for _, group in sections("english_names") for name in group
    }


def kinds_of_names() -> dict[str, list[str]]:
    """Return key -> man, woman or family, or several of them."""
    kinds: dict[str, list[str]] = {}
    for kind, group in sections("english_names"):
        for name in group:
            kinds.setdefault(key_of(name), []).append(kind)
    return kinds


def adverb(adjective: str) -> str:
    """Return the form with -ly."""
    if adjective.endswith("ic"):
        return adjective + "ally"
    if adjective.endswith("le") and len(adjective) > 4:
        return adjective[:-1] + "y"
    return adjective + "y" if adjective.endswith("ll") else _suffixed(adjective, "ly")


def quality(adjective: str) -> str:
    """Return the noun of the quality, with -ness."""
    return _suffixed(adjective, "ness")


def _suffixed(adjective: str, suffix: str) -> str:
    """Add a suffix; a y after a consonant becomes i, as in "happily"."""
    if agreement.after_consonant(adjective, "y") and syllables(adjective) > 1:
        adjective = adjective[:-1] + "i"
    return adjective + suffix


def syllables(word: str) -> int:
    """Count groups of vowels, a silent final e left out."""
    bare = word[:-1] if word.endswith("e") and not word.endswith("le") else word
    return max(1, len(_VOWELS.findall(bare)))


def variants(word: str) -> list[str]:
    """Return the British spelling of an American word, or the reverse."""
    if word in _NOT_VARIANTS:
        return []
    spellings = [rule.sub(to, word) for rule, to in (*_TO_AMERICAN, *_TO_BRITISH)]
    return [other for other in dict.fromkeys(spellings) if other != word]


def candidates(wordnet: WordNet) -> dict[str, tuple[Link, ...]]:
    """Return form -> its links, for single words of every origin but the glosses."""
    links: dict[str, list[Link]] = {}
    irregular = _irregular(wordnet)
    plurals = _plurals(wordnet)
    for lemma, pos in wordnet.senses:
        if split(lemma) != [lemma]:
            continue
        synsets = wordnet.named(lemma, pos)
        for form, kind, share in _forms(lemma, pos, synsets, irregular, plurals):
            links.setdefault(form, []).append(Link(lemma, pos, kind, share))
    _add_derived(wordnet, links)
    _add_variants(links)
    return {form: tuple(sorted(links[form])) for form in sorted(links)}


def _irregular(wordnet: WordNet) -> dict[tuple[str, str], list[str]]:
    irregular: dict[tuple[str, str], list[str]] = {}
    for pos, pairs in wordnet.exceptions.items():
        for form, base in pairs:
            if form != base and " " not in form:
                irregular.setdefault((base, pos), []).append(form)
    return irregular


def _plurals(wordnet: WordNet) -> frozenset[str]:
    """Return forms that are plurals of other nouns."""
    nouns = [lemma for lemma, pos in wordnet.senses if pos == "n"]
    regular = {agreement.plural(noun) for noun in nouns}
    odd = {form for form, base in wordnet.exceptions["n"] if form != base}
    return frozenset(regular | odd | {"cattle", "people", "police"})


def _forms(
    lemma: str,
    pos: str,
    synsets: list[Synset],
    irregular: Mapping[tuple[str, str], list[str]],
    plurals: frozenset[str],
) -> Iterator[tuple[str, str, float]]:
    yield lemma, "base", SHARES[pos, "base"]
    if pos == "n" and lemma in plurals:
        return  # "cattle", "oxen", "cows": lemmas that are plurals already
    regular = _regular(lemma, pos, synsets)
    counts = Counter[str]()
    for form in dict.fromkeys(irregular.get((lemma, pos), ())):
        kind = _kind_of_irregular(form, lemma, pos)
        counts[kind] += 1
        yield form, kind, SHARES[pos, kind]
    mass = pos == "n" and lemma.endswith(_MASS)
    for kind, form in regular.items():
        if not counts[kind]:
            yield form, kind, SHARES[pos, kind] * (RARE_SHARE if mass else 1.0)
        elif pos == "n" or irregular[lemma, pos] == [lemma + "t"]:
            # "brothers" beside "brethren", "learned" beside "learnt".
            yield form, kind, SHARES[pos, kind] * RARE_SHARE


def _kind_of_irregular(form: str, lemma: str, pos: str) -> str:
    if pos == "n":
        return "plural"
    if pos == "v":
        if form.endswith("ing") and len(form) > len(lemma):
            return "ing"
        third = form.endswith("s") and lemma[:1] == form[:1] and lemma[-1] != "s"
        return "third" if third and form not in ("was",) else "past"
    return "est" if form.endswith("st") else "er"


def _regular(lemma: str, pos: str, synsets: Sequence[Synset]) -> dict[str, str]:
    """Return the inflected forms by their kind; adverbs have none."""
    if pos == "n":
        first = synsets[0]
        name = any(pointer.symbol == "@i" for pointer in first.pointers)
        if name or (_capital(lemma, first) and first.file not in _COUNTED_FILES):
            return {}
        return {"plural": agreement.plural(lemma)}
    if pos == "v":
        return {
            "third": agreement.third_person(lemma),
            "past": agreement.past(lemma),
            "ing": agreement.participle(lemma),
        }
    if pos == "a" and _has_degrees(lemma, synsets):
        return {
            "er": agreement.comparative(lemma),
            "est": agreement.superlative(lemma),
        }
    return {}


def _has_degrees(adjective: str, synsets: Sequence[Synset]) -> bool:
    short = syllables(adjective) == 1 or adjective.endswith("y")
    # Pertainyms ("Greek") and participles ("armed") have no degrees.
    related = all(any(p.symbol == "\\" for p in s.pointers) for s in synsets)
    if not short or related or adjective.endswith(("ed", "ly")) or "-" in adjective:
        return False
    return not _counts(adjective, synsets)


def _capital(lemma: str, synset: Synset) -> bool:
    return any(f != lemma and f.lower() == lemma for f in synset.lemmas)


def _counts(lemma: str, synsets: Sequence[Synset]) -> bool:
    """Tell whether a lemma counts things: its first meaning has a numeral, too.

    Such words are not compared, and nobody does them ("fourer", "tenner").
    """
    numerals = any(any(map(str.isdigit, other)) for other in synsets[0].lemmas)
    return numerals or lemma in classes()["number word"]


def _add_derived(wordnet: WordNet, links: dict[str, list[Link]]) -> None:
    """Add -ly, -ness, un-, -er and re- words that the database does not list."""
    for lemma, pos in wordnet.senses:
        # One word of letters alone, without a hyphen.
        if pos not in ("a", "v") or len(lemma) < 3 or not lemma.isalpha():
            continue
        synsets = wordnet.named(lemma, pos)
        if split(lemma) != [lemma] or _counts(lemma, synsets):
            continue
        if any(_capital(lemma, synset) for synset in synsets):
            continue
        for form, kind, part in _derived(lemma, pos):
            if form not in links:
                links[form] = [Link(lemma, pos, kind, DERIVED_SHARE * part)]


def _derived(lemma: str, pos: str) -> Iterator[tuple[str, str, float]]:
    if pos == "a":
        if not lemma.endswith("ly"):
            yield adverb(lemma), "ly", 2.0
        yield quality(lemma), "ness", 0.3
        yield "un" + lemma, "un", 0.3
        return
    agent = agreement.comparative(lemma)  # -er, as in "baker"
    yield agent, "agent", 0.5
    yield agreement.plural(agent), "agents", 0.5
    again = "re" + lemma
    for form in (again, agreement.past(again), agreement.participle(again)):
        yield form, "re", 0.2
    able = lemma.removesuffix("e") + "able"
    yield able, "able", 0.2
    yield "un" + able, "able", 0.1


def _add_variants(links: dict[str, list[Link]]) -> None:
    for form in list(links):
        for variant in variants(form):
            if variant not in links:
                links[variant] = [
                    Link(link.lemma, link.pos, link.kind, link.share * VARIANT_SHARE)
                    for link in links[form]
                ]


def grammatical() -> frozenset[str]:
    """Return the keys of the words that are grammar only."""
    return frozenset(key_of(word) for name in _GRAMMAR for word in classes()[name])


def fits(word: str) -> bool:
    """Tell whether the splitter of dptext sees one word, without digits, in it."""
    return (
        split(word) == [word]
        and kind_of(word) == kinds.WORD
        and not any(map(str.isdigit, word))
        and not word.endswith("'s")
        and len(word) > 1
    )


@dataclass(frozen=True, slots=True)
class English:
    """The database, its single words with their ties, how often glosses use them.

    ties are the links of words that are not grammar only, for "his" is no plural of
    "hi"; grammatical: keys of words that are grammar only; digest: that of the files.
    """

    digest: str
    wordnet: WordNet
    links: Links
    used: Mapping[str, float]
    weights: LemmaWeights
    ties: Links
    grammatical: frozenset[str]


def load(folder: Path) -> English:
    """Read the WordNet 3.0 folder. Raises LexiconError if a file is missing."""
    database = read_database(folder)
    links, closed = candidates(database), grammatical()
    return English(
        digest=digest_of_database(folder),
        wordnet=database,
        links=links,
        used=used_in_glosses(database),
        weights=lemma_weights(database),
        ties={key: ties for key, ties in links.items() if key not in closed},
        grammatical=closed,
    )


class Vocabulary:
    """The rules, with what they look up. also: words, as written, that are English."""

    def __init__(self, english: English, also: Container[str] = frozenset()) -> None:
        self._english = english
        self._also = also
        closed = set(map(key_of, frequencies())) | set(NAMES)
        letters = {key for key in closed if len(key) == 1} - _LETTERS
        self._never = letters | _only_particles() | vulgar_words(ENGLISH)
        self._listed = closed | names().keys()

    def may_be_written(self, word: str) -> bool:
        """Tell whether a word may be an output in this spelling."""
        key = key_of(word)
        if key in self._never:
            return False
        if key in self._listed:
            return True
        if not fits(key):
            return False
        if len(key) >= _SHORT and word in self._also:
            return True
        if key not in self._english.links:
            return False
        plain = len(key) > _SHORT and sum(map(str.isupper, word)) < 2
        return plain or self._english.used.get(key, 0.0) >= _USED


def _only_particles() -> set[str]:
    keys_of = {name: set(map(key_of, pairs)) for name, pairs in classes().items()}
    return keys_of.pop("particle").difference(*keys_of.values())
