"""Losses as integers, so that sums are exact and a bound is never rounded down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import NamedTuple

# Units of one nat, and of a delta of one.
NAT = 10**9
DELTA = 10**18
# An infinite loss counts as this many nats. A thousand million of them still fit the
# 64 bits of an integer of SQLite.
LARGEST_NATS = 1e9


class Amount(NamedTuple):
    """A loss and its delta."""

    #: In units of 10^-9 nats.
    nats: int
    #: In units of 10^-18.
    delta: int

    @classmethod
    def rounded_up(cls, nats: float, delta: float = 0.0) -> Amount:
        """Round a loss up to whole units of its decimal form: 0.1 is 10^8 units."""
        return cls(
            _units(nats, LARGEST_NATS, NAT, ROUND_CEILING),
            _units(delta, 1.0, DELTA, ROUND_CEILING),
        )

    def plus(self, other: Amount) -> Amount:
        """Add a loss (sequential composition); deltas stop at one."""
        return Amount(self.nats + other.nats, min(self.delta + other.delta, DELTA))

    def minus(self, part: Amount) -> Amount:
        """Return the loss without a part of it."""
        return Amount(self.nats - part.nats, max(self.delta - part.delta, 0))

    def __str__(self) -> str:
        return format_loss(self.nats / NAT, self.delta / DELTA)


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that all recorded releases about one subject may lose together."""

    nats: float
    delta: float = 0.0

    @property
    def amount(self) -> Amount:
        """Return the limit, rounded down to whole units."""
        return Amount(
            _units(self.nats, LARGEST_NATS, NAT, ROUND_FLOOR),
            _units(self.delta, 1.0, DELTA, ROUND_FLOOR),
        )

    def admits(self, total: Amount) -> bool:
        """Tell whether a total is within the limit."""
        amount = self.amount
        return total.nats <= amount.nats and total.delta <= amount.delta


def format_loss(nats: float, delta: float) -> str:
    """Write a loss for people: all decimals of the nats that are not zero."""
    shown = f"{nats:.9f}".rstrip("0").rstrip(".") + " nats"
    return f"{shown}, delta {delta:.6g}" if delta else shown


def _units(value: float, largest: float, unit: int, rounding: str) -> int:
    capped = min(value, largest) if math.isfinite(value) else largest
    # By the shortest decimal form: binary 0.1 is a little more, and ten of them would
    # not fit a limit of 1.
    return int((Decimal(repr(capped)) * unit).to_integral_value(rounding))
