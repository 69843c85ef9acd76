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
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Entry:
    """A release that is being recorded; token names it in its report."""

    ledger: Ledger
    number: int
    token: str
    limit: Limit
    called: str

    def reserve(self, charges: Iterable[Charge]) -> None:
        """Charge records, on the disk when this returns, or none of them.

        What was released before from the same draws costs nothing. Raises RefusedError
        where a subject would lose more than the limit.
        """
        ledger, key = self.ledger, self.ledger.key
        # Draws that were released, or are charged to this entry, already.
        known = (
            "SELECT 1 FROM charges JOIN entries ON entry = number "
            "WHERE item = ? AND (entry = ? OR state = ?)"
        )
        spent = (
            "SELECT COALESCE(SUM(nats), 0), COALESCE(SUM(delta), 0) FROM charges "
            "WHERE subject = ?"
        )
        sums: dict[bytes, Amount] = {}
        with ledger.transaction() as data:
            for charge in charges:
                subject, nonce = key.subject(charge.subject), charge.nonce
                item = key.record(
                    subject, self.token.encode() if nonce is None else nonce
                )
                values = (item, self.number, store.RELEASED)
                if nonce is not None and data.execute(known, values).fetchone():
                    continue
                if subject not in sums:
                    sums[subject] = Amount(*data.execute(spent, (subject,)).fetchone())
                before = sums[subject]
                sums[subject] = after = before.plus(charge.amount)
                if not self.limit.admits(after):
                    raise RefusedError(
                        f"record {charge.record + 1}: the value of its field "
                        f"{self.called!r} would lose {after} in all, {before} of them "
                        f"charged before, and the limit is {self.limit.amount}; this "
                        f"output is not written (dptext ledger show {ledger.path})"
                    )
                data.execute(
                    "INSERT INTO charges VALUES (?, ?, ?, 1, ?, ?) ON CONFLICT (entry, "
                    "item) DO UPDATE SET records = records + 1, nats = nats + "
                    "excluded.nats, delta = delta + excluded.delta",
                    (self.number, item, subject, *charge.amount),
                )

    def leave(self) -> None:
        """Say that the output may be anywhere from now on."""
        with self.ledger.transaction():
            _set_state(self.ledger, self.number, store.LEAVING)
        self.ledger.mark()


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
        if life := hold(ledger.path, number):
            with life:
                _end(ledger, number)


def _end(ledger: Ledger, number: int) -> None:
    """Finish an entry by what has become of its output."""
    with ledger.transaction() as data:
        sql = "SELECT state, parts FROM entries WHERE number = ?"
        state, written = data.execute(sql, (number,)).fetchone()
        if state in store.FINISHED:
            return
        parts = [Path(part) for part in json.loads(written)]
        hidden = bool(parts) and all(part.exists() for part in parts)
        if state == store.LEAVING and not hidden:
            # What another released meanwhile is charged there.
            data.execute(
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
