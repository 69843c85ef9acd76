"""Small charges of a ledger."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from dptext import ledger as ledgers
from dptext.ledger import Amount, Charge, Entry, Ledger, Limit

LIMIT = Limit(10.0)


def charge(nats: float, subject: str = "u", nonce: bytes | None = None) -> Charge:
    """Return a charge of a record."""
    return Charge(0, subject, Amount.rounded_up(nats), nonce)


@contextlib.contextmanager
def begun(
    ledger: Ledger, limit: Limit = LIMIT, parts: tuple[Path, ...] = ()
) -> Iterator[Entry]:
    """Begin a release for a block."""
    with ledgers.begin(
        ledger, limit, field="user", settings="settings", parts=parts
    ) as entry:
        yield entry


def release(ledger: Ledger, *charges: Charge, limit: Limit = LIMIT) -> None:
    """Record a release from beginning to end."""
    with begun(ledger, limit) as entry:
        entry.reserve(charges)
        entry.leave()
