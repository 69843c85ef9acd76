"""Small charges of a ledger."""

from __future__ import annotations

from dptext import ledger as ledgers
from dptext.ledger import Amount, Charge, Ledger, Limit

LIMIT = Limit(10.0)


def charge(nats: float, subject: str = "u", nonce: bytes | None = None) -> Charge:
    """Return a charge of a record."""
    return Charge(0, subject, Amount.of(nats), nonce)


def release(ledger: Ledger, *charges: Charge, limit: Limit = LIMIT) -> None:
    """Record a release from beginning to end."""
    with ledgers.begin(ledger, limit, "user", "settings", ()) as entry:
        entry.reserve(charges)
        entry.leave()
