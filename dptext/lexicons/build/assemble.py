"""The whole build: from the WordNet folder to a lexicon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError
from dptext.lexicons import numbers
from dptext.lexicons.build import closed, grammar, groups, names, ordering, selection
from dptext.lexicons.build.figures import only_names, tell
from dptext.lexicons.build.resources import English, load
from dptext.lexicons.build.vectors import SHIFTS, word_vectors
from dptext.lexicons.orders import far_of_all, measure
from dptext.lexicons.store import digest_in_memory
from dptext.tokens.regex import key_of
from dptext.types import Lexicon

VERSION = 3  # of the recipe: a change that changes the digest raises it
SEED = 1
SIZE = 45_000
DIMENSIONS = 100
LISTED = 97  # a word itself and the 96 best others
OUTPUTS = 8_000
_SOURCE = "WordNet 3.0 (Debian wordnet-base and wordnet-sense-index 1:3.0-37)"
_LICENCE = "WordNet 3.0 licence, LICENSE.wordnet beside the data"
_PRIOR = (
    "tokens per million: closed-class words, names and numbers by hand-written rules "
    "of thumb; other words by WordNet glosses and tagged sense counts"
)
_UNKNOWN = (
    "row V stands for every unknown word: the mean of the commonest personal and place "
    "names, which are also its order, by descending count"
)
ORDERS = (
    "the word itself, then the outputs that stand best for it: closeness of meaning, "
    "synonyms, grammar, subject, polarity and frequency; no antonyms"
)


def build_english(
    wordnet: Path,
    *,
    size: int = SIZE,
    dimensions: int = DIMENSIONS,
    listed: int = LISTED,
    outputs: int = OUTPUTS,
    progress: Callable[[str], None] | None = None,
) -> Lexicon:
    """Build the English lexicon from a folder with the WordNet 3.0 database.

    size counts words, the elements for numbers included; listed is the length of the
    orders, which hold, after the word itself, only the first outputs words. The same
    database gives the same digest. Raises LexiconError if a file is missing.
    """
    few = min(outputs, size)
    if dimensions <= SHIFTS or not 1 < listed < few <= size < 2**16:
        msg = (
            "the English lexicon takes over 11 dimensions, at most 65535 words, and "
            "orders of 2 words or more, fewer than there are outputs"
        )
        raise LexiconError(msg)
    say = progress or _silent
    say("reading WordNet")
    english = load(wordnet, "dptext lexicon build")
    say("choosing words")
    chosen = selection.select(
        english.wordnet, english.links, english.evidence, english.weights, size
    )
    shape = _Shape(dimensions, listed, min(outputs, len(chosen)))
    return _assemble(english, chosen, shape, say)


def _silent(message: str) -> None:
    pass


class _Shape(NamedTuple):
    dimensions: int
    listed: int
    outputs: int


def _assemble(
    english: English,
    chosen: Mapping[str, float],
    shape: _Shape,
    say: Callable[[str], None],
) -> Lexicon:
    words = tuple(chosen)
    say("placing words")
    placed = _placed(english, words, shape.dimensions)
    vectors, stand_ins = _with_classes(english, words, placed, shape)
    content = np.array(list(chosen.values()))
    say("ordering words")
    told = tell(english, words, vectors.astype(np.float64), content)
    listing = ordering.orders(told.figures, shape.outputs, shape.listed - 1)
    numbers.list_first(listing, words)
    orders = np.vstack((listing, stand_ins.astype(listing.dtype)))
    far = far_of_all(vectors, orders)
    say("measuring")
    lexicon = Lexicon(
        name="english",
        words=words,
        vectors=vectors,
        counts=content,
        orders=orders,
        far=far,
        digest="",
        meta=_meta(vectors, shape),
        synonym_ends=told.synonym_ends,
        synonyms=told.synonyms,
        information_content=told.information_content,
        parts=told.parts,
    )
    return replace(lexicon, digest=digest_in_memory(lexicon))


def _placed(
    english: English, words: Sequence[str], dimensions: int
) -> NDArray[np.float64]:
    # "king" and "hall" are rather common words than names, and not alike.
    keys = [key_of(word) for word in words]
    written = {key for word, key in zip(words, keys, strict=True) if word[:1].isupper()}
    named = tuple(
        tuple(key for key in map(key_of, group) if key in written)
        for group in names.names()
    )
    placed = word_vectors(
        english.wordnet,
        keys,
        english.ties,
        english.weights,
        named,
        dimensions=dimensions,
        seed=SEED,
    )
    known = english.grammatical
    return grammar.placement(keys, placed, groups.groups(), _classes(), known, SEED + 2)


def _classes() -> dict[str, list[str]]:
    return {
        name: [key_of(word) for word in pairs]
        for name, pairs in closed.classes().items()
    }


def _with_classes(
    english: English,
    words: Sequence[str],
    placed: NDArray[np.float64],
    shape: _Shape,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Set the rows of numbers and unknown words; return vectors and the stand-ins."""
    row_of = {key_of(word): row for row, word in enumerate(words)}
    written = [row_of[key_of(word)] for word in closed.classes()["number word"]]
    elements = numbers.rows_in(words)
    vectors = numbers.vectors(_mean(placed[written]))
    placed[list(elements)] = vectors[list(elements.values())]
    found = only_names(english, words[: shape.outputs])
    if len(found) < shape.listed:
        msg = (
            f"only {len(found)} names for an order of {shape.listed}; take more outputs"
        )
        raise LexiconError(msg)
    stand_ins = np.array(found[: shape.listed], np.int64)
    unknown = _mean(placed[stand_ins])
    return np.vstack((placed, unknown)).astype(np.float16), stand_ins


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    mean = rows.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean))


def _meta(vectors: NDArray[Any], shape: _Shape) -> dict[str, Any]:
    return {
        "language": "en",
        "source": _SOURCE,
        "licence": _LICENCE,
        "prior": _PRIOR,
        "unknown": _UNKNOWN,
        "builder": VERSION,
        "seed": SEED,
        "words": len(vectors) - 1,
        "dimensions": vectors.shape[1],
        "orders": ORDERS,
        "listed": shape.listed,
        "outputs": shape.outputs,
        "geometry": measure(vectors),
    }
