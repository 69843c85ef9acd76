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


class EntryRow(NamedTuple):
    """An entry as it stands in the file."""

    number: int
    token: str
    state: str
    began: str
    settings: str
    nats: int
    delta: int
    parts: str


_COLUMNS = {
    "entries": EntryRow._fields,
    "charges": ("entry", "item", "subject", "records", "nats", "delta"),
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
        self.path = path
        self.data = data
        self.key = key
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
            self.data.execute(
                "UPDATE facts SET value = ? WHERE name = 'seal'", (packed,)
            )
            verified = self._version(), packed
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
        version, packed = self._version(), _fact(self.data, "seal")
        known = self._verified
        # Whatever other runs write has another seal, which needs the key.
        if known is None or (known[0] != version and known[1] == packed):
            problem = self._problem(released)
        else:
            problem = self._older(released)
        seal = self._seal()
        if problem is not None or seal is None:
            raise UsageError(
                f"{self.path}: {problem or _EDITED}; put the latest copy back"
            )
        self._verified = version, packed
        return seal

    def _problem(self, released: int) -> str | None:
        seal, total = self._seal(), 0
        sql = "SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')"
        if seal is None or self.data.execute(sql).fetchone():
            return _EDITED
        for table, sql in _ROWS.items():
            for row in self.data.execute(sql):
                total += keys.hashed(self.key, table, *row)
        if seal.moved(-total).total:
            return _EDITED
        return self._older(released)

    def _older(self, released: int) -> str | None:
        seal = self._seal()
        if seal is None or seal.transactions >= released:
            return None
        return "an older copy of the ledger, without its last releases"

    def _seal(self) -> Seal | None:
        packed, name = _fact(self.data, "seal"), _fact(self.data, "id")
        return keys.unpacked(packed, self.key, name)

    def _version(self) -> int:
        return int(self.data.execute("PRAGMA data_version").fetchone()[0])

    def _watch(self) -> None:
        """Have every change of a row by this connection counted in the sum."""

        def note(sign: int, *row: object) -> None:
            self._moved += sign * keys.hashed(self.key, *row)

        with reported(self.path):
            self.data.create_function("note", -1, note)
            for table, columns in _COLUMNS.items():
                for change, rows in _CHANGES.items():
                    notes = "".join(
                        f"SELECT note({sign}, '{table}', "
                        f"{', '.join(f'{row}.{column}' for column in columns)}); "
                        for sign, row in rows
                    )
                    self.data.execute(
                        f"CREATE TEMP TRIGGER IF NOT EXISTS {table}_{change} "
                        f"AFTER {change} ON main.{table} BEGIN {notes} END"
                    )

    def entries(self) -> list[EntryRow]:
        """Return all entries in order."""
        rows = self.data.execute("SELECT * FROM entries ORDER BY number")
        return [EntryRow(*row) for row in rows]

    def entry(self, number: int) -> EntryRow:
        """Return an entry by its number."""
        sql = "SELECT * FROM entries WHERE number = ?"
        return EntryRow(*self.data.execute(sql, (number,)).fetchone())

    def spent(self, subject: bytes) -> tuple[int, int]:
        """Return what a subject is charged, in units of nats and of delta."""
        row = self.data.execute(
            "SELECT COALESCE(SUM(nats), 0), COALESCE(SUM(delta), 0) "
            "FROM charges WHERE subject = ?",
            (subject,),
        ).fetchone()
        return int(row[0]), int(row[1])


@contextlib.contextmanager
def opened(path: Path, *, create: bool = False) -> Iterator[Ledger]:
    """Open a ledger for a block; a new one where it may be created.

    Raises UsageError where there is none or it is another file, OutputError where the
    system refuses.
    """
    path = Path(os.path.realpath(path))
    has_key, is_new = keys.path_of(path).exists(), not path.exists()
    if not is_new and not path.is_file():
        raise UsageError(f"{path}: not a ledger, since it is not a regular file")
    if is_new and not create:
        raise UsageError(f"{path}: there is no such ledger")
    if is_new and has_key:
        raise _gone(path)
    data = _connected(path, is_new)
    try:
        key = _prepared(path, data, create)
        yield Ledger(path, data, key)
    finally:
        data.close()


def _connected(path: Path, is_new: bool) -> sqlite3.Connection:
    with reported(path):
        if is_new:
            # For its owner only, as are the files that SQLite keeps beside it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        data = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
        try:
            data.execute("PRAGMA synchronous = FULL")
            data.execute("PRAGMA foreign_keys = ON")
            data.execute("PRAGMA temp_store = MEMORY")
        except BaseException:
            data.close()
            raise
        return data


def _prepared(path: Path, data: sqlite3.Connection, create: bool) -> LedgerKey:
    """Return the key of a ledger; make tables and key where there are none.

    The file of another program is left as it is.
    """
    if create and not _number(path, data, "user_version"):
        with _transaction(data, path):
            if not _number(path, data, "user_version"):
                _make(path, data)
    application = _number(path, data, "application_id")
    version = _number(path, data, "user_version")
    if application != _APPLICATION:
        raise UsageError(f"{path}: not a ledger of dptext; name another file")
    if version != _VERSION:
        raise UsageError(
            f"{path}: a ledger of version {version}, and this dptext reads version "
            f"{_VERSION}; use the dptext that made it, or begin a new ledger"
        )
    with reported(path):
        data.execute("PRAGMA journal_mode = WAL")
        keys.keep(keys.path_of(path))
    key = keys.read(keys.path_of(path))
    with reported(path):
        if _fact(data, "key") != key.check():
            raise UsageError(
                f"{keys.path_of(path)}: the key of another ledger; put the right one "
                "back"
            )
    return key


def _gone(path: Path) -> UsageError:
    return UsageError(
        f"{path}: the ledger is gone but its key is there: put the ledger back, or "
        f"remove {keys.path_of(path)} to begin a new one without earlier releases"
    )


def _make(path: Path, data: sqlite3.Connection) -> None:
    if data.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise UsageError(f"{path}: not a ledger of dptext; name another file")
    if keys.path_of(path).exists():
        raise _gone(path)
    key = keys.create(keys.path_of(path))
    for statement in _SCHEMA:
        data.execute(statement)
    name = secrets.token_hex(8).encode()
    seal = Seal(0, 0).packed(key, name)
    facts = {"id": name, "key": key.check(), "seal": seal}
    data.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
    data.execute(f"PRAGMA application_id = {_APPLICATION}")
    data.execute(f"PRAGMA user_version = {_VERSION}")


def _number(path: Path, data: sqlite3.Connection, pragma: str) -> int:
    with reported(path):
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
    "SQLITE_FULL": "no space left on the disk",
    "SQLITE_READONLY": "it cannot be written",
    "SQLITE_CANTOPEN": "it cannot be opened",
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
    def of(cls, nats: float, delta: float = 0.0) -> Amount:
        """Round a loss up to whole units, as it is written in decimals."""
        return cls(_units(nats, _NAT, ROUND_CEILING), _delta(delta, ROUND_CEILING))

    def plus(self, other: Amount) -> Amount:
        """Return what both lose together."""
        return Amount(self.nats + other.nats, min(self.delta + other.delta, _DELTA))

    def written(self) -> str:
        """Write the loss for people: exact, in nats."""
        shown = f"{number(self.nats / Decimal(_NAT))} nats"
        if not self.delta:
            return shown
        return f"{shown}, delta {float(self.delta / Decimal(_DELTA)):.6g}"

    def plain(self) -> dict[str, float]:
        """Return the loss as numbers, for machines."""
        return {"nats": self.nats / _NAT, "delta": self.delta / _DELTA}


@dataclass(frozen=True, slots=True)
class Limit:
    """What all recorded releases about one subject may lose together."""

    nats: float
    delta: float = 0.0

    @property
    def amount(self) -> Amount:
        """Return the limit, rounded down to whole units."""
        nats = _units(self.nats, _NAT, ROUND_FLOOR)
        return Amount(nats, _delta(self.delta, ROUND_FLOOR))

    def admits(self, sum_: Amount) -> bool:
        """Tell whether a sum is within the limit."""
        most = self.amount
        return sum_.nats <= most.nats and sum_.delta <= most.delta


def number(value: Decimal) -> str:
    """Write a number without an exponent and without zeros at its end."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _units(value: float, unit: int, rounding: str) -> int:
    capped = min(value, LARGEST_NATS) if math.isfinite(value) else LARGEST_NATS
    return int((Decimal(repr(capped)) * unit).to_integral_value(rounding))


def _delta(delta: float, rounding: str) -> int:
    return min(_units(min(delta, 1.0), _DELTA, rounding), _DELTA)


fcntl: Any
try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None


def hold(ledger: Path, number: int) -> contextlib.ExitStack | None:
    """Take the lock of a run by its number; None where another process holds it.

    It is held until what is returned is closed, or the process ends.
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
    "SELECT subject, SUM(nats), SUM(delta), SUM(records), COUNT(DISTINCT entry) "
    "FROM charges GROUP BY subject ORDER BY 2 DESC, 1"
)
_OF_ENTRIES = (
    "SELECT token AS entry, state, began, settings, entries.nats AS limit_nats, "
    "entries.delta AS limit_delta, COUNT(DISTINCT subject) AS subjects, "
    "COALESCE(SUM(records), 0) AS records, COALESCE(SUM(charges.nats), 0) AS nats "
    "FROM entries LEFT JOIN charges ON entry = number GROUP BY number ORDER BY number"
)
_OF_CHARGES = (
    "SELECT token AS entry, state, began, subject, SUM(records) AS records, "
    "SUM(charges.nats) AS nats, SUM(charges.delta) AS delta "
    "FROM charges JOIN entries ON entry = number "
    "GROUP BY number, subject ORDER BY number, subject"
)


class SubjectSum(NamedTuple):
    """What a subject, by its hash, is charged in all."""

    subject: str
    amount: Amount
    records: int
    entries: int

    def plain(self) -> dict[str, object]:
        """Return it for machines."""
        rest = self._asdict()
        subject, amount = rest.pop("subject"), rest.pop("amount")
        return {"subject": subject, **amount.plain(), **rest}


def subjects(ledger: Ledger) -> Iterator[SubjectSum]:
    """Yield all subjects, those who lost most first."""
    with reported(ledger.path):
        for subject, nats, delta, records, entries in ledger.data.execute(_OF_SUBJECTS):
            yield SubjectSum(subject.hex(), Amount(nats, delta), records, entries)


def spent_by(ledger: Ledger, value: str) -> SubjectSum:
    """Return what the subject of a value is charged."""
    name = ledger.key.subject(value).hex()
    known = (each for each in subjects(ledger) if each.subject == name)
    return next(known, SubjectSum(name, Amount(0, 0), 0, 0))


def _rows(ledger: Ledger, sql: str) -> Iterator[dict[str, Any]]:
    """Yield rows by the names of their columns."""
    with reported(ledger.path):
        cursor = ledger.data.execute(sql)
        names = [name for name, *_ in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))


def entries(ledger: Ledger) -> list[dict[str, Any]]:
    """Return all entries in order, for machines."""
    listed = []
    for row in _rows(ledger, _OF_ENTRIES):
        limit = Amount(row.pop("limit_nats"), row.pop("limit_delta")).plain()
        people, records, nats = (
            row.pop(key) for key in ("subjects", "records", "nats")
        )
        sums = {"subjects": people, "records": records, "nats": nats / _NAT}
        listed.append({**row, "limit": limit, **sums})
    return listed


def charges(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield what each entry costs each subject, for machines."""
    for row in _rows(ledger, _OF_CHARGES):
        amount = Amount(row.pop("nats"), row.pop("delta")).plain()
        yield {**row, "subject": row["subject"].hex(), **amount}


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
        states = {row.token: row.state for row in ledger.entries()}
    for name, token in tokens:
        if states.get(token) not in (RELEASED, LEAVING):
            yield f"{name}: its release is not recorded; the ledger is an older copy"
