"""Numbers as people read them; a bound is never rounded down."""

from __future__ import annotations

import math

# Beyond this many nats a bound does not protect a word (docs/guarantees.md, 8).
MAX_MEANINGFUL_LOSS = 30.0
# Beyond this many nats a bound does not protect a text as a whole.
MAX_MEANINGFUL_TEXT_LOSS = 10.0


def number(value: float) -> str:
    """Write an epsilon so that nothing is rounded down: up to six digits."""
    short = f"{value:.6g}"
    return short if float(short) >= value else repr(value)


def above(value: float, digits: int = 4) -> str:
    """Write a number with few digits, rounded up."""
    short = f"{value:.{digits}g}"
    if float(short) >= value:
        return short
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return f"{float(short) + step:.{digits}g}"


def up(nats: float) -> float:
    """Round a product up to six digits."""
    return float(above(nats, 6)) if 0.0 < nats < math.inf else nats


def factor(nats: float) -> str:
    """Write e^nats, rounded up; as a power where it means nothing."""
    if nats > MAX_MEANINGFUL_LOSS:
        return f"e^{above(nats)}"
    value = math.exp(nats)
    if value < 1000:
        return f"{math.ceil(value * 100) / 100:g}"
    return f"{math.ceil(value):,}"


def first_beyond(each: float, limit: float) -> int:
    """Return the least n for which n times each is above the limit."""
    return max(math.floor(limit / each) + 1, 1)
