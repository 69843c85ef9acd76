"""The file of a ledger and its key: who may read them, and what is refused."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from dptext import ledger as ledgers
from dptext.errors import UsageError
from dptext.ledger import reading
from tests.ledger.test_entries import charge, release


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Make a ledger with two releases."""
    path = tmp_path / "spent.db"
    with ledgers.opened(path, create=True) as ledger:
        release(ledger, charge(1, "zqxjkmarker"))
        release(ledger, charge(2, "zqxjkmarker"), charge(2, "other"))
    return path


def refused(path: Path, said: str) -> None:
    """See that a ledger is not opened, also not made anew."""
    for create in (False, True):
        with (
            pytest.raises(UsageError, match=said),
            ledgers.opened(path, create=create),
        ):
            pass


def test_its_files_are_for_their_owner_and_hold_no_subject(path: Path) -> None:
    """Subjects are keyed hashes; nobody else may read ledger or key."""
    files = [each for each in path.parent.iterdir() if each.is_file()]
    assert {each.name for each in files} >= {"spent.db", "spent.db.key"}
    for each in files:
        assert stat.S_IMODE(each.stat().st_mode) == 0o600
        assert b"zqxjkmarker" not in each.read_bytes()


def test_a_ledger_without_its_key_or_its_file_is_refused(path: Path) -> None:
    """A lost ledger is not taken for a new one, in which nothing was spent."""
    key = path.with_name("spent.db.key")
    secret = key.read_bytes()
    key.unlink()
    refused(path, "key of the ledger is missing")
    key.write_bytes(secret[::-1])
    key.chmod(0o644)
    refused(path, "chmod 600")
    key.chmod(0o600)
    refused(path, "key of another ledger")
    key.write_bytes(secret)
    path.write_bytes(b"")
    with pytest.raises(UsageError, match="ledger is gone but"):
        with ledgers.opened(path, create=True):
            pass
    path.unlink()
    with pytest.raises(UsageError, match="ledger is gone but"):
        with ledgers.opened(path, create=True):
            pass


def test_files_of_others_are_left_as_they_are(tmp_path: Path) -> None:
    """Neither text nor another program's data become a ledger."""
    text, other = tmp_path / "text", tmp_path / "other.db"
    text.write_text("no ledger " * 99)
    with sqlite3.connect(other) as data:
        data.execute("CREATE TABLE mine (x)")
    data.close()
    for path in (text, other, tmp_path):
        before = path.read_bytes() if path.is_file() else b""
        refused(path, "not a ledger|no ledger")
        assert not before or path.read_bytes() == before


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE charges SET nats = nats - 1",
        "DELETE FROM charges WHERE entry = 2",
        "UPDATE charges SET subject = item",
        "DELETE FROM entries WHERE number = 2",
        "UPDATE entries SET state = 'returned' WHERE number = 1",
        "UPDATE entries SET seal = NULL, state = 'open' WHERE number = 1",
        "UPDATE entries SET token = 'x' WHERE number = 1",
        "UPDATE facts SET value = x'00' WHERE name = 'seal'",
    ],
)
def test_an_edited_ledger_is_found_out(edit: str, path: Path) -> None:
    """Whoever has no key can change nothing that was released."""
    with sqlite3.connect(path) as data:
        data.execute(edit)
    data.close()
    with ledgers.opened(path) as ledger:
        assert list(reading.findings(ledger))


def test_an_older_copy_shows_by_what_was_released_since(path: Path) -> None:
    """Its seals are good; a later release is not in it."""
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    shutil.copy(path.with_name("spent.db.key"), path.with_name("copy.db.key"))
    with ledgers.opened(path) as ledger:
        release(ledger, charge(1))
        token = str(reading.entries(ledger)[-1]["entry"])
        assert not list(reading.findings(ledger, [("out.jsonl", token)]))
    with ledgers.opened(copy) as ledger:
        (line,) = reading.findings(ledger, [("out.jsonl", token)])
    assert line == "out.jsonl: its release is not recorded; the ledger is an older copy"
