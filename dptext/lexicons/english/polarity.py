"""Good and bad: a public polarity of words, spread over WordNet from seed words.

A few dozen seed words, written by hand, are good or bad. Their meanings pass it on to
similar, derived and related meanings and to those whose definitions name them; an
antonym, or a "not" before the word in a definition, turns it round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.english.forms import Link
from dptext.lexicons.english.wordnet import WordNet, divided, words_of
from dptext.tokens.regex import key_of

_GOOD = """
a: good excellent wonderful superb great beautiful happy pleasant nice perfect brilliant
a: lovely delightful funny clever honest kind brave successful enjoyable charming fresh
n: success joy love beauty pleasure happiness virtue triumph delight charm peace
v: love enjoy admire praise please succeed delight win charm
"""
_BAD = """
a: bad terrible awful horrible poor ugly sad unpleasant nasty stupid boring dull
a: dreadful disgusting cruel dishonest painful weak offensive pathetic silly annoying
a: dangerous evil wrong sick
n: failure pain hate evil misery disaster grief cruelty disgust shame crime danger mess
n: violence death harm murder
v: hate fail annoy hurt disgust bore destroy disappoint offend kill harm suffer attack
"""
_RELATIONS = {"&": 1.0, "!": -1.0, "^": 0.6, "+": 0.8, "\\": 0.8, "*": 0.4, "@": 0.15}
_NAMED = 1.0  # by all words of the definition together
_NEGATIVE = frozenset(
    "not no without lacking lack nor never free devoid failing freedom absence".split()
)
_REACH = 3  # words after a negation that it turns round
_STEPS = 12
_KEPT = 0.85  # of what the neighbours say; the rest is a seed's own
_SCALE = 0.04  # the polarity at which a word counts as fairly good or bad


def of_words(
    wordnet: WordNet,
    words: Sequence[str],
    links: Mapping[str, tuple[Link, ...]],
    weights: Mapping[tuple[str, str], float],
) -> NDArray[np.float64]:
    """Return the polarity of words (keys), -1 bad to 1 good: (V,)."""
    by_synset = np.tanh(of_synsets(wordnet, links) / _SCALE)
    polarity = np.zeros(len(words))
    for row, word in enumerate(words):
        total = uses = 0.0
        for link in links.get(word, ()):
            use = link.share * weights[link.lemma, link.pos]
            turned = -1.0 if link.kind == "un" else 1.0
            senses = wordnet.senses[link.lemma, link.pos]
            counts = np.array(
                [count + 1.0 / (1 + i) for i, (_, count) in enumerate(senses)]
            )
            of_senses = by_synset[[number for number, _ in senses]]
            total += turned * use * float(counts @ of_senses / counts.sum())
            uses += use
        polarity[row] = total / uses if uses else 0.0
    return polarity


def of_synsets(
    wordnet: WordNet, links: Mapping[str, tuple[Link, ...]]
) -> NDArray[np.float64]:
    """Spread the seeds: (s,), near 0 for meanings that no seed reaches."""
    seeds = np.zeros(len(wordnet.synsets))
    for text, sign in ((_GOOD, 1.0), (_BAD, -1.0)):
        for pos, lemma in _seeds(text):
            for position, (synset, _) in enumerate(
                wordnet.senses.get((lemma, pos), ())
            ):
                seeds[synset] += sign / (1 + position) ** 2
    rows, columns, parts = _heard(wordnet, links)
    here = seeds.copy()
    for _ in range(_STEPS):
        heard = np.bincount(rows, parts * here[columns], len(seeds))
        here = (1.0 - _KEPT) * seeds + _KEPT * heard
    return here


def _seeds(text: str) -> Iterator[tuple[str, str]]:
    for line in filter(None, text.split("\n")):
        pos, _, lemmas = line.partition(":")
        for lemma in lemmas.split():
            yield pos, lemma


def _heard(
    wordnet: WordNet, links: Mapping[str, tuple[Link, ...]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return what each meaning hears from others, parts of absolute sum 1.

    (row, column, part) of each pair that is heard, in this order: a sum by bincount
    adds them one by one.
    """
    rows, columns, parts = [], [], []
    for row, synset in enumerate(wordnet.synsets):
        ties = [
            (pointer.target, _RELATIONS[pointer.symbol])
            for pointer in synset.pointers
            if pointer.symbol in _RELATIONS
        ]
        ties += _named(wordnet, synset.gloss, links)
        strength = sum(abs(part) for _, part in ties)
        heard: dict[int, float] = {}
        for column, part in ties:
            heard[column] = heard.get(column, 0.0) + part / max(strength, 1.0)
        for column in sorted(heard):
            rows.append(row)
            columns.append(column)
            parts.append(heard[column])
    return np.array(rows, np.int64), np.array(columns, np.int64), np.array(parts)


def _named(
    wordnet: WordNet, gloss: str, links: Mapping[str, tuple[Link, ...]]
) -> list[tuple[int, float]]:
    """Return the first meanings of the words of a definition, with sign and weight."""
    signs: list[tuple[int, float]] = []
    turned = 0
    for word in words_of(" ".join(divided(gloss)[0])):
        key = key_of(word)
        if key in _NEGATIVE:
            turned = _REACH
            continue
        turned -= 1
        ties = links.get(key, ())
        if not ties or len(key) < 3:
            continue
        tie = max(ties, key=lambda t: (t.pos == "a", t.share, t.lemma))
        senses = wordnet.senses[tie.lemma, tie.pos]
        signs.append((senses[0][0], -1.0 if turned >= 0 else 1.0))
    return [(synset, _NAMED * sign / len(signs)) for synset, sign in signs]
