"""N_w and S_w beside Tables 6 and 7 of the comparative analysis (arXiv:2404.03324).

N_w, the share of runs that give the word itself, and S_w, the distinct outputs of its
100 runs, both averaged over 25 words, for five mechanisms at epsilon 1, 5 and 10 in 50,
100 and 300 dimensions. The 25 words of the paper are not known here: these stand evenly
in the order of frequency on a logarithmic scale. Where the output distribution is known
(tem, santext), the exact N_w and the expectation of S_w over 100 runs stand beside the
sampled ones.

    python benchmarks/published_tables.py [--words 20000] [--theirs FILE.json]

The paper's GloVe vectors are in no data folder: the sets below stand in for them. So
the scale of each set is printed first, since epsilon has the unit 1 / distance. The
paper's figures are not in this file either; --theirs reads them from a JSON object
{"N_w": {"cmp": {"50": [at 1, at 5, at 10], ...}, ...}, "S_w": ...} and prints them
beside ours. Nothing is tuned to them.

Reads embeddings/ of the test data (DPTEXT_TEST_DATA, else ../shared/data). Exit code 1
when a trend that is checked at the end does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dptext import lexicons, load_profile, pipeline
from dptext.lexicons.importing import Settings
from dptext.measures import deniability
from dptext.measures.public import public_draw
from dptext.pipeline import Pipeline
from dptext.types import Lexicon

ROOT = Path(__file__).parents[1]
EPSILONS = (1, 5, 10)
WORDS, RUNS = 25, 100
# Dimensions, name, what stands in for the vectors.
SETS = (
    (50, "glove", "glove-wiki-imdb-50d"),
    (50, "sgns", "sgns-wiki-imdb-50d"),
    (100, "builtin", "builtin"),
    (300, "sgns", "sgns-wiki-imdb-300d"),
    (300, "counterfitted", "counterfitted-wiki-imdb-300d"),
)
# Name -> profile, and what the paper sets in it.
MECHANISMS: dict[str, tuple[str, dict[str, Any]]] = {
    "cmp": ("cmp", {}),
    "mahalanobis": ("mahalanobis", {"mechanism": {"lam": 0.2}}),
    "vickrey": ("comparative-vickrey", {"mechanism": {"t": 0.5}}),
    "tem": ("tem", {"mechanism": {"gamma": 0.5}}),
    "santext": ("santext", {}),
}
# Four standard deviations of the difference of two sampled means: that of one mean is
# at most 0.01 for N_w (2 500 runs) and at most 1 for S_w (a run changes it by 1/25).
CHANCE = {"N_w": 0.06, "S_w": 6.0}


@dataclass(frozen=True)
class Cell:
    """Figures of one mechanism at one epsilon, exact where it can be."""

    n_w: float
    s_w: float
    exact: tuple[float, float] | None


def data_folder() -> Path:
    """Return the folder of the test data, which may not exist."""
    return Path(os.environ.get("DPTEXT_TEST_DATA", ROOT.parent / "shared" / "data"))


def opened(source: str, words: int) -> Lexicon | None:
    """Open a set, or its first words; None where it is absent."""
    if source == "builtin":
        return lexicons.find(source)
    folder = data_folder() / "embeddings" / source
    if not folder.exists():
        print(f"left out: no {folder}")
        return None
    return lexicons.find(str(folder), settings=Settings(max_words=words))


def chosen(size: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return 25 words, evenly in the order of frequency on a logarithmic scale."""
    return np.unique(np.geomspace(1, size, WORDS).astype(np.int32) - 1)


def cell(sanitizer: Pipeline, epsilon: float) -> Cell:
    """Measure one mechanism at one epsilon."""
    words = chosen(sanitizer.mechanism.space.size)
    draw = public_draw(sanitizer, epsilon)
    drawn = draw(np.repeat(words, RUNS)).reshape(len(words), RUNS)
    kept = float((drawn == words[:, None]).mean())
    distinct = float(np.mean([len(np.unique(row)) for row in drawn]))
    exact = None
    if sanitizer.mechanism.has_log_probs:
        measured = deniability.measure(sanitizer.mechanism, epsilon, draw)
        exact = measured.n_w, measured.s_w
    return Cell(kept, distinct, exact)


def scale(lexicon: Lexicon) -> str:
    """Say how far words of a set lie apart."""
    lengths = np.linalg.norm(lexicon.vectors[:-1].astype(np.float64), axis=1)
    geometry = lexicon.meta["geometry"]
    return (
        f"{lengths.mean():11.2f}{geometry['nearest_median']:11.2f}"
        f"{geometry['median']:11.2f}{geometry['diameter']:11.2f}"
    )


def table(
    title: str, cells: dict[tuple[str, str, int], Cell], sets: list[str], theirs: Any
) -> None:
    """Print one table: sampled, exact in brackets, and theirs where given."""
    key = title[:3]
    print(f"\n{title}")
    print(f"{'mechanism':13}{'vectors':20}", *(f"{f'eps {e}':>22}" for e in EPSILONS))
    for name in MECHANISMS:
        for label in sets:
            row = [shown(cells[name, label, e], key) for e in EPSILONS]
            print(f"{name:13}{label:20}", *(f"{text:>22}" for text in row))
        for width, values in theirs.get(key, {}).get(name, {}).items():
            row = [f"{value:g}" for value in values]
            print(f"{name:13}{f'paper, {width}d':20}", *(f"{v:>22}" for v in row))


def shown(measured: Cell, key: str) -> str:
    """Write a figure, with the exact one where there is one."""
    value, index = (measured.n_w, 0) if key == "N_w" else (measured.s_w, 1)
    form = ".3f" if key == "N_w" else ".1f"
    if measured.exact is None:
        return f"{value:{form}}"
    return f"{value:{form}} ({measured.exact[index]:{form}})"


def trends(cells: dict[tuple[str, str, int], Cell], sets: list[str]) -> bool:
    """Check what has to hold whatever the vectors; return whether all does."""
    wrong = [
        f"{name} on {label}: {fault}"
        for name in MECHANISMS
        for label in sets
        for fault in faults(name, [cells[name, label, e] for e in EPSILONS])
    ]
    verdict = "hold" if not wrong else "do NOT all hold"
    print(
        "\nWith epsilon N_w does not fall (by more than "
        f"{CHANCE['N_w']}) and S_w does not rise (by more than {CHANCE['S_w']:g}), N_w "
        f"of vickrey is 0, sampled figures agree with exact ones: these {verdict}."
    )
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return not wrong


def faults(name: str, row: list[Cell]) -> Iterator[str]:
    """Say what is wrong with the cells of one mechanism, by ascending epsilon."""
    for less, more in pairwise(row):
        if more.n_w < less.n_w - CHANCE["N_w"]:
            yield "N_w falls with epsilon"
        # At small epsilon the noise may throw every word to the same outermost words:
        # there S_w may truly rise a little.
        if more.s_w > less.s_w + CHANCE["S_w"]:
            yield "S_w rises with epsilon"
    if name == "vickrey" and any(measured.n_w for measured in row):
        yield "an input word is written"
    for measured in row:
        n_w, s_w = measured.exact or (measured.n_w, measured.s_w)
        if (
            abs(n_w - measured.n_w) > CHANCE["N_w"]
            or abs(s_w - measured.s_w) > CHANCE["S_w"]
        ):
            yield "what was sampled is not the exact distribution"


def main() -> None:
    """Measure all sets and mechanisms, then print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--theirs", type=Path)
    asked = parser.parse_args()
    theirs = json.loads(asked.theirs.read_text()) if asked.theirs else {}
    cells: dict[tuple[str, str, int], Cell] = {}
    labels: list[str] = []
    print(f"{'vectors':20}{'words':>8}{'mean norm':>11}", end="")
    print(f"{'nearest':>11}{'median':>11}{'largest':>11}")
    for width, name, source in SETS:
        lexicon = opened(source, asked.words)
        if lexicon is None:
            continue
        label = f"{name} {width}d"
        labels.append(label)
        print(f"{label:20}{len(lexicon.words):8}{scale(lexicon)}", flush=True)
        for mechanism, (profile, over) in MECHANISMS.items():
            sanitizer = pipeline.build(load_profile(profile, over), lexicon)
            for epsilon in EPSILONS:
                cells[mechanism, label, epsilon] = cell(sanitizer, epsilon)
    sampled = f"{WORDS} words x {RUNS} runs, exact figures in brackets"
    table(
        f"N_w: share of runs that give the word itself; {sampled}",
        cells,
        labels,
        theirs,
    )
    table(f"S_w: distinct outputs of {RUNS} runs; {sampled}", cells, labels, theirs)
    if not theirs:
        print("\nNo figures of the paper: none were at hand (see --theirs).")
    if not trends(cells, labels):
        sys.exit(1)


if __name__ == "__main__":
    main()
