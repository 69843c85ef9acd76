"""The promise of released vectors: figures, sentences, and their limits.

docs/embed.md has the proofs. Sentences are templates of guarantees/sentences.toml, in
its tables that begin with vectors; each is true alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dptext import lexicons
from dptext.guarantees import claims, sentences
from dptext.guarantees.claims import (
    MAX_MEANINGFUL_LOSS,
    Loss,
    TextLoss,
    above,
    factor,
    number,
)
from dptext.guarantees.sentences import said
from dptext.guarantees.statement import Statement
from dptext.mechanisms.discrete_gaussian import DiscreteGaussian
from dptext.mechanisms.discrete_laplace import DiscreteLaplace
from dptext.mechanisms.privemb import PrivEmb
from dptext.noise import epsilon_of
from dptext.types import Guarantee, Level, Notion, Strategy
from dptext.vectors import Pool
from dptext.vectors.release import VectorRelease

# Numbers of vectors for which an epsilon is printed that holds for all together.
_SEVERAL = (2, 5, 10, 50, 100)


@dataclass(frozen=True, slots=True)
class VectorClaim:
    """What holds of one vector, in figures.

    promise is the mechanism's at the epsilon of one vector; loss bounds that of one
    vector, in nats; exact says that the promise is one of the program and not of the
    formula alone, slack what it may lose beside; none, that nothing is claimed.
    """

    promise: Guarantee
    epsilon: float
    loss: Loss
    exact: bool
    slack: float | None
    none: bool

    @property
    def notion(self) -> Notion:
        """Return the kind of guarantee that is left."""
        return Notion.NONE if self.none else self.promise.notion

    def together(self, count: int) -> float:
        """Return the epsilon of so many vectors together, at the delta of one.

        Of normal noise by mu sqrt(n), exactly; else n times that of one.
        """
        if self.promise.notion is not Notion.APPROXIMATE:
            return count * self.loss.farthest
        mu = self.promise.mu * math.sqrt(count)
        return max(epsilon_of(mu, self.promise.delta), self.epsilon)


def claimed(release: VectorRelease, key: str) -> VectorClaim:
    """Return what holds of a release; key is the origin of the run key."""
    mechanism, epsilon = release.mechanism, release.epsilon
    promise = mechanism.guarantee_over(release.pool.inputs, epsilon)
    loss = Loss.even(epsilon)
    if promise.notion is Notion.METRIC:
        # Means of words are no farther apart than words. Sentence vectors are as far
        # apart as twice the length to which they are shortened.
        far = epsilon * promise.max_distance
        if release.pool is Pool.SENTENCE:
            distance = 2.0 * release.settings.options.longest * (1.0 + 1e-12)
            far = epsilon * distance * promise.stretch
        loss = Loss.even(far)
        if release.pool is Pool.WORD:
            geometry = mechanism.geometry
            loss = Loss(epsilon * geometry.nearest, epsilon * geometry.median, far)
    exact = isinstance(mechanism, DiscreteGaussian | DiscreteLaplace)
    slack = mechanism.numerical_slack(epsilon) if exact else None
    undrawn = claims.undrawn(slack, loss.farthest)
    none = key == "seed" or promise.notion is Notion.NONE or undrawn
    return VectorClaim(promise, epsilon, loss, exact, slack, none)


def build(
    release: VectorRelease, *, key: str, identified: bool, lexicon_is_custom: bool
) -> Statement:
    """Return the statement; key is the origin of the run key.

    identified: an id field names the records and is copied.
    """
    claim, is_word = claimed(release, key), release.pool is Pool.WORD
    promise, loss, far = claim.promise, claim.loss, claim.loss.farthest
    level = Level.WORD if is_word else Level.TEXT
    text_loss = TextLoss(None, far) if is_word else TextLoss(far, None)
    distance = promise.metric.name
    if promise.notion is Notion.METRIC and not is_word:
        distance = said(f"vectors.between.{release.pool}", name=distance)
    tokens = release.settings.recipe.tokens
    return Statement(
        notion=claim.notion,
        level=level,
        metric=promise.metric,
        distance=distance,
        epsilon=claim.epsilon,
        unit=promise.unit,
        delta=promise.delta,
        loss=loss,
        worst_loss=None if claim.none or math.isinf(far) else far,
        text_loss=text_loss,
        strength=claims.judge(claim.notion, level, loss, text_loss),
        strategy=Strategy.TOKEN,
        unprotected=(),
        numerical_slack=claim.slack,
        sentence=_sentence(release, claim, key, distance),
        text_level=_several(release, claim),
        adjacency=(said("vectors.adjacency"),) if is_word else (),
        covered=sentences.covered(tokens) if is_word else ("texts",),
        conditions=()
        if claim.none
        else _conditions(release, claim, key, identified, lexicon_is_custom),
        not_covered=_not_covered(release, identified),
        source=promise.source,
    )


def _sentences(wanted: Mapping[str, bool], **blanks: str) -> tuple[str, ...]:
    """Return those that hold, by their names."""
    return tuple(said(name, **blanks) for name, holds in wanted.items() if holds)


def _conditions(
    release: VectorRelease, claim: VectorClaim, key: str, identified: bool, custom: bool
) -> tuple[str, ...]:
    """Return what must hold for a statement to be true."""
    of_lexicon = release.pool is not Pool.SENTENCE
    adapted = lexicons.adapted_from(release.lexicon)
    wanted = {
        "condition.key_file": key == "key-file",
        "condition.fresh_key": key != "key-file",
        "condition.settings": True,
        "condition.lexicon": custom and of_lexicon and not adapted,
        "condition.adapted": bool(adapted) and of_lexicon,
        "vectors.condition.model": not of_lexicon,
        "vectors.condition.public": release.settings.options.public is not None,
        "vectors.condition.matrix": isinstance(release.mechanism, PrivEmb),
        "condition.identified": identified,
        "vectors.condition.program": claim.exact,
        "vectors.condition.formula": not claim.exact,
    }
    lines = _sentences(
        wanted,
        source=adapted,
        named=said("vectors.named.id" if identified else "vectors.named.place"),
        step=f"{release.mechanism.step(release.epsilon):.6g}",
        slack=above(max(claim.slack or 0.0, 1e-15), 2),
    )
    return (*lines, *claim.promise.gaps)


def _not_covered(release: VectorRelease, identified: bool) -> tuple[str, ...]:
    """Return what no setting covers."""
    is_word, options = release.pool is Pool.WORD, release.settings.options
    tokens = release.settings.recipe.tokens
    several = options.subject is not None and options.most > 1
    wanted = {
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
        "far": claimed(release, "system").notion is Notion.METRIC,
    }
    shown = {f"vectors.shown.{name}": holds for name, holds in wanted.items()}
    return _sentences(shown, subject=str(options.subject), most=str(options.most))


def _sentence(
    release: VectorRelease, claim: VectorClaim, key: str, distance: str
) -> str:
    if claim.none:
        return said(f"vectors.none.{'seed' if key == 'seed' else 'else'}")
    loss = claim.loss
    return said(
        f"vectors.sentence.{claim.notion}",
        weak=said("phrase.weak") * (loss.nearest > MAX_MEANINGFUL_LOSS),
        epsilon=number(claim.epsilon),
        delta=number(claim.promise.delta),
        mu=above(claim.promise.mu, 5) if claim.promise.mu else "",
        metric=distance,
        factor=factor(claim.epsilon),
        of=said(f"vectors.of.{release.pool}"),
        two=said(f"vectors.two.{'word' if release.pool is Pool.WORD else 'text'}"),
        far=said(
            f"vectors.far.{'differ' if loss.nearest < loss.farthest else 'even'}",
            nearest=factor(loss.nearest),
            median=factor(loss.median),
            farthest=factor(loss.farthest),
            beyond=said("vectors.beyond") * (loss.farthest > MAX_MEANINGFUL_LOSS),
        ),
    )


def _several(release: VectorRelease, claim: VectorClaim) -> str:
    """Say what several vectors lose together."""
    if claim.none:
        return said("vectors.several.none")
    subject, most = release.settings.options.subject, release.settings.options.most
    delta, shared = number(claim.promise.delta), ""
    if subject is not None and most > 1:
        shared = said(
            f"vectors.shared.{claim.notion}",
            subject=subject,
            most=str(most),
            together=number(float(above(claim.together(most), 6))),
            delta=delta,
        )
    figures = {"each": above(claim.loss.farthest)}
    normal = claim.notion is Notion.APPROXIMATE
    if normal:
        counts = ", ".join(f"{n}: {above(claim.together(n))}" for n in _SEVERAL)
        figures |= {"mu": above(claim.promise.mu, 5), "counts": counts}
    return shared + said(
        f"vectors.several.{'normal' if normal else 'sum'}",
        of=said(f"vectors.n.{'words' if release.pool is Pool.WORD else 'texts'}"),
        delta=delta,
        **figures,
    )
