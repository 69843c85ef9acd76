"""Builds lexicons from public text: from scratch, or by adapting another lexicon.

Words come from the splitter, in their most frequent spelling. Vectors come from the
surrounding words: positive pointwise mutual information of a word with the most
frequent ones within a window, contexts to the power 0.75, and the first singular
vectors times the root of their values (Levy, Goldberg and Dagan 2015, TACL 3). If a
lexicon lacks words of a text, their vectors are the means of the vectors around them,
mapped by the linear map that fits known words best (a la carte embedding, Khodak et al.
2018, ACL, arXiv:1805.05388). This works for any language with spaces between words.

An adapted lexicon writes the same outputs for a word of its base: vectors, outputs and
orders are those of the base, since orders and outputs by the frequencies of a kind gain
nothing (docs/lexicons.md). New words are inputs: each has a vector from the words
around it and an order of its best replacements among the outputs, and never replaces a
word. Counts come from the text, smoothed by the base: the risk and the epsilon for a
risk then refer to texts of this kind. Words are sorted by descending count, outputs
first; words that are not outputs count at most as much as the 1,000th output, so that
the names of frequency bands stay correct.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dptext.errors import InputError
from dptext.lexicons import word_classes
from dptext.lexicons.orders import inherit, measure, orders_of_others, unit
from dptext.lexicons.sources import RawVectors
from dptext.tokens import kinds, names, numbers
from dptext.tokens.regex import is_elision, key_of, kind_of, segment, split, to_keys
from dptext.tokens.symbols import visible
from dptext.types import Floats, Ints, Lexicon, Mask, Rows, Singles, Vectors

# Texts, read anew at each call, in batches.
Texts = Callable[[], Iterable[Sequence[str]]]

_WINDOW = 5
# The most frequent words are contexts of vectors that are made of nothing else.
_CONTEXTS, _DIMENSIONS, _SMOOTHED = 2000, 100, 0.75
_AT_ONCE = 2048
# Numbers that wait before they are counted.
_WAITING = 2**22
# So many different words behind "l'" make it a separate word.
_ELIDED = 20
_LONGEST = 40  # characters of a word
# Words that teach the map of contexts: seen so often, and of each so many times.
_TAUGHT, _ENOUGH, _RIDGE = 10, 1000, 1e-3
# The last row of a band of frequent words (dptext.measures.sampled_risk).
_BANDS = 1000
PAIRS = "pairs"  # the key of meta that names the n-gram model of a lexicon


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    """Counts of the pieces of a text."""

    #: Count of each row of the lexicon: (V,).
    known: Floats
    #: Counts of new words, in the spelling of the text.
    new: Mapping[str, float]
    #: The row of each word by its key; new words have rows from V on.
    index: Mapping[str, int]
    #: Count of numbers.
    numbers: float
    #: The rows of a piece, -1 for a word that is neither known nor new.
    of_piece: Mapping[str, list[int]]

    def rows(self, texts: Sequence[str]) -> tuple[Ints, ...]:
        """Return the row of each word in texts, and its text number: (n,) each."""
        rows: list[int] = []
        ends = []
        for text in texts:
            for piece in split(text):
                rows += self.of_piece.get(piece, ())
            ends.append(len(rows))
        counts: Ints = np.diff(ends, prepend=0).astype(np.int64)
        return np.array(rows, np.int64), np.repeat(np.arange(len(ends)), counts)


def count_words(
    texts: Texts, known: Mapping[str, int], least: int, elisions: bool = False
) -> CorpusCounts:
    """Count words of texts: known ones by key, new ones if seen `least` times.

    elisions: detect them ("l'", "qu'") in the texts if no lexicon lists them.
    """
    pieces: Counter[str] = Counter()
    for batch in texts():
        for text in batch:
            pieces.update(piece.removeprefix(" ") for piece in split(visible(text)))
    numbers = sum(n for piece, n in pieces.items() if kind_of(piece) == kinds.NUMBER)
    elided = _elisions(pieces) if elisions else {}
    parts = _parts(pieces, {**dict(known), **elided})
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    for piece, each in parts.items():
        for part in each:
            spelled[key_of(part)][part] += pieces[piece]
    size = max(known.values(), default=-1) + 1
    counts, index = np.zeros(size), dict(known)
    new: dict[str, float] = {}
    for key, forms in spelled.items():
        total = float(sum(forms.values()))
        if key in known:
            counts[known[key]] += total
        elif total >= least and _is_word(key):
            index[key] = size + len(new)
            new[max(forms, key=lambda form: (forms[form], form))] = total
    rows = {
        led + piece: [index.get(key_of(part), -1) for part in each]
        for piece, each in parts.items()
        for led in ("", " ")
    }
    return CorpusCounts(
        known=counts, new=new, index=index, numbers=float(numbers), of_piece=rows
    )


def _parts(pieces: Iterable[str], index: Mapping[str, int]) -> dict[str, list[str]]:
    """Split word pieces into their known parts."""
    return {
        piece: [
            part
            for part, row in segment(piece, lambda key: index.get(key, -1))
            if row >= -1
        ]
        for piece in pieces
        if kind_of(piece) == kinds.WORD
    }


def _is_word(key: str) -> bool:
    """Return whether a lexicon may hold a key: a short single piece or elision."""
    return len(key) <= _LONGEST and (is_elision(key) or kind_of(key) == kinds.WORD)


def _elisions(pieces: Iterable[str]) -> dict[str, int]:
    """Return the elisions seen before many different words, each as row 0."""
    behind: dict[str, set[str]] = defaultdict(set)
    for piece in pieces:
        for mark in ("'", "’"):
            head, apostrophe, rest = piece.partition(mark)
            if apostrophe and rest and is_elision(head + mark):
                behind[key_of(head + mark)].add(key_of(rest))
    return {head: 0 for head, rest in behind.items() if len(rest) >= _ELIDED}


def _neighbours(rows: Ints, texts: Ints) -> Iterator[tuple[slice, slice, Mask]]:
    """Yield, for each distance, which words and neighbours share a text."""
    for gap in range(1, min(_WINDOW + 1, len(rows))):
        first, second = slice(None, -gap), slice(gap, None)
        same = texts[first] == texts[second]
        yield first, second, same & (rows[first] >= 0) & (rows[second] >= 0)


def vectors_from_text(texts: Texts, least: int) -> RawVectors:
    """Return words seen `least` times, by descending count, with vectors (V, d)."""
    counted = count_words(texts, {}, least, elisions=True)
    if len(counted.new) < 2:
        raise InputError(f"fewer than two words occur {least} times; give more text")
    counts = np.array(list(counted.new.values()))
    order = np.argsort(-counts, kind="stable")
    rank = np.argsort(order)
    contexts = min(_CONTEXTS, len(order))
    seen = KeyCounts()
    for batch in texts():
        rows, of_text = counted.rows(batch)
        rows = np.where(rows >= 0, rank[rows], -1)
        for first, second, same in _neighbours(rows, of_text):
            one, other = rows[first][same], rows[second][same]
            for word, neighbour in ((one, other), (other, one)):
                near = neighbour < contexts
                seen.add(word[near] * contexts + neighbour[near])
    vectors = _svd(*seen.total(), len(order), contexts)
    words = list(counted.new)
    return RawVectors([words[row] for row in order], vectors, counts[order])


class KeyCounts:
    """Counts how often each whole number occurs."""

    def __init__(self) -> None:
        self._total: tuple[Ints, Ints] = (np.empty(0, np.int64), np.empty(0, np.int64))
        self._waiting: list[Ints] = []

    def add(self, keys: Ints) -> None:
        """Count numbers."""
        self._waiting.append(keys)
        if sum(map(len, self._waiting)) > max(len(self._total[0]), _WAITING):
            self.total()

    def total(self) -> tuple[Ints, Ints]:
        """Return the distinct numbers, ascending, and their counts."""
        old, counts = self._total
        each = np.concatenate((old, *self._waiting))
        keys, which = np.unique(each, return_inverse=True)
        weights = np.concatenate((counts, np.ones(len(each) - len(old), np.int64)))
        self._total = keys, np.bincount(which, weights, len(keys)).astype(np.int64)
        self._waiting = []
        return self._total


def _svd(keys: Ints, counts: Ints, size: int, contexts: int) -> Singles:
    """Return the singular vectors of the word-context PPMI: (size, d)."""
    words, neighbours = keys // contexts, keys % contexts
    totals = np.maximum(np.bincount(words, counts, size), 1.0)
    smoothed = np.maximum(np.bincount(neighbours, counts, contexts), 1.0) ** _SMOOTHED
    smoothed /= smoothed.sum()
    values = np.log(counts / (totals[words] * smoothed[neighbours]))
    positive = values > 0.0
    words, neighbours, values = words[positive], neighbours[positive], values[positive]
    ends = np.searchsorted(words, np.arange(0, size + _AT_ONCE, _AT_ONCE))

    def block(number: int) -> Singles:
        part = slice(ends[number], ends[number + 1])
        begin = number * _AT_ONCE
        dense = np.zeros((min(_AT_ONCE, size - begin), contexts), np.float32)
        dense[words[part] - begin, neighbours[part]] = values[part]
        return dense

    # The context side of the singular vectors: eigenvectors of a small square matrix.
    gram = np.zeros((contexts, contexts))
    for number in range(len(ends) - 1):
        dense = block(number)
        gram += dense.T @ dense
    squares, sides = np.linalg.eigh(gram)
    top = np.argsort(-squares)[: min(_DIMENSIONS, contexts)]
    scale = np.maximum(squares[top], np.finfo(np.float32).tiny) ** -0.25
    sides = (sides[:, top] * scale).astype(np.float32)
    return np.concatenate([block(number) @ sides for number in range(len(ends) - 1)])


def vectors_of_new(texts: Texts, counted: CorpusCounts, vectors: Vectors) -> Singles:
    """Return vectors of new words from their contexts: (new, d).

    vectors (V, d) are of known words; new vectors get their mean length.
    """
    size, new = len(vectors), len(counted.new)
    near = np.zeros((size + new + 1, vectors.shape[1]), np.float32)
    near[:size] = vectors
    sums = np.zeros((size + new, vectors.shape[1]))
    seen = np.zeros(size + new)
    taught = np.append(counted.known >= _TAUGHT, np.ones(new + 1, bool))
    taught[-1] = False
    for batch in texts():
        rows, of_text = counted.rows(batch)
        around = np.zeros((len(rows), vectors.shape[1]), np.float32)
        for first, second, same in _neighbours(rows, of_text):
            around[first] += near[rows[second]] * same[:, None]
            around[second] += near[rows[first]] * same[:, None]
        chosen = np.flatnonzero(taught[rows])
        chosen = chosen[seen[rows[chosen]] < _ENOUGH]
        order = chosen[np.argsort(rows[chosen], kind="stable")]
        begins = np.flatnonzero(np.diff(rows[order], prepend=-1))
        if len(begins):
            total = np.add.reduceat(around[order], begins, axis=0, dtype=np.float64)
            sums[rows[order][begins]] += total
            seen += np.bincount(rows[order], minlength=len(seen))
    means = sums / np.maximum(seen, 1.0)[:, None]
    teachers = np.flatnonzero(seen[:size] >= _TAUGHT)
    weights = np.log(seen[teachers])[:, None]
    square = (means[teachers] * weights).T @ means[teachers]
    ridge = _RIDGE * max(np.trace(square), 1e-12) / len(square)
    square += ridge * np.eye(len(square))
    known = vectors[teachers].astype(np.float64)
    best = np.linalg.solve(square, (means[teachers] * weights).T @ known)
    length = np.linalg.norm(vectors.astype(np.float64), axis=1).mean()
    return np.asarray(unit(means[size:] @ best) * np.float32(length))


def adapt(
    base: Lexicon, name: str, texts: Texts, least: int, source: Mapping[str, object]
) -> Lexicon:
    """Build the lexicon of public texts, unsaved and with an empty digest.

    least: how often a new word must occur; source: the entry on the texts in meta.
    """
    size = len(base.words)
    keys = {key: row for row, key in enumerate(to_keys(base.words))}
    counted = count_words(texts, keys, least)
    if not counted.known.any():
        raise InputError(
            f"the texts contain no words of the lexicon {base.name}; "
            "give other texts or another lexicon"
        )
    new = vectors_of_new(texts, counted, np.asarray(base.vectors[:size]))
    outputs = int(base.meta.get("outputs", size))
    counts = _counts(base, counted)
    # The count of the last of the frequent outputs.
    least = np.sort(counts[:outputs])[::-1][:_BANDS][-1]
    counts[outputs:] = np.minimum(counts[outputs:], least)
    order = np.lexsort((-counts, np.arange(len(counts)) >= outputs))
    words = (*base.words, *counted.new)
    vectors = np.concatenate((base.vectors[:size], new.astype(base.vectors.dtype)))
    vectors = np.concatenate((vectors[order], base.vectors[size:]))
    meta = {key: base.meta[key] for key in base.meta if key not in ("file", "geometry")}
    content = base.information_content
    rarest = 0.0 if content is None else float(content.max())
    return replace(
        base,
        name=name,
        words=tuple(words[row] for row in order.tolist()),
        vectors=vectors,
        counts=counts[order],
        orders=_orders(base, new, [*counted.new], order),
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
        **inherit(base, np.where(order < size, order, -1), rarest),
    )


def _counts(base: Lexicon, counted: CorpusCounts) -> Floats:
    """Return the text's counts smoothed by the base (Witten and Bell 1991)."""
    counts = np.append(counted.known, list(counted.new.values()))
    elements = numbers.rows_in(base.words)
    rows, names = list(elements), [base.words[row] for row in elements]
    shares = numbers.counts(counted.numbers, names)
    counts[rows] = [shares[each] for each in names]
    counts[: len(base.words)] += np.count_nonzero(counts) * base.prior
    return counts


def _orders(
    base: Lexicon, new: Singles, words: Sequence[str], order: NDArray[np.intp]
) -> Rows:
    """Return the orders of all words, by their new rows: (V + 1, k).

    new: the vectors of words that the base lacks. Words recognised as names of
    persons share the order of all names; the others list no word of a closed class.
    """
    size, listed = len(base.words), base.orders.shape[1]
    outputs = int(base.meta.get("outputs", size))
    barred = numbers.unlisted_rows(base.words)
    named = names.name_row(base)
    if named >= 0:
        barred += np.flatnonzero(word_classes.sealed_words(base)[:outputs]).tolist()
    best = orders_of_others(base.vectors[:outputs], new, listed - 1, barred)
    if named >= 0:
        persons = [names.unknown_is_name(word, base.language) for word in words]
        best[persons] = base.orders[named, : listed - 1]
    heads = np.arange(size, size + len(new))[:, None]
    last = base.orders[size:]
    rows = np.concatenate((base.orders[:size], np.hstack((heads, best))))
    position = np.argsort(order)
    rows = np.concatenate((position[rows[order]], position[last]))
    return rows.astype(np.uint16 if len(position) < 2**16 else np.uint32)
