"""A total per text, shared by how much each word tells in its text: more, less epsilon.

Scores (dptext.budgets.scores) are each normalised to sum 1 over the text and averaged
with weights, s; then epsilon_i = E (1 / s_i) / sum_j (1 / s_j), clamped to [min, max]
with what that frees shared anew, so that the sum stays at most E. Such a split looks
at the private text: what is left of the guarantee is in docs/guarantees.md, 5.

Source: the epsilon-distributor thesis and "Spend Your Budget Wisely" (CODASPY 2025).
variant published is theirs: all words of a text share E, kept ones too, whose part
protects nothing; no clamps; a word that scores 0 takes next to everything. Theirs
leaves tokens with other characters than letters and digits without epsilon; here each
word that is replaced has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dptext import budgets
from dptext.budgets import Epsilon, _spans, _weighted
from dptext.budgets._weighted import fill, normalized
from dptext.randomness import RandomBits
from dptext.types import BudgetDescription, BudgetKind, Eps, Lexicon, Words

Column = NDArray[np.float64]
_LONGEST_TEXT = 1e9
# A score of 0 counts as this part of an equal share.
_LEAST = 1e-9
# Without min and max no word gets more than so many equal parts, or less than 1 / it.
_FOLD = 3.0


@dataclass(frozen=True, slots=True)
class Params(budgets.Params):
    """epsilon of a text, or epsilon_per_word times its replaced words: one of them.

    scores: weight, true or false, or {weight, ...parameters} by name. min and max of a
    word; by default a third of an equal part and three of them. form protective gives
    telling words less, proportional more. variant: this one or the published.
    """

    EXAMPLE: ClassVar = {"epsilon": 40.0}

    epsilon: Epsilon | None = None
    epsilon_per_word: Epsilon | None = None
    scores: dict[str, bool | float | dict[str, Any]] = field(
        default_factory=lambda: {"frequency": 1.0}
    )
    min: Epsilon | None = None
    max: Epsilon | None = None
    form: Literal["protective", "proportional"] = "protective"
    variant: Literal["clamped", "published"] = "clamped"

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other."""
        if (self.epsilon is None) == (self.epsilon_per_word is None):
            raise ValueError("give either epsilon or epsilon_per_word")
        if self.variant == "published" and self.epsilon is None:
            raise ValueError("variant published shares a total: give epsilon")
        if self.variant == "published" and (self.min or self.max):
            raise ValueError("variant published has no min and max")
        if self.max is not None and self.min is not None and self.max < self.min:
            raise ValueError("max is less than min")

    def prepare(self, lexicon: Lexicon) -> Linguistic:
        """Make the scores ready."""
        index: Mapping[str, int] = {}
        if self.variant == "published":
            index = lexicon.row_of
        return Linguistic(self, _weighted.prepare(self.scores, lexicon), index)

    def totals(self, sizes: Column | NDArray[np.int64]) -> Column:
        """Return the epsilon of texts with so many replaced words, (r,)."""
        if self.epsilon is not None:
            return np.full(len(sizes), self.epsilon)
        assert self.epsilon_per_word is not None
        return np.asarray(self.epsilon_per_word * sizes)

    def bounds(self, sizes: Column | NDArray[np.int64]) -> tuple[Column, Column]:
        """Return the least and the greatest epsilon of a word in such texts, (r,)."""
        totals = self.totals(sizes)
        if self.variant == "published":
            return np.zeros(len(sizes)), totals
        even = totals / np.maximum(sizes, 1)
        low = even / _FOLD if self.min is None else np.full(len(sizes), self.min)
        if self.max is None:
            return low, np.maximum(even * _FOLD, low)
        high = np.full(len(sizes), self.max)
        return np.minimum(low, high), high


@dataclass(frozen=True, slots=True)
class Linguistic(budgets.Budget):
    """The settings, the scores made ready, and rows by word for words that are kept."""

    params: Params
    scores: tuple[_weighted.WeightedScore, ...]
    index: Mapping[str, int]

    @property
    def content(self) -> dict[str, str]:
        """Return the digests of the models and the data that the scores read."""
        return {
            key: value for each in self.scores for key, value in each.content.items()
        }

    @property
    def description(self) -> BudgetDescription:
        """Say that anything in the text may choose, within a total or a rate."""
        params = self.params
        longest = np.array([_LONGEST_TEXT])
        low, high = (float(bound[0]) for bound in params.bounds(longest))
        if params.epsilon is not None:
            # In a short text a word may have all of it, in a long one next to nothing.
            low = min(low, params.epsilon / _LONGEST_TEXT)
            if params.variant == "published":
                # No floor but that of the weights: the least beside many of the most.
                low = params.epsilon * _LEAST / _LONGEST_TEXT**2
            high = min(params.max or params.epsilon, params.epsilon)
        elif params.epsilon_per_word is not None:
            low = min(low, params.epsilon_per_word)
        return BudgetDescription(
            BudgetKind.FREE,
            low * (1.0 - 1e-9),
            high,
            total=params.epsilon,
            rate=params.epsilon_per_word,
            used=tuple(f"Score {each.description}." for each in self.scores),
        )

    def spread(self, words: Words, bits: RandomBits) -> Eps:
        """Return each word's part of its text's total, (n,) float64."""
        return self._shares(words)[0]

    def columns(self, words: Words) -> Mapping[str, NDArray[np.generic]]:
        """Return columns over the words that share a total.

        text, position in the pieces, token, replaced; each score and its share; score,
        proportion (before clamping), epsilon.
        """
        _, shared, columns = self._shares(words)
        return {
            "text": shared.texts,
            "position": shared.positions,
            "token": np.array(_spans.bodies(shared), object),
            "replaced": np.isin(shared.positions, words.positions),
            **columns,
        }

    def _shares(self, words: Words) -> tuple[Eps, Words, dict[str, Column]]:
        """Return the epsilons of the words, all words that share, and their columns."""
        params = self.params
        count = len(words.ends)
        shared, replaced = words, np.arange(len(words.ids))
        if params.variant == "published":
            shared, replaced = _spans.every_token(words, self.index)
        final, columns = _weighted.combined(self.scores, shared)
        even = 1.0 / np.bincount(shared.texts, minlength=count)[shared.texts]
        weights = np.maximum(final, _LEAST * even)
        if params.form == "protective":
            weights = 1.0 / weights
        sizes = np.bincount(words.texts, minlength=count)
        low, high = params.bounds(sizes)
        totals = params.totals(sizes)
        eps = fill(weights, shared.texts, totals, low, high)
        columns["score"] = final
        columns["proportion"] = normalized(weights, shared.texts, count)
        columns["epsilon"] = eps
        return eps[replaced], shared, columns
