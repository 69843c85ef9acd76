"""The words of the English lexicon: which get in, and how they are written.

Sources are in lower case. Names, acronyms and common words are told by the hand-written
lists, by WordNet's glosses and lemmas, by a word list that keeps capitals (SCOWL); a
word that none of them has is written as most of its nearest words are, for names stand
among names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError
from dptext.lexicons.search import largest
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import key_of
from tools.english import forms as lists
from tools.english.forms import English
from tools.english.wordnet import WordNet, gloss_words, split_words

# A name this often in lower case in glosses and tags is rather a common word.
_COMMON = 15.0
_NEAREST = 20
# Neighbours that vote: the most frequent words of known case.
_VOTERS = 30_000
_BLOCK = 1024
# Acronyms: so many letters at most, so many of the neighbours in capitals.
_ACRONYM, _IN_CAPITALS = 5, 0.3


def select(counts: Mapping[str, float], size: int) -> dict[str, float]:
    """Return the most frequent keys with their counts, all closed-class words in it.

    By descending count, then by the alphabet.
    """
    needed = {key_of(word) for word in lists.frequencies()}
    ranked = sorted(counts, key=lambda key: (key not in needed, -counts[key], key))
    chosen = sorted(ranked[:size], key=lambda key: (-counts[key], key))
    return {key: counts[key] for key in chosen}


class Cases:
    """The lists. common: keys that the word list has in lower case."""

    def __init__(self, english: English, word_list: Path) -> None:
        try:
            lines = word_list.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise LexiconError(f"{word_list}: no list of words ({error})") from None
        self.common = frozenset(line for line in lines if line == line.lower())
        self._english = english
        self._closed = {key_of(word): word for word in lists.frequencies()}
        self._closed |= {name: name for name in NAMES}
        self._named = lists.names()
        self._forms = count_forms(english.wordnet)
        self._listed: dict[str, str] = {}
        for line in lines:
            if not line.endswith("'s") and key_of(line) not in self.common:
                self._listed.setdefault(key_of(line), line)

    def written(self, key: str) -> str | None:
        """Return the written form of a key, None where no list knows it."""
        if key in self._closed:
            return self._closed[key]
        if key in self._listed and key not in self._english.links:
            return self._listed[key]
        # A name is written as one unless it is common too ("bill", "rose").
        forms = self._forms.get(key, Counter())
        if key in self._named and forms[key] < _COMMON:
            return self._named[key]
        if forms:
            return commonest(forms)
        known = key in self.common or key in self._english.links
        return self._listed.get(key, key if known else None)

    def all(self, keys: Sequence[str], vectors: NDArray[np.float64]) -> list[str]:
        """Return the written forms of keys, in the order of their frequency.

        Takes vectors (V, d) of length 1.
        """
        known = [self.written(key) for key in keys]
        voters = [row for row, word in enumerate(known[:_VOTERS]) if word is not None]
        words = [known[row] or "" for row in voters]
        title = np.array([word[:1].isupper() for word in words])
        capitals = np.array([word.isupper() and len(word) > 1 for word in words])
        asking = [row for row, word in enumerate(known) if word is None]
        for begin in range(0, len(asking), _BLOCK):
            rows = asking[begin : begin + _BLOCK]
            cosines = vectors[rows] @ vectors[voters].T
            near = largest(cosines, min(_NEAREST, len(voters)))
            for row, others in zip(rows, near, strict=True):
                acronym = capitals[others].mean() > _IN_CAPITALS
                if acronym and len(keys[row]) <= _ACRONYM:
                    known[row] = keys[row].upper()
                elif title[others].mean() > 0.5:
                    known[row] = written_name(keys[row])
        return [
            key if word is None else word for key, word in zip(keys, known, strict=True)
        ]


def count_forms(wordnet: WordNet) -> dict[str, Counter[str]]:
    """Count how glosses, lemmas and tagged senses write each key."""
    forms: dict[str, Counter[str]] = {}
    for form, weight in (*_in_synsets(wordnet), *_tagged(wordnet)):
        forms.setdefault(key_of(form), Counter())[form] += weight  # type: ignore[assignment]
    return forms


def _in_synsets(wordnet: WordNet) -> Iterator[tuple[str, float]]:
    """Yield written forms and weights; words that begin an example are left out."""
    for synset in wordnet.synsets:
        for word, weight, begins in gloss_words(synset):
            if not begins:
                yield word, weight
        for lemma in synset.lemmas:
            yield from ((word, 1.0) for word in split_words(lemma))


def _tagged(wordnet: WordNet) -> Iterator[tuple[str, float]]:
    for (lemma, pos), senses in wordnet.senses.items():
        if " " in lemma or not any(count for _, count in senses):
            continue
        for position, meaning in enumerate(wordnet.named(lemma, pos)):
            same = (form for form in meaning.lemmas if form.lower() == lemma)
            yield next(same, lemma), 3.0 * senses[position][1] + (position == 0)


def commonest(forms: Counter[str]) -> str:
    """Return the commonest form; of equals the first in the alphabet."""
    return min(forms, key=lambda form: (-forms[form], form))


def written_name(key: str) -> str:
    """Return a key written as a name: "McLaren", "O'Neal", "al-Sadr", "N.Y."."""
    if "." in key:
        return key.upper()
    return "-".join(_part(part) for part in key.split("-"))


def _part(part: str) -> str:
    for prefix in ("mc", "o'", "d'"):
        if part.startswith(prefix) and len(part) > len(prefix) + 1:
            return prefix.capitalize() + part[len(prefix) :].capitalize()
    return part[:1].upper() + part[1:]
