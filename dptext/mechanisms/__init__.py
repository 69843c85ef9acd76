"""Mechanisms: the randomised step, one file each.

A mechanism module holds
- a docstring with the sections Guarantee, Source, Known gaps and Example, a command
  that works; Instead, where a form of it promises nothing;
- `FAMILY`, "choice" (words out), "noise" (vectors out, a mapping finds words) or
  "context" (words out, by a law that looks at the whole text);
- `Params`, a frozen dataclass: the schema of its settings in a profile;
- `prepare(params, space) -> state`, public work done once;
- `guarantee(state, epsilon) -> Guarantee`, what one word is promised;
- `choose(state, ids, eps, noise) -> (n,) ids`,
  `perturb(state, ids, eps, noise) -> (n, d) points`, or for "context"
  `choose(state, words, eps, noise) -> (n,) ids`, words the whole batch of texts;
- for "choice", `log_weights(state, ids, eps) -> (n, V)` float64: the exact law up to a
  constant per row, which audits, the Bayes risk and the deniability statistics share.

Where it has something to say, it also holds
- `fitted(params, space, aim) -> Params`: called before prepare; makes parameters that
  follow what a word is meant to have concrete;
- `check(state, epsilon)`: UsageError at an epsilon for which it is not defined;
- `content(state)`: digests of files that its settings name (dptext.content);
- `numerical_slack(state, epsilon)`: the nats that finite uniforms may add to the loss;
- `best_guesses(state, prior, epsilon, bands)`: a closed form for the Bayes risk;
- `rough(state, prior)`, with it where it takes seconds: an estimate to search by, with
  `success(epsilon)` and `learn(epsilon)`; or None (dptext.mechanisms._rough);
- `geometry(state, epsilon)`: the public distances in a metric of its own;
- `wants_one_epsilon(params)`: whether it goes with one given epsilon for all alone;
- `claimed(state, epsilon, a, b)`: its bound on the loss of pairs, for audits;
- `METRIC_LAW = True` where log_weights is -eps t / 2, t a metric: the claim is eps t;
- `EXACT = False` or `has_law(state)` when log_weights cannot be asked for;
- `law_scale(state, epsilon)`, with METRIC_LAW: eta, where log_weights is -eta t / 2;
- `metric(state, epsilon, ids, begin, end) -> (n, end - begin)`, with METRIC_LAW: t from
  inputs to the words begin to end, which halves the time of an audit;
- `published(state, epsilon, a, b) -> (n,)` nats: where nothing is promised, the bound
  that the paper states for pairs (inf where it says nothing), for audits to hold
  against what is lost;
- `least_loss(state)`: a proven lower bound on the worst loss where nothing is promised
  (inf: that of any two words), and with it `least_pair(state) -> (x, x')`, two words
  for which it holds;
- for "context", `laws(state, epsilon) -> (n, V)`: ln P(y|text) of public example texts;
- without a law, `log_density(state, points, eps, words) -> (n, m)`, for the Bayes risk:
  ln of the density of the points (n, d) if each of the words (m,) had been there, up to
  a constant per point, in the precision of the points;
- for "choice", `reveal(state, ids, eps, noise) -> (n, j)`, with it: in place of points,
  what an attacker may see who sees the output and more;
- for "noise", `standard(state, ids, points, eps) -> (directions, amounts, shape)`: the
  noise in drawn points (n, d) as unit directions (n, d), uniform, and amounts (n,), a
  Gamma(shape) variable, for audits of the program;
- for "noise", `places(state)`: where the words lie for the mapping if not at the
  space's vectors, (V + 1, d) float32.

ids -1 stands for an unknown word. Randomness is always the last argument.

What these functions are given and return:
- space, a `dptext.spaces.Space`: `size` is V, the number of words that can be written;
  `vectors` (V + 1, d) float32, the last row for unknown words; `lexicon.counts` (V,);
- eps (n,) float64 > 0, the epsilon of each word; ids (n,) int32;
- noise, a `dptext.randomness.Noise`, the only source of random bits, in numbered lanes:
  `bits(lane, lanes=1)` (n, 2 * lanes) uint64, `uniform(lane, lanes=1)` the same as
  float64 strictly between 0 and 1, `normal(lane, width)` (n, width), and
  `below(bits, bound)`, integers below bound. Different lanes are independent; the same
  lane gives the same bits again, so each draw needs a lane of its own, from 0 upwards
  and below 2^28;
- `Guarantee` (dptext.types): `Guarantee.ldp(source)` for epsilon-LDP over all words,
  `Guarantee.nothing(reason, source=...)` without guarantee; else its `Notion`; its
  `Metric`, the distance that multiplies epsilon (`space.distance` for that of the
  space); unit of epsilon; max_distance, the largest distance, so that epsilon *
  max_distance bounds every loss; source; gaps, sentences for every report.
docs/extending.md has a whole mechanism, which the tests install and audit.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, Points

# The epsilon that a word may have. Beyond these, quotients of it and of distances,
# scales and clips are no longer numbers with all their digits.
LEAST_EPSILON, LARGEST_EPSILON = 1e-40, 1e7


class Mechanism(Protocol):
    """What every file in this folder defines."""

    FAMILY: str
    Params: type

    def prepare(self, params: Any, space: Space) -> Any:
        """Do the public work once."""

    def guarantee(self, state: Any, epsilon: float) -> Guarantee:
        """Say what one word is promised."""


class Choice(Mechanism, Protocol):
    """A mechanism that draws words."""

    def choose(self, state: Any, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word for each word."""

    def log_weights(self, state: Any, ids: Ids, eps: Eps) -> NDArray[np.float64]:
        """Return the exact law, (n, V), up to a constant per row."""


class NoiseMechanism(Mechanism, Protocol):
    """A mechanism that moves vectors."""

    def perturb(self, state: Any, ids: Ids, eps: Eps, bits: RandomBits) -> Points:
        """Move the vector of each word."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A mechanism made ready for a space: from a word's row to an output word's law."""

    name: str
    module: Any
    params: Any
    state: Any
    space: Space

    @property
    def exact(self) -> bool:
        """Tell whether the law can be had from `log_weights`.

        Noise mechanisms have none; a choice mechanism may say `EXACT = False`, or tell
        by `has_law(state)`.
        """
        if self.module.FAMILY != "choice" or not getattr(self.module, "EXACT", True):
            return False
        has_law = getattr(self.module, "has_law", None)
        return has_law is None or bool(has_law(self.state))

    def check(self, epsilon: float) -> None:
        """Raise UsageError at an epsilon of a word for which nothing can be drawn."""
        if not LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
            msg = (
                f"epsilon: {epsilon:.3g} for a word is outside of what is computed, "
                f"{LEAST_EPSILON:g} to {LARGEST_EPSILON:g} (a total is shared by up to "
                "1e9 words)"
            )
            raise UsageError(msg)
        defined = getattr(self.module, "check", None)
        if defined is not None:
            defined(self.state, epsilon)

    @property
    def identity(self) -> tuple[object, ...]:
        """Return all that decides the law besides epsilon, as plain data."""
        space = self.space
        return (space.lexicon.digest, space.identity, self.name, asdict(self.params))


@dataclass(frozen=True, slots=True)
class Aim:
    """What a word is meant to have: a risk for a prior (V,), or an epsilon."""

    risk: float | None = None
    prior: NDArray[np.float64] | None = None
    epsilon: float | None = None


def ready(
    name: str, module: Any, params: Any, space: Space, aim: Aim | None = None
) -> Channel:
    """Do a mechanism's public work for a space; some parameters follow the aim."""
    fitted = getattr(module, "fitted", None)
    if fitted is not None:
        params = fitted(params, space, aim or Aim())
    return Channel(name, module, params, module.prepare(params, space), space)
