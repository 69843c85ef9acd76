"""The ledger of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dptext.ledger import Ledger, open_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Make a ledger."""
    with open_ledger(tmp_path / "spent.db", create=True) as opened:
        yield opened
