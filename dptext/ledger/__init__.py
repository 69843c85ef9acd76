"""Budgets that last: a file that records what was released about each subject.

A release is recorded before it leaves: its charges are reserved while the output is
still hidden, each in a transaction that is on the disk when it returns. What a run
reserved and did not release is given back, by itself or, where it was killed, by the
next one that opens the ledger; what may have left stays charged.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from dptext.errors import OutputError, RefusedError, UsageError
from dptext.ledger import store
from dptext.ledger.store import Amount, Ledger, Limit, hold, opened

__all__ = ["Amount", "Charge", "Entry", "Ledger", "Limit", "begin", "opened"]


class Charge(NamedTuple):
    """What one record costs its subject.

    record is where it stands in the input, for messages; nonce what its draws follow
    from, where a key file makes the run repeatable, else None.
    """

    record: int
    subject: str
    amount: Amount
    nonce: bytes | None = None


class Entry:
    """A release that is being recorded; token names it in its report."""

    def __init__(
        self, ledger: Ledger, number: int, token: str, limit: Limit, called: str
    ) -> None:
        self.token = token
        self._ledger = ledger
        self._number = number
        self._limit = limit
        self._called = called

    def reserve(self, charges: Iterable[Charge]) -> None:
        """Charge records, on the disk when this returns, or none of them.

        What was released before from the same draws costs nothing. Raises RefusedError
        where a subject would lose more than the limit.
        """
        sums: dict[bytes, Amount] = {}
        with self._ledger.transaction():
            for charge in charges:
                self._reserve(charge, sums)

    def _reserve(self, charge: Charge, sums: dict[bytes, Amount]) -> None:
        """Charge one record; sums holds what subjects are charged so far."""
        ledger, data = self._ledger, self._ledger.data
        subject = ledger.key.subject(charge.subject)
        unique = self.token.encode() if charge.nonce is None else charge.nonce
        item = ledger.key.record(subject, unique)
        # Draws that were released, or are charged to this entry, already.
        known = (
            "SELECT 1 FROM charges JOIN entries ON entry = number "
            "WHERE item = ? AND (entry = ? OR state = ?)"
        )
        values = (item, self._number, store.RELEASED)
        if charge.nonce is not None and data.execute(known, values).fetchone():
            return
        if subject not in sums:
            sums[subject] = Amount(*ledger.spent(subject))
        before = sums[subject]
        after = before.plus(charge.amount)
        if not self._limit.admits(after):
            raise RefusedError(
                f"record {charge.record + 1}: the value of its field "
                f"{self._called!r} would lose {after.written()} in all, "
                f"{before.written()} of them charged before, and the limit is "
                f"{self._limit.amount.written()}; this output is not written (dptext "
                f"ledger show {ledger.path})"
            )
        sums[subject] = after
        data.execute(
            "INSERT INTO charges VALUES (?, ?, ?, 1, ?, ?) ON CONFLICT (entry, item) "
            "DO UPDATE SET records = records + 1, nats = nats + excluded.nats, "
            "delta = delta + excluded.delta",
            (self._number, item, subject, *charge.amount),
        )

    def leave(self) -> None:
        """Say that the output may be anywhere from now on."""
        with self._ledger.transaction():
            _set_state(self._ledger, self._number, store.LEAVING)
        self._ledger.mark()


@contextlib.contextmanager
def begin(
    ledger: Ledger, limit: Limit, called: str, settings: str, parts: Sequence[Path]
) -> Iterator[Entry]:
    """Record a release for a block; what it does not release is given back.

    called names the field of subjects; settings is a digest for the record; parts are
    the hidden files that hold the output until it leaves, none where it leaves by a
    pipe.
    """
    _recover(ledger)
    began = datetime.now(UTC).isoformat(timespec="seconds")
    token = secrets.token_hex(16)
    hidden = json.dumps(list(map(str, parts)))
    with ledger.transaction() as data:
        number = data.execute(
            "INSERT INTO entries (token, state, began, settings, nats, delta, parts) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (token, store.OPEN, began, settings, *limit.amount, hidden),
        ).lastrowid
        assert number is not None
        life = hold(ledger.path, number)
    try:
        yield Entry(ledger, number, token, limit, called)
    finally:
        # What fails here is done by the next run: until then all stays charged.
        with contextlib.suppress(OutputError, UsageError):
            _end(ledger, number)
        if life is not None:
            life.close()


def _recover(ledger: Ledger) -> None:
    """Finish what killed runs left: give back what cannot have been released."""
    if store.fcntl is None:  # nothing shows that a run ended: it is taken to go on
        return
    sql = "SELECT number FROM entries WHERE state NOT IN (?, ?)"
    for (number,) in ledger.data.execute(sql, store.FINISHED).fetchall():
        # Held meanwhile, so that of several runs one does it.
        life = hold(ledger.path, number)
        if life is not None:
            try:
                _end(ledger, number)
            finally:
                life.close()


def _end(ledger: Ledger, number: int) -> None:
    """Finish an entry by what has become of its output."""
    with ledger.transaction():
        row = ledger.entry(number)
        if row.state in store.FINISHED:
            return
        parts = [Path(part) for part in json.loads(row.parts)]
        hidden = bool(parts) and all(part.exists() for part in parts)
        if row.state == store.LEAVING and not hidden:
            # What another released meanwhile is charged there.
            ledger.data.execute(
                "DELETE FROM charges WHERE entry = ?1 AND item IN (SELECT item FROM "
                "charges JOIN entries ON entry = number WHERE state = ?2 AND entry <> "
                "?1)",
                (number, store.RELEASED),
            )
            _set_state(ledger, number, store.RELEASED)
            return
        # From here on no other run takes it for released, whatever is still there.
        _set_state(ledger, number, store.RETURNING)
    for part in parts:
        with contextlib.suppress(OSError):
            part.unlink()
    with ledger.transaction() as data:
        data.execute("DELETE FROM charges WHERE entry = ?", (number,))
        _set_state(ledger, number, store.RETURNED)


def _set_state(ledger: Ledger, number: int, state: str) -> None:
    ledger.data.execute(
        "UPDATE entries SET state = ? WHERE number = ?", (state, number)
    )
