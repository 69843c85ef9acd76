"""Public counts: how much each word is used, and which words get in.

A word's count is the sum of
- its tokens in the glosses (examples weigh double, they are running English),
- its share of the tagged counts of the lemmas it is a form of (SemCor),
- its share of what the other forms of these lemmas have in the glosses; the share is a
  rule of thumb that the glosses correct: a plural that they never use is a rare one,
- a prior for how ordinary the lemma is: verbs, adjectives and adverbs more than nouns,
  several senses and derived words more than one, names of animals and plants less.
Closed-class words take their figure from dptext.lexicons.build.closed instead. No
corpus is read; the constants are rules of thumb.
"""

from __future__ import annotations

from collections.abc import Mapping

from dptext.lexicons.build.evidence import Evidence
from dptext.lexicons.build.forms import Link
from dptext.lexicons.build.wordnet import WordNet

TAGGED_WEIGHT = 3.0
FAMILY_WEIGHT = 0.3
FLOOR = 0.01
# The rule of thumb for the share of a form weighs as much as so many gloss tokens.
SHARE_WEIGHT = 10.0
# SemCor tags names with these lemmas, so that their counts are not those of the words.
NAME_TAGS = frozenset({"person", "group", "location"})
# Words that rules make from words get no more than this from their base, but for -ly:
# not every verb has a doer or can be done again.
MADE_AT_MOST = 0.5
_MADE = frozenset({"ness", "un", "agent", "agents", "re", "able"})
# Short words are used more (Zipf's law of abbreviation); up to these lengths.
_BREVITY = ((5, 2.5), (7, 2.0), (9, 1.4), (11, 1.0))
_LONG = 0.6
_ORDINARY = {"n": 0.5, "v": 1.0, "a": 0.8, "r": 0.8}
# Lexicographer files: animal, body, plant, substance; Latin and chemistry.
_TECHNICAL_FILES = frozenset({5, 20, 27})
_TECHNICAL = 0.25


def lemma_weights(wordnet: WordNet) -> dict[tuple[str, str], float]:
    """Return (lemma, part of speech) -> tagged use plus the prior for ordinariness."""
    return {
        (lemma, pos): TAGGED_WEIGHT * _tagged(lemma, senses)
        + _brevity(lemma) * _ordinary(wordnet, pos, [number for number, _ in senses])
        for (lemma, pos), senses in wordnet.senses.items()
        if " " not in lemma
    }


def _tagged(lemma: str, senses: tuple[tuple[int, int], ...]) -> int:
    return 0 if lemma in NAME_TAGS else sum(count for _, count in senses)


def _ordinary(wordnet: WordNet, pos: str, numbers: list[int]) -> float:
    synsets = [wordnet.synsets[number] for number in numbers]
    derived = sum(p.symbol in "+\\" for synset in synsets for p in synset.pointers)
    several = len(synsets) - 1
    prior = _ORDINARY[pos] + 0.7 * several + 0.15 * min(derived, 6)
    if all(synset.file in _TECHNICAL_FILES for synset in synsets):
        prior *= _TECHNICAL
    return prior


def _brevity(lemma: str) -> float:
    return next((factor for most, factor in _BREVITY if len(lemma) <= most), _LONG)


def weigh(
    links: Mapping[str, tuple[Link, ...]],
    evidence: Evidence,
    weights: Mapping[tuple[str, str], float],
) -> dict[str, float]:
    """Return word -> weight (> 0), for every candidate and every gloss word."""
    family: dict[tuple[str, str], float] = {}
    for form, ties in links.items():
        uses = [tie.share * weights[tie.lemma, tie.pos] for tie in ties]
        for tie, use in zip(ties, uses, strict=True):
            lemma = (tie.lemma, tie.pos)
            part = evidence.used[form] * use / sum(uses)
            family[lemma] = family.get(lemma, 0.0) + part
    words = sorted({*links, *evidence.used, *evidence.part_of})
    return {
        word: _weight(word, links.get(word, ()), evidence, weights, family)
        for word in words
    }


def _weight(
    word: str,
    ties: tuple[Link, ...],
    evidence: Evidence,
    weights: Mapping[tuple[str, str], float],
    family: Mapping[tuple[str, str], float],
) -> float:
    shared = 0.0
    whole = sum(tie.share * weights[tie.lemma, tie.pos] for tie in ties)
    for tie in ties:
        lemma = (tie.lemma, tie.pos)
        seen = family.get(lemma, 0.0)
        own = evidence.used[word] * tie.share * weights[lemma] / whole
        share = (SHARE_WEIGHT * tie.share + own) / (SHARE_WEIGHT + seen)
        most = MADE_AT_MOST if tie.kind in _MADE else float("inf")
        shared += min(share * (weights[lemma] + FAMILY_WEIGHT * seen), most)
    return FLOOR + evidence.used[word] + evidence.part_of[word] + shared
