"""A ledger under kill -9, under runs side by side, and on a full disk."""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

import pytest

from tests.faults.killing import COST, Trial, check, ended

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
POINTS = 24


def test_whatever_was_released_is_charged_and_nothing_else(folder: Path) -> None:
    """Killed anywhere, a run has either its output and its charges, or neither."""
    check(Trial(folder, seed=1), POINTS)


def test_a_keyed_run_is_charged_once_however_often_it_is_killed(
    folder: Path, key: str
) -> None:
    """Killed and begun anew with the same key, all of it together costs one release."""
    trial = Trial(folder, seed=2, key=key)
    for point in range(POINTS // 4):
        trial.kill(f"out{point}.jsonl")
        trial.recover()
        assert trial.spent() == COST


@pytest.mark.parametrize("keyed", [False, True])
def test_runs_side_by_side_never_spend_too_much(
    keyed: bool, folder: Path, key: str
) -> None:
    """Of six runs at once none loses a charge, and all together keep the limit."""
    trial = Trial(folder, seed=3, key=key if keyed else None)
    before = trial.spent()
    limit = 5.5 * max(COST.values())
    runs = [trial.start(f"side{number}.jsonl", limit) for number in range(6)]
    os.kill(runs[0], signal.SIGKILL)
    codes = [ended(run) for run in runs]
    trial.recover()
    assert set(codes) <= {0, 3, -signal.SIGKILL}
    appeared = [each for each in trial.outputs() if each.name.startswith("side")]
    count = 0 if keyed else len(appeared)
    assert trial.spent() == {
        name: nats + count * COST[name] for name, nats in before.items()
    }
    assert max(trial.spent().values()) <= limit
    assert keyed or len(appeared) <= 3


def test_a_full_disk_releases_and_charges_nothing(folder: Path) -> None:
    """Where a file may not grow, a run ends with one line and without an output."""
    trial = Trial(folder, seed=4)
    before = trial.spent()
    size = (folder / "spent.db").stat().st_size
    child = os.fork()
    if not child:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size // 4, size // 4))
        os._exit(ended(trial.start("full.jsonl")))
    assert ended(child) == 1
    assert not (folder / "full.jsonl").exists()
    trial.recover()
    assert trial.spent() == before
