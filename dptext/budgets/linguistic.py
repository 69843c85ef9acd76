"""A total per text, divided so that more telling words get less epsilon.

Scores (dptext.budgets.scores) are each normalised to sum 1 over the text and averaged
with weights to s; then epsilon_i = E (1 / s_i) / sum_j (1 / s_j), clamped to [min,
max]. The rest is shared again, so that the sum stays at most E. Such a split depends on
the private text: docs/guarantees.md, 5, has the guarantee that remains.

Source: the epsilon-distributor thesis and "Spend Your Budget Wisely" (CODASPY 2025).
variant published is theirs: all words of a text share E, kept ones too, though their
part protects nothing; no clamps; a word that scores 0 takes next to everything. Theirs
leaves tokens with other characters than letters and digits without epsilon; here each
word that is replaced has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dptext import budgets, randomness, registry
from dptext.budgets import LONGEST_TEXT, Epsilon, scores
from dptext.budgets.scores import Score
from dptext.errors import UsageError
from dptext.settings import convert
from dptext.types import BudgetDescription, BudgetKind, Floats, Ints, Lexicon, Words

# This share of a total is not spent, so that rounded sums stay below it.
_HELD_BACK = 2.0**-40
# A score of 0 counts as this part of an equal share.
_LEAST = 1e-9
# Without min and max a word gets at most so many equal parts, and at least 1 / it.
_FOLD = 3.0


def normalized(values: Floats, texts: Ints, count: int) -> Floats:
    """Return values scaled to sum to 1 over each text: (n,).

    values (n,) >= 0; texts (n,) numbers each value's text, of `count` texts. A text
    with only zeros gets equal values.
    """
    sums = np.bincount(texts, values, minlength=count)
    even = 1.0 / np.maximum(np.bincount(texts, minlength=count), 1)
    shares = np.divide(values, sums[texts], out=even[texts], where=(sums > 0)[texts])
    return np.asarray(shares)


def fill(
    weights: Floats, texts: Ints, *, totals: Floats, low: Floats, high: Floats
) -> Floats:
    """Return clip(factor * weight, low, high), with one factor for each text: (n,).

    The factor makes the words of a text sum to its total. weights (n,) > 0;
    totals, low, high (r,), low <= high. If the sum of low exceeds the total, each word
    gets an equal part; if the sum of high is less, the rest of the total is not spent.
    """
    # Exact, in few rounds: words beyond a bound are fixed there and the rest is shared
    # again. Each round fixes only the side with the larger sum beyond its bounds: its
    # words are at their bounds in the solution, so that no fixed word is ever freed.
    count = len(totals)
    sizes = np.bincount(texts, minlength=count)
    totals = totals * (1.0 - _HELD_BACK)
    floor = np.minimum(low, totals / np.maximum(sizes, 1))[texts]
    ceiling = np.maximum(high[texts], floor)
    # If the total is all of low, or at least all of high, there is nothing to share.
    full = (high * sizes <= totals)[texts]
    free = (low * sizes < totals)[texts] & ~full
    eps = np.where(full, ceiling, floor)
    while free.any():
        fixed = np.bincount(texts, np.where(free, 0.0, eps), minlength=count)
        sums = np.bincount(texts, np.where(free, weights, 0.0), minlength=count)
        factor = (totals - fixed) / np.where(sums > 0, sums, 1.0)
        wanted = np.where(free, factor[texts] * weights, eps)
        surplus = np.bincount(texts, np.maximum(wanted - ceiling, 0), minlength=count)
        shortage = np.bincount(texts, np.maximum(floor - wanted, 0), minlength=count)
        capped = free & (wanted > ceiling) & (surplus >= shortage)[texts]
        raised = free & (wanted < floor) & (surplus < shortage)[texts]
        eps = np.where(capped, ceiling, np.where(raised, floor, wanted))
        newly_fixed = capped | raised
        # A text in which nothing was fixed is finished.
        again = np.bincount(texts, newly_fixed, minlength=count) > 0
        free &= again[texts] & ~newly_fixed
    return np.asarray(np.clip(eps, floor, ceiling))


@dataclass(frozen=True, slots=True)
class WeightedScore:
    """A prepared score with its name and its weight > 0."""

    name: str
    weight: float
    score: Score

    @property
    def content(self) -> dict[str, str]:
        """Return the digests of the score's files and of third-party code."""
        digests = dict(self.score.content)
        if code := registry.code("budgets.scores", self.name):
            digests |= {"code": code, "used": self.score.description}
        return {f"scores.{self.name}.{key}": value for key, value in digests.items()}

    @property
    def description(self) -> str:
        """Describe the score by name, weight and source, for reports."""
        return f"{self.name} (weight {self.weight:g}): {self.score.description}"

    def values(self, words: Words) -> Floats:
        """Return the scores, (n,). Raises UsageError unless all are finite and >= 0."""
        values = self.score.values(words)
        fits = values.shape == words.ids.shape
        if not fits or not (np.isfinite(values) & (values >= 0)).all():
            raise UsageError(
                f"the score {self.name} returned negative or non-finite values"
            )
        return values


def ready_scores(
    settings: Mapping[str, object], lexicon: Lexicon
) -> tuple[WeightedScore, ...]:
    """Prepare the named scores from their weights or settings; skip weight 0.

    Raises UsageError that names the key.
    """
    read = ((name, *_settings(name, value)) for name, value in settings.items())
    weighted = tuple(
        WeightedScore(name, weight, params.prepare(lexicon))
        for name, weight, params in read
        if weight > 0
    )
    if not weighted:
        raise UsageError(
            "budget: scores: no score is switched on; set at least one, such as "
            "frequency: 1"
        )
    return weighted


def combined(
    weighted: tuple[WeightedScore, ...], words: Words
) -> tuple[Floats, dict[str, Floats]]:
    """Return the combined scores (n,), which sum to 1 per text, and all columns."""
    count = len(words.ends)
    columns: dict[str, Floats] = {}
    final, weights = np.zeros(len(words.ids)), 0.0
    factor = np.ones(len(words.ids))
    for each in weighted:
        columns[each.name] = values = each.values(words)
        if each.score.multiplies:
            factor *= np.maximum(1.0 + each.weight * (values - 1.0), 0.0)
            continue
        share = normalized(values, words.texts, count)
        columns[f"{each.name} share"] = share
        final += each.weight * share
        weights += each.weight
    # With factors only, they apply to equal shares.
    mean = final / weights if weights else np.ones(len(final))
    return normalized(mean * factor, words.texts, count), columns


def _settings(name: str, settings: object) -> tuple[float, scores.Params]:
    location = f"budget: scores.{name}"
    kind = registry.find("budgets.scores", name).Params
    if not isinstance(settings, Mapping):
        settings = {"weight": settings}
    weight = settings.get("weight", 1.0)
    if not isinstance(weight, int | float) or not 0 <= weight <= 1e6:
        raise UsageError(
            f"{location}: the weight must be true, false or a number from 0 to 1000000"
        )
    rest = {key: value for key, value in settings.items() if key != "weight"}
    return float(weight), convert(rest, kind, location, ("weight",))


@dataclass(frozen=True, slots=True)
class Params(budgets.Params):
    """Settings of the budget: either epsilon or epsilon_per_word."""

    EXAMPLE: ClassVar = {"epsilon": 40.0}

    #: The total of a text.
    epsilon: Epsilon | None = None
    #: The total divided by the number of replaced words.
    epsilon_per_word: Epsilon | None = None
    #: By name: a weight, true or false, or {weight, ...settings of the score}.
    scores: dict[str, bool | float | dict[str, Any]] = field(
        default_factory=lambda: {"frequency": 1.0}
    )
    #: Limits of a word; None: a third of an equal part, and three of them.
    min: Epsilon | None = None
    max: Epsilon | None = None
    #: protective: telling words get less; proportional: more.
    form: Literal["protective", "proportional"] = "protective"
    variant: Literal["clamped", "published"] = "clamped"

    def __post_init__(self) -> None:
        """Reject settings that contradict each other."""
        if (self.epsilon is None) == (self.epsilon_per_word is None):
            raise ValueError("give either epsilon or epsilon_per_word")
        if self.variant == "published" and self.epsilon is None:
            raise ValueError("variant published shares a total: give epsilon")
        if self.variant == "published" and (self.min or self.max):
            raise ValueError("variant published takes no min or max")
        if self.max is not None and self.min is not None and self.max < self.min:
            raise ValueError("max is less than min")

    def prepare(self, lexicon: Lexicon) -> Linguistic:
        """Prepare the scores."""
        index: Mapping[str, int] = {}
        if self.variant == "published":
            index = lexicon.row_of
        return Linguistic(self, ready_scores(self.scores, lexicon), index)

    def totals(self, sizes: Floats | Ints) -> Floats:
        """Return the total epsilon of texts with these numbers of words: (r,)."""
        if self.epsilon is not None:
            return np.full(len(sizes), self.epsilon)
        assert self.epsilon_per_word is not None
        return np.asarray(self.epsilon_per_word * sizes)

    def bounds(self, sizes: Floats | Ints) -> tuple[Floats, Floats]:
        """Return minimum and maximum epsilon per word in texts of these sizes: (r,)."""
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
    """Budget that divides a text's total by scores of its words."""

    params: Params
    scores: tuple[WeightedScore, ...]
    #: Rows by word, for unchanged words; empty unless these share the total.
    index: Mapping[str, int]

    @property
    def content(self) -> dict[str, str]:
        """Return the digests of the models and data that the scores use."""
        return {k: v for each in self.scores for k, v in each.content.items()}

    @property
    def description(self) -> BudgetDescription:
        """Describe epsilons that depend on the whole text, within a total or a rate."""
        params = self.params
        longest = np.array([LONGEST_TEXT])
        low, high = (float(bound[0]) for bound in params.bounds(longest))
        if params.epsilon is not None:
            # A word may get all of it in a short text, almost nothing in a long one.
            low = min(low, params.epsilon / LONGEST_TEXT)
            if params.variant == "published":
                # Only weights have a floor: one least among many of the largest.
                low = params.epsilon * _LEAST / LONGEST_TEXT**2
            high = min(params.max or params.epsilon, params.epsilon)
        elif params.epsilon_per_word is not None:
            low = min(low, params.epsilon_per_word)
        return BudgetDescription(
            BudgetKind.FREE,
            low * (1.0 - 1e-9),  # sums of shares are rounded
            high,
            total=params.epsilon,
            rate=params.epsilon_per_word,
            used=tuple(f"Score {each.description}." for each in self.scores),
        )

    def spread(self, words: Words, bits: randomness.RandomBits) -> Floats:
        """Return each word's share of its text's total: (n,) float64."""
        return self._shares(words)[0]

    def columns(self, words: Words) -> Mapping[str, NDArray[np.generic]]:
        """Return inspection columns for the words that share a total.

        They are text, position in the pieces, token, replaced; each score and its
        share; score, proportion (before clamping), epsilon.
        """
        _, shared, columns = self._shares(words)
        return {
            "text": shared.texts,
            "position": shared.positions,
            "token": np.array(scores.bodies(shared), object),
            "replaced": np.isin(shared.positions, words.positions),
            **columns,
        }

    def _shares(self, words: Words) -> tuple[Floats, Words, dict[str, Floats]]:
        """Return the epsilons (n,), the words that share totals, and their columns."""
        params = self.params
        count = len(words.ends)
        shared, replaced = words, np.arange(len(words.ids))
        if params.variant == "published":
            shared, replaced = scores.every_token(words, self.index)
        final, columns = combined(self.scores, shared)
        even = 1.0 / np.bincount(shared.texts, minlength=count)[shared.texts]
        weights = np.maximum(final, _LEAST * even)
        if params.form == "protective":
            weights = 1.0 / weights
        sizes = np.bincount(words.texts, minlength=count)
        low, high = params.bounds(sizes)
        totals = params.totals(sizes)
        eps = fill(weights, shared.texts, totals=totals, low=low, high=high)
        columns["score"] = final
        columns["proportion"] = normalized(weights, shared.texts, count)
        columns["epsilon"] = eps
        return eps[replaced], shared, columns
