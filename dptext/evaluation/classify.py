"""How well a classifier does on private texts: utility, and attacks on an attribute.

Splits are stratified and the same for original and private texts; MEANINGS says what is
trained and tested on what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.evaluation.classifiers import Classifier, Labels, Make
from dptext.report.figures import accuracy

_TEST = 0.25
_LEAST = 8  # texts of the rarest label
MEANINGS = {
    "original": "trained and tested on originals, before anything was released",
    "private": (
        "trained and tested on private texts: whoever uses the released file, or an "
        "attacker who has released texts of known value and adapts"
    ),
    "static": (
        "trained on originals, tested on private texts: a user or an attacker with "
        "original texts of the same kind and known value, who does not adapt"
    ),
}


@dataclass(frozen=True, slots=True)
class Score:
    """Mean over the splits and standard deviation between them (None: one split)."""

    accuracy: float
    accuracy_sd: float | None
    macro_f1: float
    macro_f1_sd: float | None

    def __str__(self) -> str:
        """Write the accuracy, with its spread where there is one."""
        return accuracy(self.accuracy, self.accuracy_sd)


@dataclass(frozen=True, slots=True)
class Task:
    """One field: chance is the share of the most frequent class, of the texts with one.

    original, private and static: see MEANINGS.
    """

    field: str
    classifier: str
    texts: int
    classes: int
    splits: int
    chance: float
    original: Score
    private: Score
    static: Score


@dataclass(frozen=True, slots=True)
class Baseline:
    """What no private text has a part in: splits, and models of the originals.

    labels (texts,) number the classes, -1 where a text has none.
    """

    field: str
    name: str
    make: Make
    labels: Labels
    classes: tuple[str, ...]
    splits: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    models: tuple[Classifier, ...]
    original: Score

    @classmethod
    def of(
        cls,
        field: str,
        texts: Sequence[str],
        values: Sequence[str | None],
        name: str,
        make: Make,
        splits: int,
    ) -> Baseline:
        """Train on the originals. Raises UsageError where there is nothing to learn."""
        has = np.array([value is not None for value in values], bool)
        known = np.array([value for value in values if value is not None], dtype=str)
        labels = np.full(len(values), -1, np.int64)
        classes, labels[has] = np.unique(known, return_inverse=True)
        counts = np.bincount(labels[has])
        if len(classes) < 2 or counts.min() < _LEAST or len(classes) > len(known) / 4:
            raise UsageError(
                f"field {field!r} is no label: it needs at least two values, "
                f"each with at least {_LEAST} texts"
            )
        parts = tuple(_split(labels, seed) for seed in range(splits))
        models, scores = [], []
        for train, test in parts:
            model = make()
            model.fit([texts[row] for row in train], labels[train])
            models.append(model)
            guess = model.predict([texts[row] for row in test])
            scores.append(_scores(labels[test], guess))
        return cls(
            field,
            name,
            make,
            labels,
            tuple(classes.tolist()),
            parts,
            tuple(models),
            _mean(scores),
        )

    def against(self, private: Sequence[str]) -> Task:
        """Train and test on private texts, in the order of the originals."""
        adapted, static = [], []
        for (train, test), old in zip(self.splits, self.models, strict=True):
            shown = [private[row] for row in test]
            model = self.make()
            model.fit([private[row] for row in train], self.labels[train])
            adapted.append(_scores(self.labels[test], model.predict(shown)))
            static.append(_scores(self.labels[test], old.predict(shown)))
        counts = np.bincount(self.labels[self.labels >= 0])
        return Task(
            field=self.field,
            classifier=self.name,
            texts=int(counts.sum()),
            classes=len(self.classes),
            splits=len(self.splits),
            chance=float(counts.max() / counts.sum()),
            original=self.original,
            private=_mean(adapted),
            static=_mean(static),
        )


def _split(labels: Labels, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows to train and to test on, the same share of each label."""
    rng = np.random.default_rng(seed)
    train, test = [], []
    for label in range(int(labels.max()) + 1):
        rows = rng.permutation(np.flatnonzero(labels == label))
        cut = max(1, round(_TEST * len(rows)))
        test.append(rows[:cut])
        train.append(rows[cut:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def _scores(truth: Labels, guess: Labels) -> tuple[float, float]:
    """Return accuracy and macro-F1 (over the labels that occur in the truth)."""
    f1 = []
    for label in np.unique(truth):
        right = int(((guess == label) & (truth == label)).sum())
        both = int((guess == label).sum()) + int((truth == label).sum())
        f1.append(2.0 * right / both)
    return float((truth == guess).mean()), float(np.mean(f1))


def _mean(scores: Sequence[tuple[float, float]]) -> Score:
    figures = np.array(scores)
    spread: list[float | None] = [None, None]
    if len(figures) > 1:
        spread = figures.std(axis=0, ddof=1).tolist()
    mean = figures.mean(axis=0)
    return Score(float(mean[0]), spread[0], float(mean[1]), spread[1])
