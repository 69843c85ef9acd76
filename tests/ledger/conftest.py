"""The ledger of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dptext import ledger as ledgers
from dptext.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Make a ledger."""
    with ledgers.opened(tmp_path / "spent.db", create=True) as opened:
        yield opened
