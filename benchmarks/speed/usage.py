"""Run a command and print what it used, as JSON: the smallest parent there can be.

    python -I -S speed_usage.py SECONDS COMMAND ...

A process of the command that uses more processor time than so many seconds is ended.
Linux counts the memory of a parent into the peak of its child, so that a script that
holds a vocabulary cannot measure that of a run. Imports the standard library alone.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time


def main() -> None:
    """Print status, processor and wall seconds, and the peak in megabytes."""
    longest = int(float(sys.argv[1])) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (longest, longest))
    began = time.perf_counter()
    process = subprocess.Popen(
        sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    usage = {
        "status": process.returncode,
        "seconds": used.ru_utime + used.ru_stime,
        "wall": time.perf_counter() - began,
        "peak": used.ru_maxrss / 1024,
    }
    sys.stdout.write(json.dumps(usage))


if __name__ == "__main__":
    main()
