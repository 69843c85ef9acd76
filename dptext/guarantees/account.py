"""From a pipeline to its statement."""

from __future__ import annotations

from dptext.guarantees.statement import Statement, build
from dptext.guarantees.terms import Terms
from dptext.mechanisms import Channel
from dptext.profile import Profile
from dptext.types import Guarantee, Spending

# Words of a text that is longer than any: a share of a total is never smaller.
LONGEST_TEXT = 1e9


def statement(
    recipe: Profile,
    channel: Channel,
    spending: Spending,
    *,
    key: str,
    lexicon_given: bool,
    identified: bool,
    fields: tuple[str, ...] | None,
) -> Statement:
    """Return the statement of a run.

    recipe and spending have their epsilon; key is the origin of the run key; fields are
    the names of the text fields, None where the whole input is text.
    """
    bounding = _bounding(spending)
    promise = channel.module.guarantee(channel.state, bounding)
    own = getattr(channel.module, "geometry", None)
    geometry = own(channel.state, bounding) if own else channel.space.geometry
    resolution = getattr(channel.module, "resolution", None)
    return build(
        promise,
        Terms(
            spending=spending,
            strategy=recipe.strategy,
            policy=recipe.tokens,
            key=key,
            lexicon_given=lexicon_given,
            identified=identified,
            fields=fields,
            nearest=geometry.nearest,
            median=geometry.median,
            diameter=geometry.diameter,
            resolution=(
                resolution(channel.state, spending.high) if resolution else None
            ),
            translation=_translation(channel, promise),
        ),
    )


def _bounding(spending: Spending) -> float:
    """Return the epsilon whose guarantee bounds that of all others of a budget.

    A mechanism's reach may grow as epsilon shrinks: where the words of two texts have
    the same epsilons, as small as may be, that of the least bounds all. Else the
    largest bounds what any two words lose.
    """
    if spending.kind == "text":
        return spending.high / LONGEST_TEXT
    return spending.low if spending.kind in ("place", "past") else spending.high


def _translation(channel: Channel, promise: Guarantee) -> str:
    """Say what epsilon counts in the lexicon's own distance, if it counts another."""
    space = channel.space
    if promise.notion != "metric-DP" or space.metric not in promise.metric:
        return ""
    return space.translated()
