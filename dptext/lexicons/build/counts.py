"""How much each lemma is used: what divides a word among its parts of speech.

The tagged counts of WordNet (SemCor) and a prior for how ordinary a lemma is: verbs,
adjectives and adverbs more than nouns, several senses and derived words more than one,
names of animals and plants less. No corpus is read; the constants are rules of thumb.
"""

from __future__ import annotations

from dptext.lexicons.build.wordnet import WordNet

TAGGED_WEIGHT = 3.0
# SemCor tags names with these lemmas, so that their counts are not those of the words.
NAME_TAGS = frozenset({"person", "group", "location"})
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
