"""The file of a ledger: SQLite in WAL mode, one transaction at a time.

Its table of entries has one row for each release: its state, its limit, a digest of its
settings. Its table of charges says what each release costs each subject: one row for
each record where a key file makes the run repeatable, else one for each subject.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from dptext.errors import OutputError, UsageError
from dptext.ledger import keys
from dptext.ledger.keys import Key

_VERSION = 1
_APPLICATION = 0x64707478  # "dptx", in the file's header
_PATIENCE = 60.0  # seconds that a transaction waits for another
_SCHEMA = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    """CREATE TABLE entries (
        number INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL, began TEXT NOT NULL, settings TEXT NOT NULL,
        nats INTEGER NOT NULL, delta INTEGER NOT NULL, parts TEXT NOT NULL,
        seal BLOB)""",
    """CREATE TABLE charges (
        entry INTEGER NOT NULL REFERENCES entries, item BLOB NOT NULL,
        subject BLOB NOT NULL, records INTEGER NOT NULL,
        nats INTEGER NOT NULL, delta INTEGER NOT NULL,
        PRIMARY KEY (entry, item)) WITHOUT ROWID""",
    "CREATE INDEX of_subject ON charges (subject, nats, delta)",
    "CREATE INDEX of_item ON charges (item)",
)


class Ledger:
    """An opened ledger; id names it in reports and says nothing else."""

    def __init__(self, path: Path, data: sqlite3.Connection, key: Key) -> None:
        self.path = path
        self.data = data
        self.key = key
        self.id = _fact(data, "id").decode()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Do all of a block, on the disk when it ends, or nothing of it."""
        with _transaction(self.data, self.path):
            yield self.data

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
        raise UsageError(f"{path}: not a regular file, so no ledger")
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
        except BaseException:
            data.close()
            raise
        return data


def _prepared(path: Path, data: sqlite3.Connection, create: bool) -> Key:
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
            f"{path}: a ledger of version {version}, and this dptext knows version "
            f"{_VERSION}"
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
        f"remove {keys.path_of(path)} to begin a new one, which knows of no release"
    )


def _make(path: Path, data: sqlite3.Connection) -> None:
    if data.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise UsageError(f"{path}: not a ledger of dptext; name another file")
    if keys.path_of(path).exists():
        raise _gone(path)
    key = keys.create(keys.path_of(path))
    for statement in _SCHEMA:
        data.execute(statement)
    facts = {
        "id": secrets.token_hex(8).encode(),
        "key": key.check(),
        "seal": key.seal(b""),
    }
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
def _transaction(data: sqlite3.Connection, path: Path) -> Iterator[None]:
    with reported(path):
        data.execute("BEGIN IMMEDIATE")
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


_REASONS = {
    "SQLITE_BUSY": "other runs hold it; try again when they are done",
    "SQLITE_FULL": "no space left on the disk",
    "SQLITE_READONLY": "it cannot be written",
    "SQLITE_CANTOPEN": "it cannot be opened",
}
