"""Neural classifiers: an LSTM, and a Hugging Face model fine-tuned from its folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dptext.errors import UsageError
from dptext.evaluation.classify import Labels
from dptext.models import package

_WORD = re.compile(r"\w+|[^\w\s]")
_VOCABULARY, _LENGTH, _BATCH = 20_000, 128, 32


def folder(name: str) -> str | None:
    """Return the folder of a model, None where there is none."""
    return name if (Path(name) / "config.json").is_file() else None


class Recurrent:
    """A one-layer LSTM over learnt word vectors, its mean state to the label."""

    def __init__(self, epochs: int = 4, width: int = 64, seed: int = 0) -> None:
        self._epochs, self._width, self._seed = epochs, width, seed
        self._index: dict[str, int] = {}
        self._layers: Any = None

    def fit(self, texts: Sequence[str], labels: Labels) -> None:
        """Learn word vectors, states and label together (Adam)."""
        torch = package("torch", "the LSTM", "semantic")
        counts = Counter(word for text in texts for word in _words(text))
        common = [word for word, _ in counts.most_common(_VOCABULARY)]
        self._index = {word: row for row, word in enumerate(common, 2)}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._seed)
            width = self._width
            self._layers = torch.nn.ModuleDict(
                {
                    "words": torch.nn.Embedding(len(common) + 2, width, padding_idx=0),
                    "states": torch.nn.LSTM(width, width, batch_first=True),
                    "label": torch.nn.Linear(width, int(labels.max()) + 1),
                }
            )
            best = torch.optim.Adam(self._layers.parameters(), lr=3e-3)
            rng = np.random.default_rng(self._seed)
            for _ in range(self._epochs):
                for rows in _batches(rng.permutation(len(texts))):
                    wanted = torch.from_numpy(labels[rows])
                    given = self._forward(torch, [texts[row] for row in rows])
                    best.zero_grad()
                    torch.nn.functional.cross_entropy(given, wanted).backward()
                    best.step()

    def predict(self, texts: Sequence[str]) -> Labels:
        """Guess the labels of texts."""
        torch = package("torch", "the LSTM", "semantic")
        found = []
        with torch.inference_mode():
            for rows in _batches(np.arange(len(texts))):
                given = self._forward(torch, [texts[row] for row in rows])
                found.append(given.argmax(dim=1).numpy())
        return np.concatenate(found)

    def _forward(self, torch: Any, texts: Sequence[str]) -> Any:
        rows = [
            [self._index.get(w, 1) for w in _words(t)][:_LENGTH] or [1] for t in texts
        ]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
        states, _ = self._layers["states"](self._layers["words"](ids))
        real = (ids > 0).unsqueeze(2)
        return self._layers["label"]((states * real).sum(1) / real.sum(1))


class FineTuned:
    """A Hugging Face model with a new head, trained for a few epochs."""

    def __init__(self, location: str, epochs: int = 2, seed: int = 0) -> None:
        self._place, self._epochs, self._seed = location, epochs, seed
        self._tokenizer: Any = None
        self._model: Any = None

    def fit(self, texts: Sequence[str], labels: Labels) -> None:
        """Fine-tune all weights (AdamW, 5e-5)."""
        torch = package("torch", "a Hugging Face classifier", "semantic")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._seed)
            self._load(int(labels.max()) + 1)
            self._model.train()
            best = torch.optim.AdamW(self._model.parameters(), lr=5e-5)
            rng = np.random.default_rng(self._seed)
            for _ in range(self._epochs):
                for rows in _batches(rng.permutation(len(texts))):
                    given = self._forward([texts[row] for row in rows])
                    wanted = torch.from_numpy(labels[rows])
                    best.zero_grad()
                    torch.nn.functional.cross_entropy(given, wanted).backward()
                    best.step()
            self._model.eval()

    def _load(self, classes: int) -> None:
        library = package("transformers", "a Hugging Face classifier", "semantic")
        library.utils.logging.set_verbosity_error()
        library.utils.logging.disable_progress_bar()
        try:
            self._tokenizer = library.AutoTokenizer.from_pretrained(
                self._place, local_files_only=True
            )
            self._model = library.AutoModelForSequenceClassification.from_pretrained(
                self._place,
                local_files_only=True,
                num_labels=classes,
                ignore_mismatched_sizes=True,
            )
        except (OSError, ValueError):
            msg = f"--classifier {self._place}: no model that can be loaded"
            raise UsageError(msg) from None

    def predict(self, texts: Sequence[str]) -> Labels:
        """Guess the labels of texts."""
        torch = package("torch", "a Hugging Face classifier", "semantic")
        found = []
        with torch.inference_mode():
            for rows in _batches(np.arange(len(texts))):
                given = self._forward([texts[row] for row in rows])
                found.append(given.argmax(dim=1).numpy())
        return np.concatenate(found)

    def _forward(self, texts: Sequence[str]) -> Any:
        given = self._tokenizer(
            list(texts),
            padding=True,
            truncation=True,
            max_length=_LENGTH,
            return_tensors="pt",
        )
        return self._model(**given).logits


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _batches(rows: Labels) -> list[Labels]:
    return [rows[begin : begin + _BATCH] for begin in range(0, len(rows), _BATCH)]
