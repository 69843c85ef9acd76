"""Groups dependent records of texts into units, for splits and intervals.

Texts of one record belong together, and so do repeated records: an attacker on one
knows the other, and two give no more evidence about a share than one. Two records
are joined if they are near duplicates as a whole, or in one of their texts of eight
words or more: shorter ones ("Thank you!") recur among strangers.

Near duplicates share most of their runs of three words, ignoring case, digits and
punctuation. A text's set of runs gives 32 minima under 32 fixed hashes (Broder 1997,
On the resemblance and containment of documents); texts are joined if four minima in
a row agree, at one of eight places. Equal texts always are; of texts that share 80% of
their runs 98% are, of texts that share half 40%, of texts that share a fifth 1%.
This is deterministic, and takes time linear in the length of the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dptext.types import Ints

Hashes = NDArray[np.uint64]

_LONG = 8  # words of a text that joins two records by itself
_RUN = 3
_MINIMA, _IN_A_ROW = 32, 4
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_FACTORS_SEED = 20


@cache
def _factors() -> Hashes:
    """Return the odd multipliers of the hashes, one per minimum, always the same."""
    even = np.random.Generator(np.random.PCG64(_FACTORS_SEED)).integers(
        2**63, size=_MINIMA, dtype=np.uint64
    ) * np.uint64(2)
    return even + np.uint64(1)


def _mixed(values: Hashes) -> Hashes:
    """Mix the bits of numbers (the finalizer of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _runs(words: Sequence[str]) -> Hashes:
    """Return the hashes of all three-word runs; shorter texts are one run."""
    codes = np.array([crc32(word.encode("utf-8", "replace")) for word in words])
    codes = codes.astype(np.uint64)
    codes = np.append(codes, np.zeros(max(0, _RUN - len(codes)), np.uint64))
    runs = np.lib.stride_tricks.sliding_window_view(codes, _RUN)
    return _mixed((runs * _factors()[:_RUN]).sum(axis=1, dtype=np.uint64))


def _signature(runs: Hashes) -> Hashes:
    """Return a hash per band; texts are near duplicates if one band agrees."""
    minima = (runs[:, None] * _factors()).min(axis=0)
    places = minima.reshape(-1, _IN_A_ROW) * _factors()[:_IN_A_ROW]
    numbers = np.arange(len(places), dtype=np.uint64)
    return _mixed(places.sum(axis=1, dtype=np.uint64) + numbers)


def _signatures(texts: Sequence[str]) -> Iterator[tuple[int | None, Hashes]]:
    """Yield the signature of the whole record (None), then of each long text.

    Texts are given by number; a record with one non-empty text yields only the whole.
    """
    plain = (_DIGIT.sub("0", text.casefold()) for text in texts)
    parts = [
        (n, words) for n, text in enumerate(plain) if (words := _WORD.findall(text))
    ]
    runs = [_runs(words) for _, words in parts]
    if runs:
        yield None, _signature(np.concatenate(runs))
    if len(runs) > 1:
        for (number, words), one in zip(parts, runs, strict=True):
            if len(words) >= _LONG:
                yield number, _signature(one)


class Units:
    """Groups records, added one by one, into units."""

    def __init__(self) -> None:
        self._signatures: list[Hashes] = []
        self._records: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, texts: Sequence[str]) -> None:
        """Add the texts of a record."""
        for _, signature in _signatures(texts):
            self._signatures.append(signature)
            self._records.append(self._count)
        self._count += 1

    def labels(self) -> Ints:
        """Return each record's unit, named by its first record's number: (n,)."""
        roots = list(range(self._count))

        def root(record: int) -> int:
            while roots[record] != record:
                roots[record] = roots[roots[record]]
                record = roots[record]
            return record

        if self._signatures:
            places = np.stack(self._signatures, axis=1)
            records = np.array(self._records, np.int64)
            for keys in places:
                order = np.argsort(keys, kind="stable")
                same = keys[order[1:]] == keys[order[:-1]]
                pairs = records[order[:-1][same]], records[order[1:][same]]
                for one, two in zip(*(each.tolist() for each in pairs), strict=True):
                    first, second = sorted((root(one), root(two)))
                    roots[second] = first
        return np.array([root(record) for record in range(self._count)], np.int64)

    def halves(self) -> Ints:
        """Return each record's half, 0 or 1: (n,).

        A unit's half depends on the content of its records, not their order.
        """
        labels = self.labels()
        least = np.full(self._count, np.iinfo(np.uint64).max, np.uint64)
        if self._signatures:
            firsts = np.array([each[0] for each in self._signatures], np.uint64)
            np.minimum.at(least, labels[self._records], firsts)
        return (_mixed(least)[labels] & np.uint64(1)).astype(np.int64)


class Recurring:
    """Detects texts that repeat, exactly or nearly, in records added before."""

    def __init__(self) -> None:
        self._signatures: list[Hashes] = []
        # Of each place the hashes of all records, sorted.
        self._sorted: list[Hashes] | None = None

    def add(self, texts: Sequence[str]) -> None:
        """Add the texts of a record."""
        self._signatures += (signature for _, signature in _signatures(texts))
        self._sorted = None

    def among(self, texts: Sequence[str]) -> list[bool]:
        """Return for each text of a record whether it repeats, alone or in whole."""
        recurs = [False] * len(texts)
        for number, signature in _signatures(texts):
            if not self._has(signature):
                continue
            if number is None:
                return [True] * len(texts)
            recurs[number] = True
        return recurs

    def _has(self, signature: Hashes) -> bool:
        if not self._signatures:
            return False
        if self._sorted is None:
            self._sorted = list(np.sort(np.stack(self._signatures, axis=1), axis=1))
        for keys, key in zip(self._sorted, signature, strict=True):
            at = int(np.searchsorted(keys, key))
            if at < len(keys) and keys[at] == key:
                return True
        return False


def totals(counts: Ints, units: Ints) -> Ints:
    """Sum counts (n, c) over the records of each unit: (units, c)."""
    _, of_unit = np.unique(units, return_inverse=True)
    sums = np.zeros((int(of_unit.max(initial=-1)) + 1, counts.shape[1]), np.int64)
    np.add.at(sums, of_unit, counts)
    return sums
