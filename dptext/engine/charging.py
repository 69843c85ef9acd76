"""The cost of each record to its subject, charged to a ledger.

A record costs what its texts may lose when all of it is another: the bound of the
statement for a text of so many replaced words, its epsilons counted in full.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dptext.errors import RefusedError, UsageError
from dptext.guarantees.claims import TextLoss
from dptext.guarantees.statement import Statement
from dptext.pipeline import Pipeline
from dptext.randomness import Randomness, RunKey
from dptext.types import Notion, Record, Strategy, Verbatim

if TYPE_CHECKING:
    from dptext.ledger import Amount, Entry, Ledger, Limit


@dataclass(frozen=True, slots=True)
class Account:
    """A ledger, the field that names subjects, and what each may lose in it."""

    ledger: Ledger
    subject: str
    limit: Limit


@dataclass(frozen=True, slots=True)
class Charging:
    """Charges the records of one output before they are written; entry None: nobody.

    randomness is there where a key file makes draws repeatable: what was released from
    the same draws costs nothing.
    """

    entry: Entry | None = None
    subject: str = ""
    bound: TextLoss = field(default_factory=TextLoss)
    delta: float = 0.0
    randomness: Randomness | None = None

    @property
    def token(self) -> str | None:
        """Return what names the output in its ledger."""
        return None if self.entry is None else self.entry.token

    def charge(self, batch: Sequence[Record], replaced: Sequence[int]) -> None:
        """Charge a batch; replaced says how many words of each text were replaced.

        Raises RefusedError where a subject would lose more than its limit.
        """
        if self.entry is None:
            return
        from dptext.ledger import Amount, Charge

        counts, charges, keyed = iter(replaced), [], self.randomness
        for record in batch:
            total = Amount(0, 0)
            for _ in record.texts:
                total = total.plus(self._amount(next(counts)))
            if isinstance(record.rest, Verbatim):
                continue
            if record.subject is None:
                raise UsageError(
                    f"--subject {self.subject}: the input has no fields, so nothing "
                    "says which person a record is about; give JSON, CSV, TSV or "
                    "Parquet"
                )
            nonce = None if keyed is None else keyed.nonce(record)
            charges.append(Charge(record.ordinal, record.subject, total, nonce))
        self.entry.reserve(each for each in charges if any(each.amount))

    def leave(self) -> None:
        """Say that the output leaves now."""
        if self.entry is not None:
            self.entry.leave()

    def _amount(self, words: int) -> Amount:
        """Return what a text of so many replaced words may lose."""
        from dptext.ledger import Amount

        total, each = self.bound.total, self.bound.each
        bounds = [] if total is None else [Amount.of(total).nats * bool(words)]
        bounds += [] if each is None else [Amount.of(each).nats * int(words)]
        delta = Amount.of(0.0, self.delta).delta * int(words)
        return Amount(min(bounds), 0).plus(Amount(0, delta))


# Charges nobody.
FREE = Charging()


@contextlib.contextmanager
def charging(
    account: Account | None,
    pipeline: Pipeline,
    key: RunKey,
    promise: Statement,
    part: Path | None,
) -> Iterator[Charging]:
    """Record one output for a block; part is the hidden file that it grows in.

    Raises RefusedError and UsageError for settings of which no sum can be kept.
    """
    if account is None:
        yield FREE
        return
    from dptext import ledger as ledgers

    if promise.notion is Notion.NONE:
        raise RefusedError(
            "these settings have no guarantee, so a ledger cannot count losses; "
            "choose others, or leave --ledger out"
        )
    if promise.strategy is Strategy.DATA_SET:
        raise UsageError(
            "strategy data-set: one draw stands for words of several subjects, so a "
            "ledger cannot tell them apart; use token or record"
        )
    if promise.delta and not account.limit.delta:
        raise UsageError(
            f"the settings have a delta of {promise.delta:g} for each word, which adds "
            "up, too: give --limit-delta, as in 1e-6"
        )
    parts = [] if part is None else [part]
    with ledgers.begin(
        account.ledger, account.limit, account.subject, pipeline.identity, parts
    ) as entry:
        yield Charging(
            entry,
            account.subject,
            promise.text_loss,
            promise.delta,
            pipeline.randomness(key) if key.origin == "key-file" else None,
        )
