"""A file under an output's name is whole and has its report, in all events."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.cli import running
from tests.faults.killing import ended
from tests.faults.resuming import Job, same_but_for_its_name

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
POINTS = 4


def check(job: Job, name: str, before: bytes | None) -> bool:
    """See that an output is as before, or new and whole; return whether it is new."""
    path = job.folder / job.output(name)
    if not path.exists():
        assert before is None
        return False
    data = path.read_bytes()
    if data == before:
        return False
    beside = path.with_name(path.name + ".dptext.json").read_bytes()
    digest = json.loads(beside)["output"]["sha256"]
    assert digest == hashlib.sha256(data).hexdigest()
    assert data == (job.folder / job.output("whole")).read_bytes()
    return True


def kill(job: Job, points: int) -> int:
    """Kill runs at random lines; return how many outputs were there all the same."""
    released = 0
    for point in range(points):
        name = f"out{point % 2}"
        path = job.folder / job.output(name)
        before = None
        if point % 2:
            before = b"of an earlier run\n"
            path.write_bytes(before)
        elif path.exists():
            path.unlink()
        code = ended(job.start(name, job.rng.randint(1, job.lines)))
        assert code in (0, -9)
        released += check(job, name, before)
    return released


def test_killed_anywhere_an_output_is_whole_or_as_before(
    folder: Path, key: str
) -> None:
    """`kill -9` leaves the old file, or the new one with its report."""
    kill(Job(folder, key, seed=11), POINTS)


def test_interrupted_anywhere_it_says_so_and_leaves_no_part(
    folder: Path, key: str
) -> None:
    """Exit code 130 or 143 and one line; outputs are whole, no hidden file is left."""
    job = Job(folder, key, seed=12)
    for point in range(POINTS):
        name = f"out{point}"
        number, code = ((signal.SIGINT, 130), (signal.SIGTERM, 143))[point % 2]
        last = job.rng.randint(1, job.lines)
        how = ended(job.start(name, last, act=partial(_signal, number)))
        # The output may be there before the process has ended.
        assert how == code or (how == 0 and check(job, name, None)), (last, how)
        check(job, name, None)
        assert (folder / "stderr").read_text().count("\n") <= 1
        hidden = [each for each in os.listdir(folder) if each.endswith(".part")]
        assert hidden == [], (last, how)


def _signal(number: int) -> None:
    os.kill(os.getpid(), number)


def test_files_that_are_replaced_in_mid_run_change_nothing(
    folder: Path, key: str
) -> None:
    """A run goes on with the lexicon that it began with, and its report says which."""
    job = Job(folder, key, seed=13)

    def replace() -> None:
        words = folder / "words.vec"
        other = words.with_suffix(".new")
        other.write_text(words.read_text().replace("0.", "0.9"))
        os.replace(other, words)

    original = (folder / "words.vec").read_bytes()
    assert ended(job.start("out", job.lines // 2, act=replace)) == 0
    assert (folder / "words.vec").read_bytes() != original
    reports = []
    for name in ("whole", "out"):
        path = folder / job.output(name)
        reports.append(path.with_name(path.name + ".dptext.json").read_bytes())
    assert same_but_for_its_name(*reports)
    whole, out = ((folder / job.output(name)).read_bytes() for name in ("whole", "out"))
    assert whole == out


def test_a_clock_that_jumps_changes_nothing(folder: Path, key: str) -> None:
    """No draw, no report and no output follows from the time."""
    job = Job(folder, key, seed=14)
    now = time.time

    def jump(years: int) -> None:
        time.time = lambda: now() + years * 365 * 86400.0
        time.monotonic = time.time

    for years in (-10, 10):
        act = partial(jump, years)
        name = f"out{years}"
        assert ended(job.start(name, job.lines // 3, act=act)) == 0
        assert check(job, name, None)


def packed() -> dict[str, Callable[[bytes], bytes]]:
    """Return what packs records, by the suffix of the file."""
    pyarrow = pytest.importorskip("pyarrow.parquet")
    zstandard = pytest.importorskip("zstandard")

    def parquet(data: bytes) -> bytes:
        import io

        rows = [json.loads(line) for line in data.splitlines()]
        out = io.BytesIO()
        table = __import__("pyarrow").Table.from_pylist(rows)
        pyarrow.write_table(table, out)
        return out.getvalue()

    return {
        ".jsonl.gz": partial(gzip.compress, mtime=0),
        ".jsonl.zst": zstandard.compress,
        ".parquet": parquet,
    }


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".jsonl.zst", ".parquet"])
def test_input_that_is_cut_off_gives_one_line_and_no_output(
    suffix: str, tmp_path: Path
) -> None:
    """Wherever a download stopped, nothing of it is released."""
    rows = b"".join(b'{"text":"the film was good %d"}\n' % n for n in range(60))
    data = packed()[suffix](rows)
    source, output = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    for part in (1, 3, 5, 7, 9):
        source.write_bytes(data[: len(data) * part // 10])
        ran = running.here(
            "sanitize",
            "-f",
            "text",
            str(source),
            *running.small(tmp_path),
            "-q",
            "-o",
            str(output),
        )
        assert ran.code in (2, 4), ran
        assert ran.err.count("\n") == 1
        assert source.name in ran.err
    assert {each.name for each in tmp_path.iterdir()} == {source.name, "words.vec"}
