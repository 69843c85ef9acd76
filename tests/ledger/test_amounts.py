"""Losses as integers: bounds are rounded up, limits down, decimals kept."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from dptext.ledger import Amount, Limit


@given(st.floats(1e-9, 1e6), st.floats(0.0, 1.0))
def test_a_loss_is_rounded_up_and_a_limit_down(nats: float, delta: float) -> None:
    """No sum is less than the loss, no limit more than the requested one."""
    loss, limit = Amount.rounded_up(nats, delta), Limit(nats, delta).amount
    assert limit.nats <= Decimal(repr(nats)) * 10**9 <= loss.nats <= limit.nats + 1
    assert limit.delta <= Decimal(repr(delta)) * 10**18 <= loss.delta


def test_decimals_add_up_exactly() -> None:
    """Ten words of 0.1 nats fit a limit of 1, and an eleventh does not."""
    ten = Amount(Amount.rounded_up(0.1).nats * 10, 0)
    assert Limit(1.0).admits(ten)
    assert not Limit(1.0).admits(ten.plus(Amount.rounded_up(0.1)))
    assert str(ten) == "1 nats"


def test_a_delta_counts() -> None:
    """A limit without a delta admits none; a sum of deltas stops at one."""
    loss = Amount.rounded_up(1.0, 1e-6)
    assert not Limit(10.0).admits(loss)
    assert Limit(10.0, 1e-6).admits(loss)
    assert Amount.rounded_up(1.0, 0.7).plus(Amount.rounded_up(1.0, 0.7)).delta == 10**18
