"""From a pipeline to its statement."""

from __future__ import annotations

from dptext import registry
from dptext.guarantees.statement import Statement, Terms, build
from dptext.mechanisms import Channel
from dptext.profile import Profile

_LONGEST_TEXT = 1e9


def statement(
    recipe: Profile,
    channel: Channel,
    *,
    key: str,
    lexicon_given: bool,
    identified: bool,
    fields: tuple[str, ...] | None,
) -> Statement:
    """Return the statement of a run.

    recipe has its epsilon; key is the origin of the run key; fields are the names of
    the text fields, None where the whole input is text.
    """
    epsilon = recipe.budget.params.epsilon
    level = registry.find("budgets", recipe.budget.name).LEVEL
    # A text's words share its epsilon; a mechanism's reach may grow as epsilon shrinks,
    # so what bounds every text is the reach at the share of a very long one.
    share = epsilon if level == "word" else epsilon / _LONGEST_TEXT
    promise = channel.module.guarantee(channel.state, share)
    own = getattr(channel.module, "geometry", None)
    geometry = own(channel.state, share) if own else channel.space.geometry
    resolution = getattr(channel.module, "resolution", None)
    return build(
        promise,
        Terms(
            level=level,
            epsilon=epsilon,
            policy=recipe.tokens,
            key=key,
            lexicon_given=lexicon_given,
            identified=identified,
            fields=fields,
            nearest=geometry.nearest,
            median=geometry.median,
            diameter=geometry.diameter,
            resolution=resolution(channel.state, epsilon) if resolution else None,
        ),
    )
