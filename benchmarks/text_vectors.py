"""What vectors of whole texts are worth at a small epsilon of the text.

python -m benchmarks text_vectors [--mechanism NAME]

Writes dptext/data/text_vectors.json, or the rows of one mechanism in it. For `dptext
embed --pool mean` and `sif` with the built-in lexicon: how often a
classifier sorts public news (AG News) into its four topics, trained on 19,000 released
vectors with their labels, and trained on vectors without noise; the better of the two
counts. Beside it stands the accuracy without any noise, the noise of a coordinate, and
how far texts spread in it. Epsilon is scaled so that any two texts differ by at most
the loss that is named. Draws have fixed seeds. The answer after a run reads the file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.private_rows import read_rows
from dptext import cache
from dptext.measures import vector_figures
from dptext.measures.vector_figures import TopicAccuracy
from dptext.randomness import RunKey
from dptext.types import Record
from dptext.vectors import release, statement

POOLS = ("mean", "sif")
MECHANISMS = (
    "discrete-gaussian",
    "gaussian",
    "laplace",
    "discrete-laplace",
    "privunit",
)
# Losses between any two texts, in nats; findings at one hold for smaller ones.
LOSSES = (8.0, 20.0)
# privunit keeps something at each of these.
LOSSES_OF_DIRECTIONS = (2.0, 4.0, 6.0, 8.0, 12.0, 20.0)
FILE = cache.shipped_file().with_name(vector_figures.TEXT_VECTORS_FILE)
_TRAINED, _TESTED, _BATCH = "agnews_train19k", "agnews_test5600", 500
Wide = NDArray[np.float64]


def vectors(ready: release.VectorRelease, texts: list[str], seed: int) -> Wide:
    """Release a vector for each text."""
    randomness = ready.randomness(RunKey.from_seed(seed))
    records = [Record(number, (text,), None) for number, text in enumerate(texts)]
    parts = [
        ready.rows(records[begin : begin + _BATCH], randomness).vectors
        for begin in range(0, len(records), _BATCH)
    ]
    return np.concatenate(parts).astype(np.float64)


def positions(ready: release.VectorRelease, texts: list[str]) -> Wide:
    """Return the directions of texts, which are the same at every epsilon."""
    parts = []
    for begin in range(0, len(texts), _BATCH):
        part = texts[begin : begin + _BATCH]
        parts.append(ready.encode(part)[2](slice(0, len(part))))
    return np.concatenate(parts).astype(np.float64)


def drawn(ready: release.VectorRelease, seed: int, directions: Wide) -> Wide:
    """Release a vector for each direction."""
    randomness = ready.randomness(RunKey.from_seed(seed))
    bits = randomness.bits([bytes(16)], np.zeros(len(directions), np.int64))
    released = ready.mechanism.release(directions, ready.epsilon, bits)
    return released.astype(np.float64)


def prepared(pool: str, mechanism: str, loss: float) -> release.VectorRelease:
    """Return the release with at most this loss between any two texts."""
    epsilon = loss
    for _ in range(2):  # of a metric epsilon counts a distance
        over = {"mechanism": mechanism, "budget": {"epsilon": epsilon}}
        ready = release.prepare(release.parse(over, {"pool": pool}))
        total = statement.make_claim(ready, "system").loss.farthest
        epsilon *= loss / total * (1.0 - 1e-9)
    return ready


def accuracy(train: Wide, labels: list[str], test: Wide, answers: list[str]) -> float:
    """Return how often a linear classifier is right."""
    scaler = StandardScaler().fit(train)
    model = LogisticRegression(C=0.3, max_iter=300).fit(scaler.transform(train), labels)
    return float(model.score(StandardScaler().fit(test).transform(test), answers))


def measured(mechanisms: Sequence[str]) -> list[TopicAccuracy]:
    """Return the figures of each pool, mechanism and loss."""
    train, test = read_rows(_TRAINED), read_rows(_TESTED)
    labels = [str(row["label"]) for row in train]
    answers = [str(row["label"]) for row in test]
    texts = [str(row["text"]) for row in train], [str(row["text"]) for row in test]
    chance = max(answers.count(label) for label in set(answers)) / len(answers)
    rows = []
    for pool in POOLS:
        # With so large an epsilon noise is nothing: the vectors are unchanged.
        bare = prepared(pool, "discrete-laplace", 1e6)
        plain = [vectors(bare, each, 1) for each in texts]
        original = accuracy(plain[0], labels, plain[1], answers)
        for mechanism in mechanisms:
            of_directions, known = mechanism == "privunit", list[Wide]()
            for loss in LOSSES_OF_DIRECTIONS if of_directions else LOSSES:
                ready = prepared(pool, mechanism, loss)
                if of_directions:
                    known = known or [positions(ready, each) for each in texts]
                    noisy = [drawn(ready, *each) for each in enumerate(known, 2)]
                    found = accuracy(noisy[0], labels, noisy[1], answers)
                else:
                    noisy = [
                        vectors(ready, each, number)
                        for number, each in enumerate(texts, 2)
                    ]
                    found = max(
                        accuracy(noisy[0], labels, noisy[1], answers),
                        accuracy(plain[0], labels, noisy[1], answers),
                    )
                row = TopicAccuracy(
                    settings=vector_figures.text_vectors_key(
                        ready.settings.plain(), ready.base_digest
                    ),
                    loss=loss,
                    corpus="AG News",
                    texts=len(answers),
                    accuracy=round(found, 4),
                    chance=round(chance, 4),
                    original=round(original, 4),
                    noise=round(float(ready.mechanism.spread(ready.epsilon)), 4),
                    spread=round(float(plain[1].std(axis=0).mean()), 4),
                )
                rows.append(row)
                print(pool, mechanism, row, flush=True)
    return rows


def main() -> None:
    """Measure and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mechanism", choices=MECHANISMS)
    named = parser.parse_args().mechanism
    rows = [asdict(row) for row in measured([named] if named else MECHANISMS)]
    if named is not None:
        new = {row["settings"] for row in rows}
        old = json.loads(FILE.read_text("utf-8"))["measured"]
        rows = [*(row for row in old if row["settings"] not in new), *rows]
    text = json.dumps({"measured": rows}, indent=1)
    FILE.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
