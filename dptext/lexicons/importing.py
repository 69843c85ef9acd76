"""Builds a lexicon from a file of vectors: folds, sorts and lists its words.

Entries of a file are folded like words in look-ups; only single words are kept,
and all numbers become the elements of dptext.tokens.numbers. A scheme defines the
order of words and the replacements listed for each: by distance; with a number
of outputs by cosine less hubness and frequency (dptext.lexicons.orders); for English
words as in the built-in lexicon (`AsBuiltIn`). All of it is public.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from dptext import cache, progress
from dptext.errors import LexiconError, OutputError, UsageError
from dptext.lexicons import orders as listing
from dptext.lexicons import sources, store, word_classes
from dptext.lexicons.orders import (
    build_orders,
    far_bound,
    inherit,
    measure,
    orders_by_cosine,
    rows_of_names,
)
from dptext.lexicons.sources import RawVectors
from dptext.lexicons.store import cached_folder, packaged_folder
from dptext.run.interface import option
from dptext.tokens import kinds, names, numbers
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import is_elision, key_of, kind_of, split, to_keys
from dptext.tokens.symbols import visible
from dptext.types import ENGLISH, Floats, Ints, JsonObject, Lexicon, Mask, Rows, Vectors

_BY_COSINE = (
    "the word itself, then the outputs that stand best for it: cosine less hubness, "
    "frequency"
)
# Zipf-Mandelbrot (Mandelbrot 1953): with this exponent the commonest of 50,000
# words is 5% of a text, as in English. An exponent of 1 makes it 3%, and risks look
# smaller than they are (docs/results/rank.md).
_EXPONENT, _OFFSET = 1.13, 2.73
# Share of number tokens in running English, where the source has no numbers to count.
_NUMBER_SHARE = 0.01
# Their mean stands in for the vector of numbers, where the source has no numbers.
_NUMBER_WORDS = "one two three four five six seven eight nine ten".split()
# Raised when the same file would give another lexicon: cached ones are not used then.
VERSION = 5
LISTED = 100
# How many words orders list of a larger file that is not asked for others.
OUTPUTS = 8_000
# So many of these among so many of the first words make a list an English one.
# Of these other languages have two at most among their frequent words.
_SIGNS = frozenset("the of and to that with it for".split())
_ENOUGH, _FIRST = 4, 200
_CODE = re.compile("[a-z]{2,3}")
ZIPF = "Zipf's law by file order (no counts in the source)"
_META = {
    "language": ENGLISH,
    "licence": "words and vectors: unknown (that of the source); orders, synonyms, "
    "parts, information content: those of the built-in lexicon, LICENSE.* beside the "
    "data",
    "orders": "the word itself, then the outputs of its order in the built-in lexicon, "
    "then others by cosine less hubness, frequency",
}


@dataclass(frozen=True)
class Scheme:
    """The order of words, and the replacements listed for each.

    outputs: how many words may be outputs, listed by cosine; None: all, by distance;
    language: of the words it orders, None: any; prior_note: how it changes
    the counts, for meta.
    """

    outputs: int | None = None
    language: ClassVar[str | None] = None
    prior_note: ClassVar[str] = ""

    def arrange(
        self, words: Sequence[str], counts: Floats
    ) -> tuple[Sequence[str], Floats, NDArray[np.intp]]:
        """Return spellings and counts of words, and the order of rows.

        counts (V,) > 0. Words are sorted by descending count, outputs first.
        """
        return words, counts, np.argsort(-counts, kind="stable")

    def order(self, lexicon: Lexicon, listed: int) -> Lexicon:
        """Add orders of at most `listed` words to a lexicon without orders.

        far stays 0, a trivial bound, if orders are not by
        distance.
        """
        words, vectors = lexicon.words, lexicon.vectors
        barred = numbers.unlisted_rows(words)
        if self.outputs is None:
            orders, far = build_orders(vectors, min(listed, len(words)), barred=barred)
            for row in numbers.list_first(orders, words):
                far[row] = far_bound(vectors, row, orders[row])
            return replace(lexicon, orders=orders, far=far)
        outputs = min(self.outputs, len(words))
        listed = min(listed, outputs - len(barred))
        orders = orders_by_cosine(
            vectors, lexicon.counts, outputs=outputs, listed=listed, barred=barred
        )
        numbers.list_first(orders, words)
        meta = {**lexicon.meta, "outputs": outputs, "orders": _BY_COSINE}
        return replace(lexicon, orders=orders, meta=meta)


class FoldedEntries(NamedTuple):
    """The entries left after merging; their counts include the merged ones."""

    rows: NDArray[np.intp]  # into the source, by descending count
    counts: Floats
    numbers: NDArray[np.intp]
    number_count: float
    dropped: dict[str, int]


def zipf(size: int) -> Floats:
    """Return Zipf-Mandelbrot counts (size,), the last one 1."""
    # One by one, by the C library: numpy's powers differ in their last bits between
    # processors (AVX-512), and the digest of a lexicon would show it.
    largest = size + _OFFSET
    ranks = range(1, size + 1)
    return np.array([(largest / (rank + _OFFSET)) ** _EXPONENT for rank in ranks])


def fold(words: list[str], counts: Floats) -> FoldedEntries:
    """Keep the most frequent entry of each key, with the sum of their counts."""
    kept: dict[str, int] = {}
    rows: list[int] = []
    sums: list[float] = []
    in_digits: list[int] = []
    dropped = {"not_words": 0, "numbers": 0, "merged": 0}
    for row in np.argsort(-counts, kind="stable").tolist():
        kind = _kind(words[row])
        if kind == kinds.NUMBER:
            in_digits.append(row)
            dropped["numbers"] += 1
        elif kind != kinds.WORD:
            dropped["not_words"] += 1
        elif (first := kept.setdefault(key_of(words[row]), len(rows))) < len(rows):
            sums[first] += float(counts[row])
            dropped["merged"] += 1
        else:
            rows.append(row)
            sums.append(float(counts[row]))
    digits = np.array(in_digits, np.intp)
    counted = float(counts[digits].sum())
    return FoldedEntries(
        rows=np.array(rows, np.intp),
        counts=np.array(sums),
        numbers=digits,
        number_count=counted,
        dropped=dropped,
    )


def _kind(word: str) -> int:
    """Return the token kind of a single-piece word; several pieces are rejected."""
    # The splitter gives a piece the space before it, so a text cannot begin with one.
    if is_elision(word):  # one word before another, two pieces alone
        return kinds.WORD
    if word[:1] == " " or len(pieces := split(visible(word))) != 1:
        return kinds.PUNCTUATION
    return kind_of(pieces[0])


def _arrange(
    raw: RawVectors, location: str, scheme: Scheme, language: str
) -> tuple[tuple[str, ...], Vectors, Floats, Mapping[str, int]]:
    """Fold and sort the entries of a file; add numbers and the unknown row.

    Returns words (V,), vectors (V + 1, d), counts (V,) and how many entries were
    dropped, by reason. language determines which numbers there are. If the scheme
    limits outputs, numbers get counts high enough to be outputs.
    """
    counts = zipf(len(raw.words)) if raw.counts is None else raw.counts
    folded = fold(raw.words, counts)
    if not len(folded.rows):
        raise LexiconError(f"{location}: the file contains no words")
    words = [normalize("NFC", raw.words[row]) for row in folded.rows.tolist()]
    names = numbers.names(language)
    counts = _number_counts(folded, scheme.outputs, names)
    few = len(counts)
    merged = np.append(folded.counts, counts)
    written, merged, order = scheme.arrange([*words, *names[:few]], merged)
    size, d = len(order), raw.vectors.shape[1]
    vectors = np.empty((size + 1, d), raw.vectors.dtype)
    # Straight to where they stay, without a copy between: this is most of the memory.
    # The rows that the last entries, numbers, take here are written over.
    entries = np.append(folded.rows, np.zeros(few, np.intp))[order]
    np.take(raw.vectors, entries, axis=0, out=vectors[:size], mode="clip")
    middle = _number_vector(raw, words, folded)
    rows = np.argsort(order)[-few:]
    vectors[rows] = middle
    vectors[size] = vectors[:size].mean(axis=0, dtype=np.float64)
    vectors[rows] = numbers.vectors(middle)[[NAMES.index(name) for name in names[:few]]]
    ordered = tuple(written[row] for row in order.tolist())
    return ordered, vectors, merged[order], folded.dropped


def _number_counts(
    folded: FoldedEntries, most: int | None, names: Sequence[str]
) -> Floats:
    """Return the counts of number elements, or only of NUMBER: (m,).

    At least the last output's count if only the first `most` words are outputs.
    """
    share = _NUMBER_SHARE * float(folded.counts.sum())
    total = folded.number_count or share
    size = len(folded.rows) if most is None else min(most, len(folded.rows))
    if size < numbers.FEWEST:
        return np.array([total])
    counts = np.array(list(numbers.counts(total, names).values()))
    least = 0.0
    if most is not None:
        last = np.sort(folded.counts)[::-1][size - len(counts) - 1]
        least = float(np.nextafter(last, np.inf))
    return np.asarray(np.maximum(counts, least))


def _number_vector(raw: RawVectors, words: list[str], folded: FoldedEntries) -> Floats:
    """Return the mean of the numbers, else of number words, else of all entries."""
    chosen = folded.numbers
    if not len(chosen):
        rows = folded.rows.tolist()
        row_of = {key_of(word): row for word, row in zip(words, rows, strict=True)}
        chosen = np.array([row_of[w] for w in _NUMBER_WORDS if w in row_of], np.intp)
    # All of them without an index: that would copy the whole matrix.
    vectors = raw.vectors[chosen] if len(chosen) else raw.vectors
    return np.asarray(vectors.mean(axis=0, dtype=np.float64))


@dataclass(frozen=True, slots=True)
class Settings:
    """How a file is converted to a lexicon."""

    #: One of sources.FORMATS, None: detect it.
    format: str | None = None
    #: Read this many entries at most.
    max_words: int | None = None
    #: k, the length of the orders.
    listed: int = LISTED
    #: Number of words that orders list, 0: all, by distance. None: 8,000 if there are
    #: more words, else all.
    outputs: int | None = None
    #: Code of the language. None: English if its function words are among the first
    #: entries, else "unknown".
    language: str | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, int) and value < 1 and name != "outputs":
                raise UsageError(f"{name.replace('_', '-')} must be 1 or more")
        if self.language is not None and not _CODE.fullmatch(self.language):
            raise UsageError(
                "language must be a code of two or three lower-case letters, such as de"
            )
        few = self.outputs is not None and min(self.outputs, self.listed) == 1
        if few or (self.outputs or 0) < 0:
            raise UsageError("outputs and listed must be 2 or more")

    def key(self) -> str:
        """Return settings and VERSION as one line, equal for equal lexicons."""
        values = {"version": VERSION, **asdict(self)}
        return " ".join(f"{name}={value}" for name, value in values.items())


def open_source(path: Path, settings: Settings, warn: Callable[[str], None]) -> Lexicon:
    """Return the lexicon of a file of vectors, cached if available.

    A cache entry is used if it is of this file, matches its digest, and nobody but this
    user could have written it. If the cache cannot be written, there is a warning and
    the file is imported again next time.
    """
    source = sources.sha256(path)
    folder = cached_folder() / cache.key_of("lexicon", source, settings.key())
    if (kept := _open_kept(folder, source)) is None:
        lexicon = make(path, path.name, settings, digest=source)
        # Another process may have imported the file in the meantime.
        kept = _open_kept(folder, source)
    try:
        if kept is None:
            # The folder cannot be used, or it would have been opened.
            shutil.rmtree(folder, ignore_errors=True)
            store.save(lexicon, folder)
            cache.close(folder)
            kept = store.load(folder, verify=False)
    except (OSError, OutputError, LexiconError) as error:
        warn(f"{error}; the lexicon is not cached and will be imported again next time")
        return replace(lexicon, digest=store.digest_in_memory(lexicon))
    # The name is that of the file asked for: the cached content may have another.
    return replace(kept, name=path.name)


def _open_kept(folder: Path, source: str) -> Lexicon | None:
    """Return the lexicon in a cache folder, None unless it is of this source."""
    if cache.is_private_folder(folder):
        with contextlib.suppress(LexiconError):
            lexicon = store.load(folder)
            if lexicon.meta.get("sha256") == source:
                cache.mark_used(folder)
                return lexicon
    return None


def make(
    path: Path,
    name: str,
    settings: Settings,
    *,
    scheme: Scheme | None = None,
    digest: str | None = None,
) -> Lexicon:
    """Read a file of vectors into a lexicon, without storing it.

    scheme: overrides how words are arranged and ordered by the settings. digest: the
    sha256 of the source if it is known. The digest of the result is empty:
    dptext.lexicons.store.save computes it.
    """
    raw, format = sources.read(path, settings.format, settings.max_words)
    listing.check_coordinates(raw.vectors, str(path))
    source = {
        "file": path.name,
        "sha256": digest or sources.sha256(path),
        "format": format,
        "licence": "unknown (that of the source)",
    }
    return from_vectors(
        raw, name, settings=settings, source=source, location=str(path), scheme=scheme
    )


def from_vectors(
    raw: RawVectors,
    name: str,
    settings: Settings,
    source: Mapping[str, object],
    location: str,
    *,
    scheme: Scheme | None = None,
) -> Lexicon:
    """Build a lexicon from vectors; source goes to meta, location to errors.

    Other arguments as for `make`.
    """
    if scheme is None:
        outputs = settings.outputs
        if outputs is None and len(raw.words) > OUTPUTS:
            outputs = OUTPUTS
        scheme = Scheme(outputs or None)
    progress.share("folding words", 0.0)
    language = scheme.language or settings.language or detect_language(raw.words)
    words, vectors, counts, dropped = _arrange(raw, location, scheme, language)
    prior = ZIPF if raw.counts is None else "counts of the source"
    del raw
    meta = {
        **source,
        "words": len(words),
        "dimensions": int(vectors.shape[1]),
        "dropped": dropped,
        "prior": prior + scheme.prior_note,
        "language": language,
        "max_words": settings.max_words,
    }
    far = np.zeros(len(vectors), np.float32)
    orders = listing.empty_orders(0, 0, 0)
    lexicon = Lexicon(
        name=name,
        words=words,
        vectors=vectors,
        counts=counts,
        orders=orders,
        far=far,
        digest="",
        meta=meta,
    )
    lexicon = scheme.order(lexicon, settings.listed)
    meta = {
        **lexicon.meta,
        "listed": int(lexicon.orders.shape[1]),
        "geometry": measure(vectors),
    }
    return replace(lexicon, meta=meta)


def detect_language(words: Sequence[str]) -> str:
    """Detect English by function words among the most frequent words."""
    first = {word.lower() for word in words[:_FIRST]}
    return ENGLISH if len(first & _SIGNS) >= _ENOUGH else "unknown"


def licences() -> list[Path]:
    """Return the files to ship with data derived from the built-in lexicon."""
    return sorted(packaged_folder().glob("LICENSE.*"))


class AsBuiltIn(Scheme):
    """The built-in lexicon's scheme, with as many outputs or fewer."""

    prior_note = "; words that are no outputs count no more than the last output"
    language = ENGLISH

    def __init__(self, outputs: int | None = None) -> None:
        if outputs == 0:
            raise UsageError(
                "outputs cannot be 0 here, as the built-in lexicon's lists are not "
                "ordered by distance"
            )
        self._builtin = store.load(packaged_folder(), verify=False)
        self._most = int(self._builtin.meta["outputs"])
        super().__init__(min(outputs or self._most, self._most))
        keys = to_keys(self._builtin.words)
        self._row_of = {key: row for row, key in enumerate(keys)}

    def _rows(self, words: Sequence[str]) -> Ints:
        """Return the rows of words in the built-in lexicon, -1 if missing."""
        rows = (self._row_of.get(key, -1) for key in to_keys(words))
        return np.fromiter(rows, np.int64, len(words))

    def arrange(
        self, words: Sequence[str], counts: Floats
    ) -> tuple[Sequence[str], Floats, NDArray[np.intp]]:
        """Sort words by descending count (> 0).

        Words that are not outputs count at most as much as the last output and come
        after it.
        """
        rows, named = self._rows(words), self._builtin.words
        written = [
            named[row] if row >= 0 else word
            for word, row in zip(words, rows.tolist(), strict=True)
        ]
        may = (rows >= 0) & (rows < self._most)
        order, capped = outputs_first(counts, may, self.outputs)
        return written, capped, order

    def order(self, lexicon: Lexicon, listed: int) -> Lexicon:
        """List the built-in lexicon's outputs for each word, then outputs by cosine."""
        words, vectors, counts = lexicon.words, lexicon.vectors, lexicon.counts
        rows = self._rows(words)
        may = int(((rows >= 0) & (rows < self._most)).sum())
        outputs = min(self.outputs or may, may)
        closed = word_classes.sealed_words(lexicon)[:outputs]
        barred = [*numbers.unlisted_rows(words), *np.flatnonzero(closed).tolist()]
        listed = min(listed, outputs - len(barred))
        if listed <= 1:
            raise LexiconError(
                "too few words are outputs of the built-in lexicon"
                f"; import the file without {option('english')}"
            )
        orders = orders_by_cosine(
            vectors, counts, outputs=outputs, listed=listed, barred=barred
        )
        known = np.flatnonzero(rows >= 0)
        here = np.full(len(self._builtin.words), -1)
        here[rows[known]] = known
        for row in known.tolist():
            theirs = here[self._builtin.orders[rows[row]]]
            # A word is first in its own order, be it an output or not.
            orders[row] = _fill_order([row], theirs, orders[row], outputs)
        theirs = here[self._builtin.orders[-1]]
        orders[-1] = _fill_order([], theirs, orders[-1], outputs)
        meta = {**lexicon.meta, **_META, "outputs": outputs}
        meta |= self._name_persons(
            words, rows, here=here, orders=orders, outputs=outputs
        )
        numbers.list_first(orders, words)
        meta["built_in"] = self._builtin.digest
        arrays = inherit(self._builtin, rows, -np.log(counts / counts.sum()))
        return replace(lexicon, orders=orders, meta=meta, **arrays)

    def _name_persons(
        self,
        words: Sequence[str],
        rows: Ints,
        here: Ints,
        orders: Rows,
        outputs: int,
    ) -> JsonObject:
        """Give all person names the same order; return the entry for meta.

        rows (V,): rows of words in the built-in lexicon, -1 if missing; here: where its
        words are in this lexicon. Missing words are recognised by spelling.
        """
        base = self._builtin
        row = names.name_row(base)
        if row < 0 or not 0 <= here[row] < outputs:
            return {}
        shared = _fill_order([], here[base.orders[row]], orders[-1], outputs)
        persons = np.where(rows >= 0, rows_of_names(base)[rows], False)
        for position in np.flatnonzero(rows < 0).tolist():
            persons[position] = names.unknown_is_name(words[position], ENGLISH)
        for position in np.flatnonzero(persons).tolist():
            front = [] if position < outputs else [position]
            orders[position] = [*front, *shared][: orders.shape[1]]
        return {"names": words[here[row]]}


def _fill_order(
    first: list[int], theirs: Ints, others: Rows, outputs: int
) -> list[int]:
    """Return `first`, then outputs among `theirs`, then `others`, in equal length."""
    inside = theirs[(theirs >= 0) & (theirs < outputs)]
    distinct = dict.fromkeys([*first, *inside.tolist(), *others.tolist()])
    return [*distinct][: len(others)]


def outputs_first(
    counts: Floats, may: Mask, outputs: int | None, must: Mask | None = None
) -> tuple[NDArray[np.intp], Floats]:
    """Return the order of words and their adjusted counts: (V,) each.

    Sorted by descending count, outputs first. Words that are not outputs count no more
    than the last output; words that must be outputs count no less.
    """
    forced = np.zeros(len(counts), np.bool_) if must is None else must
    first = np.lexsort((-counts, ~forced))
    chosen = first[may[first]][:outputs]
    inside = np.zeros(len(counts), np.bool_)
    inside[chosen] = True
    least = counts[chosen][~forced[chosen]].min()
    capped = np.where(inside, np.maximum(counts, least), np.minimum(counts, least))
    return np.lexsort((~inside, -capped)), capped
