"""Grammatical forms of words by spelling: noun, verb in -ing, adverb etc.

If a policy shows it (`grammar: show`), the form is determined by the word's part of
speech in the lexicon and its ending, for unknown words by the ending alone.
Neighbouring words do not matter.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import language_data
from dptext.tokens.regex import key_of
from dptext.types import PARTS, Ids, Ints, Lexicon, Mask

FORMS = (
    "other",
    "noun",
    "plural",
    "verb",
    "third person",
    "past",
    "-ing",
    "adjective",
    "adverb",
)
OTHER, NOUN, PLURAL, VERB, THIRD, PAST, ING, ADJECTIVE, ADVERB = range(len(FORMS))
_ENDINGS = (("ing", ING), ("ed", PAST), ("ly", ADVERB), ("est", ADJECTIVE))
_NO_PLURALS = ("ss", "us", "is", "'s", "ics")


@lru_cache(maxsize=2)
def forms_of_rows(lexicon: Lexicon) -> NDArray[np.uint8]:
    """Return each word's form, OTHER without parts of speech: (V,)."""
    if lexicon.parts is None or lexicon.language != "en":
        return np.zeros(len(lexicon.words), np.uint8)
    rows, past = lexicon.row_of, np.zeros(len(lexicon.words), bool)
    past[[rows[word] for word in _irregular() & rows.keys()]] = True
    characters, breaks = _bytes_of_words(lexicon)

    def have(*endings: str) -> Mask:
        """Return a mask of words with one of the endings: (V,)."""
        matches = np.zeros(len(breaks) - 1, bool)
        for ending in endings:
            last = [*reversed(ending.encode())]
            each = (characters[breaks[1:] - n] == at for n, at in enumerate(last, 1))
            matches |= np.logical_and.reduce([*each])
        return matches

    named = np.where(have("s") & ~have(*_NO_PLURALS), PLURAL, NOUN)
    verb = np.where(have("s") & ~have("ss"), THIRD, VERB)
    verb = np.where(have("ing"), ING, verb)
    verb = np.where(past | have("ed"), PAST, verb)
    by_ending = named
    for ending, form in reversed(_ENDINGS):
        by_ending = np.where(have(ending), form, by_ending)
    by_part = {"noun": named, "name": named, "verb": verb, "other": by_ending}
    fixed = {"adjective": ADJECTIVE, "adverb": ADVERB}
    forms = np.array([fixed.get(part, OTHER) for part in PARTS])[lexicon.parts]
    for part, each in by_part.items():
        forms = np.where(lexicon.parts == PARTS.index(part), each, forms)
    return forms.astype(np.uint8)


def edges(lexicon: Lexicon) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the first and last byte of each word in lower case: (V,) each."""
    characters, breaks = _bytes_of_words(lexicon)
    return characters[breaks[:-1] + 1], characters[breaks[1:] - 1]


def _bytes_of_words(lexicon: Lexicon) -> tuple[NDArray[np.uint8], Ints]:
    """Return all words in lower case as bytes, and line break positions: (V + 1,)."""
    text = ("\n" + "\n".join(lexicon.row_of) + "\n").encode()
    characters = np.frombuffer(text, np.uint8)
    return characters, np.flatnonzero(characters == ord("\n"))


def forms_of_words(ids: Ids, bodies: list[str], lexicon: Lexicon) -> NDArray[np.uint8]:
    """Return each word's form (n,); unknown words (id -1) are judged by body."""
    forms = forms_of_rows(lexicon)[ids]
    if lexicon.parts is not None and lexicon.language == "en":
        forms[ids < 0] = [_by_ending(key_of(body)) for body in bodies]
    return forms


def _by_ending(key: str) -> int:
    for ending, form in _ENDINGS:
        if key.endswith(ending):
            return form
    is_plural = key.endswith("s") and not key.endswith(_NO_PLURALS)
    return PLURAL if is_plural else NOUN


def _irregular() -> frozenset[str]:
    """Return past forms and participles of English irregular verbs."""
    listed = dict(language_data.sections("english_inflections"))["verbs"]
    return frozenset(chain(listed[1::3], listed[2::3]))
