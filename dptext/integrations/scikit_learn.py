"""Scikit-learn transformers that release sanitized texts or noisy vectors.

`fit` uses no values. Each call of `transform` draws anew, so that the losses of
several calls on the same data add up; with a key, equal rows at equal positions give
equal results. Scikit-learn shows and pickles the parameters of estimators: give a key
as the path of its file, which stays a secret, rather than as bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dptext import api, keywords, sanitizer
from dptext.engine.request import open_key
from dptext.errors import MissingExtra
from dptext.mechanisms import NoiseMechanism, gaussian
from dptext.randomness import Randomness
from dptext.run.python import CHOICES, fill, takes
from dptext.run.work import Keys
from dptext.types import Record
from dptext.vectors import release

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra.for_package("a scikit-learn transformer", "evaluate") from None

Tags = Any  # of scikit-learn, which has no types
_ROWS = 4096


# No set_output: a step after it would take the columns of a frame for texts.
class PrivateText(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg,misc]
    """Sanitizes texts like `dptext.privatize`: (n_texts,) -> list of n_texts.

    Parameters are as for `dptext.privatize`. Feature names pass through, so
    later steps have them.

    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> words = make_pipeline(PrivateText(risk="10%"), TfidfVectorizer())
    >>> words.fit_transform(["Call me at noon.", "The room was clean."]).shape[0]
    2
    """

    @takes(*CHOICES)
    def __init__(
        self,
        profile: str | None = None,
        *,
        overrides: Mapping[str, object] | None = None,
        **choices: Unpack[keywords.ChoiceKeywords],
    ) -> None:
        self.profile, self.overrides = profile, overrides
        # Scikit-learn reads each parameter back, also those that were not given.
        for each in CHOICES:
            setattr(self, each.name, choices.get(each.name, each.default))

    def fit(self, X: Iterable[str], y: object = None) -> PrivateText:
        """Do nothing: no data is used."""
        return self

    def transform(self, X: Iterable[str]) -> list[str]:
        """Replace the words of each text."""
        _check_several(X)
        once = sanitizer.Sanitizer.for_one_call(**self.get_params(), report=False)
        return once.texts(X)

    def get_feature_names_out(
        self, input_features: Sequence[str] | None = None
    ) -> NDArray[np.object_]:
        """Return the texts' feature name: the given one, or "text"."""
        return np.asarray(
            ["text"] if input_features is None else input_features, object
        )

    def __sklearn_tags__(self) -> Tags:
        return _of_texts(super().__sklearn_tags__(), self.key)


class TextVectors(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Releases text vectors like `dptext.embed`: (n_texts,) -> (n_texts, m) float32.

    Parameters are as for `dptext.embed`. The pool "word" raises ValueError, since it
    gives several rows per text.
    """

    def __init__(
        self,
        pool: str = "mean",
        model: str | None = None,
        mechanism: str = "discrete-gaussian",
        epsilon: float = 8.0,
        lexicon: str = "builtin",
        overrides: Mapping[str, object] | None = None,
        key: bytes | str | None = None,
    ) -> None:
        self.pool = pool
        self.model = model
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.lexicon = lexicon
        self.overrides = overrides
        self.key = key

    def fit(self, X: Iterable[str], y: object = None) -> TextVectors:
        """Do nothing: there is no data to fit."""
        return self

    def transform(self, X: Iterable[str]) -> NDArray[np.float32]:
        """Release the vector of each text."""
        if self.pool == "word":
            msg = "pool: a text has no single row with pool='word'; use dptext.embed"
            raise ValueError(msg)
        _check_several(X)
        choices = self.get_params()
        released = api.embed(X, choices.pop("overrides"), **choices)
        assert isinstance(released.values, np.ndarray)
        return released.values

    def __sklearn_tags__(self) -> Tags:
        return _of_texts(super().__sklearn_tags__(), self.key)


def _check_several(texts: Iterable[str]) -> None:
    """Raise ValueError if given a single text instead of several."""
    if isinstance(texts, str):
        msg = "Iterable over raw text documents expected, string object received."
        raise ValueError(msg)


def _of_texts(tags: Tags, key: object) -> Tags:
    """Mark an estimator's tags as taking texts."""
    tags.input_tags.two_d_array = False
    tags.input_tags.string = True
    tags.non_deterministic = key is None
    tags.requires_fit = False
    return tags


class PrivateVectors(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A noise layer that releases vectors privately: (n, d) -> (n, m) float32.

    Each row is clipped to length `clip` and released as by `dptext embed`: with
    epsilon, or (epsilon, delta), for any two rows. For laplace and privemb epsilon is
    per unit of distance, and `dimensions` is m.
    """

    def __init__(
        self,
        mechanism: str = "discrete-gaussian",
        epsilon: float = 8.0,
        delta: float = 1e-5,
        clip: float = 1.0,
        dimensions: int | None = None,
        key: bytes | str | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.delta = delta
        self.clip = clip
        self.dimensions = dimensions
        self.key = key

    def fit(self, X: ArrayLike, y: object = None) -> PrivateVectors:
        """Prepare the mechanism for the number of columns, without using values."""
        validate_data(self, X, dtype=np.float64)
        optional = {"delta": self.delta, "dimensions": self.dimensions}
        self.mechanism_ = release.prepare_mechanism(
            self.mechanism,
            width=self.n_features_in_,
            longest=self.clip,
            epsilon=self.epsilon,
            optional=optional,
        )
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """Release each row with noise."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        key = open_key(fill(Keys, {"key": self.key}))
        mechanism: NoiseMechanism = self.mechanism_
        settings = f"{mechanism.identity!r} {float(self.epsilon)!r}"
        randomness = Randomness(key, settings)
        nonces = [
            randomness.nonce(Record(number, (row.tobytes().hex(),), None))
            for number, row in enumerate(rows)
        ]
        bits = randomness.bits(nonces, np.arange(len(rows)))
        blocks = []
        for part in np.split(np.arange(len(rows)), range(_ROWS, len(rows), _ROWS)):
            at = mechanism.position(gaussian.clip(rows[part], self.clip))
            blocks.append(mechanism.release(at, self.epsilon, bits.take(part)))
        return mechanism.finite(np.concatenate(blocks))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Equal rows at other positions get other noise, key or not.
        tags.non_deterministic = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
