"""A run that is killed at any line of the ledger's code, its creation included."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dptext import ledger as totals
from dptext.ledger import open_ledger
from tests.faults.killing import ROOT, Lines, ended
from tests.ledger.charges import begun, charge, release

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
WATCHED = (str(ROOT / "ledger"),)
STEP = 9  # every line takes some minutes


def run(folder: Path, last: int | None) -> int:
    """Make a ledger and a release in a process that is killed at a line.

    Returns how it ended; with last 0, how many lines there are.
    """
    child = os.fork()
    if child:
        return ended(child)
    lines = Lines(last, WATCHED)
    code = 70
    try:
        part = folder / "part"
        part.touch()
        sys.settrace(lines)
        with open_ledger(folder / "spent.db", create=True) as ledger:
            with begun(ledger, parts=(part,)) as entry:
                entry.reserve([charge(1, "a"), charge(2, "b")])
                entry.reserve([charge(1, "a", nonce=b"n")])
                entry.leave()
                part.rename(folder / "target")
        sys.settrace(None)
        (folder / "lines").write_text(str(lines.count))
        code = 0
    finally:
        os._exit(code)


def test_a_run_killed_at_any_line_is_charged_if_and_only_if_it_left(
    tmp_path: Path,
) -> None:
    """The next run finds a valid ledger and finishes the rest."""
    assert run(tmp_path, 0) == 0
    count = int((tmp_path / "lines").read_text())
    for last in range(1, count + 1, STEP):
        folder = tmp_path / str(last)
        folder.mkdir()
        assert run(folder, last) < 0
        left = (folder / "target").exists()
        with open_ledger(folder / "spent.db", create=True) as ledger:
            release(ledger, charge(1, "c"))
            assert not list(totals.findings(ledger)), last
            losses = [totals.spent_by(ledger, name)["nats"] for name in "abc"]
        assert losses == [2.0 * left, 2.0 * left, 1.0], last
        assert not (folder / "part").exists() or not losses[0], last
