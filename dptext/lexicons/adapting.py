"""A lexicon adapted to public text of one kind: its frequencies and its own words.

What is written for a word stays the same: vectors, outputs and orders are those of the
base, since orders and outputs by the frequencies of a kind gain nothing
(docs/lexicons.md). New words are inputs: each has a vector from the words around it
and an order of the outputs that stand best for it, and is written in place of no word.
Counts are those of the text, smoothed by the base: the risk and the epsilon for a risk
are then of texts of this kind. Words stand by descending count, outputs first; words
that are no outputs count at most as much as the 1,000th output, so that bands of
frequency are what they are called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons import numbers
from dptext.lexicons.from_text import Texts, WordCounts, count_words, vectors_of_new
from dptext.lexicons.orders import measure, orders_of_others
from dptext.tokens.regex import keys_of
from dptext.types import PARTS, Lexicon

# The last row of a band of frequent words (dptext.measures.sampled_risk).
_BANDS = 1000
PAIRS = "pairs"  # the key of meta that names the n-gram model of a lexicon


def adapt(
    base: Lexicon, name: str, texts: Texts, least: int, source: Mapping[str, object]
) -> Lexicon:
    """Return the lexicon of public texts, not stored yet; its digest is empty.

    least is how often a new word must occur; source, what meta says of the texts.
    """
    size = len(base.words)
    keys = {key: row for row, key in enumerate(keys_of(base.words))}
    counted = count_words(texts, keys, least)
    new = vectors_of_new(texts, counted, np.asarray(base.vectors[:size]))
    outputs = int(base.meta.get("outputs", size))
    counts = _counts(base, counted)
    counts[outputs:] = np.minimum(counts[outputs:], _least_frequent(counts[:outputs]))
    order = np.concatenate(
        (
            np.argsort(-counts[:outputs], kind="stable"),
            outputs + np.argsort(-counts[outputs:], kind="stable"),
        )
    )
    words = (*base.words, *counted.new)
    vectors = np.concatenate((base.vectors[:size], new.astype(base.vectors.dtype)))
    vectors = np.concatenate((vectors[order], base.vectors[size:]))
    meta = {key: base.meta[key] for key in base.meta if key not in ("file", "geometry")}
    return replace(
        base,
        name=name,
        words=tuple(words[row] for row in order.tolist()),
        vectors=vectors,
        counts=counts[order],
        orders=_orders(base, new, outputs, order),
        # A bound that every distance keeps.
        far=np.zeros(len(vectors), np.float32),
        digest="",
        meta={
            **meta,
            "words": len(words),
            "outputs": outputs,
            "geometry": measure(vectors),
            **source,
            "base": base.digest,
            "new_words": len(counted.new),
            "prior": "counts of the public text that it was adapted to, smoothed by "
            "those of the base; words that are no outputs count no more than the "
            "1,000th output",
            PAIRS: name,
        },
        **_figures(base, len(counted.new), order),
    )


def _counts(base: Lexicon, counted: WordCounts) -> NDArray[np.float64]:
    """Return counts of the text, those of the base below (Witten and Bell 1991)."""
    counts = np.append(counted.known, list(counted.new.values()))
    elements = numbers.rows_in(base.words)
    rows, names = list(elements), [base.words[row] for row in elements]
    shares = numbers.counts(counted.numbers, names)
    counts[rows] = [shares[each] for each in names]
    counts[: len(base.words)] += np.count_nonzero(counts) * base.prior
    return counts


def _least_frequent(outputs: NDArray[np.float64]) -> float:
    """Return the count of the last of the frequent outputs."""
    return float(np.sort(outputs)[::-1][:_BANDS][-1])


def _orders(
    base: Lexicon, new: NDArray[np.float32], outputs: int, order: NDArray[np.intp]
) -> NDArray[np.integer]:
    """Return the orders of all words with rows as they stand now: (V + 1, k)."""
    size, listed = len(base.words), base.orders.shape[1]
    barred = numbers.barred(base.words)
    best = orders_of_others(base.vectors[:outputs], new, listed - 1, barred)
    heads = np.arange(size, size + len(new))[:, None]
    last = base.orders[size:]
    rows = np.concatenate((base.orders[:size], np.hstack((heads, best))))
    place = np.argsort(order)
    rows = np.concatenate((place[rows[order]], place[last]))
    return rows.astype(np.uint16 if len(place) < 2**16 else np.uint32)


def _figures(base: Lexicon, new: int, order: NDArray[np.intp]) -> dict[str, Any]:
    """Return the optional arrays: new words have no synonyms, and are like no other."""
    arrays: dict[str, Any] = {}
    if base.synonym_ends is not None and base.synonyms is not None:
        ends = np.append(base.synonym_ends, np.full(new, base.synonym_ends[-1]))
        begins = np.append(0, ends[:-1])
        place = np.argsort(order)
        lists = [base.synonyms[begins[row] : ends[row]] for row in order]
        arrays["synonym_ends"] = np.cumsum([len(each) for each in lists]).astype(
            np.int32
        )
        arrays["synonyms"] = place[np.concatenate(lists)].astype(np.int32)
    if base.information_content is not None:
        content = base.information_content
        most = np.full(new, content.max(), content.dtype)
        arrays["information_content"] = np.append(content, most)[order]
    if base.parts is not None:
        other = np.full(new, PARTS.index("other"), base.parts.dtype)
        arrays["parts"] = np.append(base.parts, other)[order]
    return arrays
