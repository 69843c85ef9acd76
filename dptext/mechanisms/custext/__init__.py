"""CusText: the exponential mechanism inside a set of output words.

P(y|x) ~ exp(eps u(x, y) / 2) for y in the output set of x, where u = 1 - (d - min) /
(max - min) falls from 1 at the nearest word of the set to 0 at the farthest (u = 1
where all are equally far).

Guarantee: with mapping one_set, where the output set of every word is all of V,
epsilon-LDP over V and over unknown words: u lies in [0, 1] whatever x is. With the
published mappings (aggressive, balanced, conservative) none over V: a word outside a
set is never written for a word inside it. What holds there is epsilon-LDP among the
words of one published class; which class a word is in is disclosed.
Instead: mapping one_set, the same formula over one output set, all of V; or rank.
Source: Chen et al., Findings of ACL 2023, algorithms 1 and 2, arXiv:2207.01193.
Known gaps: the published mappings as above; keeping stop words or unknown words, as the
published code does, is a setting of the tokens; numbers are words here, not a number
plus noise.
Example: dptext sanitize reviews.jsonl --mechanism custext --epsilon 12
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from msgspec import Meta

from dptext import mechanisms
from dptext.exponential.lists import Lists
from dptext.mechanisms import Aim, WordMechanism
from dptext.mechanisms.custext import output_sets
from dptext.mechanisms.custext.one_set import OneSet, spread_of
from dptext.mechanisms.custext.published import PublishedSets
from dptext.spaces import Space, unit


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """mapping from a word to its output set, of k words where it is not all of V.

    distance is what u is made of: Euclidean, or 1 - cosine.
    """

    k: Annotated[int, Meta(ge=1, le=1024)] = 20
    mapping: Literal["one_set", "aggressive", "balanced", "conservative"] = "one_set"
    distance: Literal["euclidean", "cosine"] = "euclidean"

    def prepare(self, space: Space, aim: Aim) -> WordMechanism:
        """Build the output sets, or take the spread of the distances over V."""
        squared = self.distance == "cosine"
        measured = _directions(space) if squared else space
        if self.mapping == "one_set":
            lists, spread = Lists.of_all(measured), spread_of(measured, squared)
            return OneSet(self, space, measured, squared, lists, spread)
        sets = output_sets.build(measured, self.mapping, self.k, squared)
        return PublishedSets(self, space, sets)


def _directions(space: Space) -> Space:
    """Scale vectors to length 1: half the squared distance is then 1 - cosine."""
    return replace(
        space,
        name=f"directions of {space.name}",
        metric=f"angle in the {space.metric}",
        vectors=unit.Params().transform(space.vectors),
    )
