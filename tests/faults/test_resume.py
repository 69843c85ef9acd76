"""A folder that is killed and goes on has what one run would have given."""

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
from tests.faults.resuming import Job, files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


def test_until_it_is_done_nothing_looks_done(folder: Path, key: str) -> None:
    """A killed run leaves hidden files, for its owner only, and no output."""
    job = Job(folder, key, seed=2)
    before = set(os.listdir(folder))
    assert ended(job.start("cut", job.lines * 9 // 10)) == -9
    left = set(os.listdir(folder)) - before
    assert any(name.endswith(".part") for name in left)
    for name in left:
        assert name.startswith(".")
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
        assert MARKER.encode() not in (folder / name).read_bytes()


def test_a_folder_of_outputs_is_finished_file_by_file(folder: Path, key: str) -> None:
    """Finished files stay; a file changed since is written again."""
    job = Job(folder, key, seed=3)
    assert ended(job.start("all/")) == 0
    whole = files(folder / "all")
    job.finish("cut/", 2)
    done = files(folder / "cut")
    manifest = done.pop(".dptext-manifest")
    assert done == whole
    assert b"film" not in manifest
    assert b"records" not in manifest
    assert stat.S_IMODE((folder / "cut" / ".dptext-manifest").stat().st_mode) == 0o600
    times = {path: path.stat().st_mtime_ns for path in (folder / "cut").iterdir()}
    assert ended(job.start("cut/", resume=True)) == 0
    assert times == {path: path.stat().st_mtime_ns for path in times}
    (folder / "cut" / "one.jsonl").write_bytes(b"{}\n")
    assert ended(job.start("cut/", resume=True)) == 0
    assert (folder / "cut" / "one.jsonl").read_bytes() == whole["one.jsonl"]
    changed = {p.name for p in times if p.stat().st_mtime_ns != times[p]}
    assert changed == {"one.jsonl", "one.jsonl.dptext.json", ".dptext-manifest"}


def test_a_file_that_changes_leaves_the_others(folder: Path, key: str) -> None:
    """One that is shorter is made again, one that arrives is made: no other is."""
    job = Job(folder, key, seed=4)
    assert ended(job.start("cut/", resume=True)) == 0
    before = files(folder / "cut")
    source = folder / "in" / "one.jsonl"
    (folder / "in" / "a new one.jsonl").write_bytes(source.read_bytes())
    source.write_bytes(b"".join(source.read_bytes().splitlines(True)[:-3]))
    times = {path: path.stat().st_mtime_ns for path in (folder / "cut").iterdir()}
    assert ended(job.start("cut/", resume=True)) == 0
    assert ended(job.start("all/")) == 0
    done = files(folder / "cut")
    done.pop(".dptext-manifest")
    assert done == files(folder / "all")
    shorter, whole = done["one.jsonl"], before["one.jsonl"]
    assert whole.startswith(shorter)
    assert len(whole) > len(shorter)
    assert (folder / "cut" / "two.jsonl").stat().st_mtime_ns == times[
        folder / "cut" / "two.jsonl"
    ]
    assert done["two.jsonl"] == before["two.jsonl"]


def test_a_forged_line_of_a_manifest_stops_the_run(folder: Path, key: str) -> None:
    """Without the key nobody can make a run skip a file, nor draw it under a line."""
    job = Job(folder, key, seed=6)
    assert ended(job.start("cut/", resume=True)) == 0
    right = (folder / "cut" / "one.jsonl").read_bytes()
    path = folder / "cut" / ".dptext-manifest"
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    shutil.copy(folder / "cut" / "two.jsonl", folder / "cut" / "one.jsonl")
    lines[0]["sha256"] = lines[1]["sha256"]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"output": 1}\n\x00cut')
    assert ended(job.start("cut/", resume=True)) == 2
    (folder / "cut" / "one.jsonl").unlink()
    assert ended(job.start("cut/", resume=True)) == 0
    assert (folder / "cut" / "one.jsonl").read_bytes() == right


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("-o", "out.jsonl"), "run a single file again: with --key-file"),
        (("--out-dir", "out"), "give --key-file"),
    ],
)
def test_what_cannot_go_on_says_so(
    options: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    """One line, exit code 2: a single file, and a folder without a key."""
    source = tmp_path / "in.jsonl"
    source.write_text('{"text":"the film"}\n')
    ran = here(
        "sanitize", "-f", "text", str(source), *small(tmp_path), "--resume", *options
    )
    assert ran.code == 2
    assert reason in ran.err
    assert ran.err.count("\n") == 1


def test_folders_of_any_name_go_on(key: str, tmp_path: Path) -> None:
    """A folder with a name that is no UTF-8 has a manifest; finished files stay."""
    source = tmp_path / "in" / os.fsdecode(b"caf\xe9")
    source.mkdir(parents=True)
    (source / "a.jsonl").write_text('{"text":"the film"}\n')
    options = ("-f", "text", str(tmp_path / "in"), *small(tmp_path), "--resume")
    keyed = ("--key-file", key, "--out-dir", str(tmp_path / "out"))
    assert here("sanitize", *options, *keyed).code == 0
    ran = here("sanitize", *options, *keyed)
    assert ran.code == 0
    assert "1 of 1 files were already finished" in ran.err
