"""A back-off bigram model over a lexicon: file format and lookup of pairs.

p(x'|x) = p(x') b(x) g(x, x'), where p is the probability of a word alone, b the
back-off weight of the context x, and g, the gain of the pair, is 1 for unseen pairs
(Katz 1987). Gains are stored as codes of one byte: a pair takes three bytes.

The folder of a model holds meta.json, words.txt (the words of the lexicon that it was
made for, in the order of its rows), and the memory-mapped arrays alone, backoff, ends,
following, gains. Row V stands for all unknown words; row V + 1 is the beginning of a
sentence as a context, and its end as a following word. Models lie in the package and in
the user's data folder.

`Gains` looks pairs up in one table over the most likely words; pairs with another word
count as unseen. The table takes SLOTS^2 bytes of address space, and memory only for the
parts that are read.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dptext import cache, settings, types
from dptext.attackers.channel import Channel
from dptext.errors import LexiconError, UsageError
from dptext.lexicons import store
from dptext.lexicons.store import META, WORDS, Kind, save_array
from dptext.types import Floats, Ids, Ints, Lexicon, Rows, Singles

Slots = NDArray[np.int32]

FORMAT = 1
# The name of the model that ships.
ENGLISH = "english"
# Keys in the meta of a lexicon: the name of its model of pairs, and its digest.
PAIRS, PAIRS_DIGEST = "pairs", "pairs_digest"
# Least share of the replaced words of a lexicon that a model must know to be used.
_LEAST_KNOWN = 0.5
# The discount if nothing was seen once, or nothing twice.
_DISCOUNT = 0.5
# Slots of the table: one for each likely word, and one for all others.
SLOTS = 8192
# Rows of a cached table that are compared with the model before it is used.
_ROWS_CHECKED = 16
_ARRAYS: dict[str, Kind] = {
    "alone": (("float32",), ("V+2",)),
    "backoff": (("float32",), ("V+2",)),
    "ends": (("uint32",), ("V+2",)),
    "following": (("uint16", "uint32"), ("m",)),
    "gains": (("int8",), ("m",)),
}


@dataclass(frozen=True, eq=False)
class Ngrams:
    """A bigram model of m pairs over V words."""

    words: tuple[str, ...]
    #: (V + 2,) float32, ln p of each word, of unknown words, of a sentence's end.
    alone: Singles
    #: (V + 2,) float32, ln b of each context; the last is a sentence's beginning.
    backoff: Singles
    #: (V + 2,) the pairs of context x stand at ends[x - 1] to ends[x].
    ends: NDArray[np.uint32]
    #: (m,) the second row of each pair, ascending for each context.
    following: Rows
    #: (m,) codes of g.
    gains: NDArray[np.int8]
    #: The source of the model.
    meta: Mapping[str, object] = field(default_factory=dict)
    #: sha256 over its files, "" before it is saved.
    digest: str = ""

    @property
    def size(self) -> int:
        """Return the vocabulary size V."""
        return len(self.words)

    @property
    def contexts(self) -> Ints:
        """Return the context of each pair: (m,)."""
        ends = self.ends.astype(np.int64)
        counts = ends - np.concatenate(([0], ends[:-1]))
        return np.repeat(np.arange(len(counts)), counts)

    def for_lexicon(self, lexicon: Lexicon) -> Ngrams:
        """Return this model mapped to the words of another lexicon.

        Words missing from the model get their frequency in the lexicon.
        """
        if lexicon.words == self.words:
            return self
        return _fit(self, lexicon.words, lexicon.prior.tobytes())

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return the words in lower case."""
        return tuple(word.lower() for word in self.words)


# By content, since each run loads its lexicon anew.
@lru_cache(maxsize=2)
def _fit(model: Ngrams, words: tuple[str, ...], prior: bytes) -> Ngrams:
    """Map a model to other words; prior holds their prior as bytes (V,)."""
    size = len(words)
    row_of = {word.lower(): row for row, word in enumerate(words)}
    rows = [row_of.get(key, size) for key in model.keys]
    # Several words of the model may fall on one row, as those with capitals do.
    new = np.array([*rows, size, size + 1], np.int64)
    alone = np.bincount(new, np.exp(model.alone.astype(np.float64)), size + 2)
    absent = np.flatnonzero(alone[:size] == 0.0)
    alone[absent] = np.frombuffer(prior)[absent]
    known = new < size
    known[-1] = True
    backoff = np.zeros(size + 2)
    backoff[new[known]] = model.backoff[known]
    contexts, following = model.contexts, np.asarray(model.following)
    kept = known[contexts] & known[following]
    return assemble(
        words=words,
        alone=np.log(alone / alone.sum()),
        backoff=backoff,
        contexts=new[contexts[kept]],
        following=new[following[kept]],
        gains=np.asarray(model.gains)[kept],
        meta=model.meta,
        digest=model.digest,
    )


def assemble(
    *,
    words: tuple[str, ...],
    alone: Floats,
    backoff: Floats,
    contexts: Ints,
    following: Ints,
    gains: NDArray[np.int8],
    meta: Mapping[str, object],
    digest: str = "",
) -> Ngrams:
    """Build a model from unique pairs (m,) in any order."""
    order = np.lexsort((following, contexts))
    counts = np.bincount(contexts, minlength=len(words) + 2)
    ends = np.cumsum(counts).astype(np.uint32)
    narrow = len(words) + 2 <= 1 << 16
    rows: Rows = following[order].astype(np.uint16 if narrow else np.uint32)
    return Ngrams(
        words=words,
        alone=alone.astype(np.float32),
        backoff=backoff.astype(np.float32),
        ends=ends,
        following=rows,
        gains=gains[order],
        meta=meta,
        digest=digest,
    )


def absolute_discount(counts: NDArray[np.number]) -> float:
    """Return D = n1 / (n1 + 2 n2), where n1 and n2 count pairs seen once and twice."""
    once, twice = (int((counts == times).sum()) for times in (1, 2))
    return once / (once + 2 * twice) if once and twice else _DISCOUNT


def encode_gains(log_gains: Floats) -> NDArray[np.int8]:
    """Quantise ln g to the nearest codes."""
    levels = np.log(
        decode_gains(np.arange(-127, 128, dtype=np.int8)).astype(np.float64)
    )
    nearest = np.searchsorted((levels[1:] + levels[:-1]) / 2.0, log_gains)
    return (nearest - 127).astype(np.int8)


def decode_gains(codes: NDArray[np.int8]) -> Singles:
    """Decode codes to gains, with eight steps per power of two.

    A code is the offset from 1.0 in the upper bits of a single-precision number:
    every machine and library gives the same gains.
    """
    upper = codes.astype(np.int32)
    upper <<= 20
    upper += 0x3F800000
    return upper.view(np.float32)


def save(model: Ngrams, folder: Path) -> str:
    """Write a model to a new folder; return its digest."""
    with store.describe_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / WORDS).write_text("\n".join(model.words) + "\n", encoding="utf-8")
        for name in _ARRAYS:
            save_array(folder / f"{name}.npy", getattr(model, name))
        digest = _digest(folder)
        document = {"format": FORMAT, "digest": digest, "meta": dict(model.meta)}
        text = json.dumps(document, indent=1) + "\n"
        (folder / META).write_text(text, encoding="utf-8")
    return digest


def compute_digest(model: Ngrams) -> str:
    """Return the digest of an unsaved model."""
    with tempfile.TemporaryDirectory() as folder:
        return save(model, Path(folder))


def load(folder: Path) -> Ngrams:
    """Open the model in a folder, cached until the folder changes.

    Its arrays stay on disk until they are used. Raises LexiconError unless it is such a
    model and intact.
    """
    return _load(folder, store.state(folder))


@lru_cache(maxsize=2)
def _load(folder: Path, state: cache.FolderState) -> Ngrams:
    try:
        document = json.loads((folder / META).read_bytes())
        format, digest, meta = (document[key] for key in ("format", "digest", "meta"))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise LexiconError(
            f"{folder}: not an n-gram model; build one with dptext lexicon ngrams"
        ) from None
    if format != FORMAT:
        raise LexiconError(
            f"{folder}: n-gram model in an unsupported format; build it again"
        )
    # Before the arrays: NumPy reads damaged headers with errors of many kinds.
    if cache.folder_digest(state, lambda: _digest(folder)) != digest:
        raise LexiconError(
            f"{folder}: the n-gram model does not match its digest; build it again"
        )
    words = store.read_words(folder)
    arrays = store.map_arrays(folder, _ARRAYS, len(words))
    return Ngrams(words, **arrays, meta=meta, digest=digest)


def _digest(folder: Path) -> str:
    names = [WORDS, *(f"{name}.npy" for name in _ARRAYS)]
    digests = {name: settings.digest_of_path(folder / name) for name in names}
    return settings.digest_of_data(digests)


def packaged_model() -> Path:
    """Return the folder of the model that ships with dptext."""
    return store.packaged_folder().parent / "ngrams" / ENGLISH


def model_folder(name: str) -> Path:
    """Return the folder of a user's model. Raises UsageError for an invalid name."""
    if name == ENGLISH or not store.is_name(name):
        raise UsageError(
            f"n-gram model {name!r}: choose a name of letters, digits, '_', '-' and "
            f"'.' other than {ENGLISH!r}"
        )
    return user_folder() / name


def user_folder() -> Path:
    """Return the folder of the user's models."""
    return store.user_folder().parent / "ngrams"


def installed() -> Iterator[tuple[str, Path]]:
    """Yield the name and folder of the shipped model and of the user's models."""
    yield ENGLISH, packaged_model()
    for folder in store.stored_in(user_folder()):
        if store.is_name(folder.name):
            yield folder.name, folder


def find_model(name_or_path: str, channel: Channel) -> Ngrams:
    """Open a model by name or folder, mapped to the channel's lexicon.

    Raises LexiconError if it is missing or damaged, or does not fit the lexicon.
    """
    model, share = _opened(name_or_path, channel)
    lexicon = channel.lexicon
    if lexicon.meta.get(PAIRS) == name_or_path and not belongs_to(model, lexicon):
        raise LexiconError(
            f"n-gram model {name_or_path!r}: not the one that lexicon {lexicon.name!r} "
            "was built with; build both again with dptext lexicon adapt, or use "
            "another model"
        )
    if model is None:
        raise LexiconError(
            f"n-gram model {name_or_path!r} covers only {share:.0%} of running text in "
            f"the words of lexicon {channel.lexicon.name!r}; build one for its "
            "language with dptext lexicon ngrams"
        )
    return model


def belongs_to(model: Ngrams | None, lexicon: Lexicon) -> bool:
    """Return whether a lexicon was built with this model.

    A lexicon of public text stores the digest of its model: measured figures,
    and statements on the source of pairs, hold for that model only.
    """
    return model is not None and model.digest == lexicon.meta.get(PAIRS_DIGEST)


def has_own_pairs(lexicon: Lexicon) -> bool:
    """Return whether the model behind a lexicon is in the user's folder.

    Also true for a lexicon that was built without a model.
    """
    name = lexicon.meta.get(PAIRS)
    if name is None:
        return True
    with contextlib.suppress(LexiconError, UsageError, OSError):
        return belongs_to(load(model_folder(str(name))), lexicon)
    return False


def shipped_model(channel: Channel) -> Ngrams | None:
    """Return the shipped model, None if it is for another language.

    Raises LexiconError if it is damaged.
    """
    # The share of known words does not tell languages apart: German manuals, for
    # example, have enough names of options to pass for English.
    if channel.lexicon.language not in (types.ENGLISH, "unknown"):
        return None
    return _opened(ENGLISH, channel)[0]


@lru_cache(maxsize=1)
def _opened(name_or_path: str, channel: Channel) -> tuple[Ngrams | None, float]:
    """Return the model, None if it covers too few lexicon words, and its coverage."""
    if name_or_path == ENGLISH:
        folder = packaged_model()
    else:
        folder = Path(name_or_path)
        if store.is_name(name_or_path) and os.path.isdir(model_folder(name_or_path)):
            folder = model_folder(name_or_path)
    if not folder.is_dir():
        raise LexiconError(
            f"no n-gram model named {name_or_path!r}; build one from a public corpus "
            "with dptext lexicon ngrams"
        )
    model = load(folder)
    lexicon = channel.lexicon
    if model.words == lexicon.words:
        return model, 1.0
    modelled = set(model.keys)
    known = [word.lower() in modelled for word in lexicon.words]
    share = float(channel.prior[known].sum())
    return (model.for_lexicon(lexicon) if share >= _LEAST_KNOWN else None), share


class Gains:
    """A lookup table of g(x, x') raised to a power, for decoders.

    A power other than 1 is rounded to the nearest code: at most 6.1% off, and from
    2^-16 to 2^16.
    """

    #: (V + 2,) int32, the slot of each row, 0 for rows that share it.
    slot_of: Slots
    #: (width * width,) int8, the codes of pairs of slots, 0 for slot 0.
    table: NDArray[np.int8]

    def __init__(self, model: Ngrams, power: float = 1.0) -> None:
        size = model.size
        # Two slots are the edge of a sentence and unknown words, one all other rows.
        likely = np.argsort(-model.alone[:size], kind="stable")[: SLOTS - 3]
        self._listed = np.append(likely, [size, size + 1])
        self._model = model
        self.slot_of = np.zeros(size + 2, np.int32)
        self.slot_of[self._listed] = np.arange(1, len(self._listed) + 1)
        self.width = len(self._listed) + 1
        codes = np.arange(256).astype(np.uint8).view(np.int8)
        if power != 1.0:
            codes = encode_gains(power * np.log(decode_gains(codes)))
        self._codes = codes
        if self.width < SLOTS:
            self.table = self._compute()
            return
        # A model that was fitted to another lexicon keeps its digest, though its pairs
        # and its likeliest words are others: so these are part of the key.
        arrays = (model.ends, model.following, model.gains, self._listed)
        content = [cache.digest(np.asarray(each)) for each in arrays]
        key = cache.key_of("gains", 2, model.digest, size, *content, power, SLOTS)
        self.table = cache.table(key, self._compute, self._is_right, "weighing pairs")

    def _compute(self) -> NDArray[np.int8]:
        square = np.zeros((self.width, self.width), np.int8)
        for slot in range(1, self.width):
            square[slot] = self._row(slot)
        return square.reshape(-1)

    def _row(self, slot: int) -> NDArray[np.int8]:
        """Return the codes of one slot paired with every other slot: (width,)."""
        row = int(self._listed[slot - 1])
        begin, end = int(self._model.ends[row - 1]) if row else 0, self._model.ends[row]
        codes = np.zeros(self.width, np.int8)
        following = self.slot_of.take(self._model.following[begin:end])
        codes[following] = self._codes.take(self._model.gains[begin:end].view(np.uint8))
        codes[0] = 0  # rows that share slot 0 wrote here
        return codes

    def _is_right(self, cached: NDArray[np.int8]) -> bool:
        """Return whether a cached table is correct in a few sampled rows."""
        width = self.width
        if cached.dtype != np.int8 or cached.shape != (width**2,):
            return False
        square = cached.reshape(width, width)
        # Rows that nobody can foresee, so that a forged table is found in the end.
        drawn = np.frombuffer(os.urandom(4 * _ROWS_CHECKED), np.uint32) % width
        slots = drawn[drawn > 0].tolist()
        return all(np.array_equal(square[slot], self._row(slot)) for slot in slots)

    def lookup(self, contexts: Ids, following: Ids) -> NDArray[np.int8]:
        """Return the gain codes of pairs of slots; the arrays broadcast."""
        at = contexts.astype(np.int64) * self.width + following
        # Slots are never outside the table: "wrap" is only the fastest mode.
        return self.table.take(at, mode="wrap")


class WholeGains:
    """Looks up g(x, x') pair by pair for all rows of a model, for attackers.

    `Gains` holds only the most likely rows, for decoders, which must be fast. Attackers
    have time, and pairs of rare words are the most telling.
    """

    #: (V + 2,) int32, the rows themselves.
    slot_of: Slots

    def __init__(self, model: Ngrams) -> None:
        rows = model.size + 2
        self.slot_of = np.arange(rows, dtype=np.int32)
        keys = model.contexts * rows + np.asarray(model.following, np.int64)
        order = np.argsort(keys, kind="stable")
        self._keys, self._rows = keys[order], rows
        self.ends = np.ascontiguousarray(model.ends, np.int64)
        self.following = np.asarray(model.following, np.int32)[order]
        self.gains = np.asarray(model.gains, np.int8)[order]

    def lookup(self, contexts: Rows, following: Rows) -> NDArray[np.int8]:
        """Return the gain codes of pairs of rows; the arrays broadcast."""
        keys = contexts.astype(np.int64) * self._rows + following
        if not len(self._keys):
            return np.zeros(keys.shape, np.int8)
        rows = np.searchsorted(self._keys, keys)
        np.minimum(rows, len(self._keys) - 1, out=rows)
        return np.where(self._keys[rows] == keys, self.gains[rows], np.int8(0))
