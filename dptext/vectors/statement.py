"""What is promised of released vectors: figures, sentences, and their limits.

docs/embed.md has the proofs; each sentence is true alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dptext.guarantees import claims, not_covered
from dptext.guarantees.claims import Loss, TextLoss
from dptext.guarantees.rounding import MAX_MEANINGFUL_LOSS, above, factor, number
from dptext.guarantees.sentences import said
from dptext.guarantees.statement import (
    Statement,
)
from dptext.mechanisms.discrete_gaussian import DiscreteGaussian
from dptext.mechanisms.discrete_laplace import DiscreteLaplace
from dptext.mechanisms.privemb import PrivEmb
from dptext.noise import epsilon_of
from dptext.types import Guarantee, Level, Notion, Strategy
from dptext.vectors.release import Release
from dptext.vectors.settings import Pool

# Numbers of vectors for which an epsilon is printed that holds for all together.
_SEVERAL = (2, 5, 10, 50, 100)


@dataclass(frozen=True, slots=True)
class Claim:
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


def claimed(release: Release, key: str) -> Claim:
    """Return what holds of a release; key is the origin of the run key."""
    mechanism, epsilon = release.mechanism, release.epsilon
    promise = mechanism.guarantee_over(release.pool.inputs, epsilon)
    far = _farthest(release, promise)
    loss = Loss.even(far)
    is_word = release.pool is Pool.WORD
    if is_word and promise.notion is Notion.METRIC:
        geometry = mechanism.geometry(epsilon)
        loss = Loss(epsilon * geometry.nearest, epsilon * geometry.median, far)
    exact = isinstance(mechanism, DiscreteGaussian | DiscreteLaplace)
    slack = mechanism.numerical_slack(epsilon) if exact else None
    undrawn = slack is not None and slack > 0.01 and far > MAX_MEANINGFUL_LOSS
    return Claim(
        promise=promise,
        epsilon=epsilon,
        level=Level.WORD if is_word else Level.TEXT,
        loss=loss,
        text_loss=TextLoss(None, far) if is_word else TextLoss(far, None),
        exact=exact,
        slack=slack,
        none=key == "seed" or promise.notion is Notion.NONE or undrawn,
    )


def _farthest(release: Release, promise: Guarantee) -> float:
    """Return the most nats that one vector loses, whatever comes in.

    Means of words are no farther apart than words. Sentence vectors are as far apart as
    twice the length to which they are shortened.
    """
    if promise.notion is not Notion.METRIC:
        return release.epsilon
    if release.pool is not Pool.SENTENCE:
        return release.epsilon * promise.max_distance
    distance = 2.0 * release.settings.options.longest * (1.0 + 1e-12)
    return release.epsilon * distance * promise.stretch


_AMPLIFICATION = (
    "No amplification by sampling is claimed, whatever share of all records is "
    "released: who reads the output sees which records took part and which vector is "
    "whose."
)
_GRID = (
    "Each number is a whole multiple of a public step, {step:.6g}, in single precision."
)
_PROGRAM = (
    "{grid} The guarantee is one of the program: vectors are rounded to that grid "
    "before the noise, which is drawn in whole steps from tables of whole numbers; "
    "what these add to a loss is at most {slack} nats."
)
_FORMULA = (
    "{grid} The guarantee is that of the formula, in exact arithmetic. The program "
    "adds noise in 64-bit floating point and rounds to the grid, so that low-order "
    "bits tell nothing; how far it is else from the formula is not proven, above all "
    "for outputs rarer than about 1e-15. discrete-gaussian and discrete-laplace have "
    "no such gap."
)
_MODEL = (
    "The sentence model is public and was not trained on the private text; dptext "
    "cannot check this."
)
_PUBLIC = "The public texts are public; dptext cannot check this."
_MATRIX = (
    "The projection was drawn from a public seed, before and apart from the texts."
)


def _adjacency(release: Release) -> tuple[str, ...]:
    """Return what two inputs must have in common to be compared."""
    if release.pool is not Pool.WORD:
        return ()
    return ("the same number of words that become vectors (as dptext divides texts)",)


def _covered(release: Release) -> tuple[str, ...]:
    """Return what becomes vectors."""
    if release.pool is not Pool.WORD:
        return ("texts",)
    return not_covered.covered(release.settings.recipe.tokens)


def _conditions(
    release: Release, claim: Claim, key: str, identified: bool, custom: bool
) -> tuple[str, ...]:
    """Return what must hold for a statement to be true."""
    named = "with the same id" if identified else "in the same place"
    options = release.settings.options
    grid = _GRID.format(step=release.mechanism.step(release.epsilon))
    exact = (
        _PROGRAM.format(grid=grid, slack=above(max(claim.slack or 0.0, 1e-15), 2))
        if claim.exact
        else _FORMULA.format(grid=grid)
    )
    lines = (
        (
            True,
            said("condition.key_file", named=named)
            if key == "key-file"
            else said("condition.fresh_key"),
        ),
        (True, said("condition.settings")),
        (custom and options.pool is not Pool.SENTENCE, said("condition.lexicon")),
        (options.pool is Pool.SENTENCE, _MODEL),
        (options.public is not None, _PUBLIC),
        (isinstance(release.mechanism, PrivEmb), _MATRIX),
        (identified, said("condition.identified")),
        (True, exact),
    )
    return (*(line for wanted, line in lines if wanted), *claim.promise.gaps)


def _not_covered(
    release: Release, identified: bool, subject: str | None
) -> tuple[str, ...]:
    """Return what no setting covers."""
    is_word = release.pool is Pool.WORD
    lines = [
        "The number of vectors, and which record each is of, are those of the input, "
        "less the records that could not be read; how long the run takes is not "
        "hidden.",
        "Which words stand in a text, how many and in which order is not hidden beyond "
        "each word alone: texts with a different number of words are told apart."
        if is_word
        else "A person is in more than one text: the losses of all texts about the "
        "same person add up, and so do those of several releases of the same text.",
        _AMPLIFICATION,
    ]
    if is_word:
        lines += _left_out(release)
        lines.append(
            "A person is in more than one word: the losses of all words about the same "
            "person add up, and so do those of several releases of the same text."
        )
    if identified:
        lines.append("The id of each record is copied unchanged.")
    if subject is not None:
        most = release.settings.options.most
        known = f"; that no value has more than {most} vectors is" if most > 1 else ""
        lines.append(f'Which vectors have the same "{subject}" is not shown{known}.')
    if claimed(release, "system").notion is Notion.METRIC:
        lines.append("What is far apart in the metric is protected less.")
    return tuple(lines)


def _left_out(release: Release) -> list[str]:
    """Say which words have no vector."""
    tokens, lines = release.settings.recipe.tokens, []
    if tokens.stop_word == "drop":
        lines.append(
            "Stop words have no vector, so that every vector is of a word that is none."
        )
    if tokens.unknown == "drop":
        lines.append(
            "Words outside the vocabulary and identifiers have no vector, so that "
            "every vector is of a word of the vocabulary or of a number."
        )
    return lines


_OF = {
    Pool.WORD: "one word",
    Pool.MEAN: "one text, the mean of the vectors of its words",
    Pool.SIF: "one text, the weighted mean of the vectors of its words",
    Pool.SENTENCE: "one text, by a sentence model",
}
_BETWEEN = {
    Pool.MEAN: "the mean vectors of two texts",
    Pool.SIF: "the weighted mean vectors of two texts",
    Pool.SENTENCE: "the model's vectors of two texts",
}
_LIKELY = "times as likely under one as under the other"
_COMPARED = {
    Pool.WORD: "whichever two words are compared, known or unknown, that may have "
    "stood in its place",
}
_ANY_TEXTS = "whichever two texts are compared, of whatever words and lengths"
_PRIVATE = {
    Notion.METRIC: (
        "{epsilon}-metric differentially private in d = {metric}: {compared}, no set "
        "of vectors is more than e^({epsilon} d) {likely}. {far}"
    ),
    Notion.LDP: (
        "{epsilon}-locally differentially private: {compared}, no set of vectors is "
        "more than {factor} {likely}."
    ),
    Notion.APPROXIMATE: (
        "({epsilon}, {delta})-locally differentially private: {compared}, no set of "
        "vectors has under one more than {factor} times its probability under the "
        "other plus {delta}. It is {mu}-Gaussian differentially private: the two are "
        "no easier to tell from each other than N(0, 1) and N({mu}, 1)."
    ),
}
_NOTHING = {
    True: "No guarantee: whoever knows the seed of this run can repeat every draw.",
    False: (
        "No guarantee: at this epsilon a vector may lose more than can be drawn "
        "exactly, or its mechanism promises nothing."
    ),
}


def build(
    release: Release, *, key: str, identified: bool, lexicon_is_custom: bool
) -> Statement:
    """Return the statement; key is the origin of the run key.

    identified: an id field names the records and is copied.
    """
    claim = claimed(release, key)
    promise = claim.promise
    options = release.settings.options
    far = claim.loss.farthest
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
        equal_parts=False,
        strength=claims.judge(claim.notion, claim.level, claim.loss, claim.text_loss),
        strategy=Strategy.TOKEN,
        unprotected=(),
        numerical_slack=claim.slack,
        sentence=_sentence(release, claim, key),
        text_level=_several(release, claim),
        translation="",
        adjacency=_adjacency(release),
        covered=_covered(release),
        conditions=()
        if claim.none
        else _conditions(release, claim, key, identified, lexicon_is_custom),
        not_covered=_not_covered(release, identified, options.subject),
        source=promise.source,
        decoder="none",
        decoding="",
    )


def _sentence(release: Release, claim: Claim, key: str) -> str:
    if claim.none:
        return _NOTHING[key == "seed"]
    weak = "No meaningful protection. " * (claim.loss.nearest > MAX_MEANINGFUL_LOSS)
    body = _PRIVATE[claim.notion].format(
        epsilon=number(claim.epsilon),
        delta=number(claim.promise.delta),
        mu=above(claim.promise.mu, 5) if claim.promise.mu else "",
        metric=_metric(release, claim),
        factor=factor(claim.epsilon),
        compared=_COMPARED.get(release.pool, _ANY_TEXTS),
        likely=_LIKELY,
        far=_far(claim),
    )
    return f"{weak}Each released vector (of {_OF[release.pool]}) is {body.rstrip()}"


def _metric(release: Release, claim: Claim) -> str:
    """Name the distance that epsilon counts."""
    name = claim.promise.metric.name
    if claim.promise.notion is not Notion.METRIC:
        return name
    between = _BETWEEN.get(release.pool)
    return f"distance between {between} ({name})" if between else name


def _far(claim: Claim) -> str:
    loss, least = claim.loss, ""
    if loss.nearest < loss.farthest:
        least = (
            "For half of the vocabulary the nearest other word is close enough that "
            f"this factor is at most {factor(loss.nearest)}; for half of all pairs of "
            f"words it is at most about {factor(loss.median)}; "
        )
    farthest = "for the farthest two it is at most " + factor(loss.farthest)
    beyond = ""
    if loss.farthest > MAX_MEANINGFUL_LOSS:
        beyond = (
            f"; factors beyond e^{MAX_MEANINGFUL_LOSS:g} are no meaningful protection"
        )
    said = least + farthest if least else farthest[0].upper() + farthest[1:]
    return f"{said}{beyond}."


def _several(release: Release, claim: Claim) -> str:
    """Say what several vectors lose together."""
    if claim.none:
        return "Nothing is promised of several vectors either."
    of = "text of n words" if release.pool is Pool.WORD else "person with n texts"
    subject, most = release.settings.options.subject, release.settings.options.most
    shared = ""
    if subject is not None and most > 1:
        shared = (
            f'All vectors of one value of "{subject}", at most {most}, are together '
            f"{_private(claim, most)}. "
        )
    if claim.notion is not Notion.APPROXIMATE:
        each = above(claim.loss.farthest)
        return (
            f"{shared}A {of} loses at most n times {each} nats when all of its "
            f"vectors may differ, m times {each} when m of them may."
        )
    counts = ", ".join(f"{n}: {above(claim.together(n))}" for n in _SEVERAL)
    mu, delta = above(claim.promise.mu, 5), number(claim.promise.delta)
    return (
        f"{shared}A {of} is {mu} sqrt(n)-Gaussian differentially private when all of "
        f"its vectors may differ, {mu} sqrt(m) when m of them may; with delta {delta} "
        f"for all of them together, epsilon for m vectors is {counts}."
    )


def _private(claim: Claim, most: int) -> str:
    together = number(float(above(claim.together(most), 6)))
    if claim.notion is Notion.APPROXIMATE:
        delta = number(claim.promise.delta)
        return f"({together}, {delta})-locally differentially private"
    if claim.notion is Notion.LDP:
        return f"{together}-locally differentially private"
    return f"no more than e^{together} {_LIKELY}"
