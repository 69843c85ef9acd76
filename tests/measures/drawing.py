"""Draws for the Bayes risk: a mechanism, and the nearest word of its vectors."""

from __future__ import annotations

from dptext.mappings import Index, nearest
from dptext.measures.sampled_risk import Drawing
from dptext.mechanisms import Mechanism, NoiseMechanism, WordMechanism
from dptext.randomness import RandomBits
from dptext.types import Eps, Ids


def drawing(mechanism: Mechanism) -> Drawing:
    """Return what draws a word for each word."""
    if isinstance(mechanism, WordMechanism):
        return mechanism.sample
    assert isinstance(mechanism, NoiseMechanism)
    index = Index(mechanism.output_vectors, mechanism.space.size)

    def draw(ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        points = mechanism.sample(ids, eps, bits)
        return nearest.Params().prepare(index).find(points, bits)

    return draw
