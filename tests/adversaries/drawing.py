"""Draws for the Bayes risk: a mechanism, and the nearest word of its vectors."""

from __future__ import annotations

from dptext.adversaries._sampled import Drawing
from dptext.mappings import Index, nearest
from dptext.mechanisms import Mechanism
from dptext.randomness import RandomBits
from dptext.types import Eps, Ids


def drawing(mechanism: Mechanism) -> Drawing:
    """Return what draws a word for each word."""
    module, state = mechanism.module, mechanism.state
    if module.FAMILY == "choice":
        return lambda ids, eps, bits: module.choose(state, ids, eps, bits)
    positions = getattr(module, "positions", None)
    vectors = positions(state) if positions else mechanism.space.vectors
    index = Index(vectors, mechanism.space.size)

    def draw(ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        points = module.perturb(state, ids, eps, bits)
        return nearest.find(nearest.Params(), index, points, bits)

    return draw
