"""Losses as integers, so that sums are exact: a bound is never rounded down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import NamedTuple

# Units of one nat, and of a delta of one.
_NAT = 10**9
_DELTA = 10**18
# What no sum of a ledger reaches: integers of its file have 64 bits.
LARGEST_NATS = 1e9


class Amount(NamedTuple):
    """A loss, in units of 10^-9 nats, and its delta, in units of 10^-18."""

    nats: int
    delta: int

    @classmethod
    def of(cls, nats: float, delta: float = 0.0) -> Amount:
        """Round a loss up to whole units, as it is written in decimals."""
        return cls(_units(nats, _NAT, ROUND_CEILING), _delta(delta, ROUND_CEILING))

    def plus(self, other: Amount) -> Amount:
        """Return what both lose together."""
        return Amount(self.nats + other.nats, min(self.delta + other.delta, _DELTA))

    def written(self) -> str:
        """Write the loss for people: exact, in nats."""
        shown = f"{number(self.nats / Decimal(_NAT))} nats"
        if not self.delta:
            return shown
        return f"{shown}, delta {float(self.delta / Decimal(_DELTA)):.6g}"

    def plain(self) -> dict[str, float]:
        """Return the loss as numbers, for machines."""
        return {"nats": self.nats / _NAT, "delta": self.delta / _DELTA}


@dataclass(frozen=True, slots=True)
class Limit:
    """What all recorded releases about one subject may lose together."""

    nats: float
    delta: float = 0.0

    @property
    def amount(self) -> Amount:
        """Return the limit, rounded down to whole units."""
        nats = _units(self.nats, _NAT, ROUND_FLOOR)
        return Amount(nats, _delta(self.delta, ROUND_FLOOR))

    def admits(self, sum_: Amount) -> bool:
        """Tell whether a sum is within the limit."""
        most = self.amount
        return sum_.nats <= most.nats and sum_.delta <= most.delta


def number(value: Decimal) -> str:
    """Write a number without an exponent and without zeros at its end."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _units(value: float, unit: int, rounding: str) -> int:
    capped = min(value, LARGEST_NATS) if math.isfinite(value) else LARGEST_NATS
    return int((Decimal(repr(capped)) * unit).to_integral_value(rounding))


def _delta(delta: float, rounding: str) -> int:
    return min(_units(min(delta, 1.0), _DELTA, rounding), _DELTA)
