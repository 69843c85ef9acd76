"""Write golden.json anew: `python tests/golden/make.py`, after a change that says so.

With names of cases (parts of them do) nothing is written: their entries are printed
with all figures in clear, so that two commits can be compared. --time prints the
seconds of each, and GOLDEN_APART=1 runs every command in a new process.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # run as a script
    sys.path.insert(0, str(ROOT))

from tests.golden import running  # noqa: E402
from tests.golden.cases import CASES  # noqa: E402
from tests.golden.running import Entry  # noqa: E402

GOLDEN = Path(__file__).with_name("golden.json")


def run_case(name: str, home: Path) -> Entry:
    """Run one case in a new folder below a prepared one."""
    folder = Path(tempfile.mkdtemp(dir=home))
    with contextlib.chdir(folder):
        return CASES[name]()


def text(entries: dict[str, Entry]) -> str:
    """Return entries as JSON, a line for each field."""
    return json.dumps(entries, indent=0, ensure_ascii=False, sort_keys=True) + "\n"


def main(arguments: list[str]) -> None:
    """Make all entries and write them, or print those that are named."""
    timed = "--time" in arguments
    wanted = [each for each in arguments if each != "--time"]
    chosen = [name for name in CASES if not wanted or any(w in name for w in wanted)]
    if not chosen:
        sys.exit(
            f"no case of tests/golden/cases.py has {' or '.join(wanted)} in its name"
        )
    with tempfile.TemporaryDirectory() as home:
        for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "DPTEXT_HOME"):
            os.environ[name] = str(Path(home) / name.lower())
        where = Path(home) / "golden"
        running.prepare(where)
        entries = {}
        for name in chosen:
            start = time.process_time()
            entries[name] = run_case(name, where)
            if timed:
                sys.stderr.write(f"{time.process_time() - start:6.2f} {name}\n")
    if wanted:
        sys.stdout.write(text(entries))
    else:
        bare = {name: running.bare(entry) for name, entry in entries.items()}
        GOLDEN.write_text(text(bare), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
