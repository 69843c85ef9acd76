"""The statement of a release of vectors: sentences from figures, each true alone."""

from __future__ import annotations

import math

from dptext.embedding import claims, limits
from dptext.embedding.claims import SEVERAL, Claim
from dptext.embedding.release import Release
from dptext.embedding.settings import Pool
from dptext.guarantees import scale
from dptext.guarantees.rounding import above, factor, number
from dptext.guarantees.statement import Statement
from dptext.guarantees.terms import MAX_MEANINGFUL_LOSS
from dptext.mechanisms.privemb import PrivEmb
from dptext.types import Notion, Strategy

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
    claim = claims.claim(release, key)
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
        strength=scale.judge(claim.notion, claim.level, claim.loss, claim.text_loss),
        strategy=Strategy.TOKEN,
        unprotected=(),
        numerical_slack=claim.slack,
        sentence=_sentence(release, claim, key),
        text_level=_several(release, claim),
        translation="",
        adjacency=limits.adjacency(release),
        covered=limits.covered(release),
        conditions=()
        if claim.none
        else limits.conditions(release, claim, key, identified, lexicon_is_custom),
        not_covered=limits.not_covered(release, identified, options.subject),
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
    if claim.promise.notion is not Notion.METRIC:
        return claim.promise.metric.name
    name = claim.promise.metric.name
    mechanism = release.mechanism
    if isinstance(mechanism, PrivEmb) and release.pool is not Pool.WORD:
        name, times = mechanism.measured.metric, claims.metric_factor(release)
        if times > 1.0:
            name = f"{math.ceil(times * 1e4) / 1e4:.4f} times the {name}"
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
    counts = ", ".join(f"{n}: {above(claim.together(n))}" for n in SEVERAL)
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
