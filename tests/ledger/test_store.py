"""The file of a ledger and its key: who may read them, and what is refused."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from dptext import ledger as ledgers
from dptext.errors import UsageError
from dptext.ledger import keys, store
from tests.ledger.charges import LIMIT, charge, release


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


EDITS = [
    "UPDATE charges SET nats = nats - 1",
    "DELETE FROM charges WHERE entry = 2",
    "UPDATE charges SET subject = item",
    "DELETE FROM entries WHERE number = 2",
    "UPDATE entries SET state = 'returned' WHERE number = 1",
    "UPDATE entries SET state = 'open' WHERE number = 1",
    "UPDATE entries SET token = 'x' WHERE number = 1",
    "UPDATE entries SET number = 9 WHERE number = 2",
    "UPDATE facts SET value = x'00' WHERE name = 'seal'",
    "UPDATE facts SET value = x'00' WHERE name = 'id'",
    "DELETE FROM facts WHERE name = 'seal'",
    "CREATE TRIGGER free AFTER INSERT ON charges BEGIN "
    "UPDATE charges SET nats = 0 WHERE entry = NEW.entry; END",
]


def edited(path: Path, edit: str) -> None:
    """Edit a ledger with SQLite alone."""
    with sqlite3.connect(path) as data:
        data.execute(edit)
    data.close()


def not_written(path: Path) -> None:
    """See that no run writes to a ledger, and that this mends nothing in it."""
    for _ in range(2):
        before = list(sqlite3.connect(path).iterdump())
        with (
            ledgers.opened(path) as ledger,
            pytest.raises(UsageError, match=r"edited|older copy"),
        ):
            release(ledger, charge(1))
        assert list(sqlite3.connect(path).iterdump()) == before
        with ledgers.opened(path) as ledger:
            assert list(store.findings(ledger))


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_ledger_is_found_out(edit: str, path: Path) -> None:
    """Without the key nothing can be changed, and no run seals an edit anew."""
    edited(path, edit)
    with ledgers.opened(path) as ledger:
        assert list(store.findings(ledger))
    not_written(path)


@pytest.mark.parametrize("edit", EDITS)
def test_edits_during_a_run_are_found_out(edit: str, path: Path) -> None:
    """A run verifies the ledger again where another program changed it."""
    with (
        ledgers.opened(path) as ledger,
        ledgers.begin(ledger, LIMIT, "user", "s", ()) as entry,
    ):
        entry.reserve([charge(1)])
        edited(path, edit)
        with pytest.raises(UsageError, match="edited"):
            entry.reserve([charge(1)])
    not_written(path)


def test_edits_of_what_a_killed_run_left_are_found_out(path: Path) -> None:
    """Charges that may have left are sealed before their run ends."""
    pid = os.fork()
    if not pid:
        with (
            ledgers.opened(path) as ledger,
            ledgers.begin(ledger, LIMIT, "user", "s", ()) as entry,
        ):
            entry.reserve([charge(1)])
            entry.leave()
            os._exit(0)
    os.waitpid(pid, 0)
    edited(path, "DELETE FROM charges WHERE entry = 3")
    not_written(path)


def test_a_transaction_reads_no_old_row(path: Path) -> None:
    """Once the rows are verified a batch costs as much as its own rows.

    Another run that writes to the ledger meanwhile changes nothing in that.
    """
    hashed: list[str] = []

    def count(frame: object, event: str, argument: object) -> None:
        code = getattr(frame, "f_code", None)
        if event == "call" and code is keys.hashed.__code__:
            hashed.append("row")

    with (
        ledgers.opened(path) as ledger,
        ledgers.begin(ledger, LIMIT, "user", "s", ()) as entry,
        ledgers.opened(path) as other,
    ):
        for number in range(50):
            release(other, charge(0.001, f"subject {number}"))
        sys.setprofile(count)
        entry.reserve([charge(1, "a"), charge(1, "b")])
        sys.setprofile(None)
    assert len(hashed) == 2


def test_a_ledger_in_the_place_of_a_later_one_is_refused(path: Path) -> None:
    """Its key knows that releases are missing from the older copy."""
    older = path.read_bytes()
    with ledgers.opened(path) as ledger:
        release(ledger, charge(1))
    path.write_bytes(older)
    with ledgers.opened(path) as ledger:
        (line,) = store.findings(ledger)
    assert "older copy" in line
    not_written(path)


def test_an_older_copy_shows_by_what_was_released_since(path: Path) -> None:
    """Ledger and key are sound and older; a later release is not in them."""
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    shutil.copy(path.with_name("spent.db.key"), path.with_name("copy.db.key"))
    with ledgers.opened(path) as ledger:
        release(ledger, charge(1))
        token = str(store.entries(ledger)[-1]["entry"])
        assert not list(store.findings(ledger, [("out.jsonl", token)]))
    with ledgers.opened(copy) as ledger:
        (line,) = store.findings(ledger, [("out.jsonl", token)])
    assert line == "out.jsonl: its release is not recorded; the ledger is an older copy"
