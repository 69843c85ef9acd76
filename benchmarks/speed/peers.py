"""Released peers beside dptext, each in a separate environment and process.

    python -m benchmarks speed.peers FOLDER         makes the environments (1.7 GB)
    python -m benchmarks speed --peers FOLDER ...   measures them in its run

They read the vectors of the same vocabulary, as text with all digits, and the first
words of the same texts, at the same epsilon, each in the only form it takes: mldp-text
word by word, pypantera in texts so short that its arrays stay below half a gigabyte,
dp-diffractor in texts. A slow one does what it can in a few seconds. dp-diffractor
needs stopwords and punkt_tab of NLTK in the folder that NLTK_DATA names.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.measure import ONE_THREAD, measured
from benchmarks.speed.texts import single, texts
from dptext.types import Lexicon

RELEASES = {
    "mldp-text": ("mldp-text==0.1.2", "numpy<2"),
    "pypantera": ("pypantera==1.0.2",),
    "dp-diffractor": ("dp-diffractor==0.2.1",),
}
# Mechanism of a peer -> that of dptext which does the same.
MECHANISMS = {
    "mldp-text": {
        "multivariate_calibrated, exact": "laplace",
        "multivariate_calibrated, approximate": "laplace",
        "mahalanobis, exact": "mahalanobis",
        "mahalanobis, approximate": "mahalanobis",
        "vickrey, exact": "vickrey",
        "vickrey, approximate": "vickrey",
        "truncated_gumbel, exact": "gumbel",
        "truncated_gumbel, approximate": "gumbel",
        "tem": "tem",
    },
    "pypantera": {
        "CMP": "laplace",
        "Mahalanobis": "mahalanobis",
        "Vickrey": "vickrey",
        "SanText": "santext",
        "CusText": "custext",
        "TEM": "tem",
    },
    "dp-diffractor": {"geometric": "diffractor"},
}
WORDS = 50_000  # at most
LONGEST = 600.0  # processor seconds of one, its start included


def set_up(folder: Path) -> None:
    """Make the environments with this Python; mldp-text needs one before 3.13."""
    for name, packages in RELEASES.items():
        subprocess.run((sys.executable, "-m", "venv", str(folder / name)), check=True)
        python = str(folder / name / "bin" / "python")
        subprocess.run((python, "-m", "pip", "install", "-q", *packages), check=True)


def export(folder: Path, vocabulary: str, lexicon: Lexicon) -> dict[str, str]:
    """Write vectors, with and without the line of sizes, and words; return paths."""
    names = ("plain", "headed", "words")
    paths = {name: folder / f"{vocabulary}.{name}.txt" for name in names}
    kept = single(lexicon.words).nonzero()[0]
    rows = np.asarray(lexicon.vectors[kept], np.float32)
    words = [lexicon.words[row] for row in kept]
    line = "%s" + " %.9g" * rows.shape[1] + "\n"
    with paths["plain"].open("w") as plain, paths["headed"].open("w") as headed:
        headed.write(f"{len(rows)} {rows.shape[1]}\n")
        for word, row in zip(words, rows, strict=True):
            text = line % (word, *row.tolist())
            plain.write(text)
            headed.write(text)
    stream = chain.from_iterable(texts(lexicon, 200))
    paths["words"].write_text(" ".join(islice(stream, WORDS)))
    return {name: str(path) for name, path in paths.items()}


def home(folder: Path, vocabulary: str, vectors: str) -> str:
    """Return a home folder where dp-diffractor finds the vectors as its usual file."""
    path = (
        folder / f"home-{vocabulary}" / ".cache/diffractor/glove-wiki-gigaword-300.txt"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(vectors)
    return str(folder / f"home-{vocabulary}")


def measure(
    peers: Path,
    folder: Path,
    vocabulary: str,
    lexicon: Lexicon,
    epsilon: float,
    seconds: float,
    names: Collection[str],
) -> Iterator[dict[str, Any]]:
    """Yield figures of every mechanism of peers, by name, or why they are missing."""
    paths = export(folder, vocabulary, lexicon)
    rows = np.asarray(lexicon.vectors[:-1], np.float64)
    distances = np.linalg.norm(rows - rows[0], axis=1)
    lengths = {
        "mldp-text": 5,
        "pypantera": int(min(20, max(1, 2**29 // (8 * rows.size)))),
        "dp-diffractor": 200,
    }
    answer_path = folder / "peer-answer.json"
    job = {
        **paths,
        "epsilon": epsilon,
        "seconds": seconds,
        "answer": str(answer_path),
        "closest": float(distances[distances > 0].min()),
        "farthest": float(distances.max()),
    }
    os.environ.update(ONE_THREAD)
    for peer, mechanisms in MECHANISMS.items():
        if peer not in names:
            continue
        python = peers / peer / "bin" / "python"
        for mechanism, counterpart in mechanisms.items():
            row = {
                "vocabulary": vocabulary,
                "peer": " ".join(RELEASES[peer][0].split("==")),
                "mechanism": mechanism,
                "counterpart": counterpart,
                "length": lengths[peer],
            }
            setting = {**job, "peer": peer, "mechanism": mechanism}
            asked = folder / "peer-job.json"
            asked.write_text(json.dumps({**setting, "length": lengths[peer]}))
            command = (str(python), str(Path(__file__).with_name("peer.py")))
            variables = {"HOME": home(folder, vocabulary, paths["headed"])}
            if peer != "dp-diffractor":
                variables = {}
            try:
                usage = measured((*command, str(asked)), LONGEST, variables)
            except (RuntimeError, OSError) as error:
                yield {**row, "reason": str(error)[:200]}
                continue
            answer = json.loads(answer_path.read_text())
            if not answer["words"]:
                yield {**row, "reason": f"every text fails: {answer['fault'][:150]}"}
                continue
            yield {
                **row,
                "words": answer["words"],
                "failed": answer["failed"],
                "rate": answer["words"] / max(answer["seconds"], 1e-3),
                "start_up": answer["start_up"],
                "peak": usage.peak,
            }


def main() -> None:
    """Make the environments."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    set_up(parser.parse_args().folder)


if __name__ == "__main__":
    main()
