"""Draws for the Bayes risk: a mechanism, and the nearest word of its vectors."""

from __future__ import annotations

from dptext.adversaries._sampled import Drawing
from dptext.mappings import Index, nearest
from dptext.mechanisms import Channel
from dptext.randomness import RandomBits
from dptext.types import Eps, Ids


def drawing(channel: Channel) -> Drawing:
    """Return what draws a word for each word."""
    module, state = channel.module, channel.state
    if module.FAMILY == "choice":
        return lambda ids, eps, bits: module.choose(state, ids, eps, bits)
    positions = getattr(module, "positions", None)
    vectors = positions(state) if positions else channel.space.vectors
    mapping = nearest.Params().prepare(Index(vectors, channel.space.size))

    def draw(ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        points = module.perturb(state, ids, eps, bits)
        return mapping.find(points, bits)

    return draw
