"""The promise of released vectors: figures, sentences, and their limits.

docs/embed.md has the proofs. Sentences are templates of guarantees/sentences.toml, in
its tables that begin with vectors; each is true alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dptext import lexicons
from dptext.guarantees import claims, not_covered
from dptext.guarantees.claims import Loss, TextLoss
from dptext.guarantees.rounding import MAX_MEANINGFUL_LOSS, above, factor, number
from dptext.guarantees.sentences import said
from dptext.guarantees.statement import Statement
from dptext.mechanisms.discrete_gaussian import DiscreteGaussian
from dptext.mechanisms.discrete_laplace import DiscreteLaplace
from dptext.mechanisms.privemb import PrivEmb
from dptext.noise import epsilon_of
from dptext.types import Guarantee, Level, Notion, Strategy
from dptext.vectors.release import VectorRelease
from dptext.vectors.settings import Pool

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
    level: Level
    loss: Loss
    text_loss: TextLoss
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
    far, is_word = epsilon, release.pool is Pool.WORD
    if promise.notion is Notion.METRIC:
        # Means of words are no farther apart than words. Sentence vectors are as far
        # apart as twice the length to which they are shortened.
        far = epsilon * promise.max_distance
        if release.pool is Pool.SENTENCE:
            distance = 2.0 * release.settings.options.longest * (1.0 + 1e-12)
            far = epsilon * distance * promise.stretch
    loss = Loss.even(far)
    if is_word and promise.notion is Notion.METRIC:
        geometry = mechanism.geometry
        loss = Loss(epsilon * geometry.nearest, epsilon * geometry.median, far)
    exact = isinstance(mechanism, DiscreteGaussian | DiscreteLaplace)
    slack = mechanism.numerical_slack(epsilon) if exact else None
    return VectorClaim(
        promise=promise,
        epsilon=epsilon,
        level=Level.WORD if is_word else Level.TEXT,
        loss=loss,
        text_loss=TextLoss(None, far) if is_word else TextLoss(far, None),
        exact=exact,
        slack=slack,
        none=key == "seed"
        or promise.notion is Notion.NONE
        or claims.undrawn(slack, far),
    )


def _conditions(
    release: VectorRelease, claim: VectorClaim, key: str, identified: bool, custom: bool
) -> tuple[str, ...]:
    """Return what must hold for a statement to be true."""
    is_sentence = release.pool is Pool.SENTENCE
    adapted = lexicons.adapted_from(release.lexicon)
    figures = {
        "source": adapted,
        "named": said("vectors.named.id" if identified else "vectors.named.place"),
        "step": f"{release.mechanism.step(release.epsilon):.6g}",
        "slack": above(max(claim.slack or 0.0, 1e-15), 2),
    }
    wanted = {
        "condition.key_file": key == "key-file",
        "condition.fresh_key": key != "key-file",
        "condition.settings": True,
        "condition.lexicon": custom and not is_sentence and not adapted,
        "condition.adapted": bool(adapted) and not is_sentence,
        "vectors.condition.model": is_sentence,
        "vectors.condition.public": release.settings.options.public is not None,
        "vectors.condition.matrix": isinstance(release.mechanism, PrivEmb),
        "condition.identified": identified,
        "vectors.condition.program": claim.exact,
        "vectors.condition.formula": not claim.exact,
    }
    lines = [said(name, **figures) for name, holds in wanted.items() if holds]
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
    blanks = {"subject": str(options.subject), "most": str(options.most)}
    return tuple(
        said(f"vectors.shown.{name}", **blanks)
        for name, holds in wanted.items()
        if holds
    )


def build(
    release: VectorRelease, *, key: str, identified: bool, lexicon_is_custom: bool
) -> Statement:
    """Return the statement; key is the origin of the run key.

    identified: an id field names the records and is copied.
    """
    claim = claimed(release, key)
    promise, far = claim.promise, claim.loss.farthest
    conditions: tuple[str, ...] = ()
    if not claim.none:
        conditions = _conditions(release, claim, key, identified, lexicon_is_custom)
    adjacency: tuple[str, ...] = ()
    covered: tuple[str, ...] = ("texts",)
    if release.pool is Pool.WORD:
        adjacency = (said("vectors.adjacency"),)
        covered = not_covered.covered(release.settings.recipe.tokens)
    return Statement(
        notion=claim.notion,
        level=claim.level,
        metric=promise.metric,
        distance=_metric(release, claim),
        epsilon=claim.epsilon,
        unit=promise.unit,
        delta=promise.delta,
        loss=claim.loss,
        worst_loss=None if claim.none or math.isinf(far) else far,
        text_loss=claim.text_loss,
        strength=claims.judge(claim.notion, claim.level, claim.loss, claim.text_loss),
        strategy=Strategy.TOKEN,
        unprotected=(),
        numerical_slack=claim.slack,
        sentence=_sentence(release, claim, key),
        text_level=_several(release, claim),
        adjacency=adjacency,
        covered=covered,
        conditions=conditions,
        not_covered=_not_covered(release, identified),
        source=promise.source,
    )


def _sentence(release: VectorRelease, claim: VectorClaim, key: str) -> str:
    if claim.none:
        return said(f"vectors.none.{'seed' if key == 'seed' else 'else'}")
    loss = claim.loss
    how = "differ" if loss.nearest < loss.farthest else "even"
    return said(
        f"vectors.sentence.{claim.notion}",
        weak=said("phrase.weak") * (loss.nearest > MAX_MEANINGFUL_LOSS),
        epsilon=number(claim.epsilon),
        delta=number(claim.promise.delta),
        mu=above(claim.promise.mu, 5) if claim.promise.mu else "",
        metric=_metric(release, claim),
        factor=factor(claim.epsilon),
        of=said(f"vectors.of.{release.pool}"),
        two=said(f"vectors.two.{'word' if release.pool is Pool.WORD else 'text'}"),
        far=said(
            f"vectors.far.{how}",
            nearest=factor(loss.nearest),
            median=factor(loss.median),
            farthest=factor(loss.farthest),
            beyond=said("vectors.beyond") * (loss.farthest > MAX_MEANINGFUL_LOSS),
        ),
    )


def _metric(release: VectorRelease, claim: VectorClaim) -> str:
    """Name the distance that epsilon counts."""
    name = claim.promise.metric.name
    if claim.promise.notion is not Notion.METRIC or release.pool is Pool.WORD:
        return name
    return said(f"vectors.between.{release.pool}", name=name)


def _several(release: VectorRelease, claim: VectorClaim) -> str:
    """Say what several vectors lose together."""
    if claim.none:
        return said("vectors.several.none")
    subject, most = release.settings.options.subject, release.settings.options.most
    normal = claim.notion is Notion.APPROXIMATE
    shared = ""
    if subject is not None and most > 1:
        shared = said(
            f"vectors.shared.{claim.notion}",
            subject=subject,
            most=str(most),
            together=number(float(above(claim.together(most), 6))),
            delta=number(claim.promise.delta),
        )
    return shared + said(
        f"vectors.several.{'normal' if normal else 'sum'}",
        of=said(f"vectors.n.{'words' if release.pool is Pool.WORD else 'texts'}"),
        each=above(claim.loss.farthest),
        mu=above(claim.promise.mu, 5) if normal else "",
        delta=number(claim.promise.delta),
        counts=", ".join(f"{n}: {above(claim.together(n))}" for n in _SEVERAL)
        if normal
        else "",
    )
