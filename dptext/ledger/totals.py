"""Sums of a ledger for people and exports, and what `ledger verify` finds in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from dptext.ledger.store import LEAVING, RELEASED, Ledger, reported

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


def subjects(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield the charges of each subject, by its hash, the largest first."""
    return _rows(ledger, _BY_SUBJECT)


def spent_by(ledger: Ledger, value: str) -> dict[str, Any]:
    """Return the charges of the subject of a value, zeros without any."""
    subject = ledger.key.subject(value)
    (row,) = _rows(ledger, _OF_SUBJECT, subject)
    return {"subject": subject.hex(), **row}


def entries(ledger: Ledger) -> list[dict[str, Any]]:
    """Return all entries in order, with the sums of their charges."""
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
    """Yield the faults of a ledger, in one line each.

    tokens are pairs of an output's name and the entry that its report names. If that is
    not recorded as released, ledger and key are older copies.
    """
    problem = ledger.problem()
    if problem is not None:
        yield problem
        return
    states = {row["entry"]: row["state"] for row in entries(ledger)}
    for name, token in tokens:
        if states.get(token) not in (RELEASED, LEAVING):
            yield f"{name}: its release is not recorded; the ledger is an older copy"


def _parse(note: object) -> dict[str, str]:
    """Return the note of an entry, with "?" where an editor made it unreadable."""
    try:
        values = json.loads(str(note))
    except ValueError:
        values = {}
    known = values if isinstance(values, dict) else {}
    return {name: str(known.get(name, "?")) for name in _NOTE}


def _rows(ledger: Ledger, sql: str, *parameters: object) -> Iterator[dict[str, Any]]:
    """Yield rows by the names of their columns."""
    with reported(ledger.path):
        cursor = ledger.data.execute(sql, parameters)
        names = [name for name, *_ in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))
