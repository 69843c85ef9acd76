"""Charges a run to a ledger: each record to its subject, before it is written.

A record costs the privacy loss of replacing its texts entirely, by the bound of the
statement for texts with so many replaced words.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from dptext import ledger
from dptext.engine import documents
from dptext.engine.source import find_subject
from dptext.errors import RefusedError, UsageError
from dptext.guarantees.claims import VISIBLE_WORDS, SubjectLimit, TextLoss
from dptext.ledger import Amount, Charge, Entry, Ledger, Limit
from dptext.pipeline import Pipeline
from dptext.randomness import Randomness, RunKey
from dptext.report.sections import Recorded
from dptext.run.interface import option
from dptext.types import Notion, Record, Strategy, Verbatim


@dataclass(frozen=True, slots=True)
class Account:
    """A ledger and a run's rules for it."""

    ledger: Ledger
    #: Field that names subjects.
    subject: str
    #: Most that each subject may lose.
    limit: Limit

    @contextlib.contextmanager
    def charging(
        self, pipeline: Pipeline, key: RunKey, part: Path | None, output: str | None
    ) -> Iterator[Charging]:
        """Record an output in the ledger during a block.

        part: the hidden file of the unfinished output; output: as in Randomness. Raises
        RefusedError without a guarantee, UsageError for settings whose losses cannot be
        charged to a subject.
        """
        promise = documents.promised(pipeline, key.origin)
        bound = promise.bound
        if bound.notion is Notion.NONE:
            raise RefusedError(
                "these settings have no guarantee, so a ledger cannot count losses; "
                f"choose other settings, or leave {option('ledger')} out"
            )
        if promise.scope.strategy is Strategy.DATA_SET:
            raise UsageError(
                "strategy data-set: subjects share draws, so a ledger cannot charge "
                "them separately; use strategy token or record"
            )
        if bound.delta and not self.limit.delta:
            raise UsageError(
                f"the settings have a delta of {bound.delta:g} for each word, which "
                f"also accumulates: give {option('limit-delta')}, such as 1e-6"
            )
        # Draws sent to a third party have left, even if the output is discarded.
        sent = pipeline.decoder.used is not None
        repeatable = key.origin == "key-file"
        with ledger.begin(
            self.ledger,
            self.limit,
            field=self.subject,
            settings=pipeline.identity,
            parts=[] if part is None or sent else [part],
            leaves_words=not VISIBLE_WORDS.isdisjoint(promise.scope.unprotected),
        ) as entry:
            yield Charging(
                entry=entry,
                subject=self.subject,
                bound=bound.text_loss,
                delta=bound.delta,
                randomness=pipeline.randomness(key, output) if repeatable else None,
            )

    def recorded(self, charging: Charging | None) -> Recorded:
        """Return the ledger section of a report.

        charging: of the output, None for a report on several outputs.
        """
        limits = SubjectLimit(self.subject, self.limit.nats, self.limit.delta)
        entry = None if charging is None else charging.entry.token
        return Recorded(self.ledger.id, entry, limits)


@contextlib.contextmanager
def open_account(
    path: Path, subject: str, nats: float, delta: float
) -> Iterator[Account]:
    """Open the ledger at path for a block; create it if missing."""
    with ledger.open_ledger(path, create=True) as opened:
        yield Account(opened, subject, Limit(nats, delta))


@dataclass(frozen=True, slots=True, kw_only=True)
class Charging:
    """Charges the records of one output before they are written."""

    entry: Entry
    #: Field that names subjects.
    subject: str
    bound: TextLoss
    #: Delta of each replaced word.
    delta: float
    #: Set if a key file makes draws repeatable: a second release of them costs nothing.
    randomness: Randomness | None

    def charge(self, batch: Sequence[Record], replaced: Iterable[int]) -> None:
        """Charge a batch; replaced: number of replaced words per text.

        Raises RefusedError if a subject would lose more than its limit.
        """
        counts, charges, keyed = iter(replaced), [], self.randomness
        for record in batch:
            amount = self._amount(islice(counts, len(record.texts)))
            if isinstance(record.rest, Verbatim):
                continue
            subject = find_subject(record, self.subject)
            nonce = None if keyed is None else keyed.nonce(record)
            charges.append(Charge(record.ordinal, subject, amount, nonce))
        self.entry.reserve(each for each in charges if any(each.amount))

    def leave(self) -> None:
        """Note in the ledger that the output is being released."""
        self.entry.leave()

    def _amount(self, replaced: Iterable[int]) -> Amount:
        """Return the joint loss bound of texts from their replaced-word counts."""
        total, each = self.bound.total, self.bound.each
        of_text = None if total is None else Amount.rounded_up(total).nats
        of_word = None if each is None else Amount.rounded_up(each).nats
        delta, total_loss = Amount.rounded_up(0.0, self.delta).delta, Amount(0, 0)
        for words in map(int, replaced):
            bounds = []
            if of_text is not None:
                bounds.append(of_text if words else 0)
            if of_word is not None:
                bounds.append(of_word * words)
            total_loss = total_loss.plus(Amount(min(bounds), delta * words))
        return total_loss
