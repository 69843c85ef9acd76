"""Information content (Resnik 1995): how much is said by naming a word's meanings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.build.forms import Link
from dptext.lexicons.build.wordnet import WordNet

_UP = ("@", "@i")


def of_synsets(wordnet: WordNet) -> NDArray[np.float64]:
    """Return -ln of the share of each synset and all below it: (s,) nats.

    Tagged counts plus one, so that every synset has some; the whole is that of its part
    of speech. Adjectives and adverbs have nothing below them.
    """
    uses = np.ones(len(wordnet.synsets))
    for senses in wordnet.senses.values():
        for synset, count in senses:
            uses[synset] += count
    total = np.zeros(len(uses))
    use_of_part: dict[str, float] = {}
    for number, meaning in enumerate(wordnet.synsets):
        for above in _ancestors(wordnet, number):
            total[above] += uses[number]
        use_of_part[meaning.pos] = use_of_part.get(meaning.pos, 0.0) + uses[number]
    shares = np.array([use_of_part[meaning.pos] for meaning in wordnet.synsets])
    return np.asarray(np.log(shares / total))


def of_words(
    wordnet: WordNet,
    words: Sequence[str],
    links: Mapping[str, tuple[Link, ...]],
    prior: NDArray[np.float64],
    grammatical: frozenset[str],
) -> NDArray[np.float32]:
    """Return the information content of each word: (V,) float32, nats, >= 0.

    The mean over the synsets of its lemmas. Grammatical words and words outside WordNet
    have -ln of their share of the public prior (V,) instead.
    """
    by_synset = of_synsets(wordnet)
    content = -np.log(prior)
    for row, word in enumerate(words):
        lemmas = sorted({(link.lemma, link.pos) for link in links.get(word, ())})
        numbers = [n for lemma in lemmas for n, _ in wordnet.senses[lemma]]
        if numbers and word not in grammatical:
            content[row] = by_synset[numbers].mean()
    return content.astype(np.float32)


def _ancestors(wordnet: WordNet, number: int) -> list[int]:
    """Return the synset and everything above it, each once."""
    ancestors = [number]
    seen = {number}
    for here in ancestors:
        for pointer in wordnet.synsets[here].pointers:
            if pointer.symbol in _UP and pointer.target not in seen:
                seen.add(pointer.target)
                ancestors.append(pointer.target)
    return ancestors
