"""Classifiers, by the name that --classifier takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dptext.directions import unit
from dptext.errors import UsageError
from dptext.metrics.similarity import Weighted
from dptext.models import package
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon

Labels = NDArray[np.int64]


class Classifier(Protocol):
    """Trained anew for each split."""

    def fit(self, texts: Sequence[str], labels: Labels) -> None:
        """Learn."""

    def predict(self, texts: Sequence[str]) -> Labels:
        """Guess."""


class Linear:
    """Logistic regression on TF-IDF of words and pairs of words, or mean vectors."""

    def __init__(self, lexicon: Lexicon | None = None) -> None:
        self._lexicon = lexicon
        self._model: Any = None

    def fit(self, texts: Sequence[str], labels: Labels) -> None:
        """Learn from texts."""
        linear = _sklearn("linear_model").LogisticRegression(max_iter=300, C=3.0)
        if self._lexicon is None:
            features = _sklearn("feature_extraction.text").TfidfVectorizer(
                sublinear_tf=True, ngram_range=(1, 2), min_df=2, dtype=np.float32
            )
        else:
            change = _sklearn("preprocessing").FunctionTransformer
            features = change(Vectors(self._lexicon))
        model = _sklearn("pipeline").make_pipeline(features, linear)
        try:
            model.fit(list(texts), labels)
        except ValueError:
            # No word occurs twice: guess the most frequent label.
            model = _sklearn("dummy").DummyClassifier().fit(list(texts), labels)
        self._model = model

    def predict(self, texts: Sequence[str]) -> Labels:
        """Guess the labels of texts."""
        return np.asarray(self._model.predict(list(texts)), np.int64)


def _sklearn(part: str) -> Any:
    return package(f"sklearn.{part}", "a classifier", "evaluate")


class Vectors:
    """Texts to the direction of the weighted mean of their words' vectors."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._vectors = Weighted(lexicon)
        self._tokenizer = Tokenizer(lexicon, Policy())

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return (texts, d), of length sqrt(d)."""
        words = self._tokenizer.words(list(texts))
        sums = self._vectors.of_texts(words.texts, words.ids, len(texts))
        return np.asarray(unit(sums) * np.sqrt(sums.shape[1]))


Make = Callable[[], Classifier]


def classifier(name: str, lexicon: Lexicon) -> Make:
    """Return what makes a classifier: tfidf, vectors, lstm, or the folder of a model.

    Raises UsageError for another name.
    """
    if name == "tfidf":
        return Linear
    if name == "vectors":
        return lambda: Linear(lexicon)
    from dptext.evaluation import neural

    if name == "lstm":
        return neural.Recurrent
    if not neural.is_model_folder(name):
        raise UsageError(
            f"--classifier {name}: give tfidf, vectors, lstm or a model's folder"
        )
    return lambda: neural.FineTuned(name)
