"""A run that is killed and goes on gives what one run would have given."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from tests.cli.running import MARKER, here, small
from tests.faults.killing import ended
from tests.faults.resuming import Job, files, same_but_for_its_name

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


@pytest.mark.parametrize("suffix", [".gz", pytest.param("", marks=pytest.mark.slow)])
def test_killed_anywhere_the_output_is_that_of_one_run(
    suffix: str, folder: Path, key: str
) -> None:
    """Byte for byte, with its report, compressed or not; nothing else stays."""
    job = Job(folder, key, seed=1, suffix=suffix)
    whole = (folder / job.output("whole")).read_bytes()
    side = (folder / (job.output("whole") + ".dptext.json")).read_bytes()
    assert job.finish("cut", 4) > 1
    assert (folder / job.output("cut")).read_bytes() == whole
    other = (folder / (job.output("cut") + ".dptext.json")).read_bytes()
    assert same_but_for_its_name(side, other)
    hidden = [path for path in os.listdir(folder) if path.startswith(".")]
    assert hidden == []


def test_until_it_is_done_nothing_looks_done(folder: Path, key: str) -> None:
    """A killed run leaves hidden files, for its owner only, and no output."""
    job = Job(folder, key, seed=2)
    before = set(os.listdir(folder))
    assert ended(job.start("cut", job.lines * 9 // 10)) == -9
    left = set(os.listdir(folder)) - before
    assert ".cut.jsonl.resume" in left
    assert all(name.startswith(".") for name in left)
    assert any(name.endswith(".part") for name in left)
    for name in left:
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
        assert MARKER.encode() not in (folder / name).read_bytes()
    # Not even which words there are can be read from what is kept.
    assert b"film" not in (folder / ".cut.jsonl.resume").read_bytes()


def test_a_folder_of_outputs_is_finished_file_by_file(folder: Path, key: str) -> None:
    """What is done stays as it is; with a file changed, that one is written again."""
    job = Job(folder, key, seed=3)
    assert ended(job.start("all/", resume=False)) == 0
    whole = files(folder / "all")
    job.finish("cut/", 2)
    done = files(folder / "cut")
    manifest = done.pop(".dptext-manifest")
    assert done == whole
    assert b"film" not in manifest
    assert b"records" not in manifest
    assert stat.S_IMODE((folder / "cut" / ".dptext-manifest").stat().st_mode) == 0o600
    times = {path: path.stat().st_mtime_ns for path in (folder / "cut").iterdir()}
    assert ended(job.start("cut/")) == 0
    assert times == {path: path.stat().st_mtime_ns for path in times}
    (folder / "cut" / "one.jsonl").write_bytes(b"{}\n")
    assert ended(job.start("cut/")) == 0
    assert (folder / "cut" / "one.jsonl").read_bytes() == whole["one.jsonl"]
    changed = {p.name for p in times if p.stat().st_mtime_ns != times[p]}
    assert changed == {"one.jsonl", "one.jsonl.dptext.json", ".dptext-manifest"}


def test_another_number_of_records_before_a_file_draws_it_anew(
    folder: Path, key: str
) -> None:
    """Draws follow from places of records in the run; what is done must agree."""
    job = Job(folder, key, seed=4)
    assert ended(job.start("cut/")) == 0
    source = folder / "in" / "one.jsonl"
    source.write_bytes(b"".join(source.read_bytes().splitlines(True)[:-3]))
    assert ended(job.start("cut/")) == 0
    assert ended(job.start("all/", resume=False)) == 0
    done = files(folder / "cut")
    done.pop(".dptext-manifest")
    assert done == files(folder / "all")


@pytest.mark.parametrize("place", [3, -1])
def test_what_others_wrote_is_not_gone_on_with(
    place: int, folder: Path, key: str
) -> None:
    """A changed or foreign file of kept work is as good as none."""
    job = Job(folder, key, seed=5)
    assert ended(job.start("cut", job.lines * 9 // 10)) == -9
    kept = folder / ".cut.jsonl.resume"
    data = bytearray(kept.read_bytes())
    data[place] ^= 1
    kept.write_bytes(data)
    assert ended(job.start("cut")) == 0
    assert (folder / "cut.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()


def test_a_forged_line_of_a_manifest_counts_for_nothing(folder: Path, key: str) -> None:
    """Whoever lacks the key cannot have another file passed over."""
    job = Job(folder, key, seed=6)
    assert ended(job.start("cut/")) == 0
    right = (folder / "cut" / "one.jsonl").read_bytes()
    path = folder / "cut" / ".dptext-manifest"
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    shutil.copy(folder / "cut" / "two.jsonl", folder / "cut" / "one.jsonl")
    lines[0]["sha256"] = lines[1]["sha256"]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"output": 1}\n\x00cut')
    assert ended(job.start("cut/")) == 0
    assert (folder / "cut" / "one.jsonl").read_bytes() == right


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("-o", "out.jsonl"), "give --key-file"),
        (("--seed", "1"), "use -o"),
    ],
)
def test_what_cannot_go_on_says_so(
    options: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    """One line, exit code 2: without a key, and to standard output."""
    source = tmp_path / "in.jsonl"
    source.write_text('{"text":"the film"}\n')
    ran = here(
        "sanitize", "-f", "text", str(source), *small(tmp_path), "--resume", *options
    )
    assert ran.code == 2
    assert reason in ran.err
    assert ran.err.count("\n") == 1


def test_what_is_kept_stays_until_it_is_used(folder: Path, key: str) -> None:
    """A second run that is killed earlier than the first loses nothing of it."""
    job = Job(folder, key, seed=7)
    assert ended(job.start("cut", job.lines * 9 // 10)) == -9
    size = (folder / ".cut.jsonl.resume").stat().st_size
    assert size > 0
    assert ended(job.start("cut", job.lines // 3)) == -9
    assert (folder / ".cut.jsonl.resume").stat().st_size >= size
