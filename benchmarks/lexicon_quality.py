"""How well cosines of the built-in vectors agree with people: Spearman's rho.

    python benchmarks/lexicon_quality.py [FOLDER OF A LEXICON]

Reads SimLex-999, SimVerb-3500, WordSim-353 and MEN from wordsim/ of the test data
(DPTEXT_TEST_DATA, else ../shared/data). Pairs with an unknown word are left out.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons import store
from dptext.types import Lexicon

ROOT = Path(__file__).parents[1]
# File -> column of the score; the words are in the first two.
SETS = {
    "SimLex-999.txt": 3,
    "EN-SimVerb-3500.txt": 2,
    "EN-WS-353-ALL.txt": 2,
    "EN-MEN-TR-3k.txt": 2,
}


def data_folder() -> Path:
    """Return the folder of the test data, which may not exist."""
    return Path(os.environ.get("DPTEXT_TEST_DATA", ROOT.parent / "shared" / "data"))


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
    """Return (rho, number of pairs whose words are both known)."""
    row_of = {word.lower(): row for row, word in enumerate(lexicon.words)}
    known = [(row_of[a], row_of[b], s) for a, b, s in scored if {a, b} <= row_of.keys()]
    left, right, scores = (np.array(column) for column in zip(*known, strict=True))
    vectors = lexicon.vectors[:-1].astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = np.einsum("ij,ij->i", vectors[left], vectors[right])
    rho = np.corrcoef(ranks(cosines), ranks(scores.astype(np.float64)))[0, 1]
    return float(rho), len(known)


def main(folder: Path) -> None:
    """Print one line a data set."""
    lexicon = store.load(folder)
    print(f"{'set':24}{'rho':>7}{'known':>8}{'pairs':>8}")
    for name, column in SETS.items():
        path = data_folder() / "wordsim" / name
        if not path.exists():
            print(f"{name:24}  (no {path})")
            continue
        scored = pairs(path, column)
        rho, known = spearman(lexicon, scored)
        print(f"{name:24}{rho:7.3f}{known:8}{len(scored):8}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    english = ROOT / "dptext" / "data" / "english"
    parser.add_argument("folder", nargs="?", type=Path, default=english)
    main(parser.parse_args().folder)
