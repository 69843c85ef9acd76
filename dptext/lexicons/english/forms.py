"""English words by rule: inflections, derivations and spelling variants of lemmas.

Regular inflection is that of dptext.tokens.inflections.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dptext.lexicons.english import lists
from dptext.lexicons.english.wordnet import Synset, WordNet
from dptext.tokens import inflections as spelling
from dptext.tokens.regex import split

_VOWELS = re.compile(r"[aeiouy]+")
# -our words of British English whose American form has -or.
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


def agent(verb: str) -> str:
    """Return the noun of the one who does it, with -er."""
    return spelling.comparative(verb)


def adverb(adjective: str) -> str:
    """Return the form with -ly."""
    if adjective.endswith("ic"):
        return adjective + "ally"
    if adjective.endswith("le") and len(adjective) > 4:
        return adjective[:-1] + "y"
    if adjective.endswith("ll"):
        return adjective + "y"
    if spelling.CONSONANT_Y.search(adjective) and syllables(adjective) > 1:
        return adjective[:-1] + "ily"
    return adjective + "ly"


def quality(adjective: str) -> str:
    """Return the noun of the quality, with -ness."""
    if spelling.CONSONANT_Y.search(adjective) and syllables(adjective) > 1:
        return adjective[:-1] + "iness"
    return adjective + "ness"


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
# Number words are not compared, and nobody does them ("fourer", "tenner").
_NUMBERS = frozenset(lists.classes()["number word"])
# Capitalised nouns with a plural: persons ("Americans") and times ("Mondays").
_COUNTED_FILES = frozenset({18, 28})


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """A form's tie to its lemma: (lemma, part of speech), kind and share of its use."""

    lemma: str
    pos: str
    kind: str
    share: float


def candidates(wordnet: WordNet) -> dict[str, tuple[Link, ...]]:
    """Return form -> its links, for single words of every origin but the glosses."""
    links: dict[str, list[Link]] = {}
    irregular = _irregular(wordnet)
    plurals = _plurals(wordnet)
    for (lemma, pos), senses in wordnet.senses.items():
        if split(lemma) != [lemma]:
            continue
        synsets = [wordnet.synsets[number] for number, _ in senses]
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
    regular = {spelling.plural(noun) for noun in nouns}
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
    regular = _REGULAR[pos](lemma, synsets)
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


def _nouns(lemma: str, synsets: list[Synset]) -> dict[str, str]:
    first = synsets[0]
    named = any(pointer.symbol == "@i" for pointer in first.pointers)
    capital = _capital(lemma, first)
    if named or (capital and first.file not in _COUNTED_FILES):
        return {}
    return {"plural": spelling.plural(lemma)}


def _capital(lemma: str, synset: Synset) -> bool:
    return any(f != lemma and f.lower() == lemma for f in synset.lemmas)


def _verbs(lemma: str, synsets: list[Synset]) -> dict[str, str]:
    return {
        "third": spelling.third_person(lemma),
        "past": spelling.past(lemma),
        "ing": spelling.participle(lemma),
    }


def _adjectives(lemma: str, synsets: list[Synset]) -> dict[str, str]:
    short = syllables(lemma) == 1 or lemma.endswith("y")
    # Pertainyms ("Greek") and participles ("armed") have no degrees.
    related = all(any(p.symbol == "\\" for p in s.pointers) for s in synsets)
    if not short or related or lemma.endswith(("ed", "ly")) or "-" in lemma:
        return {}
    if lemma in _NUMBERS or _digits(synsets):
        return {}
    return {
        "er": spelling.comparative(lemma),
        "est": spelling.superlative(lemma),
    }


def _digits(synsets: list[Synset]) -> bool:
    """Tell whether a lemma counts things: its first meaning has a numeral, too."""
    return any(any(map(str.isdigit, lemma)) for lemma in synsets[0].lemmas)


def _adverbs(lemma: str, synsets: list[Synset]) -> dict[str, str]:
    return {}


_REGULAR: Mapping[str, Callable[[str, list[Synset]], dict[str, str]]] = {
    "n": _nouns,
    "v": _verbs,
    "a": _adjectives,
    "r": _adverbs,
}


def _add_derived(wordnet: WordNet, links: dict[str, list[Link]]) -> None:
    """Add -ly, -ness, un-, -er and re- words that the database does not list."""
    for (lemma, pos), senses in wordnet.senses.items():
        if split(lemma) != [lemma] or "-" in lemma or not lemma.isalpha():
            continue
        capital = any(_capital(lemma, wordnet.synsets[n]) for n, _ in senses)
        if capital or pos not in ("a", "v") or len(lemma) < 3:
            continue
        if lemma in _NUMBERS or _digits([wordnet.synsets[n] for n, _ in senses]):
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
    else:
        yield agent(lemma), "agent", 0.5
        yield spelling.plural(agent(lemma)), "agents", 0.5
        again = "re" + lemma
        yield again, "re", 0.2
        yield spelling.past(again), "re", 0.2
        yield spelling.participle(again), "re", 0.2
        stem = lemma[:-1] if lemma.endswith("e") else lemma
        yield stem + "able", "able", 0.2
        yield "un" + stem + "able", "able", 0.1


def _add_variants(links: dict[str, list[Link]]) -> None:
    for form in list(links):
        for variant in variants(form):
            if variant not in links:
                links[variant] = [
                    Link(link.lemma, link.pos, link.kind, link.share * VARIANT_SHARE)
                    for link in links[form]
                ]
