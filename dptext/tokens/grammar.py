"""The grammatical form of a word, by its spelling: a noun, a verb in -ing, an adverb.

If a policy shows it (`grammar: show`), it follows from the word's part of speech in the
lexicon and its ending, for unknown words from the ending alone. Words around it do not
matter.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import language_data
from dptext.tokens.regex import key_of
from dptext.types import PARTS, Ids, Lexicon

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
# Last letters of words with another form than most of their part of speech.
_LAST_LETTERS = {"noun": "s", "name": "s", "verb": "dgs", "other": "dgsty"}
_NO_PLURALS = ("ss", "us", "is", "'s", "ics")


@lru_cache(maxsize=2)
def forms_of_rows(lexicon: Lexicon) -> NDArray[np.uint8]:
    """Return the form of each word, OTHER without parts of speech: (V,)."""
    if lexicon.parts is None or lexicon.language != "en":
        return np.zeros(len(lexicon.words), np.uint8)
    past, parts = _irregular(), lexicon.parts.tolist()
    # Most words have the form of their part of speech; endings decide of the others.
    forms = np.array([_form("", part, past) for part in PARTS], np.uint8)[lexicon.parts]
    rows, last = lexicon.row_of, edges(lexicon)[1]
    some = [row for word in past if (row := rows.get(word)) is not None]
    for number, part in enumerate(PARTS):
        ends = [*_LAST_LETTERS.get(part, "").encode()]
        some += np.flatnonzero((lexicon.parts == number) & np.isin(last, ends)).tolist()
    words = [*rows]
    for row in some:
        forms[row] = _form(words[row], PARTS[parts[row]], past)
    return forms


def edges(lexicon: Lexicon) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the first and the last byte of each word in lower case: (V,) both."""
    text = ("\n" + "\n".join(lexicon.row_of) + "\n").encode()
    characters = np.frombuffer(text, np.uint8)
    breaks = np.flatnonzero(characters == ord("\n"))
    return characters[breaks[:-1] + 1], characters[breaks[1:] - 1]


def forms_of_words(ids: Ids, bodies: list[str], lexicon: Lexicon) -> NDArray[np.uint8]:
    """Return the form of each word (n,), of unknown ones (id -1) by their bodies."""
    forms = forms_of_rows(lexicon)[ids]
    if lexicon.parts is not None and lexicon.language == "en":
        forms[ids < 0] = [_by_ending(key_of(body)) for body in bodies]
    return forms


def _form(key: str, part: str, past: frozenset[str]) -> int:
    if part in ("noun", "name"):
        return PLURAL if _is_plural(key) else NOUN
    if part == "verb":
        if key in past or key.endswith("ed"):
            return PAST
        if key.endswith("ing"):
            return ING
        return THIRD if key.endswith("s") and not key.endswith("ss") else VERB
    if part in ("adjective", "adverb"):
        return ADJECTIVE if part == "adjective" else ADVERB
    return _by_ending(key) if part == "other" else OTHER


def _by_ending(key: str) -> int:
    for ending, form in _ENDINGS:
        if key.endswith(ending):
            return form
    return PLURAL if _is_plural(key) else NOUN


def _is_plural(key: str) -> bool:
    return key.endswith("s") and not key.endswith(_NO_PLURALS)


def _irregular() -> frozenset[str]:
    """Return the past forms and participles of irregular verbs of English."""
    listed = dict(language_data.sections("english_inflections"))["verbs"]
    return frozenset(chain(listed[1::3], listed[2::3]))
