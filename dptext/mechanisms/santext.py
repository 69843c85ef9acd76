"""SanText: the exponential mechanism over the vocabulary, P(y|x) ~ exp(-eps d / 2).

Guarantee: epsilon * d (metric DP) for every pair of words, d the Euclidean distance in
the space; epsilon * diameter LDP over V. With recalibrate a larger scale takes the
place of epsilon in the formula, such that the exact losses of all pairs keep this.
Known as: SanText, SanText+ (in part, see the gaps).
Source: Yue et al., Findings of ACL 2021, algorithm 1, arXiv:2106.01221.
Known gaps: none in the draws. Unknown words are covered here by one public vector,
not kept or drawn from private words as in the published code. SanText+ leaves a common
word unchanged with a probability; here tokens.common leaves them unchanged always.
Example: dptext sanitize reviews.jsonl --field text --mechanism santext --epsilon 13
"""

from __future__ import annotations

from dataclasses import dataclass

from dptext import mechanisms
from dptext.exponential import TruncatedMetricMechanism
from dptext.exponential.distribution import Lists
from dptext.exponential.losses import Scales
from dptext.mechanisms import Aim
from dptext.spaces import Space


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of SanText."""

    #: Raise the scale of the distances as far as the exact losses of all pairs allow:
    #: for each epsilon minutes for 65,500 words.
    recalibrate: bool = False

    @property
    def needs_one_epsilon(self) -> bool:
        """Return True if preparation depends on epsilon."""
        return self.recalibrate

    def prepare(self, space: Space, aim: Aim) -> SanText:
        """Read the space's nearest words."""
        scales = Scales(space) if self.recalibrate else None
        return SanText(self, space, Lists.from_space(space), scales)


@dataclass(frozen=True, eq=False)
class SanText(TruncatedMetricMechanism):
    """The SanText mechanism, without truncation of distances."""

    source = "Yue et al. 2021, algorithm 1"
