"""Sources of an English lexicon of a few hundred words, for tests."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from dptext.tokens.regex import key_of
from tests.tools import wordnet_files
from tools.english import Sources
from tools.english import forms as lists

OPEN = "dog dogs cat cats hound run running ran happy happier glad sad london zyxq acme"
BASE = np.log(1.0001)


def trie(words: dict[str, float], pairs: dict[tuple[str, str], float]) -> bytes:
    """Write a binary trie of order 3 without triples; natural logarithms."""
    names_of = sorted({"<s>", "</s>", *words})
    row_of = {word: row for row, word in enumerate(names_of)}
    under = sorted((row_of[second], row_of[first]) for first, second in pairs)
    codes = np.zeros(3 << 16, "<f4")
    codes[: len(under)] = [
        pairs[names_of[first], names_of[second]] / BASE for second, first in under
    ]
    ends = np.searchsorted([second for second, _ in under], np.arange(len(row_of) + 1))
    one = np.zeros(len(row_of) + 1, np.dtype("<f4,<f4,<u4"))
    one["f0"][:-1] = [words.get(name, -20.0) / BASE for name in names_of]
    one["f2"] = ends
    wide = len(row_of).bit_length()
    size = wide + 32
    packed = 0
    for number, (_, first) in enumerate(under):
        packed |= (first | number << (wide + 16)) << (number * size)
    length = ((len(under) + 1) * size + 7) // 8 + 8
    triples = (wide + 16 + 7) // 8 + 8
    text = b"".join(name.encode() + b"\0" for name in names_of)
    return b"".join(
        (
            b"Trie Language Model\3",
            struct.pack("<3I", len(row_of), len(under), 0),
            struct.pack("<I", 1),
            codes.tobytes(),
            one.tobytes(),
            packed.to_bytes(length, "little"),
            bytes(triples),
            struct.pack("<I", len(text)),
            text,
        )
    )


def put(folder: Path) -> Sources:
    """Write all sources to a folder; vectors are random, words by falling frequency."""
    wordnet = folder / "wordnet"
    wordnet.mkdir(exist_ok=True)
    wordnet_files.put(wordnet)
    words = [*map(key_of, lists.frequencies()), *OPEN.split()]
    words += lists.names()
    words = list(dict.fromkeys(words))
    rows = np.random.default_rng(5).standard_normal((len(words), 8)).round(3)
    lines = (
        " ".join((word, *map(str, row)))
        for word, row in zip(words, rows.tolist(), strict=True)
    )
    (folder / "glove.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    spoken = {word: -2.0 - 0.01 * row for row, word in enumerate(words)}
    (folder / "model.bin").write_bytes(trie(spoken, {("the", "dog"): -1.0}))
    (folder / "counts.txt").write_text("the 900\ndog 20\n", encoding="utf-8")
    (folder / "words").write_text("dog\ncat\nrun\nAcme\nLondon\n", encoding="utf-8")
    return Sources(
        wordnet,
        glove=folder / "glove.txt",
        sphinx=folder / "model.bin",
        symspell=folder / "counts.txt",
        scowl=folder / "words",
    )
