"""How good the built-in lexicon is: agreement with people, words that it does not know.

    python -m benchmarks lexicon [FOLDER OF A LEXICON]

Spearman's rho of cosines with SimLex-999, SimVerb-3500, WordSim-353 and MEN, from
wordsim/ of the test data (DPTEXT_TEST_DATA, else ../shared/data); pairs with an unknown
word are left out. Unknown words of text/: counted are words after `segment`, stop words
included; numbers, identifiers, punctuation and the marks inside words are not. The
texts only measure: no word was chosen by them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.private_rows import DATA, ROOT, read_rows
from dptext.lexicons import store
from dptext.tokens import kinds
from dptext.tokens.regex import MARK, kind_of, segment, split
from dptext.types import Lexicon

# File -> column of the score; the words are in the first two.
SETS = {
    "SimLex-999.txt": 3,
    "EN-SimVerb-3500.txt": 2,
    "EN-WS-353-ALL.txt": 2,
    "EN-MEN-TR-3k.txt": 2,
}


CORPORA = (
    "imdb_5k",
    "trustpilot_en_train",
    "sst2_train20k",
    "agnews_test5600",
)
SHAPES = ("lower", "title", "upper", "mixed", "digits", "hyphen")


def pairs(path: Path, column: int) -> list[tuple[str, str, float]]:
    """Return (word, word, score) of a word similarity file, a header left out."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if len(row) > column and row[0] != "word1"]
    return [(row[0].lower(), row[1].lower(), float(row[column])) for row in rows]


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks from 0, equals share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts + 1) / 2)[inverse]


def spearman(
    lexicon: Lexicon, scored: list[tuple[str, str, float]]
) -> tuple[float, int]:
    """Return (rho, number of pairs of two known words)."""
    row_of = {word.lower(): row for row, word in enumerate(lexicon.words)}
    known = [(row_of[a], row_of[b], s) for a, b, s in scored if {a, b} <= row_of.keys()]
    left, right, scores = (np.array(column) for column in zip(*known, strict=True))
    vectors = lexicon.vectors[:-1].astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = np.einsum("ij,ij->i", vectors[left], vectors[right])
    rho = np.corrcoef(ranks(cosines), ranks(scores.astype(np.float64)))[0, 1]
    return float(rho), len(known)


def pieces(corpus: str) -> Counter[str]:
    """Count the distinct word pieces of a corpus, the space in front left out."""
    counts = Counter(piece for row in read_rows(corpus) for piece in split(row["text"]))
    words: Counter[str] = Counter()
    for piece, count in counts.items():
        if kind_of(piece) == kinds.WORD:
            words[piece.removeprefix(" ")] += count
    return words


def unknown(lexicon: Lexicon, words: Counter[str]) -> tuple[int, Counter[str]]:
    """Return (number of words after `segment`, count of each unknown one)."""
    row_of = {word.lower(): row for row, word in enumerate(lexicon.words)}
    total = 0
    missing: Counter[str] = Counter()
    for word, count in words.items():
        for part, row in segment(word, lambda key: row_of.get(key, -1)):
            if row != MARK:
                total += count
            if row == -1:
                missing[part] += count
    return total, missing


def shape(word: str) -> str:
    """Return the kind of an unknown word, by how it is written."""
    if any(map(str.isdigit, word)):
        return "digits"
    if not word.isalpha():
        return "hyphen"
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper"
    return "title" if word.istitle() else "mixed"


def agreement(lexicon: Lexicon) -> None:
    """Print one line a set of pairs."""
    print(f"{'set':24}{'rho':>7}{'known':>8}{'pairs':>8}")
    for name, column in SETS.items():
        path = DATA / "wordsim" / name
        if not path.exists():
            print(f"{name:24}  (no {path})")
            continue
        scored = pairs(path, column)
        rho, known = spearman(lexicon, scored)
        print(f"{name:24}{rho:7.3f}{known:8}{len(scored):8}")


def coverage(lexicon: Lexicon) -> None:
    """Print one line a corpus: share of unknown words, and which shapes these have."""
    print(f"{'corpus':22}{'words':>10}{'unknown':>9}   shapes of the unknown")
    for name in CORPORA:
        total, missing = unknown(lexicon, pieces(name))
        count = sum(missing.values())
        of_shape: Counter[str] = Counter()
        for word, times in missing.items():
            of_shape[shape(word)] += times
        parts = " ".join(f"{kind} {of_shape[kind] / count:.0%}" for kind in SHAPES)
        print(f"{name:22}{total:10}{count / total:9.2%}   {parts}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    english = ROOT / "dptext" / "data" / "english"
    parser.add_argument("folder", nargs="?", type=Path, default=english)
    lexicon = store.load(parser.parse_args().folder)
    agreement(lexicon)
    coverage(lexicon)


if __name__ == "__main__":
    main()
