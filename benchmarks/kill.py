"""Kill runs at random points: charges lost or made twice, outputs that are not whole.

    python -m benchmarks kill ledger --points 10000 --seed 7
    python -m benchmarks kill sanitize --points 500 --seed 7 --folder /dev/shm

`ledger` kills runs with a ledger; `sanitize` keyed runs at random lines, half of them
of a file, half of a folder with --resume, until one ends. An assertion fails at the
first fault.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.killing import Trial, check, ended
from tests.faults.resuming import Job, files
from tests.faults.test_sanitize import kill


def ledger(folder: Path, seed: int, points: int) -> str:
    """Kill runs on one ledger."""
    return f"{check(Trial(folder, seed=seed), points)} of them after release, "


def sanitize(folder: Path, seed: int, points: int) -> str:
    """Kill runs of one job."""
    (folder / "key").write_bytes(os.urandom(32))
    (folder / "key").chmod(0o600)
    job = Job(folder, str(folder / "key"), seed=seed)
    kill(job, points // 2)
    assert ended(job.start("all/")) == 0
    job.finish("cut/", points // 2)
    done = files(folder / "cut")
    del done[".dptext-manifest"]
    assert done == files(folder / "all")
    return ""


# The programs to kill, and the number of points for one ledger or job.
KINDS: dict[str, tuple[Callable[[Path, int, int], str], int]] = {
    "ledger": (ledger, 100),
    "sanitize": (sanitize, 10),
}


def main() -> None:
    """Kill as many runs as were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=KINDS)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to, such as /dev/shm for speed")
    options = parser.parse_args()
    trial, at_once = KINDS[options.what]
    began, killed = time.monotonic(), 0
    while killed < options.points:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            said = trial(Path(folder), options.seed + killed, at_once)
        killed += at_once
        seconds = time.monotonic() - began
        print(f"{killed} killed, {said}{seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
