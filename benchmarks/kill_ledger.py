"""Kill runs with a ledger at random points; look for lost charges and double ones.

python benchmarks/kill_ledger.py --points 10000 --seed 7
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.faults.killing import Trial, check

AT_ONCE = 100  # points on one ledger


def main() -> None:
    """Kill as many runs as were asked for; an assertion fails at the first loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to, such as /dev/shm for speed")
    options = parser.parse_args()
    began, killed, released = time.monotonic(), 0, 0
    while killed < options.points:
        points = min(AT_ONCE, options.points - killed)
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            trial = Trial(Path(folder), seed=options.seed + killed)
            released += check(trial, points)
        killed += points
        seconds = time.monotonic() - began
        print(
            f"{killed} killed, {released} of them after release, {seconds:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
