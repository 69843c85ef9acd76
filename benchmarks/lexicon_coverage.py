"""How many words of real texts the built-in lexicon does not know.

    python benchmarks/lexicon_coverage.py [FOLDER OF A LEXICON]

Reads text/*.jsonl.gz of the test data (DPTEXT_TEST_DATA, else ../shared/data). Counted
are words after `segment`, stop words included; numbers, identifiers, punctuation and
the marks inside words are not. The texts only measure: no word was chosen by them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dptext.lexicons import store
from dptext.tokens import kinds
from dptext.tokens.regex import MARK, kind_of, segment, split
from dptext.types import Lexicon

ROOT = Path(__file__).parents[1]
CORPORA = (
    "imdb_5k",
    "trustpilot_en_train",
    "sst2_train20k",
    "agnews_test5600",
)
SHAPES = ("lower", "title", "upper", "mixed", "digits", "hyphen")


def data_folder() -> Path:
    """Return the folder of the test data, which may not exist."""
    return Path(os.environ.get("DPTEXT_TEST_DATA", ROOT.parent / "shared" / "data"))


def texts(path: Path) -> Iterator[str]:
    """Yield the text field of each record of a gzipped JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)["text"]


def pieces(path: Path) -> Counter[str]:
    """Count the distinct word pieces of a corpus, the space in front left out."""
    counts = Counter(piece for text in texts(path) for piece in split(text))
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


def main(folder: Path) -> None:
    """Print one line a corpus: share of unknown words, and which shapes these have."""
    lexicon = store.load(folder)
    print(f"{'corpus':22}{'words':>10}{'unknown':>9}   shapes of the unknown")
    for name in CORPORA:
        path = data_folder() / "text" / f"{name}.jsonl.gz"
        if not path.exists():
            print(f"{name:22}  (no {path})")
            continue
        total, missing = unknown(lexicon, pieces(path))
        count = sum(missing.values())
        of_shape: Counter[str] = Counter()
        for word, times in missing.items():
            of_shape[shape(word)] += times
        parts = " ".join(f"{kind} {of_shape[kind] / count:.0%}" for kind in SHAPES)
        print(f"{name:22}{total:10}{count / total:9.2%}   {parts}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    english = ROOT / "dptext" / "data" / "english"
    parser.add_argument("folder", nargs="?", type=Path, default=english)
    main(parser.parse_args().folder)
