"""Seals: whoever edits a ledger without its key is found out.

Each finished entry has a seal over its charges, and the ledger one over all finished
entries, so that none can be taken out. An older copy of the whole file has good seals;
reports of later releases show that it is old (dptext.ledger.verify).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from dptext.ledger.store import Ledger

# States of an entry: reserving; leaving, its output may be anywhere; done. RETURNING:
# what a killed run left is removed, then its charges are.
OPEN, LEAVING, RELEASED = "open", "leaving", "released"
RETURNING, RETURNED = "returning", "returned"
FINISHED = (RELEASED, RETURNED)


class Row(NamedTuple):
    """An entry as it stands in the file."""

    number: int
    token: str
    state: str
    began: str
    settings: str
    nats: int
    delta: int
    parts: str
    seal: bytes | None


def entries(ledger: Ledger) -> list[Row]:
    """Return all entries in order."""
    rows = ledger.data.execute("SELECT * FROM entries ORDER BY number")
    return [Row(*row) for row in rows]


def entry(ledger: Ledger, number: int) -> Row:
    """Return an entry by its number."""
    sql = "SELECT * FROM entries WHERE number = ?"
    return Row(*ledger.data.execute(sql, (number,)).fetchone())


def finish(ledger: Ledger, number: int, state: str) -> None:
    """Finish an entry inside a transaction, and seal it and the ledger."""
    data = ledger.data
    data.execute("UPDATE entries SET state = ? WHERE number = ?", (state, number))
    seal = ledger.key.seal(_content(data, entry(ledger, number)))
    data.execute("UPDATE entries SET seal = ? WHERE number = ?", (seal, number))
    seal_of_all = ledger.key.seal(_of_all(entries(ledger)))
    data.execute("UPDATE facts SET value = ? WHERE name = 'seal'", (seal_of_all,))


def broken(ledger: Ledger) -> Iterator[str]:
    """Yield what was edited, in one line each."""
    rows = entries(ledger)
    for row in rows:
        if row.state not in (OPEN, LEAVING, RETURNING, *FINISHED):
            yield f"entry {row.number} is in no state that there is"
        elif row.state in FINISHED and not ledger.key.is_seal(
            _content(ledger.data, row), row.seal or b""
        ):
            yield f"entry {row.number} was edited: its seal is broken"
    (seal_of_all,) = ledger.data.execute("SELECT value FROM facts WHERE name = 'seal'")
    if not ledger.key.is_seal(_of_all(rows), bytes(seal_of_all[0])):
        yield "entries were added, edited or taken out: the seal of all is broken"


def _content(data: sqlite3.Connection, row: Row) -> bytes:
    """Return all that a seal of an entry is made of."""
    charges = data.execute(
        "SELECT hex(item), hex(subject), records, nats, delta FROM charges "
        "WHERE entry = ? ORDER BY item",
        (row.number,),
    )
    return json.dumps([row[:-1], *charges]).encode()


def _of_all(rows: list[Row]) -> bytes:
    """Return all that the seal of a ledger is made of."""
    finished = [row for row in rows if row.state in FINISHED]
    return b"".join(b"%d:" % row.number + (row.seal or b"") for row in finished)
