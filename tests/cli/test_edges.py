"""The edges of a run: its files appear together, and it says what it takes them for."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import loaded
from tests.cli.running import WORDS, Ran, command, environment, here

LINE = json.dumps({"text": " ".join(WORDS)}).encode() + b"\n"
NAMES = {"data": "o.jsonl", "report": "r.json", "html": "p.html", "aside": "q"}


def _run(folder: Path, options: tuple[str, ...], **other: str) -> Ran:
    """Run with all outputs there are, each at its name or another."""
    paths = {kind: str(folder / name) for kind, name in NAMES.items()} | other
    return here(
        "sanitize",
        "-f",
        "text",
        str(folder / "in.jsonl"),
        *options,
        "-q",
        "-o",
        paths["data"],
        "--report",
        paths["report"],
        "--html",
        paths["html"],
        "--quarantine",
        paths["aside"],
    )


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _one_line(ran: Ran, *said: str) -> None:
    assert ran.out == b""
    assert ran.err.count("\n") == 1, ran.err
    for part in said:
        assert part in ran.err


@pytest.mark.parametrize("kind", ["data", "report", "html", "aside", "sidecar"])
@pytest.mark.parametrize("old", [False, True])
def test_all_outputs_are_tried_before_the_first_record(
    kind: str, old: bool, options: tuple[str, ...], tmp_path: Path
) -> None:
    """A folder in the place of any output ends the run before it reads anything."""
    (tmp_path / "in.jsonl").write_bytes(LINE + b"broken\n")
    if old:
        assert _run(tmp_path, options).code == 0
    name = "o.jsonl.dptext.json" if kind == "sidecar" else NAMES[kind]
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).mkdir()
    before = _files(tmp_path)
    # A first record that cannot be read would be told, had it been read.
    (tmp_path / "in.jsonl").write_bytes(b"broken\n")
    before["in.jsonl"] = b"broken\n"
    ran = _run(tmp_path, options)
    assert ran.code in (1, 2)
    _one_line(ran, name, "directory")
    assert _files(tmp_path) == before


@pytest.mark.parametrize("kind", ["data", "report", "html", "aside"])
def test_outputs_in_no_folder(
    kind: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """A folder that is not there for one output leaves none of the others."""
    (tmp_path / "in.jsonl").write_bytes(LINE)
    ran = _run(tmp_path, options, **{kind: str(tmp_path / "no" / "file")})
    assert ran.code == 1
    _one_line(ran, "No such file")
    assert set(_files(tmp_path)) == {"in.jsonl"}


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
@pytest.mark.parametrize("kind", ["data", "report", "html", "aside"])
def test_outputs_in_a_folder_without_rights(
    kind: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """A folder that may not be written leaves none of the others."""
    (tmp_path / "in.jsonl").write_bytes(LINE)
    (tmp_path / "locked").mkdir(mode=0o500)
    ran = _run(tmp_path, options, **{kind: str(tmp_path / "locked" / "file")})
    assert ran.code == 1
    _one_line(ran, "Permission denied")
    assert set(_files(tmp_path)) == {"in.jsonl"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("kind", ["data", "report", "html", "aside"])
def test_full_disk_under_one_output(
    kind: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """One output that cannot be finished leaves none of the others."""
    (tmp_path / "in.jsonl").write_bytes(LINE + b"broken\n")
    ran = _run(tmp_path, options, **{kind: "/dev/full"})
    assert ran.code == 1
    _one_line(ran, "No space left")
    assert set(_files(tmp_path)) == {"in.jsonl"}


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
@pytest.mark.parametrize("old", [False, True])
def test_disk_that_fills(old: bool, options: tuple[str, ...], tmp_path: Path) -> None:
    """A disk that is full in the middle leaves everything as it was."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(LINE)
    if old:
        assert _run(tmp_path, options).code == 0
    source.write_bytes(LINE * 4000)
    before = _files(tmp_path)
    limited = (
        "import resource, sys; from dptext.cli.app import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2**19, 2**19))\n"
        "main()\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            limited,
            "sanitize",
            "-f",
            "text",
            str(source),
            *options,
            "-q",
            "-o",
            str(tmp_path / "o.jsonl"),
            "--report",
            str(tmp_path / "r.json"),
        ],
        capture_output=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 1
    assert b"o.jsonl: File too large" in done.stderr
    assert _files(tmp_path) == before


def test_out_dir_is_tried_first(options: tuple[str, ...], tmp_path: Path) -> None:
    """A target of a later input that cannot be written stops the run at once."""
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("the film\n")
    (tmp_path / "o" / "b.txt.dptext.json").mkdir(parents=True)
    inputs = (str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    ran = here("sanitize", *inputs, *options, "--out-dir", str(tmp_path / "o"))
    _one_line(ran, "b.txt.dptext.json", "directory")
    assert [path.name for path in (tmp_path / "o").iterdir()] == ["b.txt.dptext.json"]


@pytest.mark.skipif(sys.platform != "linux", reason="names that are bytes")
def test_names_that_are_not_utf_8(options: tuple[str, ...], tmp_path: Path) -> None:
    """An input may have any name; an output needs one that its report can state."""
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/na\xefve.jsonl")
    Path(odd).write_bytes(LINE)
    run = ("sanitize", "-f", "text", odd, *options, "-q")
    report = tmp_path / "r.json"
    ran = here(*run, "-o", str(tmp_path / "o.jsonl"), "--report", str(report))
    assert ran.code == 0, ran.err
    assert json.loads(report.read_bytes())["private"]["inputs"][0].endswith(
        r"na\xefve.jsonl"
    )
    before = sorted(os.listdir(tmp_path))
    for where in (("-o", odd + ".out.jsonl"), ("--out-dir", str(tmp_path / "d"))):
        ran = here(*run, *where)
        assert ran.code == 2
        _one_line(ran, r"na\xefve.jsonl", "not UTF-8")
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.skipif(os.name == "nt", reason="POSIX shell")
@pytest.mark.parametrize(
    "arguments",
    [
        "-o s.jsonl <s.jsonl",
        "-o link.jsonl <s.jsonl",
        "-o hard.jsonl <s.jsonl",
        "-o s.jsonl <link.jsonl",
        "--report s.jsonl <s.jsonl",
        "--html hard.jsonl <s.jsonl >o",
        "--quarantine link.jsonl <s.jsonl",
        "--public-report s.jsonl <s.jsonl",
        "link.jsonl >>s.jsonl",
        "<s.jsonl 1<>s.jsonl",
        "s.jsonl --report o.jsonl >o.jsonl",
        "-o s.jsonl other.jsonl - <s.jsonl",
    ],
)
def test_no_input_is_written_over(
    arguments: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """Also when a shell opened the input or the output, and under any name."""
    for name in ("s.jsonl", "other.jsonl"):
        (tmp_path / name).write_bytes(LINE)
    (tmp_path / "link.jsonl").symlink_to("s.jsonl")
    os.link(tmp_path / "s.jsonl", tmp_path / "hard.jsonl")
    done = subprocess.run(
        [
            "/bin/sh",
            "-c",
            f'"$@" {arguments}',
            "sh",
            str(loaded.program()),
            "sanitize",
            "-f",
            "text",
            *options,
        ],
        capture_output=True,
        cwd=tmp_path,
        env=environment(),
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert b"is already read or written by this run" in done.stderr
    assert (tmp_path / "s.jsonl").read_bytes() == LINE
    left = {"s.jsonl", "other.jsonl", "link.jsonl", "hard.jsonl", "o", "o.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} <= left


def test_packed_standard_input(options: tuple[str, ...]) -> None:
    """Compressed data from a pipe are read as what they hold."""
    ran = here("sanitize", "-f", "text", *options, "-q", given=gzip.compress(LINE * 3))
    assert ran.code == 0, ran.err
    assert len([json.loads(line)["text"] for line in ran.out.splitlines()]) == 3


@pytest.mark.parametrize(
    ("given", "arguments", "said"),
    [
        (b"id,text\n1,the film\n", (), "--format csv --field NAME, or --format text"),
        (b'"id"\t"text"\n1\tthe film\n', (), "--format tsv"),
        (b"id;text\n", (), "--format csv --delimiter ';'"),
        (b"the film\n", ("-f", "body"), "plain text, which has no fields"),
        (
            LINE,
            ("-f", "text", "-o", "o.csv"),
            "o.csv: outputs have the format of their input, here",
        ),
    ],
)
def test_what_standard_input_is_not_taken_for(
    given: bytes,
    arguments: tuple[str, ...],
    said: str,
    options: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table is not privatized as lines, nor JSON written to a table."""
    monkeypatch.chdir(tmp_path)
    ran = here("sanitize", *options, *arguments, given=given)
    assert ran.code in (2, 4)
    _one_line(ran, said)
    assert list(tmp_path.iterdir()) == []


def test_the_output_tells_the_format_of_standard_input(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """With -o o.csv a table from a pipe is read as CSV."""
    target = tmp_path / "o.csv"
    given = b"id,text\n1,the film\n"
    ran = here("sanitize", "-f", "text", *options, "-q", "-o", str(target), given=given)
    assert ran.code == 0, ran.err
    assert target.read_bytes().startswith(b"id,text\n1,")


def test_an_output_named_as_another_format(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """Without --format, a name that says another format is refused."""
    source, target = tmp_path / "in.jsonl", tmp_path / "o.txt"
    source.write_bytes(LINE)
    run = ("sanitize", "-f", "text", str(source), *options, "-q", "-o", str(target))
    ran = here(*run)
    assert ran.code == 2
    _one_line(ran, "o.txt", "here jsonl", "--format")
    assert here(*run, "--format", "jsonl").code == 0


def test_lines_that_look_like_a_table_are_told(options: tuple[str, ...]) -> None:
    """Rows on standard input are not taken for plain text unless --format says so."""
    given = b"1,the film\n2,the plot\n3,a scene\n"
    ran = here("sanitize", *options, given=given)
    assert ran.code == 2
    _one_line(ran, "looks like a table")
    given = b"the film was good, very\nbad\nplot\n"
    assert here("sanitize", *options, given=given).code == 0


def _table(kind: str, rows: list[dict[str, object]], folder: Path) -> Path:
    path = folder / f"in.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "csv":
        lines = [",".join(f'"{value}"' for value in row.values()) for row in rows]
        path.write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    else:
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_columns_that_repeat_private_text_are_named(
    kind: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """A copied column that holds half of the text is named on standard error."""
    rows: list[dict[str, object]] = []
    for n in range(20):
        words = [WORDS[(n * 7 + k) % len(WORDS)] + "word" for k in range(8)]
        other = " ".join(WORDS[(n * 5 + k + 3) % len(WORDS)] for k in range(3))
        title = " ".join(words[:4])
        text = " ".join(words)
        rows.append({"n": n, "title": title, "topic": other, "text": text})
    source = _table(kind, rows, tmp_path)
    target = str(tmp_path / f"o.{kind}")
    run = ("sanitize", "-f", "text", str(source), *options, "-o", target)
    warning = " ".join(here(*run).err.partition(" warning ")[2].split())
    assert "column 'title' was left unchanged and repeats" in warning
    assert "topic" not in warning
    assert not any(str(row["title"]) in warning for row in rows)
    assert "repeats" not in here(*run, "-f", "text", "-f", "title").err
    assert here(*run, "-q").err == ""


def test_a_report_says_in_how_many_records_each_field_is(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """In the internal report alone; plain text has no fields."""
    given = b'{"text":"the film","note":"a"}\n{"text":null}\n{"note":"b"}\n'
    report, target = tmp_path / "r.json", tmp_path / "o.jsonl"
    fields = ("-f", "text", "-f", "note", "--missing", "pass")
    run = (
        "sanitize",
        "-f",
        "text",
        *options,
        "-o",
        str(target),
        "--report",
        str(report),
    )
    ran = here(*run, *fields, "--verbose", given=given)
    assert ran.code == 0, ran.err
    assert json.loads(report.read_bytes())["private"]["words"]["fields"] == {
        "text": 2,
        "note": 2,
    }
    shown = " ".join(ran.err.split())
    assert "Records with field text 2 Records with field note 2" in shown
    public = json.loads((tmp_path / "o.jsonl.dptext.json").read_bytes())
    assert public["private"] is None


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
@pytest.mark.parametrize(("jobs", "count"), [("1", 5), ("1", 12), ("2", 18)])
def test_too_few_file_handles(
    jobs: str, count: int, options: tuple[str, ...], tmp_path: Path
) -> None:
    """Missing file handles are one line that fits, not a bug or a damaged lexicon."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(LINE)
    options = options if count != 12 else ()
    run = command("sanitize", "-f", "text", str(source), *options, "-q", "--jobs", jobs)
    done = subprocess.run(
        ["/bin/sh", "-c", f'ulimit -n {count}; "$@"', "sh", *run, "-o", f"{source}.o"],
        capture_output=True,
        env=environment(),
        check=False,
        timeout=60,
    )
    message = done.stderr.decode()
    assert done.returncode == 1
    assert message == (
        "dptext: too many open files; raise their limit (ulimit -n 256)\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_limit_beyond_all_numbers(options: tuple[str, ...]) -> None:
    """A record length that no machine can hold is a usage error."""
    ran = here(
        "sanitize", "-f", "text", *options, "--max-record-bytes", "9" * 20, given=LINE
    )
    assert ran.code == 2
    assert "--max-record-bytes" in ran.err


@pytest.mark.parametrize("number", ["1e999", "-1e400", "9" * 400])
def test_numbers_beyond_floats_are_copied(
    number: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """A copied number keeps its digits; a field that it hides is named in the error."""
    source, private = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(f'{{"a":{number},"text":"the film"}}\n')
    run = ("sanitize", str(source), *options, "-q")
    ran = here(*run, "-f", "text", "-o", str(private))
    assert ran.code == 0, ran.err
    assert private.read_text().startswith(f'{{"a":{number},"text":"')
    ran = here(*run, "-f", "body")
    assert (ran.code, "'text'" in ran.err or '"text"' in ran.err) == (2, True), ran.err
