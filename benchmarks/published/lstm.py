"""Accuracy of an LSTM on perturbed texts, as the comparative analysis trains one.

    python -m benchmarks published.lstm ORIGINAL.jsonl PERTURBED.jsonl --label FIELD

A one-layer LSTM over learnt word vectors, its mean state to the label, trained and
tested on texts in the order of the originals. Prints accuracy on the originals, of that
model on perturbed texts, and trained on perturbed texts.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from dptext.evaluation.classify import learn

Labels = NDArray[np.int64]
_WORD = re.compile(r"\w+|[^\w\s]")
_VOCABULARY, _LENGTH, _BATCH, _WIDTH = 20_000, 128, 32, 64


class Recurrent:
    """The classifier; weights are trained in a few epochs of small batches, seeded."""

    def __init__(self, epochs: int = 4) -> None:
        self._epochs = epochs
        self._index: dict[str, int] = {}
        self._model: Any = None

    def fit(self, texts: Sequence[str], labels: Labels) -> None:
        """Learn all weights by cross-entropy."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self._build(texts, int(labels.max()) + 1)
            optimizer = torch.optim.Adam(self._model.parameters(), lr=3e-3)
            rng = np.random.default_rng(0)
            for _ in range(self._epochs):
                for rows in _batches(rng.permutation(len(texts))):
                    logits = self._logits([texts[row] for row in rows])
                    target = torch.from_numpy(labels[rows])
                    optimizer.zero_grad()
                    loss: Any = nn.functional.cross_entropy(logits, target)
                    loss.backward()
                    optimizer.step()

    def predict(self, texts: Sequence[str]) -> Labels:
        """Guess the labels of texts."""
        with torch.inference_mode():
            guesses = [
                self._logits([texts[row] for row in rows]).argmax(dim=1).numpy()
                for rows in _batches(np.arange(len(texts)))
            ]
        return np.concatenate(guesses)

    def _build(self, texts: Sequence[str], classes: int) -> None:
        counts = Counter(word for text in texts for word in _words(text))
        common = [word for word, _ in counts.most_common(_VOCABULARY)]
        # 0 pads, 1 is any other word.
        self._index = {word: row for row, word in enumerate(common, 2)}
        self._model = nn.ModuleDict(
            {
                "words": nn.Embedding(len(common) + 2, _WIDTH, padding_idx=0),
                "states": nn.LSTM(_WIDTH, _WIDTH, batch_first=True),
                "label": nn.Linear(_WIDTH, classes),
            }
        )

    def _logits(self, texts: Sequence[str]) -> Any:
        rows = [
            [self._index.get(word, 1) for word in _words(text)][:_LENGTH] or [1]
            for text in texts
        ]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
        states, _ = self._model["states"](self._model["words"](ids))
        real = (ids > 0).unsqueeze(2)
        return self._model["label"]((states * real).sum(1) / real.sum(1))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _batches(rows: Labels) -> Iterator[Labels]:
    for begin in range(0, len(rows), _BATCH):
        yield rows[begin : begin + _BATCH]


def main() -> None:
    """Print the three accuracies."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("original", type=Path)
    parser.add_argument("perturbed", type=Path)
    parser.add_argument("--field", default="text")
    parser.add_argument("--label", required=True)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--trainings", type=int, default=5)
    arguments = parser.parse_args()
    before, after = (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in (arguments.original, arguments.perturbed)
    )
    task = learn(
        arguments.label,
        [str(row[arguments.label]) for row in before],
        [row[arguments.field] for row in before],
        [row[arguments.field] for row in after],
        "lstm",
        lambda: Recurrent(arguments.epochs),
        arguments.trainings,
    )
    print(f"originals {task.original}, perturbed {task.private}, ", end="")
    print(f"trained on originals, tested on perturbed {task.static}")


if __name__ == "__main__":
    main()
