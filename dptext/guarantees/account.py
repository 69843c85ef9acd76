"""From a pipeline to its statement."""

from __future__ import annotations

from dptext.guarantees.statement import Statement, build
from dptext.guarantees.terms import Terms
from dptext.mechanisms import Channel
from dptext.profile import Profile
from dptext.types import Spending

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
    # A guarantee's figures hold at every epsilon: the budget's largest stands for all.
    promise = channel.module.guarantee(channel.state, spending.high)
    own = getattr(channel.module, "geometry", None)
    geometry = own(channel.state, spending.high) if own else channel.space.geometry
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
            translation=(
                channel.space.translated(promise.stretch)
                if promise.notion == "metric-DP"
                else ""
            ),
        ),
    )
