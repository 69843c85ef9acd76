"""Kill keyed runs at random lines; look for outputs that are not whole.

python benchmarks/kill_sanitize.py --points 500 --seed 7 --folder /dev/shm

Half of the points kill plain runs, half kill runs with --resume, until one ends.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.faults.resuming import Job
from tests.faults.test_sanitize import kill

AT_ONCE = 10  # points on one job


def main() -> None:
    """Kill as many runs as were asked for; an assertion fails at the first fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to, such as /dev/shm for speed")
    options = parser.parse_args()
    began, killed = time.monotonic(), 0
    while killed < options.points:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            folder = Path(name)
            (folder / "key").write_bytes(os.urandom(32))
            (folder / "key").chmod(0o600)
            job = Job(folder, str(folder / "key"), seed=options.seed + killed)
            kill(job, AT_ONCE // 2)
            job.finish("cut", AT_ONCE // 2)
            same = (folder / "cut.jsonl").read_bytes()
            assert same == (folder / "whole.jsonl").read_bytes()
        killed += AT_ONCE
        print(f"{killed} killed, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
