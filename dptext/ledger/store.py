"""The file of a ledger: a table of events in SQLite, authenticated by a chain.

Events are only appended. A release begins (OPEN) and charges records; its output
may have left (LEAVING), did leave (RELEASED), or its charges are being given back
(RETURNING, RETURNED). Returned entries and WAIVED charges count
as zero; the views `entries` and `charges` below define this.

Every transaction verifies the events it has not seen, appends, and writes a new
seal of the chain. The first of a run verifies all events while other runs can write. If
another program changes the file without a new seal, all events are verified again. An
edit of an old event while another run appends is detected by the next
run, since this one verifies the appended events only.
"""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any, NamedTuple

from dptext.errors import OutputError, UsageError
from dptext.ledger.chain import TEXT_ERRORS, Event, Position, is_equal
from dptext.ledger.keys import (
    LedgerKey,
    advance_checkpoint,
    create_key,
    key_path,
    publish_key,
    read_checkpoint,
    read_key,
)

# Units of one nat, and of a delta of one.
NAT = 10**9
DELTA = 10**18
# An infinite loss counts as this many nats. A thousand million of them still fit the
# 64 bits of an integer of SQLite.
LARGEST_NATS = 1e9
# Kinds of events. The first five are the states of an entry, in the order in which they
# follow each other: RELEASED and RETURNED are final, RETURNED follows RETURNING.
OPEN, LEAVING, RELEASED = "open", "leaving", "released"
RETURNING, RETURNED = "returning", "returned"
CHARGE = "charge"
# A charge of draws that another entry has released: paid for once.
WAIVED = "waived"
FINISHED = (RELEASED, RETURNED)

_VERSION = 3
_APPLICATION = 0x64707478  # "dptx", in the file's header
_SECONDS_TO_WAIT = 60.0  # for a transaction of another run
_LEAST_NUMBER = -(2**63)  # of a row of SQLite
# Only charges have a subject, so that the indexes of all other events stay small. These
# objects alone may be in the file: a foreign trigger or view could change the events.
_SCHEMA = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    """CREATE TABLE events (
        number INTEGER PRIMARY KEY, entry INTEGER NOT NULL, kind TEXT NOT NULL,
        subject BLOB, draws BLOB, records INTEGER NOT NULL, nats INTEGER NOT NULL,
        delta INTEGER NOT NULL, note TEXT NOT NULL, value BLOB NOT NULL)""",
    "CREATE INDEX charges_by_subject ON events (subject) WHERE subject IS NOT NULL",
    "CREATE INDEX by_draws ON events (draws) WHERE draws IS NOT NULL",
    "CREATE INDEX draws_by_entry ON events (entry) WHERE draws IS NOT NULL",
    "CREATE INDEX states_by_entry ON events (entry) WHERE subject IS NULL",
    "CREATE INDEX states_by_kind ON events (kind, entry, draws) WHERE subject IS NULL",
)
# Seen by this connection alone; they are not in the file.
_VIEWS = (
    """CREATE TEMP VIEW entries AS
        SELECT number, note, nats AS limit_nats, delta AS limit_delta, (
            SELECT kind FROM events AS change
            WHERE change.entry = begun.number AND change.subject IS NULL
                AND change.kind <> 'waived' ORDER BY change.number DESC LIMIT 1
        ) AS state
        FROM events AS begun WHERE kind = 'open' AND subject IS NULL""",
    """CREATE TEMP VIEW charges AS
        SELECT entry, subject, draws, records, nats, delta FROM events AS charge
        WHERE subject IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM events AS change
            WHERE change.subject IS NULL AND change.kind = 'returned'
                AND change.entry = charge.entry
        ) AND NOT EXISTS (
            SELECT 1 FROM events AS change
            WHERE change.subject IS NULL AND change.kind = 'waived'
                AND change.entry = charge.entry AND change.draws = charge.draws
        )""",
)
# The fields of an Event in their order, and its value in the chain.
_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FROM_NUMBER = (
    "SELECT number, entry, kind, subject, draws, records, nats, delta, note, value "
    "FROM events WHERE number >= ? ORDER BY number"
)
# The statements that made the tables, indexes and so on of a file.
_OBJECTS = "SELECT sql FROM sqlite_master ORDER BY sql"
# The names of all rows of the table facts: the id and the seal are authenticated by the
# chain, and the key is compared with that of the key file.
_FACTS = ["id", "key", "seal"]
_EDITED = "the ledger was edited"
_REASONS = {
    "SQLITE_BUSY": "other runs have locked it; try again when they have ended",
    "SQLITE_FULL": "no space left on the disk",
    "SQLITE_IOERR_SHMSIZE": "no space left on the disk",
    "SQLITE_READONLY": "it is read-only",
    "SQLITE_CANTOPEN": "it cannot be opened (also to read it, its folder must be "
    "writable)",
}


class Amount(NamedTuple):
    """A loss and its delta as integers: sums are exact, bounds never rounded down."""

    #: In units of 10^-9 nats.
    nats: int
    #: In units of 10^-18.
    delta: int

    @classmethod
    def rounded_up(cls, nats: float, delta: float = 0.0) -> Amount:
        """Round a loss up to whole decimal units: 0.1 is 10^8 units."""
        return cls(
            _units(nats, LARGEST_NATS, NAT, ROUND_CEILING),
            _units(delta, 1.0, DELTA, ROUND_CEILING),
        )

    def plus(self, other: Amount) -> Amount:
        """Add a loss (sequential composition); deltas are capped at one."""
        return Amount(self.nats + other.nats, min(self.delta + other.delta, DELTA))

    def minus(self, part: Amount) -> Amount:
        """Subtract a part of the loss."""
        return Amount(self.nats - part.nats, max(self.delta - part.delta, 0))

    def __str__(self) -> str:
        return format_loss(self.nats / NAT, self.delta / DELTA)


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit on a subject's total loss over all recorded releases."""

    nats: float
    delta: float = 0.0

    @property
    def amount(self) -> Amount:
        """Return the limit, rounded down to whole units."""
        return Amount(
            _units(self.nats, LARGEST_NATS, NAT, ROUND_FLOOR),
            _units(self.delta, 1.0, DELTA, ROUND_FLOOR),
        )

    def admits(self, total: Amount) -> bool:
        """Return whether a total is within the limit."""
        amount = self.amount
        return total.nats <= amount.nats and total.delta <= amount.delta


def format_loss(nats: float, delta: float) -> str:
    """Format a loss: the nats with all their non-zero decimals."""
    shown = f"{nats:.9f}".rstrip("0").rstrip(".") + " nats"
    return f"{shown}, delta {delta:.6g}" if delta else shown


def _units(value: float, largest: float, unit: int, rounding: str) -> int:
    capped = min(value, largest) if math.isfinite(value) else largest
    # By the shortest decimal form: binary 0.1 is a little more, and ten of them would
    # not fit a limit of 1.
    return int((Decimal(repr(capped)) * unit).to_integral_value(rounding))


class _Snapshot(NamedTuple):
    """The file's state when verified, to detect changes by other programs."""

    #: SQLite's count of commits by others (PRAGMA data_version).
    version: int
    #: The seal in the file.
    seal: bytes


class Writer:
    """Appends events within a transaction."""

    def __init__(self, ledger: Ledger, position: Position) -> None:
        self._ledger = ledger
        #: The place in the chain after the last event.
        self.position = position

    def begin(self, limit: Amount, note: str) -> int:
        """Append the event that begins a release; return its entry number."""
        number = self.position.events + 1
        self._append(number, OPEN, nats=limit.nats, delta=limit.delta, note=note)
        return number

    def charge(
        self,
        entry: int,
        *,
        subject: bytes,
        draws: bytes | None,
        records: int,
        amount: Amount,
    ) -> None:
        """Append a charge for one or more records of a subject."""
        charged = {"records": records, "nats": amount.nats, "delta": amount.delta}
        self._append(entry, CHARGE, subject=subject, draws=draws, **charged)

    def change(self, entry: int, kind: str, draws: bytes | None = None) -> None:
        """Append a state change of an entry, or of one of its charges."""
        self._append(entry, kind, draws=draws)

    def _append(self, entry: int, kind: str, **others: Any) -> None:
        event = Event(self.position.events + 1, entry, kind, **others)
        self.position = self._ledger.chain.after(self.position, event)
        self._ledger.data.execute(_INSERT, (*event, self.position.value))


class Ledger:
    """An open ledger."""

    def __init__(self, path: Path, data: sqlite3.Connection, key: LedgerKey) -> None:
        self.path = path
        self.data = data
        self.key = key
        #: Random; names the ledger in reports.
        self.id = _fact(data, "id").decode("utf-8", "replace")
        self.chain = key.chain(self.id)
        # All events up to here were verified.
        self._position = self.chain.start
        self._snapshot: _Snapshot | None = None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Writer]:
        """Append all events of a block, or none; they are on disk when it ends.

        Raises UsageError if the ledger was edited or is an older copy.
        """
        if self._snapshot is None:
            self.verify()
        with _transaction(self.data, self.path, "IMMEDIATE"):
            self._verify()
            writer = Writer(self, self._position)
            yield writer
            seal = self.chain.seal(writer.position)
            sql = "UPDATE facts SET value = ? WHERE name = 'seal'"
            self.data.execute(sql, (seal,))
            snapshot = _Snapshot(_number(self.data, "data_version"), seal)
        # Not before the commit: what failed is not in the chain.
        self._position, self._snapshot = writer.position, snapshot

    def verify(self) -> None:
        """Verify all unseen events while other runs can write.

        Raises UsageError if the ledger was edited or is an older copy.
        """
        with _transaction(self.data, self.path, "DEFERRED"):
            self._verify()

    def problem(self) -> str | None:
        """Verify all events; describe the ledger's fault, None if it has none."""
        self._position, self._snapshot = self.chain.start, None
        with _transaction(self.data, self.path, "DEFERRED"):
            return self._problem()

    def mark(self) -> None:
        """Advance the key's checkpoint to here, so no older copy is accepted.

        Must not be called in a transaction: events must be on disk before the
        checkpoint.
        """
        with reported(self.path):
            advance_checkpoint(key_path(self.path), self._position)

    def spent(self, subject: bytes, *, but: int = 0) -> Amount:
        """Return the sum of a subject's charges, except those of one entry."""
        sql = (
            "SELECT COALESCE(SUM(nats), 0), COALESCE(SUM(delta), 0) FROM charges "
            "WHERE subject = ? AND entry <> ?"
        )
        return Amount(*self.data.execute(sql, (subject, but)).fetchone())

    def is_paid(self, entry: int, draws: bytes) -> bool:
        """Return whether draws have been released, or are charged to this entry."""
        sql = (
            "SELECT 1 FROM events AS charge WHERE draws = ? AND subject IS NOT NULL "
            "AND (entry = ? OR EXISTS (SELECT 1 FROM events AS change WHERE "
            "change.subject IS NULL AND change.kind = ? AND "
            "change.entry = charge.entry))"
        )
        return bool(_column(self.data, sql, (draws, entry, RELEASED)))

    def state(self, entry: int) -> tuple[str, str]:
        """Return an entry's state and note."""
        sql = "SELECT state, note FROM entries WHERE number = ?"
        state, note = self.data.execute(sql, (entry,)).fetchone()
        return state, note

    def unfinished(self) -> list[int]:
        """Return entries that still reserve charges, whose runs continue or died."""
        sql = "SELECT number FROM entries WHERE state NOT IN (?, ?)"
        return _column(self.data, sql, FINISHED)

    def released_elsewhere(self, entry: int) -> list[bytes]:
        """Return an entry's draws that other entries have released meanwhile."""
        sql = (
            "SELECT DISTINCT own.draws FROM events AS own JOIN events AS other "
            "ON other.draws = own.draws AND other.subject IS NOT NULL "
            "JOIN events AS change ON change.entry = other.entry "
            "AND change.subject IS NULL AND change.kind = ? "
            "WHERE own.entry = ? AND own.draws IS NOT NULL AND other.entry <> own.entry"
        )
        return _column(self.data, sql, (RELEASED, entry))

    def _verify(self) -> None:
        problem = self._problem()
        if problem is not None:
            raise UsageError(f"{self.path}: {problem}; restore the latest copy")

    def _problem(self) -> str | None:
        """Verify unseen events; describe the fault, None if there is none.

        Called within a transaction, during which the file does not change.
        """
        # First, since runs append to the ledger before they move the checkpoint.
        checkpoint = read_checkpoint(key_path(self.path))
        if _column(self.data, _OBJECTS) != sorted(_SCHEMA):
            return f"{_EDITED}: its tables do not belong to a ledger"
        if _column(self.data, "SELECT name FROM facts ORDER BY name") != _FACTS:
            return f"{_EDITED}: its metadata were changed"
        if _fact(self.data, "id") != self.id.encode():
            return f"{_EDITED}: it has another id"
        version, seal = _number(self.data, "data_version"), _fact(self.data, "seal")
        known = self._snapshot
        if known is None or (known.version != version and known.seal == seal):
            # Nothing was verified yet, or somebody wrote without appending, as no run
            # does. Queries read indexes, which an editor can set against the events.
            self._position = self.chain.start
            if _column(self.data, "PRAGMA integrity_check(1)") != ["ok"]:
                return f"{_EDITED}, or its file is damaged"
        problem = self._follow_chain()
        if problem is not None:
            return problem
        if not is_equal(seal, self.chain.seal(self._position)):
            return f"{_EDITED}: its last events are missing"
        if not self._passes(checkpoint):
            return "an older copy of the ledger, without its last releases"
        self._snapshot = _Snapshot(version, seal)
        return None

    def _follow_chain(self) -> str | None:
        """Verify events from the position on; describe the first fault, if any."""
        # From the beginning also rows with numbers below 1, which are no events.
        first = self._position.events + 1 if self._position.events else _LEAST_NUMBER
        for *event, value in self.data.execute(_FROM_NUMBER, (first,)):
            following = self.chain.after(self._position, Event(*event))
            if not is_equal(value, following.value):
                number = following.events
                return f"{_EDITED}: its event {number} was changed"
            self._position = following
        return None

    def _passes(self, checkpoint: Position) -> bool:
        """Return whether the verified chain contains this checkpoint."""
        if checkpoint.events == 0:
            return is_equal(checkpoint.value, self.chain.start.value)
        sql = "SELECT value FROM events WHERE number = ?"
        values = _column(self.data, sql, (checkpoint.events,))
        return bool(values) and is_equal(values[0], checkpoint.value)


@contextlib.contextmanager
def open_ledger(path: Path, *, create: bool = False) -> Iterator[Ledger]:
    """Open a ledger during a block; with create, start one if it is missing.

    Raises UsageError if it is missing, not a ledger, or without its key, OutputError if
    the operating system refuses.
    """
    path = Path(os.path.realpath(path))
    key_file, is_new = key_path(path), not path.exists()
    if not is_new and not path.is_file():
        raise UsageError(f"{path}: not a ledger, since it is not a regular file")
    if is_new and not create:
        raise UsageError(f"{path}: there is no such ledger; check the path")
    if key_file.exists() and (is_new or not path.stat().st_size):
        raise UsageError(
            f"{path}: the ledger is missing but its key exists: restore the ledger, or "
            f"remove {key_file} to begin a new one without earlier releases"
        )
    with reported(path):
        if is_new:
            # For its owner only, as are the files that SQLite keeps beside it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        data = sqlite3.connect(path, timeout=_SECONDS_TO_WAIT, isolation_level=None)
    try:
        with reported(path):
            key = _prepare(path, data, create=create)
        yield Ledger(path, data, key)
    finally:
        data.close()


@contextlib.contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the operating system into one line."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        name = getattr(error, "sqlite_errorname", "")
        if name in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
            raise UsageError(
                f"{path}: not a dptext ledger, or damaged; restore a copy"
            ) from None
        # The messages of SQLite hold no data.
        raise OutputError(f"ledger {path}: {_REASONS.get(name, error)}") from None
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"ledger {path}: {error.strerror}") from None


def _prepare(path: Path, data: sqlite3.Connection, *, create: bool) -> LedgerKey:
    """Return a ledger's key; create tables and key if the file is empty.

    Files of other programs stay unchanged.
    """
    # Text that an editor made of bytes is read without loss, to be found in the chain.
    data.text_factory = _decode
    for setting in ("synchronous = FULL", "temp_store = MEMORY"):
        data.execute(f"PRAGMA {setting}")
    if create and not _number(data, "user_version"):
        with _transaction(data, path, "IMMEDIATE"):
            # Another run may have made them while this one waited.
            if not _number(data, "user_version"):
                _create_tables(path, data)
    if _number(data, "application_id") != _APPLICATION:
        raise UsageError(f"{path}: not a ledger of dptext; name another file")
    if (version := _number(data, "user_version")) != _VERSION:
        raise UsageError(
            f"{path}: a ledger of version {version}, and this dptext reads version "
            f"{_VERSION}; use the version of dptext that created it, or begin a new "
            "ledger"
        )
    data.execute("PRAGMA journal_mode = WAL")
    publish_key(key_path(path))
    key = read_key(key_path(path))
    if _fact(data, "key") != key.check():
        raise UsageError(
            f"{key_path(path)}: this key belongs to another ledger; restore the right "
            "file"
        )
    for view in _VIEWS:
        data.execute(view)
    return key


def _create_tables(path: Path, data: sqlite3.Connection) -> None:
    if _column(data, _OBJECTS):
        raise UsageError(f"{path}: not a ledger of dptext; name another file")
    for statement in _SCHEMA:
        data.execute(statement)
    name = secrets.token_hex(8)
    key = create_key(key_path(path), name)
    chain = key.chain(name)
    facts = {
        "id": name.encode(),
        "key": key.check(),
        "seal": chain.seal(chain.start),
    }
    data.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
    data.execute(f"PRAGMA application_id = {_APPLICATION}")
    data.execute(f"PRAGMA user_version = {_VERSION}")


def _decode(text: bytes) -> str:
    return text.decode("utf-8", TEXT_ERRORS)


def _column(
    data: sqlite3.Connection, sql: str, parameters: Sequence[object] = ()
) -> list[Any]:
    """Return the single column of a query's rows."""
    return [value for (value,) in data.execute(sql, parameters)]


def _number(data: sqlite3.Connection, pragma: str) -> int:
    return int(_column(data, f"PRAGMA {pragma}")[0])


def _fact(data: sqlite3.Connection, name: str) -> bytes:
    """Return a stored fact, empty (which is invalid) if missing or of another type."""
    values = _column(data, "SELECT value FROM facts WHERE name = ?", (name,))
    return values[0] if values and isinstance(values[0], bytes) else b""


@contextlib.contextmanager
def _transaction(data: sqlite3.Connection, path: Path, kind: str) -> Iterator[None]:
    with reported(path):
        data.execute(f"BEGIN {kind}")
        try:
            yield
            data.execute("COMMIT")
        finally:
            if data.in_transaction:
                data.execute("ROLLBACK")
