"""Draws for the ruler: a mechanism, and the nearest word where it moves vectors."""

from __future__ import annotations

from dptext.adversaries._sampled import Drawing
from dptext.mappings import Index, nearest
from dptext.mechanisms import Channel
from dptext.randomness import Noise
from dptext.types import Eps, Ids


def drawing(channel: Channel) -> Drawing:
    """Return what draws a word for each word."""
    module, state = channel.module, channel.state
    if module.FAMILY == "choice":
        return lambda ids, eps, noise: module.choose(state, ids, eps, noise)
    places = getattr(module, "places", None)
    vectors = places(state) if places else channel.space.vectors
    index = Index(vectors, channel.space.size)

    def draw(ids: Ids, eps: Eps, noise: Noise) -> Ids:
        points = module.perturb(state, ids, eps, noise)
        return nearest.find(nearest.Params(), index, points, noise)

    return draw
