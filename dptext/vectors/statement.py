"""The statement on released vectors, and figures from public data.

docs/embed.md has the proofs. Sentences come from guarantees/sentences.toml, in
the tables that begin with vectors; each is true by itself.

Measured on public words or texts, with public randomness: distortion of distances and
inner products as in PrivEmb's experiments 1 and 2 (100 x 100 pairs), lengths of the
noise, and the success of an attacker: how often the nearest public word or text to a
released vector is the original.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import lexicons, noise
from dptext.guarantees import binomial, claims, sentences
from dptext.guarantees.claims import (
    MAX_MEANINGFUL_LOSS,
    Loss,
    TextLoss,
    factor,
    format_up,
    number,
)
from dptext.guarantees.statement import Bound, Scope, Statement, Wording
from dptext.guarantees.templates import render
from dptext.measures import bayes_risk
from dptext.measures.vector_figures import Distortion, VectorAttack, VectorMeasures
from dptext.mechanisms.discrete_gaussian import DiscreteGaussian
from dptext.mechanisms.discrete_laplace import DiscreteLaplace
from dptext.mechanisms.privemb import PrivEmb
from dptext.mechanisms.privunit import PrivUnit
from dptext.randomness import RandomBits, Randomness, RunKey
from dptext.types import Floats, Guarantee, Ids, Level, Notion, Strategy
from dptext.vectors import Pool
from dptext.vectors.release import VectorRelease

# Numbers of vectors for which their epsilon together is printed.
_SEVERAL = (2, 5, 10, 50, 100)
# Words of each side of pairs, lengths of noise, and attacks that are measured.
_PAIRS, _LENGTHS, _PLAYS = 100, 4096, 2000
# Confidence of the limits of an attack's success.
_CONFIDENCE = 0.95
# Rows that are released or compared at once, for memory.
_TILE = 2048


@dataclass(frozen=True, slots=True)
class VectorClaim:
    """A vector's guarantee in figures."""

    #: That of the mechanism at the epsilon of one vector.
    promise: Guarantee
    epsilon: float
    #: Bounds of the loss of one vector, in nats.
    loss: Loss
    #: Whether the guarantee is of the program, not only of the formula.
    exact: bool
    #: Loss that finite random bits may add.
    slack: float | None
    #: Whether there is no guarantee.
    none: bool

    @property
    def notion(self) -> Notion:
        """Return the kind of guarantee."""
        return Notion.NONE if self.none else self.promise.notion

    def together(self, count: int) -> float:
        """Return the epsilon of several vectors jointly, at the delta of one vector.

        For Gaussian noise it is computed from mu sqrt(n), exactly; else it is n times
        that of one.
        """
        if self.promise.notion is not Notion.APPROXIMATE:
            return count * self.loss.farthest
        mu = self.promise.mu * math.sqrt(count)
        return max(noise.gaussian_epsilon(mu, self.promise.delta), self.epsilon)


def make_claim(release: VectorRelease, key: str) -> VectorClaim:
    """Return a release's guarantee; key is the origin of the run key."""
    mechanism, epsilon = release.mechanism, release.epsilon
    promise = mechanism.guarantee_over(release.pool.inputs, epsilon)
    loss = Loss.even(epsilon)
    if promise.notion is Notion.METRIC:
        # Means of words are at most as far apart as words, sentence vectors at most
        # twice the length to which they are shortened.
        far = epsilon * promise.max_distance
        if release.pool is Pool.SENTENCE:
            distance = 2.0 * release.settings.options.longest * (1.0 + 1e-12)
            far = epsilon * distance * promise.stretch
        loss = Loss.even(far)
        if release.pool is Pool.WORD:
            geometry = mechanism.geometry
            loss = Loss(epsilon * geometry.nearest, epsilon * geometry.median, far)
    exact = isinstance(mechanism, DiscreteGaussian | DiscreteLaplace | PrivUnit)
    slack = mechanism.numerical_slack(epsilon) if exact else None
    undrawn = claims.undrawn(slack, loss.farthest)
    none = key == "seed" or promise.notion is Notion.NONE or undrawn
    return VectorClaim(
        promise=promise, epsilon=epsilon, loss=loss, exact=exact, slack=slack, none=none
    )


def build(
    release: VectorRelease, *, key: str, identified: bool, lexicon_is_custom: bool
) -> Statement:
    """Return the statement; key is the origin of the run key.

    identified: whether an id field is copied.
    """
    claim, is_word = make_claim(release, key), release.pool is Pool.WORD
    promise, loss, far = claim.promise, claim.loss, claim.loss.farthest
    level = Level.WORD if is_word else Level.TEXT
    text_loss = TextLoss(None, far) if is_word else TextLoss(far, None)
    distance = promise.metric.name
    if promise.notion is Notion.METRIC and not is_word:
        distance = render(f"vectors.between.{release.pool}", name=distance)
    tokens = release.settings.recipe.tokens
    conditions: tuple[str, ...] = ()
    if not claim.none:
        conditions = _conditions(
            release, claim, key, identified=identified, is_custom=lexicon_is_custom
        )
    return Statement(
        strength=claims.judge(claim.notion, level, loss, text_loss),
        bound=Bound(
            notion=claim.notion,
            level=level,
            metric=promise.metric,
            epsilon=claim.epsilon,
            unit=promise.unit,
            delta=promise.delta,
            loss=loss,
            worst_loss=None if claim.none or math.isinf(far) else far,
            text_loss=text_loss,
        ),
        scope=Scope(
            strategy=Strategy.TOKEN,
            adjacency=(render("vectors.adjacency"),) if is_word else (),
            covered=sentences.covered(tokens) if is_word else ("texts",),
            unprotected=(),
            not_covered=_not_covered(release, identified),
            conditions=conditions,
            numerical_slack=claim.slack,
        ),
        wording=Wording(
            sentence=_sentence(release, claim, key, distance),
            text_level=_several(release, claim),
            distance=distance,
            source=promise.source,
        ),
    )


def _sentences(wanted: Mapping[str, bool], **blanks: str) -> tuple[str, ...]:
    return tuple(render(name, **blanks) for name, holds in wanted.items() if holds)


def _conditions(
    release: VectorRelease,
    claim: VectorClaim,
    key: str,
    *,
    identified: bool,
    is_custom: bool,
) -> tuple[str, ...]:
    uses_lexicon = release.pool is not Pool.SENTENCE
    mechanism = release.mechanism
    points = f"{mechanism.number:,}" if isinstance(mechanism, PrivUnit) else ""
    adapted = lexicons.adapted_from(release.lexicon)
    wanted = {
        "condition.key_file": key == "key-file",
        "condition.fresh_key": key != "key-file",
        "condition.settings": True,
        "condition.lexicon": is_custom and uses_lexicon and not adapted,
        "condition.adapted": bool(adapted) and uses_lexicon,
        "vectors.condition.model": not uses_lexicon,
        "vectors.condition.public": release.settings.options.public is not None,
        "vectors.condition.matrix": isinstance(mechanism, PrivEmb),
        "vectors.condition.points": bool(points),
        "vectors.condition.program": claim.exact and not points,
        "vectors.condition.formula": not claim.exact,
    }
    lines = _sentences(
        wanted,
        source=adapted,
        named=render("vectors.named.id" if identified else "vectors.named.place"),
        step=f"{mechanism.step(release.epsilon):.6g}",
        points=points,
        but_words="",
        slack=format_up(max(claim.slack or 0.0, 1e-15), 2),
    )
    return (*lines, *claim.promise.gaps)


def _not_covered(release: VectorRelease, identified: bool) -> tuple[str, ...]:
    is_word, options = release.pool is Pool.WORD, release.settings.options
    tokens = release.settings.recipe.tokens
    several = options.subject is not None and options.most > 1
    wanted = {
        "original": True,
        "number": True,
        "words": is_word,
        "texts_add_up": not is_word,
        "amplification": True,
        "stop_words": is_word and tokens.stop_word == "drop",
        "unknown": is_word and tokens.unknown == "drop",
        "words_add_up": is_word,
        "id": identified,
        "subject": options.subject is not None and not several,
        "subjects": several,
        "far": make_claim(release, "system").notion is Notion.METRIC,
    }
    shown = {f"vectors.shown.{name}": holds for name, holds in wanted.items()}
    return _sentences(shown, subject=str(options.subject), most=str(options.most))


def _sentence(
    release: VectorRelease, claim: VectorClaim, key: str, distance: str
) -> str:
    if claim.none:
        return render(f"vectors.none.{'seed' if key == 'seed' else 'else'}")
    loss = claim.loss
    is_beyond = loss.farthest > MAX_MEANINGFUL_LOSS
    return render(
        f"vectors.sentence.{claim.notion}",
        weak=render("phrase.weak") if loss.nearest > MAX_MEANINGFUL_LOSS else "",
        epsilon=number(claim.epsilon),
        delta=number(claim.promise.delta),
        mu=format_up(claim.promise.mu, 5) if claim.promise.mu else "",
        metric=distance,
        factor=factor(claim.epsilon),
        of=render(f"vectors.of.{release.pool}"),
        two=render(f"vectors.two.{'word' if release.pool is Pool.WORD else 'text'}"),
        far=render(
            f"vectors.far.{'differ' if loss.nearest < loss.farthest else 'even'}",
            nearest=factor(loss.nearest),
            median=factor(loss.median),
            farthest=factor(loss.farthest),
            beyond=render("vectors.beyond") if is_beyond else "",
        ),
    )


def _several(release: VectorRelease, claim: VectorClaim) -> str:
    """Return sentences on the joint loss of several vectors."""
    if claim.none:
        return render("vectors.several.none")
    subject, most = release.settings.options.subject, release.settings.options.most
    delta, shared = number(claim.promise.delta), ""
    if subject is not None and most > 1:
        shared = render(
            f"vectors.shared.{claim.notion}",
            subject=subject,
            most=str(most),
            together=number(float(format_up(claim.together(most), 6))),
            delta=delta,
        )
    figures = {"each": format_up(claim.loss.farthest)}
    normal = claim.notion is Notion.APPROXIMATE
    if normal:
        counts = ", ".join(f"{n}: {format_up(claim.together(n))}" for n in _SEVERAL)
        figures |= {"mu": format_up(claim.promise.mu, 5), "counts": counts}
    known = ""
    loss = claim.loss.farthest
    if not normal and release.pool is not Pool.WORD and math.isfinite(loss):
        known = " " + render("vectors.recognised", **sentences.recognition(loss))
    several = render(
        f"vectors.several.{'normal' if normal else 'sum'}",
        of=render(f"vectors.n.{'words' if release.pool is Pool.WORD else 'texts'}"),
        delta=delta,
        **figures,
    )
    return f"{shared}{several}{known}"


def measure(release: VectorRelease) -> VectorMeasures:
    """Measure a release on public words or texts."""
    drawn = _release_rows(release, np.zeros(_LENGTHS, np.int32), "lengths")
    drawn -= release.mechanism.output_vectors[0]
    low, middle, high = np.quantile(np.linalg.norm(drawn, axis=1), (0.05, 0.5, 0.95))
    lengths = float(low), float(middle), float(high)
    return VectorMeasures(
        distortion=_distortion(release), noise_lengths=lengths, ruler=_attack(release)
    )


def _bits(count: int, purpose: str) -> RandomBits:
    public = Randomness(RunKey.from_seed(0), f"embed/{purpose}")
    return public.bits([bytes(16)], np.zeros(count, np.int64))


def _release_rows(
    release: VectorRelease, rows: NDArray[np.integer], purpose: str
) -> Floats:
    """Release rows of the public lexicon, given before noise."""
    bits, mechanism = _bits(len(rows), purpose), release.mechanism
    table, epsilon = mechanism.output_vectors, release.epsilon
    out = [
        mechanism.release(table[rows[part]], epsilon, bits.take(part))
        for part in _parts(len(rows))
    ]
    return np.concatenate(out).astype(np.float64)


def _parts(count: int) -> list[NDArray[np.int64]]:
    return np.split(np.arange(count), range(_TILE, count, _TILE))


def _distortion(release: VectorRelease) -> Distortion:
    mechanism = release.mechanism
    uniform = _bits(2 * _PAIRS, "pairs").integers(0)[:, 0]
    rows = RandomBits.below(uniform, len(release.lexicon.words))
    # Before any clipping or projection.
    before = np.asarray(mechanism.compared[rows], np.float64)
    after = _release_rows(release, rows, "pairs noise")
    one, other = slice(None, _PAIRS), slice(_PAIRS, None)
    true, noisy_distances = (
        np.sqrt(noise.squared_distances(each[one], each[other]).astype(np.float64))
        for each in (before, after)
    )
    product, noisy = (each[one] @ each[other].T for each in (before, after))
    width, variance = release.dimensions, mechanism.spread(release.epsilon) ** 2
    added = 2.0 * width * variance
    corrected = np.sqrt(np.maximum(noisy_distances**2 - added, 0.0))
    lengths = np.einsum("nd,nd->n", before, before)
    spread = variance * (lengths[one, None] + lengths[None, other])
    return Distortion(
        pairs=_PAIRS**2,
        distance=float(true.mean()),
        expected_distance=float(np.sqrt(true**2 + added).mean()),
        distance_error=float(np.abs(noisy_distances - true).mean()),
        corrected_error=float(np.abs(corrected - true).mean()),
        product=float(np.abs(product).mean()),
        expected_product_error=float(np.sqrt(spread + width * variance**2).mean()),
        product_error=float(np.abs(noisy - product).mean()),
    )


def _attack(release: VectorRelease) -> VectorAttack:
    """Guess random public words or texts from their released vectors.

    Words are drawn by frequency. One guess is the nearest word or text, the other
    the most likely one, by noise density and frequency.
    """
    mechanism, words = release.mechanism, release.lexicon
    size = len(words.words)
    if release.pool is Pool.SENTENCE:
        prior = np.full(size, 1.0 / size)
    else:
        prior = bayes_risk.prior_of_replaced(words, release.settings.recipe.tokens)
    steps = np.cumsum(prior)
    target = _bits(_PLAYS, "plays").uniform(0)[:, 0] * steps[-1]
    rows = np.minimum(np.searchsorted(steps, target, side="right"), size - 1)
    rows = rows.astype(np.int32)
    points = _release_rows(release, rows, "plays noise").astype(np.float32)
    table = mechanism.output_vectors
    guesses = [
        _best(points, size, lambda x: -noise.squared_distances(points, table[x]))
    ]
    if mechanism.has_log_density:
        eps = np.full(len(points), release.epsilon)
        with np.errstate(divide="ignore"):
            worth = np.log(prior).astype(np.float32)

        def likelihood(x: Ids) -> NDArray[np.floating]:
            return np.asarray(mechanism.log_density(points, eps, x) + worth[x])

        guesses.append(_best(points, size, likelihood))
    won = [int((guess == rows).sum()) for guess in guesses]
    of = "words of the vocabulary"
    if release.pool is not Pool.WORD:
        of += ", as texts of one word"
    if release.pool is Pool.SENTENCE:
        named = release.settings.options.public
        of = "public texts" if named else "frequent words, as texts of one word"
    low, high = binomial.limits(max(won), _PLAYS, 1.0 - _CONFIDENCE)
    return VectorAttack(
        of=of,
        choices=size,
        draws=_PLAYS,
        baseline=float(prior.max()),
        nearest=won[0] / _PLAYS,
        best=won[1] / _PLAYS if len(won) > 1 else None,
        low=low,
        high=high,
    )


def _best(
    points: NDArray[np.float32], size: int, score: Callable[[Ids], NDArray[np.floating]]
) -> Ids:
    """Return the row with the highest score for each point: (n,)."""
    best = np.full(len(points), -math.inf)
    guess = np.full(len(points), -1, np.int32)
    for part in _parts(size):
        scores = score(part.astype(np.int32))
        top = scores.argmax(axis=1)
        value = scores[np.arange(len(points)), top]
        better = value > best
        best[better], guess[better] = value[better], part[top[better]]
    return guess
