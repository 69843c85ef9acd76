"""What a ledger adds to a statement, in words."""

from __future__ import annotations

from dptext.guarantees.rounding import number
from dptext.guarantees.terms import MAX_MEANINGFUL_TEXT_LOSS, Terms

_LIMITED = (
    'For each value of the field "{field}", the bounds of all texts about it that the '
    "ledger records, in this release and in those before it, add up to at most {nats} "
    "nats{delta}: the texts of one value are counted as if all of them were others at "
    "once.{large} What was released without this ledger, or stands under another value "
    "of the field, is not counted. That a release was not refused shows that these "
    "sums are within the limit."
)
_LARGE = (
    f" Above {MAX_MEANINGFUL_TEXT_LOSS:g} nats that is no meaningful protection of all "
    "that is known of a person."
)
CONDITION = (
    "The ledger that was used is the one that all earlier releases were recorded in, "
    "complete and not an older copy; dptext cannot check this."
)


def limited(terms: Terms) -> str:
    """Say what a ledger limits; "" without one."""
    limit = terms.subjects
    if limit is None:
        return ""
    return _LIMITED.format(
        field=limit.field,
        nats=number(limit.nats),
        delta=f", their deltas to at most {number(limit.delta)}" * bool(limit.delta),
        large=_LARGE * (limit.nats > MAX_MEANINGFUL_TEXT_LOSS),
    )
