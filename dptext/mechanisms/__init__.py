"""Mechanisms: the randomised step, one file or package each.

A mechanism is a module (or package) with
- a docstring with the sections Guarantee, Source, Known gaps and Example, a command
  that works; Instead, where a form of it promises nothing;
- `Params`, a frozen dataclass and subclass of `mechanisms.Params`: the settings in a
  profile, with `family` and `prepare(space, aim)`, which does the public work once and
  returns the mechanism itself;
- that mechanism: a frozen dataclass and subclass of `WordMechanism` (words out),
  `NoiseMechanism` (vectors out, a mapping finds words) or `TextMechanism` (words out,
  each drawn by a look at its whole text).

Abstract methods of these classes are required; all others have a default. A
`NoiseMechanism` defines `noise` or `sample`.
In all of them:
- space, a `dptext.spaces.Space`: `size` is V, the number of words that can be written;
  `vectors` (V + 1, d) float32, the last row for unknown words; `lexicon.counts` (V,);
- ids (n,) int32, rows of V or -1 for an unknown word; eps (n,) float64 > 0, the epsilon
  of each word; losses and slack are in nats;
- bits, a `dptext.randomness.RandomBits`, always last, the only source of randomness, in
  numbered lanes: `integers(lane, lanes=1)` (n, 2 * lanes) uint64, `uniform(lane,
  lanes=1)` the same as float64 strictly between 0 and 1, `normal(lane, width)`
  (n, width), and `below(integers, bound)`. Different lanes are independent, the same
  lane gives the same bits again: each draw needs another lane, from 0 up to 2^28.
docs/extending.md has a whole mechanism, which the tests install and audit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dptext import noise, registry
from dptext.arrays import Likeliest
from dptext.arrays import log_normalised as log_normalised  # for plug-ins
from dptext.errors import ComponentError, UsageError
from dptext.geometry import distances_by_id
from dptext.noise import WIDTH
from dptext.randomness import RandomBits
from dptext.settings import Prepared
from dptext.spaces import Geometry, Space
from dptext.types import (
    Constant,
    Eps,
    Floats,
    Guarantee,
    Ids,
    Inputs,
    Ints,
    Notion,
    Points,
    Words,
    blocks,
)

# Limits of the epsilon of a word. Outside of them quotients of epsilon, distances,
# scales and clips lose digits.
LEAST_EPSILON, LARGEST_EPSILON = 1e-40, 1e7
# Begin and end of frequency bands, by row of the vocabulary.
Bands = Sequence[tuple[int, int]]


def known_words_bound(bound: Floats | float, a: Ids, b: Ids) -> Floats:
    """Return a published bound, inf for the unknown word, which papers omit."""
    return np.where((a < 0) | (b < 0), np.inf, bound)


def distance_bound(space: Space, a: Ids, b: Ids, epsilon: float) -> Floats:
    """Return epsilon times the distance, inf for the unknown word: (n,)."""
    return known_words_bound(epsilon * distances_by_id(space, a, b), a, b)


class Family(StrEnum):
    """The kind of mechanism: single words, noisy vectors or whole texts."""

    WORDS = "words"
    NOISE = "noise"
    TEXTS = "texts"


@dataclass(frozen=True, slots=True)
class Aim:
    """What a profile aims at: a risk, a word's epsilon, or neither."""

    #: Success of the best guess of a word, for the prior.
    risk: float | None = None
    #: Of the words: (V,).
    prior: Floats | None = None
    epsilon: float | None = None


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """The settings of a mechanism: fields with types, bounds and defaults."""

    family: ClassVar[Family] = Family.WORDS

    @property
    def needs_one_epsilon(self) -> bool:
        """Return whether `prepare` works only for a single given epsilon."""
        return False

    def check(self) -> None:  # noqa: B027 - most need nothing
        """Raise UsageError for a missing model or package; must be fast."""

    @abstractmethod
    def prepare(self, space: Space, aim: Aim) -> Mechanism:
        """Prepare the mechanism; the aim may choose settings.

        Raises UsageError if the lexicon or the space cannot be used.
        """


class RiskEstimate(Protocol):
    """Estimates the success of guesses at any epsilon, only for searches."""

    #: The success grows at most like exp(drift epsilon).
    drift: float

    def success(self, epsilon: float) -> float:
        """Estimate the success rate of the best guess."""

    def learn(self, epsilon: float) -> None:
        """Improve the estimate near an epsilon, with a pass over all words."""


@dataclass(frozen=True, eq=False)
class Mechanism(Prepared, ABC):
    """A mechanism prepared for a space."""

    #: Above this an epsilon is refused as meaningless.
    largest_epsilon: ClassVar[float] = LARGEST_EPSILON

    #: The settings that it was made from.
    params: Params
    space: Space

    @property
    def name(self) -> str:
        """Return the mechanism's name in profiles."""
        return registry.component_name("mechanisms", type(self.params).__module__)

    @property
    def identity(self) -> tuple[object, ...]:
        """Return everything except epsilon that determines the output distribution."""
        space = self.space
        return (space.lexicon.digest, space.identity, self.name, asdict(self.params))

    @property
    def settings_before_aim(self) -> Mapping[str, object]:
        """Return the settings that the aim replaced, with their previous values.

        Mechanisms that differ only in these belong to the same ladder of risks.
        """
        return {}

    @abstractmethod
    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee for one application to one word, as data."""

    def check(self, epsilon: float) -> None:
        """Raise UsageError if no word can be drawn at an epsilon."""
        if not LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
            raise UsageError(
                f"epsilon: {epsilon:.3g} for a word is outside the computed range, "
                f"{LEAST_EPSILON:g} to {LARGEST_EPSILON:g} (a total is shared by up "
                "to 1e9 words)"
            )
        self.supports(epsilon)

    def supports(self, epsilon: float) -> None:
        """Raise UsageError if the mechanism is not defined at an epsilon."""
        if epsilon > self.largest_epsilon:
            raise UsageError(
                f"epsilon: {epsilon:g} is too large to mean anything; {self.name} "
                f"takes up to {self.largest_epsilon:g}"
            )

    def is_defined(self, epsilon: float) -> bool:
        """Return whether a word can be drawn at an epsilon."""
        try:
            self.check(epsilon)
        except UsageError:
            return False
        return True

    def numerical_slack(self, epsilon: float) -> float | None:
        """Return the nats that finite random bits may add to the loss.

        None: unbounded (floating-point noise).
        """
        return None

    @property
    def geometry(self) -> Geometry:
        """Return the public distances over V in the guarantee's metric."""
        return self.space.geometry

    def claimed_loss(self, a: Ids, b: Ids, epsilon: float) -> Floats:
        """Return the claimed bound on the loss of pairs of inputs: (n,).

        By default epsilon times the distance if the guarantee is in the metric of the
        space, else the bound for any two words; inf without a guarantee.
        """
        promise = self.guarantee(epsilon)
        if promise.counts(self.space.distance):
            return epsilon * distances_by_id(self.space, a, b)
        most = promise.worst(epsilon) if promise.notion is not Notion.NONE else np.inf
        return np.full(len(a), most)

    def published_loss(self, a: Ids, b: Ids, epsilon: float) -> Floats | None:
        """Return the paper's bound for a mechanism without a guarantee: (n,).

        inf for pairs that the paper omits; None if the guarantee is the paper's.
        """
        return None

    def least_loss(self) -> tuple[float, tuple[int, int]] | None:
        """Return a proven lower bound on the worst loss at every epsilon, or None.

        Includes two words (x, x') that have at least this loss at output x.
        """
        return None

    @property
    def has_log_probs(self) -> bool:
        """Return whether `log_probs` gives exact output distributions."""
        return type(self).log_probs is not Mechanism.log_probs

    @property
    def has_log_density(self) -> bool:
        """Return whether `log_density` gives the density of `observe`."""
        return type(self).log_density is not Mechanism.log_density

    def _lacks(self, feature: str) -> TypeError:
        return TypeError(f"mechanism {self.name} has no {feature} to ask for")

    def log_probs(self, ids: Ids, eps: Eps) -> Floats:
        """Return normalised ln P(y|x) for each word and output: (n, V) float64.

        -inf for words that are never written. Called only if `has_log_probs`.
        """
        raise self._lacks("output distribution")

    def probs(self, ids: Ids, epsilon: float) -> Floats:
        """Return P(y|x) for each word and output at one epsilon: (n, V)."""
        log_probs = self.log_probs(ids, np.full(len(ids), epsilon))
        return np.exp(log_probs, out=log_probs)

    def log_probs_of_pairs(self, inputs: Ids, outputs: Ids, eps: Eps) -> Floats:
        """Return ln P(y|x) for (input, output) pairs: (m,).

        Uses rows of `log_probs`; mechanisms with a closed form override this.
        """
        logs = np.empty(len(inputs))
        order = np.lexsort((eps, inputs))
        inside, parts = inputs[order], eps[order]
        new = (np.diff(inside, prepend=-2) != 0) | (np.diff(parts, prepend=-1.0) != 0)
        row, first = np.cumsum(new) - 1, np.flatnonzero(new)
        for part in blocks(len(first), max(1, 2**20 // self.space.size)):
            at = first[part]
            rows = self.log_probs(inside[at], parts[at])
            here = (row >= part.start) & (row < part.stop)
            logs[order[here]] = rows[row[here] - part.start, outputs[order[here]]]
        return logs

    def observe(self, ids: Ids, eps: Eps, bits: RandomBits) -> NDArray[np.float32]:
        """Return what the strongest attacker sees, including the output: (n, j).

        Called only if `has_log_density`.
        """
        raise self._lacks("observation")

    def log_density(
        self, observed: NDArray[np.floating], eps: Eps, words: Ids
    ) -> NDArray[np.floating]:
        """Return the log density of observations given each word as the input.

        observed (n, j), words (m,) -> (n, m), up to a constant for each observation,
        in the precision of observed. Called only if `has_log_density`.
        """
        raise self._lacks("density")

    def best_guesses(self, prior: Floats, epsilon: float, bands: Bands) -> Floats:
        """Return max of prior(x) P(y|x) over x in each band: (bands, V).

        Uses rows of `log_probs`; mechanisms with a closed form override this.
        """
        size = len(prior)
        best = np.zeros((len(bands), size))
        for number, (begin, end) in enumerate(bands):
            for part in blocks(end, max(1, 2**20 // size), begin):
                ids = np.arange(part.start, part.stop, dtype=np.int32)
                joint = self.probs(ids, epsilon)
                joint *= prior[ids][:, None]
                np.maximum(best[number], joint.max(axis=0), out=best[number])
        return best

    def likeliest_inputs(
        self, prior: Floats, eps: Eps, count: int
    ) -> tuple[Ids, Floats]:
        """Return for each output the inputs x with largest prior(x) P(y|x), best first.

        prior and eps (V + 1,), the last for the unknown word, which is row V -> rows
        (V, c) int32 and ln P(y|x), (V, c), -inf for missing inputs; c is count, or
        V + 1 if that is less. Ties go to the smaller row. Computed from rows of
        `log_probs`; mechanisms with a closed form override this.
        """
        size = len(prior) - 1
        likeliest = Likeliest(size, min(count, len(prior)))
        for part in blocks(len(prior), max(1, 2**20 // size)):
            rows = part.start + np.flatnonzero(prior[part] > 0.0)
            ids = np.where(rows < size, rows, -1).astype(np.int32)
            likeliest.add(rows, prior[rows], self.log_probs(ids, eps[rows]))
        return likeliest.result()

    @property
    def has_best_guesses(self) -> bool:
        """Return whether `best_guesses` has a closed form, so it is fast."""
        return type(self).best_guesses is not Mechanism.best_guesses

    def risk_estimate(self, prior: Floats) -> RiskEstimate | None:
        """Return an estimate if `best_guesses` is too slow for searches, else None."""
        return None


@dataclass(frozen=True, eq=False)
class WordMechanism(Mechanism):
    """A mechanism that maps words to words, one by one."""

    @abstractmethod
    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw an output for each word: ids (n,), eps (n,) -> (n,) int32."""


@dataclass(frozen=True, eq=False)
class SetMechanism(WordMechanism):
    """A mechanism that maps a word to a set of words; `sample` gives one of them.

    Topics of whole texts are written as the whole set (`sets`). Its distribution is not
    that of a single member, so there are no `log_probs`.
    """

    @property
    @abstractmethod
    def together(self) -> int:
        """Return k, the number of words in a set."""

    @abstractmethod
    def held(self, epsilon: float) -> float:
        """Return the probability that a set contains its input."""

    @abstractmethod
    def sets(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a set for each word: ids (n,), eps (n,) -> (n, k) int32, ascending.

        With the same bits, `sample` gives a member of the same set.
        """


@dataclass(frozen=True, eq=False)
class NoiseMechanism(Mechanism):
    """A mechanism that maps words to noisy vectors; a mapping finds words for them."""

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Points:
        """Add noise to each word's vector: ids (n,), eps (n,) -> (n, d) float32.

        Uses `noise`; overridden if the noise depends on the word.
        """
        return noise.add_noise(self.centres(ids, eps), self.noise(eps, bits))

    def centres(self, ids: Ids, eps: Eps) -> NDArray[np.floating]:
        """Return the vectors before noise is added: ids (n,), eps (n,) -> (n, d)."""
        return self.output_vectors[ids]

    @property
    def output_vectors(self) -> NDArray[np.float32]:
        """Return the words' noiseless output vectors, for a mapping: (V + 1, d)."""
        return self.space.vectors

    @property
    def inputs(self) -> NDArray[np.float32]:
        """Return the input vectors; `position` also accepts their means: (V + 1, d)."""
        return self.output_vectors

    @property
    def compared(self) -> NDArray[np.float32]:
        """Return word vectors to compare released ones with: (V + 1, j)."""
        return self.space.vectors

    def position(self, vectors: Floats) -> Floats:
        """Return the points that noise is added to: (n, d) -> (n, m) float64."""
        return vectors

    def guarantee_over(self, inputs: Inputs, epsilon: float) -> Guarantee:
        """Return the guarantee for one application to any of these inputs.

        For Inputs.VECTORS, stretch is in the Euclidean distance of the inputs. Raises
        UnprovenError if it is proven only for fewer inputs.
        """
        Constant(1.0, Inputs.WORDS).over(inputs)
        return self.guarantee(epsilon)

    def noise(self, eps: Eps, bits: RandomBits) -> Floats:
        """Return noise, identically distributed for all words: eps (n,) -> (n, m).

        Called only if `has_noise`: then any vector can be released, not only those of
        words.
        """
        raise self._lacks("noise to ask for")

    @property
    def has_noise(self) -> bool:
        """Return whether any vector can be released, not only those of words."""
        return type(self).noise is not NoiseMechanism.noise

    def spread(self, epsilon: float) -> float:
        """Return the noise's approximate standard deviation per coordinate."""
        raise self._lacks("spread to ask for")

    def step(self, epsilon: float) -> float:
        """Return the step of the public grid of released vectors, or 0."""
        return self.spread(epsilon) / WIDTH

    def release(
        self, positions: NDArray[np.floating], epsilon: float, bits: RandomBits
    ) -> NDArray[np.float32]:
        """Release vectors at one epsilon: (n, m) -> (n, m) float32 on the grid."""
        moved = positions + self.noise(np.full(len(positions), epsilon), bits)
        step = self.step(epsilon)
        return noise.round_to_grid(moved / step, step)

    def finite(self, points: Points) -> Points:
        """Return points (n, d). Raises ComponentError unless all are finite."""
        if np.isfinite(points).all():
            return points
        raise ComponentError(
            f"mechanism {self.name} produced a non-finite number, which is not "
            "released; report this line to its authors, or use another mechanism"
        )

    def observe(self, ids: Ids, eps: Eps, bits: RandomBits) -> NDArray[np.float32]:
        """Return the noisy vectors: (n, d)."""
        return self.sample(ids, eps, bits)

    def standard_noise(
        self, ids: Ids, points: Points, eps: Eps
    ) -> tuple[Floats, Floats, float] | None:
        """Return the noise in drawn points (n, d) in a standard form, for audits.

        The form is directions (n, j), uniform unit vectors; amounts (n,), Gamma(shape)
        variables; and shape. None if there is no such form.
        """
        return None


@dataclass(frozen=True, eq=False)
class TextMechanism(Mechanism):
    """A mechanism that draws each word depending on its whole text."""

    @abstractmethod
    def sample(self, words: Words, eps: Eps, bits: RandomBits) -> Ids:
        """Draw an output for each word of a batch of texts: eps (n,) -> (n,) int32."""

    def example_log_probs(self, epsilon: float) -> Floats | None:
        """Return ln P(y|text) for one word in each of a few public texts: (m, V).

        None if there are no texts to audit.
        """
        return None


@dataclass(frozen=True, eq=False)
class ExponentialMechanism(WordMechanism):
    """A mechanism P(y|x) ~ exp(-scale t(x, y) / 2) with a metric t; claim: epsilon t.

    Since the metric is known, audits test all pairs of V.
    """

    @abstractmethod
    def scale(self, epsilon: float) -> float:
        """Return the scale of the distances: epsilon, or a raised value."""

    @abstractmethod
    def metric(self, epsilon: float, ids: Ints, begin: int, end: int) -> Floats:
        """Return t from inputs (n,) to words begin to end: (n, end - begin)."""
