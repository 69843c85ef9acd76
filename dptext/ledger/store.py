"""The file of a ledger: SQLite in WAL mode, exact amounts, one transaction at a time.

Its table of entries has one row for each release: its state, its limit, a digest of its
settings. Its table of charges says what each release costs each subject: one row for
each record where a key file makes the run repeatable, else one for each subject.

Every transaction verifies the seal before it writes. The rows are held against it
before the first transaction of a run, and again when another program changed the file.
While other runs write the seal alone is verified; an edit at such a time is found by
the next run at the latest.

Losses are integers, so that sums are exact: a bound is never rounded down. A run holds
a lock on a file of its own beside the ledger, FILE.run-N, as long as it goes on. The
operating system takes the lock back when the process ends, however it ends.
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
from dptext.ledger import keys
from dptext.ledger.keys import LedgerKey, Seal

# States of an entry: reserving; leaving, its output may be anywhere; done. RETURNING:
# what a killed run left is removed, then its charges are.
OPEN, LEAVING, RELEASED = "open", "leaving", "released"
RETURNING, RETURNED = "returning", "returned"
FINISHED = (RELEASED, RETURNED)
_VERSION = 2
_APPLICATION = 0x64707478  # "dptx", in the file's header
_PATIENCE = 60.0  # seconds that a transaction waits for another
_SCHEMA = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    """CREATE TABLE entries (
        number INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL, began TEXT NOT NULL, settings TEXT NOT NULL,
        nats INTEGER NOT NULL, delta INTEGER NOT NULL, parts TEXT NOT NULL)""",
    """CREATE TABLE charges (
        entry INTEGER NOT NULL REFERENCES entries, item BLOB NOT NULL,
        subject BLOB NOT NULL, records INTEGER NOT NULL,
        nats INTEGER NOT NULL, delta INTEGER NOT NULL,
        PRIMARY KEY (entry, item)) WITHOUT ROWID""",
    "CREATE INDEX of_subject ON charges (subject, nats, delta)",
    "CREATE INDEX of_item ON charges (item)",
)

_COLUMNS = {
    "entries": "number token state began settings nats delta parts".split(),
    "charges": "entry item subject records nats delta".split(),
}
_ROWS = {"entries": "SELECT * FROM entries", "charges": "SELECT * FROM charges"}
# What rows a change takes away from the sum of hashes, and which it adds.
_CHANGES = {
    "INSERT": (("+1", "NEW"),),
    "UPDATE": (("-1", "OLD"), ("+1", "NEW")),
    "DELETE": (("-1", "OLD"),),
}


class Ledger:
    """An opened ledger; id names it in reports and says nothing else."""

    def __init__(self, path: Path, data: sqlite3.Connection, key: LedgerKey) -> None:
        self.path, self.data, self.key = path, data, key
        self.id = _fact(data, "id").decode()
        self._moved = 0  # by how much a transaction has changed the sum of hashes
        # The file as it was verified last: SQLite's count of other programs' changes,
        # and the seal.
        self._verified: tuple[int, bytes] | None = None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Do all of a block, on the disk when it ends, or nothing of it.

        Raises UsageError where the ledger was edited, or is an older copy.
        """
        released = self._released()
        if self._verified is None:
            self._watch()
            # All rows are read; other runs can write meanwhile.
            with _transaction(self.data, self.path, "DEFERRED"):
                self._verify(released)
        with _transaction(self.data, self.path):
            seal = self._verify(released)
            self._moved = 0
            yield self.data
            packed = seal.moved(self._moved).packed(self.key, self.id.encode())
            sql = "UPDATE facts SET value = ? WHERE name = 'seal'"
            self.data.execute(sql, (packed,))
            verified = _number(self.data, "data_version"), packed
        self._verified = verified

    def mark(self) -> None:
        """Write to the key that a release leaves: no older copy takes its place."""
        with _transaction(self.data, self.path):
            seal = self._seal()
            if seal is not None:
                keys.remember(keys.path_of(self.path), seal.transactions)

    def problem(self) -> str | None:
        """Compare all rows with the seal; name the fault of the ledger, if any."""
        released = self._released()
        with _transaction(self.data, self.path, "DEFERRED"):
            return self._problem(released)

    def _released(self) -> int:
        """Return the transactions that there must be; read before the ledger is."""
        with reported(self.path):
            return keys.count(keys.path_of(self.path))

    def _verify(self, released: int) -> Seal:
        """Return the seal of a sound ledger; read its rows where they may be edited."""
        version, packed = _number(self.data, "data_version"), _fact(self.data, "seal")
        known = self._verified
        # Whatever other runs write has another seal, which needs the key.
        rows = known is None or (known[0] != version and known[1] == packed)
        seal, problem = self._seal(), self._problem(released, rows=rows)
        if seal is None or problem is not None:
            raise UsageError(f"{self.path}: {problem}; put the latest copy back")
        self._verified = version, packed
        return seal

    def _problem(self, released: int, *, rows: bool = True) -> str | None:
        seal, total = self._seal(), 0
        if seal is None:
            return _EDITED
        if rows:
            for table, sql in _ROWS.items():
                for row in self.data.execute(sql):
                    total += keys.hashed(self.key, table, *row)
            sql = "SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')"
            if self.data.execute(sql).fetchone() or seal.moved(-total).total:
                return _EDITED
        older = "an older copy of the ledger, without its last releases"
        return older if seal.transactions < released else None

    def _seal(self) -> Seal | None:
        packed, name = _fact(self.data, "seal"), _fact(self.data, "id")
        return keys.unpacked(packed, self.key, name)

    def _watch(self) -> None:
        """Have every change of a row by this connection counted in the sum."""

        def note(sign: int, *row: object) -> None:
            self._moved += sign * keys.hashed(self.key, *row)

        with reported(self.path):
            self.data.create_function("note", -1, note)
            for table, columns in _COLUMNS.items():
                for change, rows in _CHANGES.items():
                    notes = ""
                    for sign, row in rows:
                        values = ", ".join(f"{row}.{column}" for column in columns)
                        notes += f"SELECT note({sign}, '{table}', {values}); "
                    self.data.execute(
                        f"CREATE TEMP TRIGGER IF NOT EXISTS {table}_{change} "
                        f"AFTER {change} ON main.{table} BEGIN {notes} END"
                    )


@contextlib.contextmanager
def opened(path: Path, *, create: bool = False) -> Iterator[Ledger]:
    """Open a ledger for a block; a new one where it may be created.

    Raises UsageError where there is none or it is another file, OutputError where the
    system refuses.
    """
    path = Path(os.path.realpath(path))
    key_path, is_new = keys.path_of(path), not path.exists()
    if not is_new and not path.is_file():
        raise UsageError(f"{path}: not a ledger, since it is not a regular file")
    if is_new and not create:
        raise UsageError(f"{path}: there is no such ledger")
    if key_path.exists() and (is_new or not path.stat().st_size):
        raise UsageError(
            f"{path}: the ledger is gone but its key is there: put the ledger back, or "
            f"remove {key_path} to begin a new one without earlier releases"
        )
    with reported(path):
        if is_new:
            # For its owner only, as are the files that SQLite keeps beside it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        data = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        with reported(path):
            key = _prepared(path, data, create)
        yield Ledger(path, data, key)
    finally:
        data.close()


def _prepared(path: Path, data: sqlite3.Connection, create: bool) -> LedgerKey:
    """Return the key of a ledger; make tables and key where there are none.

    The file of another program is left as it is.
    """
    for setting in ("synchronous = FULL", "foreign_keys = ON", "temp_store = MEMORY"):
        data.execute(f"PRAGMA {setting}")
    if create and not _number(data, "user_version"):
        with _transaction(data, path):
            if not _number(data, "user_version"):
                _make(path, data)
    if _number(data, "application_id") != _APPLICATION:
        raise UsageError(f"{path}: not a ledger of dptext; name another file")
    if (version := _number(data, "user_version")) != _VERSION:
        raise UsageError(
            f"{path}: a ledger of version {version}, and this dptext reads version "
            f"{_VERSION}; use the dptext that made it, or begin a new ledger"
        )
    data.execute("PRAGMA journal_mode = WAL")
    key_path = keys.path_of(path)
    keys.keep(key_path)
    key = keys.read(key_path)
    if _fact(data, "key") != key.check():
        raise UsageError(
            f"{key_path}: the key of another ledger; put the right one back"
        )
    return key


def _make(path: Path, data: sqlite3.Connection) -> None:
    if data.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise UsageError(f"{path}: not a ledger of dptext; name another file")
    key = keys.create(keys.path_of(path))
    for statement in _SCHEMA:
        data.execute(statement)
    name = secrets.token_hex(8).encode()
    seal = Seal(0, 0).packed(key, name)
    facts = {"id": name, "key": key.check(), "seal": seal}
    data.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
    data.execute(f"PRAGMA application_id = {_APPLICATION}")
    data.execute(f"PRAGMA user_version = {_VERSION}")


def _number(data: sqlite3.Connection, pragma: str) -> int:
    return int(data.execute(f"PRAGMA {pragma}").fetchone()[0])


def _fact(data: sqlite3.Connection, name: str) -> bytes:
    row = data.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return b"" if row is None else bytes(row[0])


@contextlib.contextmanager
def _transaction(
    data: sqlite3.Connection, path: Path, kind: str = "IMMEDIATE"
) -> Iterator[None]:
    with reported(path):
        data.execute(f"BEGIN {kind}")
        try:
            yield
            data.execute("COMMIT")
        finally:
            if data.in_transaction:
                data.execute("ROLLBACK")


@contextlib.contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turn what SQLite and the operating system refuse into one line."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        name = getattr(error, "sqlite_errorname", "")
        if name in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
            raise UsageError(
                f"{path}: not a ledger of dptext, or damaged; put a copy back"
            ) from None
        # What SQLite says of itself holds no data.
        raise OutputError(f"ledger {path}: {_REASONS.get(name, error)}") from None
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"ledger {path}: {error.strerror}") from None


_EDITED = "the ledger was edited: its rows are not those of its seal"
_REASONS = {
    "SQLITE_BUSY": "other runs hold it; try again when they are done",
    **dict.fromkeys(
        ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"), "no space left on the disk"
    ),
    "SQLITE_READONLY": "it cannot be written",
    "SQLITE_CANTOPEN": "it cannot be opened (also to read it, its folder must be "
    "writable)",
}


# Units of one nat, and of a delta of one.
_NAT = 10**9
_DELTA = 10**18
# What no sum of a ledger reaches: integers of its file have 64 bits.
LARGEST_NATS = 1e9


class Amount(NamedTuple):
    """A loss, in units of 10^-9 nats, and its delta, in units of 10^-18."""

    nats: int
    delta: int

    @classmethod
    def of(
        cls, nats: float, delta: float = 0.0, rounding: str = ROUND_CEILING
    ) -> Amount:
        """Round a loss to whole units, up by default, as it is written in decimals."""
        units = ((nats, LARGEST_NATS, _NAT), (delta, 1.0, _DELTA))
        return cls(*(_units(*each, rounding) for each in units))

    def plus(self, other: Amount) -> Amount:
        """Return what both lose together."""
        return Amount(self.nats + other.nats, min(self.delta + other.delta, _DELTA))

    def __str__(self) -> str:
        return written(self.nats / _NAT, self.delta / _DELTA)


@dataclass(frozen=True, slots=True)
class Limit:
    """What all recorded releases about one subject may lose together."""

    nats: float
    delta: float = 0.0

    @property
    def amount(self) -> Amount:
        """Return the limit, rounded down to whole units."""
        return Amount.of(self.nats, self.delta, ROUND_FLOOR)

    def admits(self, sum_: Amount) -> bool:
        """Tell whether a sum is within the limit."""
        return sum_.nats <= self.amount.nats and sum_.delta <= self.amount.delta


def written(nats: float, delta: float) -> str:
    """Write a loss for people."""
    shown = f"{nats:.9f}".rstrip("0").rstrip(".") + " nats"
    return f"{shown}, delta {delta:.6g}" if delta else shown


def _units(value: float, most: float, unit: int, rounding: str) -> int:
    capped = min(value, most) if math.isfinite(value) else most
    return int((Decimal(repr(capped)) * unit).to_integral_value(rounding))


fcntl: Any
try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None


def hold(ledger: Path, number: int) -> contextlib.ExitStack | None:
    """Take the lock of a run by its number; None where another process holds it.

    It is held until the stack that is returned is closed, or the process ends.
    """
    path = ledger.with_name(f"{ledger.name}.run-{number}")
    file = open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "rb+", buffering=0)
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
    lock = contextlib.ExitStack()
    lock.callback(file.close)
    lock.enter_context(contextlib.suppress(OSError))
    lock.callback(path.unlink)
    return lock


_OF_SUBJECTS = (
    "SELECT lower(hex(subject)) AS subject, SUM(nats) / 1e9 AS nats, "
    "SUM(delta) / 1e18 AS delta, SUM(records) AS records, "
    "COUNT(DISTINCT entry) AS entries "
    "FROM charges GROUP BY 1 ORDER BY 2 DESC, 1"
)
_OF_ENTRIES = (
    "SELECT token AS entry, state, began, settings, entries.nats / 1e9 AS limit_nats, "
    "entries.delta / 1e18 AS limit_delta, COUNT(DISTINCT subject) AS subjects, "
    "COALESCE(SUM(records), 0) AS records, "
    "COALESCE(SUM(charges.nats), 0) / 1e9 AS nats "
    "FROM entries LEFT JOIN charges ON entry = number GROUP BY number ORDER BY number"
)
_OF_CHARGES = (
    "SELECT token AS entry, state, began, lower(hex(subject)) AS subject, "
    "SUM(records) AS records, SUM(charges.nats) / 1e9 AS nats, "
    "SUM(charges.delta) / 1e18 AS delta FROM charges JOIN entries ON entry = number "
    "GROUP BY number, 4 ORDER BY number, 4"
)


def _rows(ledger: Ledger, sql: str) -> Iterator[dict[str, Any]]:
    """Yield rows by the names of their columns."""
    with reported(ledger.path):
        cursor = ledger.data.execute(sql)
        names = [name for name, *_ in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))


def subjects(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield what each subject, by its hash, is charged in all, the most first."""
    return _rows(ledger, _OF_SUBJECTS)


def spent_by(ledger: Ledger, value: str) -> dict[str, Any]:
    """Return what the subject of a value is charged."""
    name = ledger.key.subject(value).hex()
    nothing = {"subject": name, "nats": 0.0, "delta": 0.0, "records": 0, "entries": 0}
    known = (each for each in subjects(ledger) if each["subject"] == name)
    return next(known, nothing)


def entries(ledger: Ledger) -> list[dict[str, Any]]:
    """Return all entries in order."""
    listed = []
    for row in _rows(ledger, _OF_ENTRIES):
        limit = {"nats": row.pop("limit_nats"), "delta": row.pop("limit_delta")}
        listed.append({**row, "limit": limit})
    return listed


def charges(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield what each entry costs each subject."""
    return _rows(ledger, _OF_CHARGES)


def findings(ledger: Ledger, tokens: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Yield the faults of a ledger, in one line each.

    tokens are names of outputs and the entries that their reports name: one that is
    not there as released shows that the ledger is an older copy.
    """
    with reported(ledger.path):
        (sound,) = ledger.data.execute("PRAGMA integrity_check(1)").fetchone()
        if sound != "ok":
            yield "its file is damaged; put a copy back"
            return
        problem = ledger.problem()
        if problem is not None:
            yield problem
        states = {row["entry"]: row["state"] for row in entries(ledger)}
    for name, token in tokens:
        if states.get(token) not in (RELEASED, LEAVING):
            yield f"{name}: its release is not recorded; the ledger is an older copy"
