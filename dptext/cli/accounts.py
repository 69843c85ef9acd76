"""The options of a ledger, as one group, and the ledger that they open."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dptext.cli.options import setting_option
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.charging import Account


@dataclass(frozen=True, slots=True)
class Budget:
    """What subjects may lose over all runs with one ledger."""

    ledger: Annotated[
        Path | None,
        setting_option(
            help="File that records what each subject has lost, over all runs; made "
            "where there is none, its key FILE.key beside it."
        ),
    ] = None
    subject: Annotated[
        str | None,
        setting_option(help="Field that names whom a record is about."),
    ] = None
    limit: Annotated[
        float | None,
        setting_option(
            min=1e-9,
            max=100_000,
            help="Most nats that a subject may lose by all that the ledger records: "
            "else nothing is written, exit code 3.",
        ),
    ] = None
    limit_delta: Annotated[
        float | None,
        setting_option(
            min=1e-18, max=1, help="The same for deltas, where settings have one."
        ),
    ] = None

    def check(self, *, line_buffered: bool, seed: int | None) -> None:
        """Refuse options that do not go together."""
        asked = self.ledger, self.subject, self.limit
        if None in asked and (*asked, self.limit_delta) != (None,) * 4:
            raise UsageError("--ledger, --subject and --limit go together: give all")
        if self.ledger is None:
            return
        if line_buffered:
            raise UsageError(
                "--ledger: nothing leaves before all of it is charged; leave "
                "--line-buffered out"
            )
        if seed is not None:
            raise UsageError(
                "--seed: whoever knows it can repeat every draw, so that there is "
                "nothing for a ledger to count; use --key-file"
            )

    @contextlib.contextmanager
    def account(self) -> Iterator[Account | None]:
        """Open the ledger for a block, if there is one."""
        if self.ledger is None or self.subject is None or self.limit is None:
            yield None
            return
        from dptext import ledger as ledgers
        from dptext.engine.charging import Account
        from dptext.ledger import Limit

        with ledgers.opened(self.ledger, create=True) as opened:
            limit = Limit(self.limit, self.limit_delta or 0.0)
            yield Account(opened, self.subject, limit)
