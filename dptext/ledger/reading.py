"""What a ledger says: sums of subjects, its entries, and whether it is sound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dptext.ledger import seals
from dptext.ledger.amounts import Amount
from dptext.ledger.store import Ledger, reported

_OF_SUBJECTS = (
    "SELECT subject, SUM(nats), SUM(delta), SUM(records), COUNT(DISTINCT entry) "
    "FROM charges GROUP BY subject ORDER BY 2 DESC, 1"
)


class Spent(NamedTuple):
    """What a subject, by its hash, is charged in all."""

    subject: str
    amount: Amount
    records: int
    entries: int

    def plain(self) -> dict[str, object]:
        """Return it for machines."""
        return {
            "subject": self.subject,
            **self.amount.plain(),
            "records": self.records,
            "entries": self.entries,
        }


def subjects(ledger: Ledger) -> Iterator[Spent]:
    """Yield all subjects, those who lost most first."""
    with reported(ledger.path):
        for subject, nats, delta, records, entries in ledger.data.execute(_OF_SUBJECTS):
            yield Spent(subject.hex(), Amount(nats, delta), records, entries)


def subject(ledger: Ledger, value: str) -> Spent:
    """Return what the subject of a value is charged."""
    hashed = ledger.key.subject(value)
    for each in subjects(ledger):
        if each.subject == hashed.hex():
            return each
    return Spent(hashed.hex(), Amount(0, 0), 0, 0)


def entries(ledger: Ledger) -> list[dict[str, object]]:
    """Return all entries in order, for machines."""
    sql = (
        "SELECT COUNT(DISTINCT subject), COALESCE(SUM(records), 0), "
        "COALESCE(SUM(nats), 0) FROM charges WHERE entry = ?"
    )
    listed: list[dict[str, object]] = []
    with reported(ledger.path):
        for row in seals.entries(ledger):
            people, records, nats = ledger.data.execute(sql, (row.number,)).fetchone()
            listed.append(
                {
                    "entry": row.token,
                    "state": row.state,
                    "began": row.began,
                    "settings": row.settings,
                    "limit": Amount(row.nats, row.delta).plain(),
                    "subjects": people,
                    "records": records,
                    "nats": Amount(nats, 0).plain()["nats"],
                }
            )
    return listed


def charges(ledger: Ledger) -> Iterator[dict[str, object]]:
    """Yield what each entry costs each subject, for machines."""
    sql = (
        "SELECT token, state, began, subject, SUM(records), SUM(charges.nats), "
        "SUM(charges.delta) FROM charges JOIN entries ON entry = number "
        "GROUP BY number, subject ORDER BY number, subject"
    )
    with reported(ledger.path):
        for token, state, began, who, records, nats, delta in ledger.data.execute(sql):
            yield {
                "entry": token,
                "state": state,
                "began": began,
                "subject": who.hex(),
                "records": records,
                **Amount(nats, delta).plain(),
            }


def findings(ledger: Ledger, tokens: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Yield what is wrong with a ledger, in one line each.

    tokens are names of outputs and the entries that their reports name: one that is
    not there as released shows that the ledger is an older copy.
    """
    with reported(ledger.path):
        (sound,) = ledger.data.execute("PRAGMA integrity_check(1)").fetchone()
        if sound != "ok":
            yield "its file is damaged; put a copy back"
            return
        yield from seals.broken(ledger)
        states = {row.token: row.state for row in seals.entries(ledger)}
    for name, token in tokens:
        if states.get(token) not in (seals.RELEASED, seals.LEAVING):
            yield f"{name}: its release is not recorded; the ledger is an older copy"
