"""The scores of a profile with their weights, and the weighted mean over the words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import registry
from dptext.budgets import _sharing
from dptext.budgets.scores import Params, Score
from dptext.errors import UsageError
from dptext.settings import convert
from dptext.types import Lexicon, Words

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WeightedScore:
    """A score made ready, with its name and its weight > 0."""

    name: str
    weight: float
    score: Score

    @property
    def content(self) -> dict[str, str]:
        """Return the digests of what its settings name, and of another's code."""
        digests = dict(self.score.content)
        if code := registry.code("budgets.scores", self.name):
            digests |= {"code": code, "used": self.score.description}
        return {f"scores.{self.name}.{key}": value for key, value in digests.items()}

    @property
    def description(self) -> str:
        """Say name, weight and what it rests on."""
        return f"{self.name} (weight {self.weight:g}): {self.score.description}"

    def values(self, words: Words) -> Column:
        """Return the score of each word, (n,). Raises UsageError for what is none."""
        values = self.score.values(words)
        fits = values.shape == words.ids.shape
        if not fits or not (np.isfinite(values) & (values >= 0)).all():
            raise UsageError(
                f"the score {self.name} gave something else than numbers from 0 up"
            )
        return values


def prepare(
    settings: Mapping[str, object], lexicon: Lexicon
) -> tuple[WeightedScore, ...]:
    """Read a mapping from names to weights or settings; leave out what is off.

    Raises UsageError that names the key.
    """
    read = ((name, *_settings(name, value)) for name, value in settings.items())
    scores = tuple(
        WeightedScore(name, weight, params.prepare(lexicon))
        for name, weight, params in read
        if weight > 0
    )
    if not scores:
        raise UsageError(
            "budget: scores: none is on; name at least one, as in frequency: 1"
        )
    return scores


def combined(
    scores: tuple[WeightedScore, ...], words: Words
) -> tuple[Column, dict[str, Column]]:
    """Return the final score, (n,) sums to 1 over each text, and a column by score."""
    count = len(words.ends)
    columns: dict[str, Column] = {}
    final, weights = np.zeros(len(words.ids)), 0.0
    factor = np.ones(len(words.ids))
    for each in scores:
        columns[each.name] = values = each.values(words)
        if each.score.multiplies:
            factor *= np.maximum(1.0 + each.weight * (values - 1.0), 0.0)
            continue
        share = _sharing.normalized(values, words.texts, count)
        columns[f"{each.name} share"] = share
        final += each.weight * share
        weights += each.weight
    # Factors alone work on equal shares.
    mean = final / weights if weights else np.ones(len(final))
    return _sharing.normalized(mean * factor, words.texts, count), columns


def _settings(name: str, settings: object) -> tuple[float, Params]:
    location = f"budget: scores.{name}"
    kind = registry.find("budgets.scores", name).Params
    if not isinstance(settings, Mapping):
        settings = {"weight": settings}
    weight = settings.get("weight", 1.0)
    if not isinstance(weight, int | float) or not 0 <= weight <= 1e6:
        raise UsageError(
            f"{location}: the weight is a number from 0 to 1000000, true or false"
        )
    rest = {key: value for key, value in settings.items() if key != "weight"}
    return float(weight), convert(rest, kind, location, ("weight",))
