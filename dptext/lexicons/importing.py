"""Make a lexicon of a file of vectors.

Words are folded as they will be looked up, what the splitter never yields as one word
is dropped, all numbers become the one element NUMBER, and unknown words get the mean.
Orders are by distance; with a number of outputs by cosine less hubness and frequency
(dptext.lexicons.build.ordering); with WordNet those of dptext.lexicons.english.
Everything here is public: no private text is read.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.errors import LexiconError, OutputError, UsageError
from dptext.lexicons import locations, numbers, sources, store
from dptext.lexicons.orders import check_coordinates
from dptext.lexicons.raw import RawVectors
from dptext.lexicons.sources import Progress
from dptext.tokens import kinds
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import key_of, kind_of, split
from dptext.types import Lexicon

# Raised when the same file would give another lexicon: cached ones are not used then.
VERSION = 3
LISTED = 100

ZIPF = "Zipf's law by file order (no counts in the source)"
ORDERS = (
    "the word itself, then the outputs that stand best for it: cosine less hubness, "
    "frequency"
)
# Zipf-Mandelbrot's law (Mandelbrot 1953); with this exponent the commonest of 50,000
# words is 5% of a text, as in English. An exponent of 1 makes it 3%, and risks look
# smaller than they are (benchmarks/imported.py risks).
_EXPONENT, _OFFSET = 1.13, 2.73
# Share of number tokens in running English, where the source has no numbers to count.
_NUMBER_SHARE = 0.01
# Their mean stands in for the vector of numbers, where the source has no numbers.
_NUMBER_WORDS = "one two three four five six seven eight nine ten".split()


@dataclass(frozen=True, slots=True)
class Settings:
    """How a file becomes a lexicon.

    format is one of sources.FORMATS, or None to detect it; max_words reads only the
    first so many entries; listed is k, the length of the orders; outputs is how many
    words orders list (None: all by distance, or with WordNet as the built-in lexicon).
    """

    format: str | None = None
    max_words: int | None = None
    listed: int = LISTED
    outputs: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_words", "listed", "outputs"):
            value = getattr(self, name)
            if value is not None and value < 1:
                msg = f"{name.replace('_', '-')} must be 1 or more"
                raise UsageError(msg)
        if self.outputs is not None and min(self.outputs, self.listed) == 1:
            msg = "outputs and listed must be 2 or more: a word and another"
            raise UsageError(msg)

    def key(self) -> str:
        """Write the settings and VERSION in one line, the same for the same lexicon."""
        values = {"version": VERSION, **asdict(self)}
        return " ".join(f"{name}={value}" for name, value in values.items())


class _Folded(NamedTuple):
    """Which entries remain, with the counts of those merged into them."""

    rows: NDArray[np.intp]  # into the source, by descending count
    counts: NDArray[np.float64]
    numbers: NDArray[np.intp]
    number_count: float
    dropped: dict[str, int]


def open_source(
    path: Path, settings: Settings, progress: Progress, warn: Callable[[str], None]
) -> Lexicon:
    """Return the lexicon of a file or folder of vectors, from the cache if it is there.

    What lies in the cache is used if its content is what was kept there and nobody but
    this user could have written it. A cache that cannot be written costs a warning and
    the time to import again.
    """
    source = sources.sha256(path)
    key = cache.key_of("lexicon", source, settings.key())
    folder = locations.cached() / key
    kept: list[Lexicon] = []

    def compute() -> dict[str, str]:
        lexicon = make(path, path.name, settings, digest=source, progress=progress)
        # What lies there is no good, or it would have been used.
        shutil.rmtree(folder, ignore_errors=True)
        try:
            store.save(lexicon, folder)
            cache.close(folder)
            kept.append(store.load(folder, verify=False))
        except (OSError, OutputError) as error:
            told = "the lexicon is not kept and will be imported again next time"
            warn(f"{error}; {told}")
            kept.append(replace(lexicon, digest=store.digest_in_memory(lexicon)))
        return {"digest": kept[-1].digest}

    def holds(entry: dict[str, str]) -> bool:
        if not cache.only_mine(folder):
            return False
        try:
            lexicon = store.load(folder)
        except LexiconError:
            return False
        kept.append(lexicon)
        return bool(lexicon.digest == entry["digest"])

    cache.numbers(key, compute, holds)
    # The name is that of the file asked for: the cached content may have another.
    return replace(kept[-1], name=path.name)


def make(
    path: Path,
    name: str,
    settings: Settings,
    *,
    wordnet: Path | None = None,
    digest: str | None = None,
    progress: Progress = sources.quiet,
) -> Lexicon:
    """Read a file or folder of vectors into a lexicon that is not stored yet.

    wordnet, the folder of its database, makes English orders. digest is the sha256 of
    the source if it is known. The result's own digest is empty:
    dptext.lexicons.store.save computes it.
    """
    adopter = None
    if wordnet is not None:
        from dptext.lexicons.english import Adopter

        progress("reading WordNet", 0.0)
        adopter = Adopter(wordnet, settings.outputs)
    raw, format = sources.read(path, settings.format, settings.max_words, progress)
    check_coordinates(raw.vectors, str(path))
    progress("folding words", 0.0)
    arrange = adopter.arrange if adopter else _by_count
    most = adopter.most if adopter else settings.outputs
    arranged = _arrange(raw, str(path), arrange, most)
    meta = {
        "file": path.name,
        "sha256": digest or sources.sha256(path),
        "format": format,
        "words": len(arranged.words),
        "dimensions": int(arranged.vectors.shape[1]),
        "dropped": arranged.dropped,
        "prior": ZIPF if raw.counts is None else "counts of the source",
        "language": "unknown",
        "licence": "unknown (that of the source)",
        "max_words": settings.max_words,
    }
    del raw
    words, vectors, counts, outputs, _ = arranged
    if adopter:
        progress("ordering words", 0.0)
        return adopter.lexicon(
            name, words, vectors, counts, meta, outputs, settings.listed
        )
    few = settings.outputs and min(settings.outputs, outputs)
    return ordered(name, words, vectors, counts, meta, settings.listed, progress, few)


def ordered(
    name: str,
    words: tuple[str, ...],
    vectors: NDArray[Any],
    counts: NDArray[np.float64],
    meta: dict[str, Any],
    listed: int,
    progress: Progress = sources.quiet,
    outputs: int | None = None,
) -> Lexicon:
    """Add orders and geometry to words and vectors.

    Orders are by distance over all words; with outputs, of the first so many words by
    cosine less hubness and frequency.
    """
    from dptext.lexicons import orders as distance

    progress("ordering words", 0.0)
    barred = numbers.barred(words)
    if outputs is None:
        orders, far = distance.build_orders(
            vectors, min(listed, len(words)), barred=barred
        )
        for row in numbers.list_first(orders, words):
            far[row] = distance.far_of(vectors, row, orders[row])
    else:
        listed = min(listed, outputs - len(barred))
        orders = _without_hubs(vectors, counts, outputs, listed, barred)
        numbers.list_first(orders, words)
        far = distance.far_of_all(vectors, orders)
        meta = {**meta, "outputs": outputs, "orders": ORDERS}
    progress("measuring", 0.0)
    geometry = distance.measure(vectors)
    progress("measuring", 1.0)
    return Lexicon(
        name=name,
        words=words,
        vectors=vectors,
        counts=counts,
        orders=orders,
        far=far,
        digest="",
        meta={**meta, "listed": int(orders.shape[1]), "geometry": geometry},
    )


def _without_hubs(
    vectors: NDArray[Any],
    counts: NDArray[np.float64],
    outputs: int,
    listed: int,
    barred: Sequence[int],
) -> NDArray[Any]:
    """Return orders by cosine, hubness and frequency alone: (V + 1, listed)."""
    from dptext.lexicons.build import ordering
    from dptext.lexicons.orders import unit

    figures = ordering.Figures.of_vectors(unit(vectors), counts, barred)
    found = ordering.orders(figures, outputs, listed - 1)
    last = ordering.order_of_unknown(figures, outputs, listed)
    return np.vstack((found, last.astype(found.dtype)))


class _Arranged(NamedTuple):
    """Words (V,), vectors (V + 1, d), counts (V,); outputs come first."""

    words: tuple[str, ...]
    vectors: NDArray[Any]
    counts: NDArray[np.float64]
    outputs: int
    dropped: dict[str, int]


# Words and counts -> words as written, counts, their order, how many are outputs.
_Arrange = Callable[
    [Sequence[str], NDArray[np.float64]],
    tuple[list[str], NDArray[np.float64], NDArray[np.intp], int],
]


def _by_count(
    words: Sequence[str], counts: NDArray[np.float64]
) -> tuple[list[str], NDArray[np.float64], NDArray[np.intp], int]:
    order = np.argsort(-counts, kind="stable")
    return list(words), counts, order, len(words)


def _arrange(
    raw: RawVectors, location: str, arrange: _Arrange, most: int | None
) -> _Arranged:
    """Fold the entries of a file, put them in order, and set numbers and the last row.

    most is how many outputs are wanted; numbers are frequent enough to be among them.
    """
    counts = _zipf(len(raw.words)) if raw.counts is None else raw.counts
    folded = _fold(raw.words, counts)
    if not len(folded.rows):
        msg = f"{location}: no entry in it is a word"
        raise LexiconError(msg)
    words = [raw.words[row] for row in folded.rows.tolist()]
    counts = _number_counts(folded, most)
    few = len(counts)
    written, together, order, outputs = arrange(
        [*words, *NAMES[:few]], np.append(folded.counts, counts)
    )
    size, d = len(order), raw.vectors.shape[1]
    vectors = np.empty((size + 1, d), raw.vectors.dtype)
    # Straight into place, without a copy between: this is most of the memory. The rows
    # that the last entries, numbers, take here are written over.
    taken = np.append(folded.rows, np.zeros(few, np.intp))[order]
    np.take(raw.vectors, taken, axis=0, out=vectors[:size], mode="clip")
    middle = _number_vector(raw, words, folded)
    rows = np.argsort(order)[-few:]
    vectors[rows] = middle
    vectors[size] = vectors[:size].mean(axis=0, dtype=np.float64)
    vectors[rows] = numbers.vectors(middle)[:few]
    sorted_words = tuple(written[row] for row in order.tolist())
    return _Arranged(sorted_words, vectors, together[order], outputs, folded.dropped)


def _number_counts(folded: _Folded, most: int | None) -> NDArray[np.float64]:
    """Return the counts of the elements for numbers, or that of NUMBER alone: (m,).

    At least that of the last outputs, where only the first `most` words are outputs.
    """
    share = _NUMBER_SHARE * float(folded.counts.sum())
    total = folded.number_count or share
    size = len(folded.rows) if most is None else min(most, len(folded.rows))
    if size < numbers.FEWEST:
        return np.array([total])
    counts = np.array(list(numbers.counts(total).values()))
    least = 0.0
    if most is not None:
        last = np.sort(folded.counts)[::-1][size - len(counts) - 1]
        least = float(np.nextafter(last, np.inf))
    return np.asarray(np.maximum(counts, least))


def _zipf(size: int) -> NDArray[np.float64]:
    """Return counts (size,) by Zipf-Mandelbrot's law, the last one 1."""
    ranks = np.arange(1, size + 1, dtype=np.float64)
    counts: NDArray[np.float64] = ((size + _OFFSET) / (ranks + _OFFSET)) ** _EXPONENT
    return counts


def _fold(words: list[str], counts: NDArray[np.float64]) -> _Folded:
    """Keep the most frequent entry of each key; its count is that of all of them."""
    kept: dict[str, int] = {}
    rows: list[int] = []
    sums: list[float] = []
    numbers: list[int] = []
    dropped = {"not_words": 0, "numbers": 0, "merged": 0}
    for row in np.argsort(-counts, kind="stable").tolist():
        kind = _kind(words[row])
        if kind == kinds.NUMBER:
            numbers.append(row)
            dropped["numbers"] += 1
        elif kind != kinds.WORD:
            dropped["not_words"] += 1
        elif (location := kept.setdefault(key_of(words[row]), len(rows))) < len(rows):
            sums[location] += float(counts[row])
            dropped["merged"] += 1
        else:
            rows.append(row)
            sums.append(float(counts[row]))
    return _Folded(
        np.array(rows, np.intp),
        np.array(sums),
        np.array(numbers, np.intp),
        float(counts[numbers].sum()),
        dropped,
    )


def _kind(word: str) -> int:
    """Tell the kind of a word that is one piece; several pieces are no word."""
    # The splitter gives a piece the space before it, so a text cannot begin with one.
    if word[:1] == " " or len(pieces := split(word)) != 1:
        return kinds.PUNCTUATION
    return kind_of(pieces[0])


def _number_vector(
    raw: RawVectors, words: list[str], folded: _Folded
) -> NDArray[np.float64]:
    """Return the mean of the numbers, else of number words, else of all entries."""
    chosen = folded.numbers
    if not len(chosen):
        rows = folded.rows.tolist()
        locations = {key_of(word): row for word, row in zip(words, rows, strict=True)}
        chosen = np.array(
            [locations[w] for w in _NUMBER_WORDS if w in locations], np.intp
        )
    # All of them without an index: that would copy the whole matrix.
    vectors = raw.vectors[chosen] if len(chosen) else raw.vectors
    mean: NDArray[np.float64] = vectors.mean(axis=0, dtype=np.float64)
    return mean
