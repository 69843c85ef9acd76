"""Bayes vulnerability: the success rate of the best possible guess of one word.

The attacker knows the mechanism, epsilon and the public frequencies of the words that
are replaced (the prior over V), sees one output word y, and guesses argmax_x prior(x)
P(y|x). It is exact for mechanisms with a known output distribution, and bounded for
others (dptext.measures.sampled_risk). It is used to compare mechanisms
(docs/guarantees.md, 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np
from msgspec import Meta

from dptext import cache
from dptext.errors import UsageError
from dptext.measures import sampled_risk
from dptext.measures.sampled_risk import BAND_NAMES, frequency_bands
from dptext.mechanisms import Mechanism
from dptext.tokens import common, language_data, numbers, written_classes
from dptext.tokens.lists import Spans
from dptext.tokens.policy import Policy
from dptext.tokens.regex import key_of
from dptext.types import Floats, Lexicon, blocks

# Sums of probabilities may end a rounding error above 1.
Share = Annotated[float, Meta(ge=0.0, le=1.0 + 1e-9)]
# Inputs by which kept best guesses are looked at.
_LOOKED = 300
# With so many words no measurement takes long.
_FEW = 10_000
LIMITS = (
    "The attacker of one draw knows public word frequencies and one drawn word; with "
    "context, written words, several releases or knowledge of the text, attackers "
    "can do better. A scale for comparison, not a guarantee."
)


@dataclass(frozen=True, slots=True)
class Band:
    """Success of the attack on words of one frequency band.

    In a sampled risk both successes are upper limits, for an attacker who sees the
    noisy vector, each with the confidence of the risk.
    """

    name: Annotated[str, Meta(description="Name of the band.")]
    words: Annotated[int, Meta(ge=0, description="Number of words of the band.")]
    share: Annotated[Share, Meta(description="Share of running text.")]
    baseline: Annotated[
        Share,
        Meta(description="Best guess without the output, knowing the band."),
    ]
    success: Annotated[
        Share,
        Meta(
            description=(
                "Share of the band's words that the best attacker on all words guesses."
            )
        ),
    ]
    success_band_known: Annotated[
        Share, Meta(description="Success of an attacker who knows the band.")
    ]


@dataclass(frozen=True, slots=True)
class Risk:
    """Success of the attack on a word drawn from the prior.

    Without exact log-probabilities the success lies between low and high with the
    given confidence, and success equals high. Both are null if success is exact.
    """

    baseline: Annotated[Share, Meta(description="Best guess before seeing the output.")]
    success: Annotated[Share, Meta(description="Best guess after seeing the output.")]
    bands: Annotated[
        tuple[Band, ...], Meta(description="The same by frequency of the words.")
    ] = ()
    method: Annotated[str, Meta(description="How the figures were computed.")] = "exact"
    low: Annotated[
        Share | None,
        Meta(description="Lower limit of the success; null where it is exact."),
    ] = None
    high: Annotated[
        Share | None,
        Meta(description="Upper limit of the success; null where it is exact."),
    ] = None
    confidence: Annotated[
        Share | None,
        Meta(description="Confidence of these limits; null where it is exact."),
    ] = None
    success_with_form: Annotated[
        Share | None,
        Meta(
            description=(
                "Best guess after seeing the output and the grammatical form of the "
                "word; null where no form is shown, or not measured."
            )
        ),
    ] = None
    baseline_with_form: Annotated[
        Share | None,
        Meta(description="Best guess from that form alone; null like the other."),
    ] = None

    @property
    def shown(self) -> float:
        """Return the success rate of an attacker who uses all of the output."""
        return max(self.success, self.success_with_form or 0.0)

    @property
    def least(self) -> float:
        """Return the success rate, or its lower limit if estimated."""
        return self.shown if self.low is None else self.low


def measure(
    mechanism: Mechanism,
    epsilon: float,
    prior: Floats,
    draw: sampled_risk.Drawing | None = None,
    mapping: object = None,
) -> Risk:
    """Return a mechanism's Bayes vulnerability at an epsilon, exact or sampled.

    prior (V,) sums to 1 and is public, like everything here. Results are kept in
    the cache and checked before reuse: best guesses at random inputs, wins
    by replaying some games. draw (ids, eps, noise) -> ids runs mechanism and
    mapping, for the lower limit of a sampled risk; mapping: plain data that identifies
    the mapping.
    """
    key = risk_key(
        mechanism, epsilon, prior=prior, drawn=draw is not None, mapping=mapping
    )
    known = cache.shipped(key)
    if known is not None:
        return Risk(bands=tuple(Band(**band) for band in known.pop("bands")), **known)
    task = f"measuring the risk of {mechanism.name}"
    if not mechanism.has_log_probs:
        played = cache.arrays(
            key,
            lambda: sampled_risk.play(mechanism, epsilon, prior, draw),
            lambda played: (
                (played.get("right") is None) == (draw is None)
                and sampled_risk.holds(played, mechanism, epsilon, prior)
            ),
            task,
        )
        low, high, method, measured = sampled_risk.limits(played, prior)
        bands = _bands(prior, measured)
        interval = low, high, sampled_risk.CONFIDENCE
        return Risk(float(prior.max()), high, bands, method, *interval)

    def compute() -> cache.Arrays:
        return {"best": best_guesses(mechanism, prior, epsilon, len(prior))}

    def holds(kept: cache.Arrays) -> bool:
        return _covers(kept["best"], mechanism, prior, epsilon)

    # A closed form is as fast as the lookup in the cache.
    if mechanism.has_best_guesses and mechanism.risk_estimate(prior) is None:
        return _exact(prior, compute()["best"])
    return _exact(prior, cache.arrays(key, compute, holds, task)["best"])


def is_quick(
    mechanism: Mechanism, epsilon: float, prior: Floats, drawn: bool, mapping: object
) -> bool:
    """Return whether `measure` is fast: closed form, few words, or shipped.

    Cached results are not considered, so that the same settings always give the
    same.
    """
    if len(prior) <= _FEW:
        return True
    if mechanism.has_best_guesses and mechanism.risk_estimate(prior) is None:
        return True
    key = risk_key(mechanism, epsilon, prior=prior, drawn=drawn, mapping=mapping)
    return cache.shipped(key) is not None


def risk_key(
    mechanism: Mechanism, epsilon: float, prior: Floats, drawn: bool, mapping: object
) -> str:
    """Return the cache key of `measure`; drawn: whether there is a draw."""
    decisive: list[object] = [
        "bayes",
        1,
        *mechanism.identity,
        cache.digest(prior),
        epsilon,
    ]
    if not mechanism.has_log_probs:
        decisive += [sampled_risk.DRAWS, drawn, mapping]
    return cache.key_of(*decisive)


def success(mechanism: Mechanism, epsilon: float, prior: Floats) -> float:
    """Return the upper limit of any guess's success rate, without the cache.

    Raises UsageError if the mechanism is not defined at epsilon.
    """
    mechanism.check(epsilon)
    if mechanism.has_log_probs:
        best = best_guesses(mechanism, prior, epsilon, len(prior))
        return float(best.max(axis=0).sum())
    wins, _ = sampled_risk.measured_wins(mechanism, epsilon, prior)
    return sampled_risk.limits_of_wins(wins)[1]


def _covers(best: Floats, mechanism: Mechanism, prior: Floats, epsilon: float) -> bool:
    """Return whether no guess of random inputs beats the given best guesses.

    Inputs are drawn from the prior. Best guesses that miss a success of s miss
    inputs with prior s, so True has probability at most (1 - s)^_LOOKED.
    """
    bands, size = frequency_bands(len(prior)), len(prior)
    if best.shape != (len(bands), size) or best.dtype != np.float64:
        return False
    some = np.random.default_rng().choice(size, _LOOKED, p=prior).astype(np.int32)
    for part in blocks(_LOOKED, max(1, 2**20 // size)):
        ids = some[part]
        band = np.searchsorted([begin for begin, _ in bands], ids, side="right") - 1
        joint = mechanism.probs(ids, epsilon)
        joint *= prior[ids][:, None]
        if not (joint <= best[band] * (1.0 + 1e-9) + 1e-300).all():
            return False
    return True


def best_guesses(
    mechanism: Mechanism, prior: Floats, epsilon: float, inputs: int
) -> Floats:
    """Return max of prior(x) P(y|x) over x in each band: (bands, V).

    Without a closed form, only x < inputs are considered.
    """
    bands = frequency_bands(len(prior))
    if not mechanism.has_best_guesses:
        bands = [(min(begin, inputs), min(end, inputs)) for begin, end in bands]
    return mechanism.best_guesses(prior, epsilon, bands)


def _exact(prior: Floats, best: Floats) -> Risk:
    guess, top = best.argmax(axis=0), best.max(axis=0)
    measured = []
    for number, (begin, end) in enumerate(frequency_bands(len(prior))):
        share = float(prior[begin:end].sum()) or 1.0
        right = float(top[guess == number].sum())
        measured.append((right / share, float(best[number].sum()) / share))
    return Risk(float(prior.max()), float(top.sum()), _bands(prior, measured))


def _bands(prior: Floats, measured: list[tuple[float, float]]) -> tuple[Band, ...]:
    """Describe the attack for each band with replaced words.

    measured: the success without and with knowledge of the band.
    """
    bands = []
    parts = [prior[begin:end] for begin, end in frequency_bands(len(prior))]
    for name, part, successes in zip(BAND_NAMES, parts, measured, strict=False):
        share = float(part.sum())
        if share > 0.0:
            baseline = float(part.max()) / share
            bands.append(Band(name, len(part), share, baseline, *successes))
    return tuple(bands)


def _words_of_a_form(lexicon: Lexicon, policy: Policy) -> list[int]:
    """Return the rows of words redrawn or kept as a form, such as "e.g."."""
    spans, elements = Spans(policy), {*numbers.rows(lexicon).tolist()}
    # Of letters alone no word is a form; elements for numbers are never spelled.
    spelled = [row for row, word in enumerate(lexicon.words) if not word.isalpha()]
    rows = []
    for row in spelled:
        if row not in elements:
            pieces, kinds_of_pieces, _ = spans.divide(lexicon.words[row])
            if len(pieces) == 1 and kinds_of_pieces:
                rows.append(row)
    return rows


# One run asks for the same prior several times, and a vocabulary is long.
@lru_cache(maxsize=2)
def prior_of_replaced(lexicon: Lexicon, policy: Policy) -> Floats:
    """Return the unigram prior of replaced words: (V,), sums to 1.

    The array is shared by all callers and read-only.

    Stop words, common words, words of classes, numbers and listed words that are
    copied, masked, dropped or drawn at random are no secret, so an attacker excludes
    them for a replaced word. Unknown words are excluded: all of them are drawn
    from the same output distribution.
    """
    prior = np.array(lexicon.counts, np.float64)
    if policy.stop_word != "perturb":
        kept = language_data.stop_words(lexicon.language)
        prior[[row for row, w in enumerate(lexicon.words) if key_of(w) in kept]] = 0.0
    if policy.common:
        prior[common.common_words(lexicon, *policy.copied_words).rows] = 0.0
    if policy.classes:
        prior[written_classes.kinds_of_rows(lexicon, policy.classes) > 0] = 0.0
    if policy.number != "perturb":
        prior[numbers.rows(lexicon)] = 0.0
    if policy.keep or policy.mask:
        spans = Spans(policy)
        named = [row for row, w in enumerate(lexicon.words) if spans.keeps_or_masks(w)]
        prior[named] = 0.0
    if policy.forms:
        prior[_words_of_a_form(lexicon, policy)] = 0.0
    total = prior.sum()
    if not total > 0.0:
        raise UsageError(
            f"lexicon {lexicon.name}: this policy leaves no word to replace"
        )
    prior /= total
    prior.setflags(write=False)
    return prior
