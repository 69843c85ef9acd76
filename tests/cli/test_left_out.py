"""Files of a folder that cannot be read: the others are written, and these named."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path

import pytest

import dptext
from dptext.errors import InputError
from tests.cli.running import Ran, here

GOOD = '{"text":"the film was good"}\n{"text":"a bad day"}\n'
# Files that nothing can be read of, or not all; each with a part of its message.
BAD: dict[str, tuple[bytes, str]] = {
    "b.jsonl": (bytes(range(128, 256)), "b.jsonl:1: not valid UTF-8"),
    "d.jsonl.gz": (gzip.compress(GOOD.encode() * 900)[:-20], "damaged or truncated"),
    "f.parquet": (b"PAR1 nonsense", "not a Parquet file"),
    "g.csv": (b'text\nhello world\n"broken\n', "is never closed"),
    "h.json": (b'[{"text": "a b"}, {"text": ', "cut off?"),
    "j.jsonl": (b'{"other": 3}\n', "field 'text' is absent"),
}
LEFT = ("--on-error", "skip")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a folder of two files that can be read, and of six that cannot."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in ("a.jsonl", "z.jsonl"):
        (tmp_path / "in" / name).write_text(GOOD)
    for name, (data, _) in BAD.items():
        (tmp_path / "in" / name).write_bytes(data)
    return tmp_path


def private(options: tuple[str, ...], *more: str, out: str = "out") -> Ran:
    """Make the folder private."""
    run = ("sanitize", "in", "-f", "text", *options, "--no-bayes-risk")
    return here(*run, "--out-dir", out, *more)


def written(out: str = "out") -> list[str]:
    """Return the names of the outputs, hidden files included, without reports."""
    names = (path.name for path in Path(out).iterdir())
    return sorted(name for name in names if not name.endswith(".dptext.json"))


@pytest.mark.parametrize("more", [LEFT, ("--quarantine", "aside")])
def test_others_are_written_and_each_is_named(
    more: tuple[str, ...], folder: Path, options: tuple[str, ...]
) -> None:
    """The exit code tells of it, no part of a damaged file has an output."""
    ran = private(options, *more, "--report", "r.json", "--batch-size", "9")
    assert ran.code == 4
    assert written() == ["a.jsonl", "z.jsonl"]
    said = " ".join(ran.err.split())
    for _, message in BAD.values():
        assert message in said
    assert said.count("file left out: ") == len(BAD)
    last = ran.err.splitlines()[-1]
    assert last.startswith("dptext: 6 of 8 files cannot be read and have no new output")
    assert "in/b.jsonl, in/d.jsonl.gz, in/f.parquet and 3 more; repair" in last
    assert "records in" not in last
    # Counts are of the outputs alone, also where a part of a file could be read.
    counts = json.loads(Path("r.json").read_bytes())["private"]
    assert (counts["records"], counts["texts"]) == (4, 4)
    assert len(counts["inputs"]) == 2
    assert sum("file left out" in line for line in counts["warnings"]) == len(BAD)
    if more != LEFT:
        assert Path("aside").read_bytes() == b"", "nothing of a file without an output"


def test_machines_read_the_answer_and_the_code(
    folder: Path, options: tuple[str, ...]
) -> None:
    """With --json standard error stays JSON; with --quiet one line is left."""
    ran = private(options, *LEFT, "--json")
    assert ran.code == 4
    answer = json.loads(ran.err)
    assert answer["output"]["outputs"] == ["out/a.jsonl", "out/z.jsonl"]
    assert len(answer["warnings"]) == len(BAD)
    ran = private(options, *LEFT, "--quiet", out="other")
    assert (ran.code, ran.err.count("\n")) == (4, 1)


def test_a_mended_file_is_made_by_the_next_run(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """With --resume nothing else is written again; the code is 0 at the end."""
    keyed = ("--key-file", key, "--resume", *LEFT)
    assert private(options, *keyed).code == 4
    before = (folder / "out" / "a.jsonl").stat().st_mtime_ns
    for name in [*BAD][1:]:
        (folder / "in" / name).unlink()
    ran = private(options, *keyed)
    assert ran.code == 4
    assert "2 of 3 files were already finished" in ran.err
    assert ran.err.splitlines()[-1].startswith(
        "dptext: 1 of 3 files has no new output: no record could be read"
    )
    (folder / "in" / "b.jsonl").write_text(GOOD)
    assert private(options, *keyed).code == 0
    assert written() == [".dptext-manifest", "a.jsonl", "b.jsonl", "z.jsonl"]
    assert (folder / "out" / "a.jsonl").stat().st_mtime_ns == before


def test_without_the_option_the_first_stops_the_run(
    folder: Path, options: tuple[str, ...]
) -> None:
    """The message says how to go on; files that were done stay."""
    for name in BAD:
        out = f"out-{name}"
        ran = private(options, "--include", "a.jsonl", "--include", name, out=out)
        assert (ran.code in (2, 4), ran.err.count("\n")) == (True, 1)
        assert "--on-error skip" in ran.err
        assert written(out) == ["a.jsonl"]


def test_where_nothing_can_be_read_nothing_is_written(
    folder: Path, options: tuple[str, ...]
) -> None:
    """The error names the files; warnings tell why."""
    ran = private(options, *LEFT, "--exclude", "[az].jsonl")
    assert ran.code == 4
    assert ran.err.splitlines()[-1].startswith("dptext: 6 of 6 files cannot be read")
    assert written() == []


def test_a_file_that_vanishes_is_left_out(
    folder: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link to nothing stands for a file that is moved while the run goes on."""
    for name in BAD:
        (folder / "in" / name).unlink()
    (folder / "in" / "b.jsonl").symlink_to("nowhere")
    ran = private(options, *LEFT)
    assert ran.code == 4
    assert "file left out: in/b.jsonl: No such file or directory" in ran.err
    assert written() == ["a.jsonl", "z.jsonl"]


def test_programs_get_the_others(folder: Path) -> None:
    """Paths are those of outputs that are there; each other file has a warning."""
    given = {"fields": "text", "on_error": "skip", "profile": "balanced"}
    with pytest.warns(UserWarning, match="file left out: ") as caught:
        done = dptext.sanitize_files("in", out_dir="out", epsilon=3, **given)  # type: ignore[arg-type]
    assert [path.name for path in done.paths] == ["a.jsonl", "z.jsonl"]
    assert sum("file left out" in str(each.message) for each in caught) == len(BAD)
    for name in ("a.jsonl", "z.jsonl"):
        (folder / "in" / name).unlink()
    warnings.simplefilter("ignore")
    with pytest.raises(InputError, match="6 of 6 files"):
        dptext.sanitize_files("in", out_dir="new", epsilon=3, **given)  # type: ignore[arg-type]
