"""Ledgers: files that record how much was released about each person, over all runs.

A release is recorded before it leaves: its charges are reserved while the output is
still hidden, each in a transaction that is on disk when it returns. A run gives back
the charges that it reserved and did not release; if it was killed, the next run that
opens the ledger does. Charges of an output that may have left stay.

Sums of charges are for display and export; `findings` serves `ledger verify`.
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
from typing import Any, NamedTuple

from dptext.errors import OutputError, RefusedError, UsageError
from dptext.ledger import store
from dptext.ledger.keys import fcntl, lock_run
from dptext.ledger.store import (
    Amount,
    Ledger,
    Limit,
    format_loss,
    open_ledger,
    reported,
)

__all__ = [
    "Amount",
    "Charge",
    "Entry",
    "Ledger",
    "Limit",
    "begin",
    "charges",
    "entries",
    "findings",
    "format_loss",
    "open_ledger",
    "spent_by",
    "subjects",
]

_NOTE = ("token", "began", "settings", "field", "leaves_words")
_BY_SUBJECT = (
    "SELECT lower(hex(subject)) AS subject, SUM(nats) / 1e9 AS nats, "
    "SUM(delta) / 1e18 AS delta, SUM(records) AS records, "
    "COUNT(DISTINCT entry) AS entries "
    "FROM charges GROUP BY 1 ORDER BY 2 DESC, 1"
)
_OF_SUBJECT = (
    "SELECT COALESCE(SUM(nats), 0) / 1e9 AS nats, "
    "COALESCE(SUM(delta), 0) / 1e18 AS delta, COALESCE(SUM(records), 0) AS records, "
    "COUNT(DISTINCT entry) AS entries FROM charges WHERE subject = ?"
)
_BY_ENTRY = (
    "SELECT number, note, state, limit_nats / 1e9 AS limit_nats, "
    "limit_delta / 1e18 AS limit_delta, COUNT(DISTINCT subject) AS subjects, "
    "COALESCE(SUM(records), 0) AS records, TOTAL(nats) / 1e9 AS nats "
    "FROM entries LEFT JOIN charges ON entry = number GROUP BY number ORDER BY number"
)
_BY_ENTRY_AND_SUBJECT = (
    "SELECT note, state, lower(hex(subject)) AS subject, SUM(records) AS records, "
    "SUM(nats) / 1e9 AS nats, SUM(delta) / 1e18 AS delta "
    "FROM charges JOIN entries ON entry = number "
    "GROUP BY number, subject ORDER BY number, subject"
)


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
    """A release in the process of being recorded."""

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
        """Charge records, all or none; they are on disk when this returns.

        Draws that have been released before cost nothing. Raises RefusedError if a
        subject would lose more than the limit.
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
        """Record that from now on the output may be anywhere.

        Afterwards no older copy of the ledger is accepted, so that the
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
        """Return an error naming the releases and records that exceed a limit."""
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
    """Record a release during a block; charges it does not release are returned.

    field: the name of the subject field; settings: a digest of the settings. parts
    are the hidden files that hold the output until release, empty for a pipe.
    leaves_words: the settings leave words unreplaced, which cost nothing here.
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
    """Return an entry's hidden files from its note.

    dptext 1.0.0 stored their paths unencrypted, as `parts`.
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
    """Finish an entry: released if its output may be public, else returned."""
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


def subjects(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield the charges of each subject by hash, largest first."""
    return _rows(ledger, _BY_SUBJECT)


def spent_by(ledger: Ledger, value: str) -> dict[str, Any]:
    """Return the charges for a subject's value, zeros if there are none."""
    subject = ledger.key.subject(value)
    (row,) = _rows(ledger, _OF_SUBJECT, subject)
    return {"subject": subject.hex(), **row}


def entries(ledger: Ledger) -> list[dict[str, Any]]:
    """Return all entries in order with the sums of their charges."""
    listed = []
    for row in _rows(ledger, _BY_ENTRY):
        note = _parse(row["note"])
        listed.append(
            {
                "entry": note["token"],
                "state": row["state"],
                "began": note["began"],
                "settings": note["settings"],
                "field": note["field"],
                "leaves_words": note["leaves_words"] != "no",
                "subjects": row["subjects"],
                "records": row["records"],
                "nats": row["nats"],
                "limit": {"nats": row["limit_nats"], "delta": row["limit_delta"]},
            }
        )
    return listed


def charges(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield the charges of each entry to each subject."""
    for row in _rows(ledger, _BY_ENTRY_AND_SUBJECT):
        note = _parse(row.pop("note"))
        yield {
            "entry": note["token"],
            "state": row.pop("state"),
            "began": note["began"],
            **row,
        }


def findings(ledger: Ledger, tokens: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Yield the faults of a ledger, one line each.

    tokens: pairs of an output's name and the entry named in its report. If that is
    not recorded as released, ledger and key are older copies.
    """
    problem = ledger.problem()
    if problem is not None:
        yield problem
        return
    states = {row["entry"]: row["state"] for row in entries(ledger)}
    for name, token in tokens:
        if states.get(token) not in (store.RELEASED, store.LEAVING):
            yield (
                f"{name}: its release is not recorded, so the ledger is an older copy; "
                "restore the latest one"
            )


def _parse(note: object) -> dict[str, str]:
    """Parse the note of an entry, with "?" for parts an edit made unreadable."""
    try:
        values = json.loads(str(note))
    except ValueError:
        values = {}
    known = values if isinstance(values, dict) else {}
    return {name: str(known.get(name, "?")) for name in _NOTE}


def _rows(ledger: Ledger, sql: str, *parameters: object) -> Iterator[dict[str, Any]]:
    """Yield rows as dicts by column name."""
    with reported(ledger.path):
        cursor = ledger.data.execute(sql, parameters)
        names = [name for name, *_ in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))
