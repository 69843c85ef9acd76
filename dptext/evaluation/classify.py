"""Classifiers on private texts: utility, and attacks on an attribute.

Classifiers are named as for --classifier. Splits are stratified and the same for
original and private texts; MEANINGS explains the scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dptext.errors import UsageError
from dptext.metrics.similarity import Weighted
from dptext.models import need, package
from dptext.noise import unit
from dptext.report.figures import accuracy
from dptext.run.interface import noun
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Floats, Ints, Lexicon, blocks

_NAMES = ("tfidf", "vectors")
# What needs the packages of classifiers, and the extra that brings them.
_LINEAR = "a classifier", "evaluate"
_FINE_TUNED = "a Hugging Face classifier", "semantic"
TEST = 0.25  # share of the texts that a split tests on
_LEAST = 8  # texts of the rarest label
MEANINGS = {
    "original": "trained and tested on originals, before anything was released",
    "private": (
        "trained and tested on private texts: a user of the released file, or an "
        "attacker who has released texts of known value and adapts"
    ),
    "static": (
        "trained on originals, tested on private texts: a user or an attacker with "
        "original texts of the same kind and known value, who does not adapt"
    ),
}


class Classifier(Protocol):
    """A classifier that is retrained for each split."""

    def fit(self, texts: Sequence[str], labels: Ints) -> None:
        """Train on texts and labels."""

    def predict(self, texts: Sequence[str]) -> Ints:
        """Predict the labels of texts."""


class Linear:
    """Logistic regression on TF-IDF of words and word pairs, or on mean vectors."""

    def __init__(self, lexicon: Lexicon | None = None) -> None:
        self._lexicon = lexicon
        self._model: Any = None

    def fit(self, texts: Sequence[str], labels: Ints) -> None:
        """Train on texts and labels."""
        linear = _sklearn("linear_model").LogisticRegression(max_iter=300, C=3.0)
        if self._lexicon is None:
            features = _sklearn("feature_extraction.text").TfidfVectorizer(
                sublinear_tf=True, ngram_range=(1, 2), min_df=2, dtype=np.float32
            )
        else:
            features = _sklearn("preprocessing").FunctionTransformer(self._means)
        model = _sklearn("pipeline").make_pipeline(features, linear)
        try:
            model.fit(list(texts), labels)
        except ValueError:
            # No word occurs twice: guess the most frequent label.
            model = _sklearn("dummy").DummyClassifier().fit(list(texts), labels)
        self._model = model

    def predict(self, texts: Sequence[str]) -> Ints:
        """Predict the labels of texts."""
        return np.asarray(self._model.predict(list(texts)), np.int64)

    def _means(self, texts: Sequence[str]) -> Floats:
        """Return normalised weighted means of word vectors: (texts, d).

        Each row has length sqrt(d).
        """
        assert self._lexicon is not None
        words = Tokenizer(self._lexicon, Policy()).words(list(texts))
        sums = Weighted(self._lexicon).sums(words.texts, words.ids, len(texts))
        return np.asarray(unit(sums) * np.sqrt(sums.shape[1]))


def _sklearn(part: str) -> Any:
    return package(f"sklearn.{part}", *_LINEAR)


class FineTuned:
    """A Hugging Face model with a new head, trained for a few epochs with a seed."""

    _LENGTH, _BATCH, _EPOCHS, _RATE = 128, 32, 2, 5e-5

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._model: Any = None
        self._tokenizer: Any = None

    def fit(self, texts: Sequence[str], labels: Ints) -> None:
        """Train all weights with cross-entropy loss."""
        torch = self._package("torch")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self._load(int(labels.max()) + 1)
            self._model.train()
            optimizer = torch.optim.AdamW(self._model.parameters(), lr=self._RATE)
            rng = np.random.default_rng(0)
            for _ in range(self._EPOCHS):
                order = rng.permutation(len(texts))
                for rows in (order[part] for part in blocks(len(order), self._BATCH)):
                    logits = self._logits([texts[row] for row in rows])
                    target = torch.from_numpy(labels[rows])
                    optimizer.zero_grad()
                    torch.nn.functional.cross_entropy(logits, target).backward()
                    optimizer.step()
            self._model.eval()

    def predict(self, texts: Sequence[str]) -> Ints:
        """Predict the labels of texts."""
        with self._package("torch").inference_mode():
            guesses = [
                self._logits(texts[part]).argmax(dim=1).numpy()
                for part in blocks(len(texts), self._BATCH)
            ]
        return np.concatenate(guesses)

    def _package(self, name: str) -> Any:
        return package(name, *_FINE_TUNED)

    def _load(self, classes: int) -> None:
        """Load the model for a given number of classes."""
        library = self._package("transformers")
        library.utils.logging.set_verbosity_error()
        library.utils.logging.disable_progress_bar()
        here = {"local_files_only": True}
        head = {"num_labels": classes, "ignore_mismatched_sizes": True}
        load = library.AutoModelForSequenceClassification.from_pretrained
        try:
            split = library.AutoTokenizer.from_pretrained(self._folder, **here)
            self._tokenizer, self._model = split, load(self._folder, **here, **head)
        except (OSError, ValueError):
            raise UsageError(
                f"{noun('classifier')} {self._folder}: the model cannot be loaded; "
                "give another folder"
            ) from None

    def _logits(self, texts: Sequence[str]) -> Any:
        """Return the logits: a tensor (texts, classes)."""
        cut = {"padding": True, "truncation": True, "max_length": self._LENGTH}
        tokens = self._tokenizer(list(texts), **cut, return_tensors="pt")
        return self._model(**tokens).logits


Make = Callable[[], Classifier]


def check_classifier(name: str) -> None:
    """Raise UsageError for an unknown classifier name."""
    if name not in _NAMES and not (Path(name) / "config.json").is_file():
        raise UsageError(
            f"{noun('classifier')} {name}: give {', '.join(_NAMES)} or the folder of "
            "a model"
        )


def need_packages(name: str) -> None:
    """Raise MissingExtra if a classifier's packages are missing."""
    if name in _NAMES:
        need("sklearn", *_LINEAR)
    else:
        need("torch", *_FINE_TUNED)
        need("transformers", *_FINE_TUNED)


def make_classifier(name: str, lexicon: Lexicon) -> Make:
    """Return a classifier factory for tfidf, vectors, or a model's folder."""
    if name == "tfidf":
        return Linear
    if name == "vectors":
        return lambda: Linear(lexicon)
    return lambda: FineTuned(name)


@dataclass(frozen=True, slots=True)
class ClassifierScore:
    """Mean over the splits and their standard deviation (None for one split)."""

    accuracy: float
    accuracy_sd: float | None
    macro_f1: float
    macro_f1_sd: float | None

    def __str__(self) -> str:
        """Format the accuracy, with its standard deviation if there is one."""
        return accuracy(self.accuracy, self.accuracy_sd)


@dataclass(frozen=True, slots=True)
class LabelTask:
    """One field to predict; chance: share of the most frequent class.

    original, private and static: see MEANINGS.
    """

    field: str
    classifier: str
    texts: int
    classes: int
    splits: int
    chance: float
    original: ClassifierScore
    private: ClassifierScore
    static: ClassifierScore


def learn(
    field: str,
    values: Sequence[str | None],
    before: Sequence[str],
    after: Sequence[str],
    name: str,
    make: Make,
    splits: int,
) -> LabelTask:
    """Train and test classifiers of a field on original and private texts.

    values: the labels, None to skip a text; texts are in the same order. make gives an
    untrained classifier, name is its name. Raises UsageError if there is nothing to
    learn.
    """
    counts = Counter(value for value in values if value is not None)
    classes, known = sorted(counts), counts.total()
    if not counts:
        raise UsageError(
            f"field {field!r} cannot be a label: no record has a value for it"
        )
    if len(classes) < 2 or min(counts.values()) < _LEAST or len(classes) > known / 4:
        raise UsageError(
            f"field {field!r} cannot be a label: it needs at least two values with at "
            f"least {_LEAST} texts each"
        )
    rows: dict[str | None, int] = {value: row for row, value in enumerate(classes)}
    labels = np.array([rows.get(value, -1) for value in values], np.int64)
    scores = []
    for seed in range(splits):
        train, test = _split(labels, seed)
        of_originals, of_private = make(), make()
        of_originals.fit([before[row] for row in train], labels[train])
        of_private.fit([after[row] for row in train], labels[train])
        tested = (of_originals, before), (of_private, after), (of_originals, after)
        guesses = (each.predict([texts[row] for row in test]) for each, texts in tested)
        scores.append([_scores(labels[test], guess) for guess in guesses])
    original, private, static = map(_mean, np.array(scores).swapaxes(0, 1))
    return LabelTask(
        field=field,
        classifier=name,
        texts=known,
        classes=len(classes),
        splits=splits,
        chance=max(counts.values()) / known,
        original=original,
        private=private,
        static=static,
    )


def _split(labels: Ints, seed: int) -> tuple[Ints, Ints]:
    """Return training and test rows, stratified by label."""
    rng = np.random.default_rng(seed)
    train, test = [], []
    for label in range(int(labels.max()) + 1):
        rows = rng.permutation(np.flatnonzero(labels == label))
        cut = max(1, round(TEST * len(rows)))
        test.append(rows[:cut])
        train.append(rows[cut:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def _scores(truth: Ints, guess: Ints) -> tuple[float, float]:
    """Return accuracy and macro-F1 over the labels that occur in the truth."""
    f1 = []
    for label in np.unique(truth):
        right = int(((guess == label) & (truth == label)).sum())
        both = int((guess == label).sum()) + int((truth == label).sum())
        f1.append(2.0 * right / both)
    return float((truth == guess).mean()), float(np.mean(f1))


def _mean(figures: Floats) -> ClassifierScore:
    """Average accuracy and macro-F1 over splits: (splits, 2)."""
    accuracy, f1 = figures.mean(axis=0).tolist()
    if len(figures) < 2:
        return ClassifierScore(accuracy, None, f1, None)
    of_accuracy, of_f1 = figures.std(axis=0, ddof=1).tolist()
    return ClassifierScore(accuracy, of_accuracy, f1, of_f1)
