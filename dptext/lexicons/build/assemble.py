"""The whole build: from the WordNet folder to a lexicon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError, MissingExtra
from dptext.lexicons.build import (
    closed,
    counts,
    grammar,
    groups,
    information,
    names,
    selection,
    synonyms,
)
from dptext.lexicons.build.evidence import gather
from dptext.lexicons.build.forms import Link, candidates
from dptext.lexicons.build.vectors import SHIFTS, word_vectors
from dptext.lexicons.build.wordnet import WordNet, read
from dptext.lexicons.orders import build_orders, far_of, measure
from dptext.lexicons.store import digest_in_memory
from dptext.tokens.regex import key_of
from dptext.types import NUMBER, Lexicon

VERSION = 1  # of the recipe: a change that changes the digest raises it
SEED = 1
SIZE = 45_000
DIMENSIONS = 100
LISTED = 96
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


def build_english(
    wordnet: Path,
    *,
    size: int = SIZE,
    dimensions: int = DIMENSIONS,
    listed: int = LISTED,
    progress: Callable[[str], None] | None = None,
) -> Lexicon:
    """Build the English lexicon from a folder with the WordNet 3.0 database.

    size counts words, the number element included; listed is the length of the orders.
    The same database gives the same digest. Raises LexiconError if a file is missing.
    """
    if find_spec("scipy") is None:
        raise MissingExtra.of("dptext lexicon build", "build")
    if dimensions <= SHIFTS or not 0 < listed < size < 2**16:
        msg = "the English lexicon takes over 11 dimensions and at most 65535 words"
        raise LexiconError(msg)
    say = progress or _silent
    say("reading WordNet")
    database = read(Path(wordnet))
    links = candidates(database)
    evidence = gather(database)
    weights = counts.lemma_weights(database)
    say("choosing words")
    chosen = selection.select(database, links, evidence, weights, size)
    return _assemble(database, links, weights, chosen, dimensions, listed, say)


def _silent(message: str) -> None:
    pass


def _assemble(
    database: WordNet,
    links: Mapping[str, tuple[Link, ...]],
    weights: Mapping[tuple[str, str], float],
    chosen: Mapping[str, float],
    dimensions: int,
    listed: int,
    say: Callable[[str], None],
) -> Lexicon:
    words = tuple(chosen)
    keys = [key_of(word) for word in words]
    grammatical = selection.grammatical()
    # "his" is no plural of "hi": what grammar words look like is not about them.
    links = {key: ties for key, ties in links.items() if key not in grammatical}
    say("placing words")
    placed = _placed(database, keys, links, weights, dimensions)
    vectors, stand_ins = _with_classes(database, words, keys, links, placed, listed)
    content = np.array(list(chosen.values()))
    ends, alike = synonyms.synonyms(database, keys, links)
    say("ordering words")
    orders, far = build_orders(vectors, listed, (ends, alike))
    orders[-1] = stand_ins
    far[-1] = far_of(vectors, len(words), stand_ins)
    say("measuring")
    lexicon = Lexicon(
        name="english",
        words=words,
        vectors=vectors,
        counts=content,
        orders=orders,
        far=far,
        digest="",
        meta=_meta(vectors, listed),
        synonym_ends=ends,
        synonyms=alike,
        information_content=information.of_words(
            database, keys, links, content / content.sum(), grammatical
        ),
    )
    return replace(lexicon, digest=digest_in_memory(lexicon))


def _placed(
    database: WordNet,
    keys: Sequence[str],
    links: Mapping[str, tuple[Link, ...]],
    weights: Mapping[tuple[str, str], float],
    dimensions: int,
) -> NDArray[np.float64]:
    named = tuple(tuple(map(key_of, group)) for group in names.names())
    placed = word_vectors(
        database, keys, links, weights, named, dimensions=dimensions, seed=SEED
    )
    known = selection.grammatical()
    return grammar.place(keys, placed, groups.groups(), _classes(), known, SEED + 2)


def _classes() -> dict[str, list[str]]:
    return {
        name: [key_of(word) for word in pairs]
        for name, pairs in closed.classes().items()
    }


def _with_classes(
    database: WordNet,
    words: Sequence[str],
    keys: Sequence[str],
    links: Mapping[str, tuple[Link, ...]],
    placed: NDArray[np.float64],
    listed: int,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Set the rows of numbers and unknown words; return vectors and the stand-ins."""
    row_of = {key: row for row, key in enumerate(keys)}
    numbers = [row_of[key_of(word)] for word in closed.classes()["number word"]]
    placed[row_of[NUMBER]] = _mean(placed[numbers])
    stand_ins = _stand_ins(database, words, keys, links, listed)
    unknown = _mean(placed[stand_ins])
    return np.vstack((placed, unknown)).astype(np.float16), stand_ins


def _stand_ins(
    database: WordNet,
    words: Sequence[str],
    keys: Sequence[str],
    links: Mapping[str, tuple[Link, ...]],
    listed: int,
) -> NDArray[np.int64]:
    """Return the commonest words that only name a person or a place: (listed,)."""
    named = {key_of(name) for group in names.names() for name in group}
    found = []
    for row, (word, key) in enumerate(zip(words, keys, strict=True)):
        instance = [
            any(pointer.symbol == "@i" for pointer in database.synsets[number].pointers)
            for link in links.get(key, ())
            for number, _ in database.senses[link.lemma, link.pos]
        ]
        if word[:1].isupper() and (key in named or (instance and all(instance))):
            found.append(row)
    if len(found) < listed:
        msg = f"only {len(found)} names for an order of {listed}; build more words"
        raise LexiconError(msg)
    return np.array(found[:listed], np.int64)


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    mean = rows.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean))


def _meta(vectors: NDArray[Any], listed: int) -> dict[str, Any]:
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
        "listed": listed,
        "geometry": measure(vectors),
    }
