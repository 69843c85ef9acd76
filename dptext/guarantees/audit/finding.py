"""What an audit finds, with what dptext and the paper claim."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dptext.guarantees.audit.program import ALARM, Program
from dptext.mechanisms import Mechanism
from dptext.types import Notion

# Rounding that an exact audit forgives, relative to the claim and in nats (distances
# of near words are differences of nearly equal numbers).
TOLERANCE = ROUNDING = 1e-9
# All limits of an audit by draws hold together with this confidence.
CONFIDENCE = 1.0 - ALARM
BY_SAMPLES = f"samples, {CONFIDENCE:.1%} confidence"


@dataclass(frozen=True, slots=True)
class Published:
    """What a paper claims, held against the losses; dptext does not claim it.

    by says what stands against it (exact losses, proof or samples); ratio the largest
    loss over the published bound of any pair; pair, loss and bound are that pair's.
    """

    source: str
    refuted: bool
    by: str
    ratio: float
    pair: tuple[str, str]
    loss: float
    bound: float


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit found; losses in nats, inf for an output that only one input has.

    worst the largest loss (a lower bound when sampled) with its ordered pair of inputs
    and the output that tells them apart; ratio the largest loss over claim of any pair;
    infinite the share of ordered pairs with an infinite loss; claims whether dptext
    claims anything, refuted whether a pair exceeds that. proven is a proven lower bound
    on the loss of proven_pair; sampled what samples alone show, with confidence. All
    that is the claim against the formula; program holds the program against it.
    """

    method: str
    inputs: int
    pairs: int
    worst: float
    worst_pair: tuple[str, str]
    worst_output: str
    claim_of_worst: float
    ratio: float
    ratio_pair: tuple[str, str]
    infinite: float
    claims: bool
    refuted: bool
    confidence: float | None = None
    proven: float | None = None
    proven_pair: tuple[str, str] | None = None
    sampled: float | None = None
    sampled_pair: tuple[str, str] | None = None
    sampled_output: str | None = None
    sampled_pairs: int = 0
    published: Published | None = None
    program: Program | None = None

    @property
    def failed(self) -> bool:
        """Tell whether a claim, dptext's or the published one, or the program is."""
        if self.program is not None and self.program.refuted:
            return True
        return self.refuted or (self.published is not None and self.published.refuted)


def claims(mechanism: Mechanism, epsilon: float) -> bool:
    """Tell whether dptext claims anything of a mechanism."""
    return mechanism.guarantee(epsilon).notion is not Notion.NONE


def with_samples(
    result: Finding, sampled: Finding, output: str, pairs: int = 0
) -> Finding:
    """Take in what samples of some pairs alone show, and by which output."""
    return replace(
        result,
        confidence=CONFIDENCE,
        sampled=sampled.worst,
        sampled_pair=sampled.worst_pair,
        sampled_output=output,
        sampled_pairs=pairs,
    )


def label(mechanism: Mechanism, row: int) -> str:
    """Name an input."""
    words = mechanism.space.lexicon.words
    return "<unknown word>" if row in (-1, len(words)) else words[row]
