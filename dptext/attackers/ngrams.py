"""A back-off bigram model over a lexicon: its folder, where it lies, its look-up.

p(x'|x) = p(x') b(x) g(x, x'), where p is the probability of a word alone, b the
back-off weight of the context x, and g, the gain of the pair, is 1 for pairs that were
not seen (Katz 1987). Gains are kept as codes of one byte: a pair takes three bytes.

A folder: meta.json, and as memory-mapped arrays alone, backoff, ends, following, gains.
Rows are those of the lexicon that it was made for, whose words stand in words.txt; row
V is any other word, row V + 1 the beginning of a sentence as a context and its end as
what follows. Models lie in the package and in the user's store.

`Gains` looks pairs up in one table over the likeliest words. Pairs with another word
count as not seen. The table takes SLOTS^2 bytes of memory, of which the machine needs
those parts that are looked at.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dptext import cache, settings, types
from dptext.attackers.channel import Channel
from dptext.errors import LexiconError, UsageError
from dptext.lexicons import store
from dptext.lexicons.store import META, WORDS, Kind, save_array
from dptext.types import Floats, Ids, Ints, Lexicon, Rows, Singles

FORMAT = 1
_ARRAYS: dict[str, Kind] = {
    "alone": (("float32",), ("V+2",)),
    "backoff": (("float32",), ("V+2",)),
    "ends": (("uint32",), ("V+2",)),
    "following": (("uint16", "uint32"), ("m",)),
    "gains": (("int8",), ("m",)),
}


@dataclass(frozen=True, eq=False)
class Ngrams:
    """A model over V words.

    alone (V + 2,) float32, ln p of each word, of any other word and of a sentence's
    end; backoff (V + 2,) float32, ln b of each context, the last of a sentence's
    beginning; following (m,) what follows, ascending for each context, that of context
    x at ends[x - 1] to ends[x]; gains (m,) int8 codes of g. meta: where it is from.
    """

    words: tuple[str, ...]
    alone: Singles
    backoff: Singles
    ends: NDArray[np.uint32]
    following: Rows
    gains: NDArray[np.int8]
    meta: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""

    @property
    def size(self) -> int:
        """Return V."""
        return len(self.words)

    @property
    def contexts(self) -> Ints:
        """Return the context of each pair: (m,)."""
        ends = self.ends.astype(np.int64)
        counts = ends - np.concatenate(([0], ends[:-1]))
        return np.repeat(np.arange(len(counts)), counts)

    def over(self, lexicon: Lexicon) -> Ngrams:
        """Return the model over the words of another lexicon.

        Words that it does not know are as frequent as the lexicon says.
        """
        if lexicon.words == self.words:
            return self
        row_of = lexicon.row_of
        size = len(lexicon.words)
        rows = [row_of.get(word.lower(), size) for word in self.words]
        new = np.array([*rows, size, size + 1], np.int64)
        alone = np.bincount(new, np.exp(self.alone.astype(np.float64)), size + 2)
        absent = np.flatnonzero(alone[:size] == 0.0)
        alone[absent] = lexicon.prior[absent]
        known = new < size
        known[-1] = True
        backoff = np.zeros(size + 2)
        backoff[new[known]] = self.backoff[known]
        contexts, following = self.contexts, np.asarray(self.following)
        kept = known[contexts] & known[following]
        pairs = new[contexts[kept]], new[following[kept]], np.asarray(self.gains)[kept]
        logs, about = np.log(alone / alone.sum()), (self.meta, self.digest)
        return assembled(lexicon.words, logs, backoff, *pairs, *about)


def assembled(
    words: tuple[str, ...],
    alone: Floats,
    backoff: Floats,
    contexts: Ints,
    following: Ints,
    gains: NDArray[np.int8],
    meta: Mapping[str, object],
    digest: str = "",
) -> Ngrams:
    """Put pairs (m,) in order; no pair may come twice."""
    order = np.lexsort((following, contexts))
    counts = np.bincount(contexts, minlength=len(words) + 2)
    ends = np.cumsum(counts).astype(np.uint32)
    narrow = len(words) + 2 <= 1 << 16
    rows: Rows = following[order].astype(np.uint16 if narrow else np.uint32)
    logs = alone.astype(np.float32), backoff.astype(np.float32)
    return Ngrams(words, *logs, ends, rows, gains[order], meta, digest)


def coded(log_gains: Floats) -> NDArray[np.int8]:
    """Return the nearest codes of ln g, of pairs that were seen."""
    levels = np.log(decoded(np.arange(-127, 128, dtype=np.int8)).astype(np.float64))
    nearest = np.searchsorted((levels[1:] + levels[:-1]) / 2.0, log_gains)
    return (nearest - 127).astype(np.int8)


def decoded(codes: NDArray[np.int8]) -> Singles:
    """Return the gains of codes: eight steps from each power of two to the next.

    A code is the difference from 1.0 in the upper bits of a single-precision number,
    so that no machine and no library gives other gains.
    """
    upper = codes.astype(np.int32)
    upper <<= 20
    upper += 0x3F800000
    return upper.view(np.float32)


def save(model: Ngrams, folder: Path) -> str:
    """Write a model to a folder, which it makes; return its digest."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WORDS).write_text("\n".join(model.words) + "\n", encoding="utf-8")
    for name in _ARRAYS:
        save_array(folder / f"{name}.npy", getattr(model, name))
    digest = _digest(folder)
    document = {"format": FORMAT, "digest": digest, "meta": dict(model.meta)}
    text = json.dumps(document, indent=1) + "\n"
    (folder / META).write_text(text, encoding="utf-8")
    return digest


def digest_of(model: Ngrams) -> str:
    """Return the digest that a model has once it is saved."""
    with tempfile.TemporaryDirectory() as folder:
        return save(model, Path(folder))


def load(folder: Path) -> Ngrams:
    """Open the model in a folder, once while that stays as it is.

    Its arrays stay on disk until they are used. Raises LexiconError for what is no such
    model, or was changed.
    """
    return _load(folder, store.state(folder))


@lru_cache(maxsize=2)
def _load(folder: Path, state: object) -> Ngrams:
    try:
        document = json.loads((folder / META).read_bytes())
        format, digest, meta = (document[key] for key in ("format", "digest", "meta"))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise LexiconError(
            f"{folder}: not an n-gram model; make one with dptext lexicon ngrams"
        ) from None
    if format != FORMAT:
        raise LexiconError(f"{folder}: n-gram model of another format; make it again")
    # Before the arrays: NumPy reads damaged headers with errors of many kinds.
    if _digest(folder) != digest:
        msg = f"{folder}: the n-gram model does not match its digest; make it again"
        raise LexiconError(msg)
    words = store.read_words(folder)
    arrays = store.map_arrays(folder, _ARRAYS, len(words))
    return Ngrams(words, **arrays, meta=meta, digest=digest)


def _digest(folder: Path) -> str:
    names = [WORDS, *(f"{name}.npy" for name in _ARRAYS)]
    digests = {name: settings.digest_of_path(folder / name) for name in names}
    return settings.digest_of_data(digests)


# The model that ships.
ENGLISH = "english"
# Keys of a lexicon's meta: the name of its own model, and the model's digest.
PAIRS, PAIRS_DIGEST = "pairs", "pairs_digest"
# A model that knows fewer of the words that are replaced is none for a lexicon.
_LEAST_KNOWN = 0.5


def packaged_model() -> Path:
    """Return the folder of the model that ships."""
    return store.packaged_folder().parent / "ngrams" / ENGLISH


def folder_of(name: str) -> Path:
    """Return the folder of a model that was made; UsageError for an unfit name."""
    if name == ENGLISH or not store.is_name(name):
        raise UsageError(
            f"n-gram model {name!r}: choose another name, of letters, digits, '_', '-' "
            f"and '.', and not {ENGLISH!r}"
        )
    return stored() / name


def stored() -> Path:
    """Return the folder of the models that were made."""
    return store.user_folder().parent / "ngrams"


def installed() -> Iterator[tuple[str, Path]]:
    """Yield name and folder of the model that ships and of those in the store."""
    yield ENGLISH, packaged_model()
    if stored().is_dir():
        for folder in sorted(stored().iterdir()):
            if store.is_name(folder.name):
                yield folder.name, folder


def find_model(name_or_path: str, channel: Channel) -> Ngrams:
    """Open a model by its name or folder, over the words of a channel's lexicon.

    Raises LexiconError where there is none, a damaged one, or none for this lexicon.
    """
    model, share = _opened(name_or_path, channel)
    lexicon = channel.lexicon
    if lexicon.meta.get(PAIRS) == name_or_path and not are_own(model, lexicon):
        raise LexiconError(
            f"n-gram model {name_or_path!r}: not the one that lexicon {lexicon.name!r} "
            "was made with; make both again with dptext lexicon adapt, or name another "
            "model"
        )
    if model is None:
        msg = (
            f"n-gram model {name_or_path!r}: it knows {share:.0%} of the words of "
            f"lexicon {channel.lexicon.name!r} in running text; make one for its "
            "language with dptext lexicon ngrams"
        )
        raise LexiconError(msg)
    return model


def are_own(model: Ngrams | None, lexicon: Lexicon) -> bool:
    """Tell whether a model is the one that a lexicon was made with.

    A lexicon of public text says by its digest which pairs of words belong to it: what
    was measured of them, and what a statement says of their source, holds of no others.
    """
    return model is not None and model.digest == lexicon.meta.get(PAIRS_DIGEST)


def has_own(lexicon: Lexicon) -> bool:
    """Tell whether the pairs of words that a lexicon was made with are in the store.

    True of a lexicon that brings none.
    """
    name = lexicon.meta.get(PAIRS)
    if name is None:
        return True
    with contextlib.suppress(LexiconError, UsageError, OSError):
        return are_own(load(folder_of(str(name))), lexicon)
    return False


def shipped(channel: Channel) -> Ngrams | None:
    """Return the model that ships, None where it is of another language.

    Raises LexiconError where it is damaged.
    """
    # German manuals, for one, have names of options enough to pass for English.
    if channel.lexicon.language not in (types.ENGLISH, "unknown"):
        return None
    return _opened(ENGLISH, channel)[0]


@lru_cache(maxsize=1)
def _opened(name_or_path: str, channel: Channel) -> tuple[Ngrams | None, float]:
    """Return a model if it knows enough words of a lexicon, and how many it knows."""
    if name_or_path == ENGLISH:
        folder = packaged_model()
    else:
        folder = Path(name_or_path)
        if store.is_name(name_or_path) and folder_of(name_or_path).is_dir():
            folder = folder_of(name_or_path)
    if not folder.is_dir():
        advice = "`dptext lexicon ngrams` makes one from a public corpus"
        raise LexiconError(f"no n-gram model named {name_or_path!r}; {advice}")
    model = load(folder)
    lexicon = channel.lexicon
    if model.words == lexicon.words:
        return model, 1.0
    theirs = {word.lower() for word in model.words}
    known = [word.lower() in theirs for word in lexicon.words]
    share = float(channel.prior[known].sum())
    return (model.over(lexicon) if share >= _LEAST_KNOWN else None), share


# Words with a row in the table, and one row for all others.
SLOTS = 8192
_LOOKED_AT = 16  # rows of a table that was kept


class Gains:
    """g(x, x') of rows of a model, to a power.

    To another power than 1 each is rounded to the nearest code: at most 6.1% off, and
    from 2^-16 to 2^16. slot_of (V + 2,) int32 is the slot of each row, 0 for the rows
    that share one; table (width * width,) int8 the codes of pairs of slots, which are 0
    for slot 0.
    """

    def __init__(self, model: Ngrams, power: float = 1.0) -> None:
        size = model.size
        likely = np.argsort(-model.alone[:size], kind="stable")[: SLOTS - 3]
        self._listed = np.append(likely, [size, size + 1])
        self._model = model
        self.slot_of = np.zeros(size + 2, np.int32)
        self.slot_of[self._listed] = np.arange(1, len(self._listed) + 1)
        self.width = len(self._listed) + 1
        codes = np.arange(256).astype(np.uint8).view(np.int8)
        if power != 1.0:
            codes = coded(power * np.log(decoded(codes)))
        self._codes = codes
        if self.width < SLOTS:
            self.table = self._computed()
            return
        # A model that goes over to another lexicon keeps its digest: its pairs and its
        # likeliest words are those of the lexicon.
        over = (model.ends, model.following, model.gains, self._listed)
        content = [cache.digest(np.asarray(each)) for each in over]
        key = cache.key_of("gains", 2, model.digest, size, *content, power, SLOTS)
        self.table = cache.table(key, self._computed, self._holds, "weighing pairs")

    def _computed(self) -> NDArray[np.int8]:
        square = np.zeros((self.width, self.width), np.int8)
        for slot in range(1, self.width):
            square[slot] = self._row(slot)
        return square.reshape(-1)

    def _row(self, slot: int) -> NDArray[np.int8]:
        """Return the codes of a slot with each other one: (width,)."""
        row = int(self._listed[slot - 1])
        begin, end = int(self._model.ends[row - 1]) if row else 0, self._model.ends[row]
        codes = np.zeros(self.width, np.int8)
        following = self.slot_of.take(self._model.following[begin:end])
        gains = self._model.gains[begin:end].view(np.uint8)
        codes[following] = self._codes.take(gains)
        codes[0] = 0  # rows without a slot of their own wrote here
        return codes

    def _holds(self, kept: NDArray[np.int8]) -> bool:
        """Tell whether a table is right in a few rows."""
        width = self.width
        if kept.dtype != np.int8 or kept.shape != (width**2,):
            return False
        square = kept.reshape(width, width)
        drawn = np.frombuffer(os.urandom(4 * _LOOKED_AT), np.uint32) % width
        slots = drawn[drawn > 0].tolist()
        return all(np.array_equal(square[slot], self._row(slot)) for slot in slots)

    def of(self, contexts: Ids, following: Ids) -> NDArray[np.int8]:
        """Return the codes of the gains of pairs of slots, arrays that broadcast."""
        at = contexts.astype(np.int64) * self.width + following
        # Slots are never outside: what mode says is only the quickest way.
        return self.table.take(at, mode="wrap")


class WholeGains:
    """g(x, x') of all rows of a model, looked up pair by pair: for an attacker.

    `Gains` is a table of the likeliest rows, which a decoder reads fast; who attacks
    has time, and pairs of rare words tell most. slot_of (V + 2,) int32 are the rows;
    ends (V + 2,), following and gains (m,) those of the model, each context in order.
    """

    def __init__(self, model: Ngrams) -> None:
        rows = model.size + 2
        self.slot_of = np.arange(rows, dtype=np.int32)
        keys = model.contexts * rows + np.asarray(model.following, np.int64)
        order = np.argsort(keys, kind="stable")
        self._keys, self._rows = keys[order], rows
        self.ends = np.ascontiguousarray(model.ends, np.int64)
        self.following = np.asarray(model.following, np.int32)[order]
        self.gains = np.asarray(model.gains, np.int8)[order]

    def of(self, contexts: Ids, following: Ids) -> NDArray[np.int8]:
        """Return the codes of the gains of pairs of rows, arrays that broadcast."""
        keys = contexts.astype(np.int64) * self._rows + following
        if not len(self._keys):
            return np.zeros(keys.shape, np.int8)
        found = np.searchsorted(self._keys, keys)
        np.minimum(found, len(self._keys) - 1, out=found)
        seen = self._keys[found] == keys
        return np.where(seen, self.gains[found], np.int8(0))
