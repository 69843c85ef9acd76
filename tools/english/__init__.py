"""The English lexicon, built from GloVe, WordNet and public word lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import settings
from dptext.errors import LexiconError
from dptext.lexicons.importing import outputs_first
from dptext.lexicons.orders import measure
from dptext.lexicons.store import digest_in_memory
from dptext.progress import share
from dptext.tokens import numbers
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import key_of
from dptext.types import JsonObject, Lexicon
from tools import vector_folder
from tools.english import classes, frequencies, sphinx
from tools.english import forms as lists
from tools.english.forms import (
    English,
    Vocabulary,
    load,
)
from tools.english.orders import build_figures, far_bounds
from tools.english.orders import orders as orders_of
from tools.english.vectors import beside, unit, word_vectors
from tools.english.words import Cases, select

VERSION = 6  # of the recipe: a change that changes the digest raises it
SEED = 1
SIZE = 65_500
OUTPUTS = 8_000
ORDERS = (
    "the word itself, then the outputs that stand best for it: closeness of meaning, "
    "synonyms, grammar, subject, polarity and frequency; no antonyms; words of sealed "
    "classes for their class alone; of names of persons one list of names"
)
_NUMBERS_PER_MILLE = 12.0  # of running English
_SHORT = 3  # letters; the word list has too many words of so few
LISTED = 97  # a word itself and the 96 best others
_SOURCE = (
    "GloVe 6B, 50 dimensions; WordNet 3.0; words and counts of CMU Sphinx en-us, "
    "SymSpell and SCOWL"
)
_LICENCE = "each source its own, all of them free: LICENSE.* beside the data"
_PRIOR = (
    "tokens per million: the mean of a trigram model of news and talk, counts of books "
    "and the web, and Zipf's law over the order of GloVe; of closed-class words and "
    "numbers also rules of thumb; words that are no outputs count no more than the last"
)
_UNKNOWN = (
    "row V stands for every unknown word that is not written as a name: the mean of "
    "nouns of little meaning, which are also its order; all names of persons, unknown "
    "ones too, have one order, a list of names"
)
__all__ = ["Sources", "build_english"]


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of the lexicon.

    wordnet: folder of the WordNet 3.0 database; glove: GloVe 6B with 50 dimensions, a
    file or a folder; sphinx: en-us.lm.bin; symspell: words with counts; scowl: a word
    a line, names with capitals.
    """

    wordnet: Path
    glove: Path
    sphinx: Path
    symspell: Path
    scowl: Path

    def digests(self) -> JsonObject:
        """Return the sha256 of each source but WordNet, by name."""
        return {
            "glove_sha256": vector_folder.sha256(self.glove),
            "sphinx_sha256": settings.digest_of_path(self.sphinx),
            "symspell_sha256": settings.digest_of_path(self.symspell),
            "scowl_sha256": settings.digest_of_path(self.scowl),
        }


class _Words(NamedTuple):
    """Words by descending count, as written; vectors (V, d), of GloVe and fitted."""

    written: list[str]
    counts: NDArray[np.float64]
    outputs: int
    glove: NDArray[np.float64]
    fitted: NDArray[np.float64]


def build_english(
    build_sources: Sources,
    *,
    size: int = SIZE,
    listed: int = LISTED,
    outputs: int = OUTPUTS,
) -> Lexicon:
    """Build the English lexicon.

    size counts words, the elements for numbers included; listed is the length of the
    orders, which hold, after the word itself, only the first outputs words. The same
    sources give the same digest. Raises LexiconError if one is missing.
    """
    if not 1 < listed < outputs <= size < 2**16:
        raise LexiconError(
            "the English lexicon takes at most 65535 words, and orders of 2 words or "
            "more, fewer than there are outputs"
        )
    share("reading WordNet", 0.0)
    english = load(build_sources.wordnet)
    share("choosing words", 0.1)
    words = _chosen(build_sources, english, size, outputs)
    share("ordering words", 0.4)
    return _assembled(english, words, listed, build_sources)


def _chosen(
    build_sources: Sources, english: English, size: int, outputs: int
) -> _Words:
    raw = vector_folder.read_either(build_sources.glove)
    row_of = {key_of(word): row for row, word in reversed([*enumerate(raw.words)])}
    model = sphinx.read(build_sources.sphinx)
    counts = frequencies.blended(model, build_sources.symspell, raw.words)
    elements = numbers.counts(1e3 * _NUMBERS_PER_MILLE)
    chosen = select(counts, size - len(elements))
    glove, fitted = word_vectors(english, [*chosen], row_of, raw.vectors, SEED)
    cases = Cases(english, build_sources.scowl)
    written = cases.all([*chosen], glove)
    spoken = frozenset(map(key_of, model.words))
    also = {word for word in written if word in cases.common and len(word) > _SHORT}
    also |= {
        word
        for word, key in zip(written, chosen, strict=True)
        if word != key and key in spoken and key.isascii()
    }
    rules = Vocabulary(english, also)
    middle = unit(glove[_number_words([*chosen])].mean(axis=0, keepdims=True))[0]
    fitted_middle = unit(fitted[_number_words([*chosen])].mean(axis=0, keepdims=True))
    words = [*written, *NAMES]
    shares = np.array([*chosen.values(), *elements.values()])
    known = [*map(rules.may_be_written, written), *[True] * len(elements)]
    may, must = classes.may_stay(words, shares, np.array(known), english.grammatical)
    must[len(chosen) :] = True
    order, capped = outputs_first(shares, may, outputs, must)
    return _Words(
        [words[row] for row in order.tolist()],
        _rounded(capped[order]),
        outputs,
        np.vstack((glove, numbers.vectors(middle)))[order],
        np.vstack((fitted, numbers.vectors(fitted_middle[0])))[order],
    )


def _number_words(keys: Sequence[str]) -> list[int]:
    named = {key_of(word) for word in lists.classes()["number word"]}
    return [row for row, key in enumerate(keys) if key in named]


def _assembled(
    english: English, words: _Words, listed: int, build_sources: Sources
) -> Lexicon:
    written, outputs = tuple(words.written), words.outputs
    sealed = classes.read_classes(written, english.grammatical)
    sealed = replace(
        sealed,
        listed=_filled(sealed.listed, outputs, listed),
        unknown=_filled(sealed.unknown, outputs, listed),
    )
    stand_ins = sealed.unknown
    glove = _with_unknown(words.glove, stand_ins)
    known, arrays = build_figures(
        english=english,
        words=written,
        vectors=glove,
        counts=words.counts,
        meaning=words.fitted,
        classes=sealed,
    )
    joined = _with_unknown(beside(words.glove, words.fitted, known.polarity), stand_ins)
    vectors = joined.astype(np.float16)
    listing = orders_of(known, outputs, listed - 1)
    numbers.list_first(listing, written)
    orders = np.vstack((listing, stand_ins.astype(listing.dtype)))
    meta = {
        "language": "en",
        "source": _SOURCE,
        "licence": _LICENCE,
        "prior": _PRIOR,
        "unknown": _UNKNOWN,
        "names": written[int(sealed.listed[0])],
        "builder": VERSION,
        "seed": SEED,
        "words": len(written),
        "dimensions": vectors.shape[1],
        "orders": ORDERS,
        "listed": listed,
        "outputs": outputs,
        "geometry": measure(vectors),
        "wordnet_sha256": english.digest,
        **build_sources.digests(),
    }
    lexicon = Lexicon(
        name="english",
        words=written,
        vectors=vectors,
        counts=words.counts,
        orders=orders,
        far=far_bounds(vectors, orders),
        digest="",
        meta=meta,
        **arrays,
    )
    return replace(lexicon, digest=digest_in_memory(lexicon))


def _filled(rows: NDArray[np.int64], outputs: int, listed: int) -> NDArray[np.int64]:
    """Return a list of outputs; where it is too short the commonest others follow."""
    inside = rows[rows < outputs]
    others = np.setdiff1d(np.arange(outputs), inside)
    return np.concatenate((inside, others))[:listed]


def _rounded(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to ten digits: machines differ in the last bits of sums."""
    return np.array([float(f"{count:.10g}") for count in counts.tolist()])


def _with_unknown(
    rows: NDArray[np.float64], stand_ins: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Add the row of unknown words, the mean direction of its stand-ins."""
    return np.vstack((rows, unit(rows[stand_ins].mean(axis=0, keepdims=True))))
