"""Words and pairs of words of a trigram model of CMU Sphinx, a binary trie."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError

_MAGIC = b"Trie Language Model"
_BASE = np.log(1.0001)
_CODES = 1 << 16
_ORDER = 3
SENTENCE = ("<s>", "</s>")


class Trie(NamedTuple):
    """Words and pairs, in nats.

    words list[n]; alone, backoff (n,) float64; the pairs under word w are ends[w] to
    ends[w + 1]; following (m,) the other word of each, log_probs (m,) float64.
    """

    words: list[str]
    alone: NDArray[np.float64]
    backoff: NDArray[np.float64]
    ends: NDArray[np.int64]
    following: NDArray[np.int64]
    log_probs: NDArray[np.float64]


def read(path: Path) -> Trie:
    """Read words and pairs of a binary trie of order 3, as pocketsphinx lays it out.

    Counts, tables of 16-bit codes, words alone, pairs and triples packed in bits,
    names. Raises LexiconError for another file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        msg = f"{path}: {error.strerror}; give en-us.lm.bin of CMU Sphinx"
        raise LexiconError(msg) from None
    at = len(_MAGIC)
    if not data.startswith(_MAGIC) or data[at] != _ORDER:
        msg = f"{path}: not a trigram model of CMU Sphinx in its binary form"
        raise LexiconError(msg)
    words, pairs, triples = struct.unpack_from("<3I", data, at + 1)
    at += 1 + 4 * _ORDER + 4
    tables = np.frombuffer(data, "<f4", 3 * _CODES, at).astype(np.float64) * _BASE
    at += 4 * len(tables)
    one = np.frombuffer(data, np.dtype("<f4,<f4,<u4"), words + 1, at)
    at += one.nbytes
    wide, next_wide = int(words).bit_length(), int(triples).bit_length()
    size = wide + 32 + next_wide
    packed = np.frombuffer(data, np.uint8, ((pairs + 1) * size + 7) // 8 + 8, at)
    at += len(packed) + ((triples + 1) * (wide + 16) + 7) // 8 + 8
    first = np.arange(pairs, dtype=np.int64) * size
    (length,) = struct.unpack_from("<I", data, at)
    names = data[at + 4 : at + 4 + length].split(b"\0")[:words]
    return Trie(
        [name.decode() for name in names],
        one["f0"][:words].astype(np.float64) * _BASE,
        one["f1"][:words].astype(np.float64) * _BASE,
        one["f2"].astype(np.int64),
        _bits(packed, first, wide),
        tables[:_CODES][_bits(packed, first + wide + 16, 16)],
    )


def _bits(
    data: NDArray[np.uint8], first: NDArray[np.int64], width: int
) -> NDArray[np.int64]:
    """Read numbers of up to 25 bits at any position, least significant bit first."""
    byte = first >> 3
    value = np.zeros(len(first), np.int64)
    for number in range(4):
        value |= data[byte + number].astype(np.int64) << (8 * number)
    return (value >> (first & 7)) & ((1 << width) - 1)
