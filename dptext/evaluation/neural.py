"""Neural classifiers: an LSTM, and a Hugging Face model fine-tuned from its folder."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.models import package

Labels = NDArray[np.int64]
_WORD = re.compile(r"\w+|[^\w\s]")
_VOCABULARY, _LENGTH, _BATCH = 20_000, 128, 32


def is_model_folder(name: str) -> bool:
    """Tell whether a folder holds a Hugging Face model."""
    return (Path(name) / "config.json").is_file()


class Network(ABC):
    """Weights that are trained in a few epochs of small batches, seeded."""

    needed_by: str
    optimizer: str
    learning_rate: float
    epochs: int

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._model: Any = None

    def fit(self, texts: Sequence[str], labels: Labels) -> None:
        """Learn all weights by cross-entropy."""
        torch = self._torch()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._seed)
            self._build(texts, int(labels.max()) + 1)
            self._model.train()
            optimizer = getattr(torch.optim, self.optimizer)(
                self._model.parameters(), lr=self.learning_rate
            )
            rng = np.random.default_rng(self._seed)
            for _ in range(self.epochs):
                for rows in _batches(rng.permutation(len(texts))):
                    logits = self._logits([texts[row] for row in rows])
                    target = torch.from_numpy(labels[rows])
                    optimizer.zero_grad()
                    torch.nn.functional.cross_entropy(logits, target).backward()
                    optimizer.step()
            self._model.eval()

    def predict(self, texts: Sequence[str]) -> Labels:
        """Guess the labels of texts."""
        with self._torch().inference_mode():
            guesses = [
                self._logits([texts[row] for row in rows]).argmax(dim=1).numpy()
                for rows in _batches(np.arange(len(texts)))
            ]
        return np.concatenate(guesses)

    def _torch(self) -> Any:
        return package("torch", self.needed_by, "semantic")

    @abstractmethod
    def _build(self, texts: Sequence[str], classes: int) -> None:
        """Make `_model` for so many classes."""

    @abstractmethod
    def _logits(self, texts: Sequence[str]) -> Any:
        """Return a tensor (texts, classes)."""


class Recurrent(Network):
    """A one-layer LSTM over learnt word vectors, its mean state to the label."""

    needed_by, optimizer, learning_rate, epochs = "the LSTM", "Adam", 3e-3, 4
    width = 64

    def _build(self, texts: Sequence[str], classes: int) -> None:
        nn, width = self._torch().nn, self.width
        counts = Counter(word for text in texts for word in _words(text))
        common = [word for word, _ in counts.most_common(_VOCABULARY)]
        # 0 pads, 1 is any other word.
        self._index = {word: row for row, word in enumerate(common, 2)}
        self._model = nn.ModuleDict(
            {
                "words": nn.Embedding(len(common) + 2, width, padding_idx=0),
                "states": nn.LSTM(width, width, batch_first=True),
                "label": nn.Linear(width, classes),
            }
        )

    def _logits(self, texts: Sequence[str]) -> Any:
        rows = [
            [self._index.get(word, 1) for word in _words(text)][:_LENGTH] or [1]
            for text in texts
        ]
        longest = max(map(len, rows))
        ids = self._torch().tensor([row + [0] * (longest - len(row)) for row in rows])
        states, _ = self._model["states"](self._model["words"](ids))
        real = (ids > 0).unsqueeze(2)
        return self._model["label"]((states * real).sum(1) / real.sum(1))


class FineTuned(Network):
    """A Hugging Face model with a new head, trained for a few epochs."""

    needed_by, optimizer = "a Hugging Face classifier", "AdamW"
    learning_rate, epochs = 5e-5, 2

    def __init__(self, folder: str, seed: int = 0) -> None:
        super().__init__(seed)
        self._folder = folder

    def _build(self, texts: Sequence[str], classes: int) -> None:
        library = package("transformers", self.needed_by, "semantic")
        library.utils.logging.set_verbosity_error()
        library.utils.logging.disable_progress_bar()
        try:
            self._tokenizer = library.AutoTokenizer.from_pretrained(
                self._folder, local_files_only=True
            )
            self._model = library.AutoModelForSequenceClassification.from_pretrained(
                self._folder,
                local_files_only=True,
                num_labels=classes,
                ignore_mismatched_sizes=True,
            )
        except (OSError, ValueError):
            raise UsageError(
                f"--classifier {self._folder}: no model that can be loaded"
            ) from None

    def _logits(self, texts: Sequence[str]) -> Any:
        tokens = self._tokenizer(
            list(texts),
            padding=True,
            truncation=True,
            max_length=_LENGTH,
            return_tensors="pt",
        )
        return self._model(**tokens).logits


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _batches(rows: Labels) -> Iterator[Labels]:
    for begin in range(0, len(rows), _BATCH):
        yield rows[begin : begin + _BATCH]
