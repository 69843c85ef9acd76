"""Ledgers: files that record how much was released about each person, over all runs.

A release is recorded before it leaves: its charges are reserved while the output is
still hidden, each in a transaction that is on the disk when it returns. A run gives
back the charges that it reserved and did not release; if it was killed, the next run
that opens the ledger does. Charges of an output that may have left stay.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from dptext.errors import OutputError, RefusedError, UsageError
from dptext.ledger import store
from dptext.ledger.amounts import Amount, Limit
from dptext.ledger.locks import fcntl, lock_run
from dptext.ledger.store import Ledger, open_ledger

__all__ = ["Amount", "Charge", "Entry", "Ledger", "Limit", "begin", "open_ledger"]


class Charge(NamedTuple):
    """The cost of one record for its subject."""

    #: The place of the record in the input, from 0, for messages.
    record: int
    #: The subject, as readers of records spell it.
    subject: str
    amount: Amount
    #: Determines the draws of the record if a key file makes the run repeatable.
    nonce: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A release that is being recorded."""

    ledger: Ledger
    #: The number of its first event.
    number: int
    #: Random; names the entry in the report of the release.
    token: str
    #: For each subject, over all releases.
    limit: Limit
    #: The name of the field of subjects, for messages.
    field: str

    def reserve(self, charges: Iterable[Charge]) -> None:
        """Charge records, on the disk when this returns, or none of them.

        Draws that were released before cost nothing. Raises RefusedError if a subject
        would lose more than the limit.
        """
        ledger, key = self.ledger, self.ledger.key
        totals: dict[bytes, Amount] = {}
        # Charges of this call, by subject and draws: one event for each of them.
        records: Counter[tuple[bytes, bytes]] = Counter()
        amounts: dict[tuple[bytes, bytes], Amount] = {}
        with ledger.transaction() as writer:
            for charge in charges:
                subject, draws = key.subject(charge.subject), b""
                if charge.nonce is not None:
                    draws = key.draws(subject, charge.nonce)
                    is_repeated = (subject, draws) in records
                    if is_repeated or ledger.is_paid(self.number, draws):
                        continue
                if subject not in totals:
                    totals[subject] = ledger.spent(subject)
                before = totals[subject]
                totals[subject] = before.plus(charge.amount)
                if not self.limit.admits(totals[subject]):
                    others = ledger.spent(subject, but=self.number)
                    raise self._refusal(charge, before=before, others=others)
                event = subject, draws
                records[event] += 1
                amount = amounts.get(event, Amount(0, 0))
                amounts[event] = amount.plus(charge.amount)
            # Sorted: the order of the input would tell which released records are of
            # one subject, without the key.
            for subject, draws in sorted(records):
                writer.charge(
                    self.number,
                    subject=subject,
                    draws=draws or None,
                    records=records[subject, draws],
                    amount=amounts[subject, draws],
                )

    def leave(self) -> None:
        """Record that the output may be anywhere from now on.

        When this returns no older copy of the ledger is accepted any more, so that the
        charges up to here cannot be taken back.
        """
        with self.ledger.transaction() as writer:
            state, _ = self.ledger.state(self.number)
            if state == store.OPEN:
                writer.change(self.number, store.LEAVING)
        self.ledger.mark()

    def _refusal(
        self, charge: Charge, *, before: Amount, others: Amount
    ) -> RefusedError:
        """Say which releases and records take the value of a subject over its limit."""
        earlier = before.minus(others)
        parts = [f"{others} by other releases"] if any(others) else []
        if any(earlier):
            parts.append(f"{earlier} by other records of this output")
        parts.append(f"{charge.amount} by this record")
        return RefusedError(
            f"record {charge.record + 1}: the value of its field {self.field!r} would "
            f"lose {before.plus(charge.amount)} in all ({', '.join(parts)}), and the "
            f"limit is {self.limit.amount}; this output is not written: leave out "
            "records of this value, or raise the limit (dptext ledger show "
            f"{self.ledger.path})"
        )


@contextlib.contextmanager
def begin(
    ledger: Ledger,
    limit: Limit,
    *,
    field: str,
    settings: str,
    parts: Sequence[Path],
    leaves_words: bool = False,
) -> Iterator[Entry]:
    """Record a release for a block; charges that it does not release are given back.

    field is the name of the field of subjects, settings a digest of the settings. parts
    are the hidden files that hold the output until it leaves, empty for a pipe.
    leaves_words: the settings leave words that are not replaced, and cost nothing here.
    """
    _recover(ledger)
    token = secrets.token_hex(16)
    note = {
        "token": token,
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": settings,
        "field": field,
        "paths": [ledger.key.encrypt_path(part) for part in parts],
        "leaves_words": "yes" if leaves_words else "no",
    }
    with ledger.transaction() as writer:
        number = writer.begin(limit.amount, json.dumps(note))
        # Before the commit, so that no other run takes this one for dead.
        lock = lock_run(ledger.path, number)
    try:
        yield Entry(ledger=ledger, number=number, token=token, limit=limit, field=field)
    finally:
        # If this fails the next run does it; until then all charges stay.
        with contextlib.suppress(OutputError, UsageError):
            _finish(ledger, number)
        if lock is not None:
            lock.close()


def _hidden_files(ledger: Ledger, note: str) -> list[Path]:
    """Return the hidden files of an entry, by its note.

    dptext 1.0.0 wrote their paths in clear, as parts.
    """
    known = json.loads(note)
    paths = [ledger.key.decrypt_path(each) for each in known.get("paths", ())]
    return [*map(Path, known.get("parts", ())), *paths]


def _recover(ledger: Ledger) -> None:
    """Finish the entries of runs that were killed."""
    if fcntl is None:  # no sign that a run has ended: it is taken to go on
        return
    ledger.verify()
    for number in ledger.unfinished():
        # Of several runs that try this, the one that gets the lock does it.
        if lock := lock_run(ledger.path, number):
            with lock:
                _finish(ledger, number)


def _finish(ledger: Ledger, number: int) -> None:
    """Finish an entry: released if its output may have left, else given back."""
    with ledger.transaction() as writer:
        state, note = ledger.state(number)
        if state in store.FINISHED:
            return
        parts = _hidden_files(ledger, note)
        is_hidden = bool(parts) and all(part.exists() for part in parts)
        if state == store.LEAVING and not is_hidden:
            for draws in ledger.released_elsewhere(number):
                writer.change(number, store.WAIVED, draws)
            writer.change(number, store.RELEASED)
            return
        if state != store.RETURNING:
            # From here on no run takes it for released, though its parts disappear.
            writer.change(number, store.RETURNING)
    for part in parts:
        with contextlib.suppress(OSError):
            part.unlink()
    with ledger.transaction() as writer:
        writer.change(number, store.RETURNED)
