"""The file of a ledger and its key: their permissions, and the refused files."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dptext import ledger as totals
from dptext.errors import UsageError
from dptext.ledger import open_ledger
from dptext.ledger.chain import Chain, Event, Position
from dptext.ledger.keys import key_path
from tests.ledger.charges import begun, charge, release


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Make a ledger with two releases."""
    return make(tmp_path / "spent.db")


def make(path: Path) -> Path:
    """Make a ledger with two releases: of events 1 to 4, and 5 to 9."""
    with open_ledger(path, create=True) as ledger:
        release(ledger, charge(1, "zqxjkmarker"))
        release(ledger, charge(2, "zqxjkmarker"), charge(2, "other"))
    return path


def refused(path: Path, message: str) -> None:
    """See that a ledger is not opened, also not made anew."""
    for create in (False, True):
        with (
            pytest.raises(UsageError, match=message),
            open_ledger(path, create=create),
        ):
            pass


def edit(path: Path, script: str) -> None:
    """Edit a ledger with SQLite alone."""
    with contextlib.closing(sqlite3.connect(path)) as data:
        data.executescript(script)


def content(path: Path) -> list[str]:
    """Return all of a ledger."""
    with sqlite3.connect(path) as data:
        data.text_factory = lambda text: text.decode("utf-8", "replace")
        lines = list(data.iterdump())
    data.close()
    return lines


def not_written(path: Path, message: str = r"edited|older copy") -> None:
    """See that no run writes to a ledger, and that this mends nothing in it."""
    for _ in range(2):
        before = content(path)
        with open_ledger(path) as ledger, pytest.raises(UsageError, match=message):
            release(ledger, charge(1))
        assert content(path) == before
        with open_ledger(path) as ledger:
            assert list(totals.findings(ledger))


def test_its_files_are_for_their_owner_and_hold_no_subject(path: Path) -> None:
    """Subjects are keyed hashes; nobody else may read ledger or key."""
    files = [each for each in path.parent.iterdir() if each.is_file()]
    assert {each.name for each in files} >= {"spent.db", "spent.db.key"}
    for each in files:
        assert stat.S_IMODE(each.stat().st_mode) == 0o600
        assert b"zqxjkmarker" not in each.read_bytes()


def test_events_do_not_tell_the_order_of_records(tmp_path: Path) -> None:
    """With the ledger but without its key, nobody can assign released records."""
    events = []
    path = tmp_path / "spent.db"
    with open_ledger(path, create=True) as ledger:
        for names in ("abcdefgh", "hgfedcba"):
            release(ledger, *(charge(0.5, name) for name in names))
            sql = "SELECT subject FROM events WHERE kind = 'charge' ORDER BY number"
            events.append(ledger.data.execute(sql).fetchall()[-8:])
    assert events[0] == events[1] == sorted(events[0])


def test_a_ledger_without_its_key_or_its_file_is_refused(path: Path) -> None:
    """A lost ledger is not taken for a new one, in which nothing was spent."""
    key = key_path(path)
    secret = key.read_bytes()
    key.unlink()
    refused(path, "key of the ledger is missing")
    key.write_bytes(secret[::-1])
    key.chmod(0o644)
    refused(path, "chmod 600")
    key.chmod(0o600)
    refused(path, "key belongs to another ledger")
    key.write_bytes(secret[:40])
    refused(path, "not a ledger's key")
    key.write_bytes(secret)
    path.write_bytes(b"")
    with pytest.raises(UsageError, match="ledger is missing but"):
        with open_ledger(path, create=True):
            pass
    path.unlink()
    with pytest.raises(UsageError, match="ledger is missing but"):
        with open_ledger(path, create=True):
            pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_key_of_another_user_is_refused(path: Path) -> None:
    """Its owner could test names with it, and edit the ledger."""
    os.chown(key_path(path), 65534, -1)
    refused(path, "belongs to another user")


def test_a_new_key_is_not_written_into_a_file_that_lies_there(tmp_path: Path) -> None:
    """Another user may have put it there, or a link, before the ledger began."""
    path, other = tmp_path / "spent.db", tmp_path / "other"
    other.write_bytes(b"other")
    key_path(path).with_suffix(".key.new").symlink_to(other)
    make(path)
    assert other.read_bytes() == b"other"
    assert not key_path(path).is_symlink()


def test_another_format_is_refused_in_one_line(path: Path) -> None:
    """A ledger of another version is not read."""
    edit(path, "PRAGMA user_version = 2")
    refused(path, "a ledger of version 2")


def test_files_of_others_are_left_as_they_are(tmp_path: Path) -> None:
    """Neither text nor another program's data become a ledger."""
    text, other = tmp_path / "text", tmp_path / "other.db"
    text.write_text("no ledger " * 99)
    with sqlite3.connect(other) as data:
        data.execute("CREATE TABLE mine (x)")
    data.close()
    for path in (text, other, tmp_path):
        before = path.read_bytes() if path.is_file() else b""
        refused(path, "not a (dptext )?ledger")
        assert not before or path.read_bytes() == before


COLUMNS = "entry, kind, subject, draws, records, nats, delta, note, value"
EDITS = {
    "less was lost": "UPDATE events SET nats = nats - 1 WHERE number = 2",
    "another subject": "UPDATE events SET subject = value WHERE number = 2",
    "another type": "UPDATE events SET subject = CAST(subject AS TEXT) "
    "WHERE number = 2",
    "a real number": "UPDATE events SET nats = nats + 0.5 WHERE number = 2",
    "another entry": "UPDATE events SET entry = 5 WHERE number = 2",
    "another state": "UPDATE events SET kind = 'returned' WHERE number = 4",
    "another note": "UPDATE events SET note = '{}' WHERE number = 1",
    "another limit": "UPDATE events SET nats = nats * 2 WHERE number = 1",
    "a wrong value": "UPDATE events SET value = x'00' WHERE number = 2",
    "a value as text": "UPDATE events SET value = 'text' WHERE number = 2",
    "the first is removed": "DELETE FROM events WHERE number = 1",
    "one is removed": "DELETE FROM events WHERE number = 2",
    "one is removed, the rest moved": "DELETE FROM events WHERE number = 2; "
    "UPDATE events SET number = number - 1 WHERE number > 2",
    "the last is removed": "DELETE FROM events WHERE number = 9",
    "the last release is removed": "DELETE FROM events WHERE number > 4",
    "all are removed": "DELETE FROM events",
    "two change places": "UPDATE events SET number = 99 WHERE number = 6; "
    "UPDATE events SET number = 6 WHERE number = 7; "
    "UPDATE events SET number = 7 WHERE number = 99",
    "one is repeated at the end": f"INSERT INTO events SELECT last, {COLUMNS} "
    "FROM events, (SELECT MAX(number) + 1 AS last FROM events) WHERE number = 4",
    "one is inserted": "UPDATE events SET number = -number - 1 WHERE number > 4; "
    "UPDATE events SET number = -number WHERE number < 0; "
    f"INSERT INTO events SELECT 5, {COLUMNS} FROM events WHERE number = 4",
    "one before the first": f"INSERT INTO events SELECT 0, {COLUMNS} "
    "FROM events WHERE number = 4",
    "no seal": "DELETE FROM facts WHERE name = 'seal'",
    "a wrong seal": "UPDATE facts SET value = x'00' WHERE name = 'seal'",
    "another id": "UPDATE facts SET value = x'00' WHERE name = 'id'",
    "another fact": "INSERT INTO facts VALUES ('more', x'00')",
    "a fact with a name of bytes": "INSERT INTO facts VALUES (x'6964', x'00')",
    "a table": "CREATE TABLE more (x)",
    "a trigger": "CREATE TRIGGER free AFTER INSERT ON events BEGIN "
    "UPDATE events SET nats = 0 WHERE number = NEW.number; END",
    "a view": "CREATE VIEW charges AS SELECT * FROM events WHERE 0",
    "no index": "DROP INDEX charges_by_subject",
    "another column": "ALTER TABLE events ADD COLUMN more",
    # An index that hides charges from the sums, under the statement of the right one.
    "a false index": "DROP INDEX charges_by_subject; "
    "CREATE INDEX charges_by_subject ON events (subject) WHERE nats < 0; "
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = "
    "'CREATE INDEX charges_by_subject ON events (subject) WHERE subject IS NOT NULL' "
    "WHERE name = 'charges_by_subject'",
}


@pytest.mark.parametrize("script", EDITS.values(), ids=EDITS)
def test_an_edited_ledger_is_found_out(script: str, path: Path) -> None:
    """Without the key nothing can be changed, and no run seals an edit anew."""
    edit(path, script)
    with open_ledger(path) as ledger:
        (line,) = totals.findings(ledger)
    assert "edited" in line
    not_written(path, "edited")


@pytest.mark.parametrize("script", EDITS.values(), ids=EDITS)
def test_edits_during_a_run_are_found_out(script: str, path: Path) -> None:
    """A run verifies the ledger again where another program changed it."""
    with open_ledger(path) as ledger, begun(ledger) as entry:
        entry.reserve([charge(1)])
        edit(path, script)
        with pytest.raises(UsageError, match="edited"):
            entry.reserve([charge(1)])
    not_written(path, "edited")


# By table: the column that names a row, and rows: of events one that begins a release,
# a charge and the last one.
ROWS = {
    "facts": ("name", ("id", "key", "seal")),
    "events": ("number", (1, 2, 9)),
}
VALUES = ("x'00'", "'x'", "NULL", "7", "0.5", "{0} || 'x'", "CAST({0} AS BLOB)")


def edits_of_rows(path: Path) -> Iterator[str]:
    """Yield statements that edit each column of each row, or remove the row."""
    for table, (key, names) in ROWS.items():
        with sqlite3.connect(path) as data:
            columns = [row[1] for row in data.execute(f"PRAGMA table_info({table})")]
        data.close()
        for name in names:
            where = f"WHERE {key} = '{name}'"
            yield f"DELETE FROM {table} {where}"
            for column, value in itertools.product(columns, VALUES):
                yield f"UPDATE {table} SET {column} = {value.format(column)} {where}"


def test_an_edit_of_any_column_of_a_row_is_found_out(path: Path) -> None:
    """In each table of the file; statements that SQLite refuses edit nothing."""
    before, rows, tried = snapshot(path), content(path), 0
    for script in list(edits_of_rows(path)):
        with contextlib.suppress(sqlite3.IntegrityError):
            edit(path, script)
        if content(path) == rows:
            continue
        tried += 1
        # The key of the ledger is compared when it is opened.
        with contextlib.suppress(UsageError), open_ledger(path) as ledger:
            assert list(totals.findings(ledger)), script
        put_back(path, before)
    assert tried > 150


def test_the_first_edited_event_is_named(path: Path) -> None:
    """Events before an edit are valid, and the message says where it begins."""
    edit(path, EDITS["two change places"])
    with open_ledger(path) as ledger:
        (line,) = totals.findings(ledger)
    assert line == "the ledger was edited: its event 6 was changed"


def test_edits_of_what_a_killed_run_left_are_found_out(path: Path) -> None:
    """Charges that may have left are in the chain before their run ends."""
    pid = os.fork()
    if not pid:
        with open_ledger(path) as ledger, begun(ledger) as entry:
            entry.reserve([charge(1)])
            entry.leave()
            os._exit(0)
    os.waitpid(pid, 0)
    edit(path, "DELETE FROM events WHERE entry = 10 AND kind = 'charge'")
    not_written(path)


def test_charges_of_an_entry_that_is_leaving_cannot_be_cut_off(path: Path) -> None:
    """Charges of sent records stay, also against an older copy of that moment."""
    with open_ledger(path) as ledger, begun(ledger) as entry:
        entry.reserve([charge(1)])
        entry.leave()
        older = snapshot(path)
        entry.reserve([charge(1)])
        entry.leave()
    put_back(path, older)
    not_written(path, "older copy")


def snapshot(path: Path) -> bytes:
    """Return the bytes of a ledger, without a log beside it."""
    copy = path.with_name("snapshot.db")
    with sqlite3.connect(path) as data, sqlite3.connect(copy) as target:
        data.backup(target)
    data.close()
    target.close()
    content = copy.read_bytes()
    copy.unlink()
    return content


def put_back(path: Path, content: bytes) -> None:
    """Replace a ledger by other bytes."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(content)


def test_a_ledger_in_the_place_of_a_later_one_is_refused(path: Path) -> None:
    """Its key knows that releases are missing from the older copy."""
    older = snapshot(path)
    with open_ledger(path) as ledger:
        release(ledger, charge(1))
    put_back(path, older)
    with open_ledger(path) as ledger:
        (line,) = totals.findings(ledger)
    assert "older copy" in line
    not_written(path)


def test_an_older_copy_that_was_continued_is_refused(path: Path) -> None:
    """Ledger and key went on from an older copy; the key of the first history knows."""
    key = key_path(path)
    older = snapshot(path), key.read_bytes()
    with open_ledger(path) as ledger:
        release(ledger, charge(1))
    later = key.read_bytes()
    put_back(path, older[0])
    key.write_bytes(older[1])
    with open_ledger(path) as ledger:
        release(ledger, charge(1, "other"), charge(1))
        release(ledger, charge(1))
    key.write_bytes(later)
    not_written(path, "older copy")


def test_an_older_copy_shows_by_what_was_released_since(path: Path) -> None:
    """Ledger and key are valid and older; a later release is not in them."""
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    shutil.copy(key_path(path), key_path(copy))
    with open_ledger(path) as ledger:
        release(ledger, charge(1))
        token = str(totals.entries(ledger)[-1]["entry"])
        assert not list(totals.findings(ledger, [("out.jsonl", token)]))
    with open_ledger(copy) as ledger:
        (line,) = totals.findings(ledger, [("out.jsonl", token)])
    assert (
        line
        == "out.jsonl: its release is not recorded, so the ledger is an older copy; "
        "restore the latest one"
    )


def test_a_checkpoint_that_was_not_written_is_no_edit(path: Path) -> None:
    """A run killed between the two files leaves an older checkpoint, which is valid."""
    key = key_path(path)
    before = key.read_bytes()
    with open_ledger(path) as ledger:
        release(ledger, charge(1))
    after = key.read_bytes()
    assert before != after
    key.write_bytes(before)
    with open_ledger(path) as ledger:
        assert not list(totals.findings(ledger))
        release(ledger, charge(1))
    assert key.read_bytes()[32:40] > after[32:40]


def test_a_checkpoint_never_moves_back(path: Path) -> None:
    """A run that marks an earlier place than another leaves the later one."""
    with open_ledger(path) as slow, open_ledger(path) as fast:
        with begun(slow) as entry:
            entry.reserve([charge(1)])
            with begun(fast) as other:
                other.reserve([charge(1)])
                other.leave()
                marked = key_path(path).read_bytes()
            slow.mark()
            assert key_path(path).read_bytes() == marked


def test_events_of_two_ledgers_do_not_change_places(path: Path) -> None:
    """The same releases of the same subjects in another ledger are not its own."""
    other = make(path.with_name("other.db"))
    for table in ("events", "facts"):
        kept = "" if table == "events" else "WHERE name = 'seal'"
        edit(
            path,
            f"ATTACH '{other}' AS other; DELETE FROM {table} {kept}; "
            f"INSERT INTO {table} SELECT * FROM other.{table} {kept}",
        )
        with open_ledger(path) as ledger:
            (line,) = totals.findings(ledger)
        assert "its event 1 was changed" in line
    not_written(path, "edited")


def test_the_key_of_another_ledger_is_refused(path: Path) -> None:
    """Even if the ledger is made to recognise it."""
    other = make(path.with_name("other.db"))
    key_path(path).write_bytes(key_path(other).read_bytes())
    refused(path, "key belongs to another ledger")
    edit(
        path,
        f"ATTACH '{other}' AS other; DELETE FROM facts WHERE name = 'key'; "
        "INSERT INTO facts SELECT * FROM other.facts WHERE name = 'key'",
    )
    not_written(path, "edited")


def test_the_checkpoint_of_another_ledger_is_refused(path: Path) -> None:
    """A ledger of the same length does not pass through it."""
    other = make(path.with_name("other.db"))
    own, foreign = key_path(path).read_bytes(), key_path(other).read_bytes()
    assert own[32:40] == foreign[32:40]
    key_path(path).write_bytes(own[:32] + foreign[32:])
    not_written(path, "older copy")


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each computed value of a chain adds its number."""
    numbers: list[int] = []
    original: Callable[[Chain, Position, Event], Position] = Chain.after

    def after(chain: Chain, position: Position, event: Event) -> Position:
        numbers.append(event.number)
        return original(chain, position, event)

    monkeypatch.setattr(Chain, "after", after)
    return numbers


def test_a_transaction_reads_no_event_twice(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It verifies the events of other runs, and costs as much as these and its own."""
    with (
        open_ledger(path) as ledger,
        begun(ledger) as entry,
        open_ledger(path) as other,
    ):
        entry.reserve([charge(1)])
        for number in range(50):
            release(other, charge(0.001, f"subject {number}"))
        (last,) = ledger.data.execute("SELECT MAX(number) FROM events").fetchone()
        numbers = counted(monkeypatch)
        entry.reserve([charge(1, "a"), charge(1, "b")])
        assert numbers == list(range(12, last + 3))
        numbers.clear()
        entry.reserve([charge(1, "a"), charge(1, "b")])
        assert numbers == [last + 3, last + 4]
        entry.leave()


def test_an_edited_event_of_another_run_is_found_at_once(path: Path) -> None:
    """Events that others append are verified while a run goes on."""
    with (
        open_ledger(path) as ledger,
        begun(ledger) as entry,
        open_ledger(path) as other,
    ):
        entry.reserve([charge(1)])
        release(other, charge(2, "late"))
        edit(path, "UPDATE events SET nats = 1 WHERE number = 13")
        with pytest.raises(UsageError, match="its event 13 was changed"):
            entry.reserve([charge(1)])
