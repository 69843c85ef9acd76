"""Faults of files: one line says which file, what is wrong, and the next step."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import MARKER, here

ROWS = f"id,note\n1,the film was {MARKER}\n"
OFFICE = b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml" + bytes(90)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(90)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write files as people have them, and go to their folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for name in ("notes.csv", "data/notes.csv"):
        (tmp_path / name).write_text(ROWS)
    for name, content in (
        ("book.csv", OFFICE),
        ("book.jsonl", OFFICE),
        ("book.txt", OFFICE),
        ("old.csv", OLE),
        ("zip.csv", b"PK\x03\x04" + bytes(90)),
        ("letter.txt", b"%PDF-1.7\n%\xe2\xe3"),
        ("table.csv", b"PAR1" + bytes(90)),
        ("plain.csv.gz", ROWS.encode()),
    ):
        (tmp_path / name).write_bytes(content)
    return tmp_path


WORKBOOK = "its content is an Excel workbook, not {}; name it .xlsx, or give "
FAULTS: tuple[tuple[tuple[str, ...], int, str], ...] = (
    (("book.csv", "-o", "o.csv"), 4, f"book.csv: {WORKBOOK.format('csv')}"),
    (("book.jsonl", "-o", "o.jsonl"), 4, f"book.jsonl: {WORKBOOK.format('jsonl')}"),
    (("book.txt", "-o", "o.txt"), 4, f"book.txt: {WORKBOOK.format('text')}"),
    (("old.csv", "-o", "o.csv"), 4, "an old Office document, not csv; save it as"),
    (("zip.csv", "-o", "o.csv"), 4, "a zip archive, not csv; unpack it first"),
    (("letter.txt", "-o", "o.txt"), 4, "a PDF, not text; export its text first"),
    (("table.csv", "-o", "o.csv"), 4, "Parquet, not csv; give --format parquet"),
    (("plain.csv.gz", "-o", "o.csv"), 4, "or remove .gz from its name"),
    (
        ("note.csv", "-o", "o.csv"),
        2,
        "note.csv: No such file or directory; did you mean notes.csv?",
    ),
    (("data/nots.csv", "-o", "o.csv"), 2, "did you mean data/notes.csv?"),
    (
        ("dat", "--out-dir", "o"),
        2,
        "dat: No such file or directory; did you mean data?",
    ),
    (
        ("dta/x.csv", "-o", "o.csv"),
        2,
        "dta/x.csv: No such file or directory; there is no folder dta",
    ),
    (("data",), 2, "data is a folder; give --out-dir FOLDER for its"),
    (("notes.csv", "-o", "a b/o.csv"), 1, "make its folder with: mkdir -p 'a b'"),
    (("notes.csv", "-o", "data"), 2, "data: Is a directory; give a file name"),
    (("notes.csv", "--out-dir", "book.csv"), 1, "choose another one with --out-dir"),
    (
        ("notes.csv", "-o", "o.csv", "--key-file", "k"),
        2,
        "key file k: No such file or directory; make one with: (umask 077; openssl ",
    ),
    (
        ("notes.csv", "-o", "notes.csv"),
        2,
        "notes.csv is already read or written by this run",
    ),
)


@pytest.mark.parametrize(("given", "code", "said"), FAULTS)
def test_a_fault_of_a_file_is_one_line_with_advice(
    given: tuple[str, ...],
    code: int,
    said: str,
    folder: Path,
    options: tuple[str, ...],
) -> None:
    """No output is there, and nothing of a text is on the screen."""
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    field = () if given[0].endswith(".txt") else ("-f", "note")
    ran = here("sanitize", *given, *field, *options, "--no-bayes-risk")
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, b"", 1)
    assert said in ran.err
    assert MARKER not in ran.err
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


def test_content_of_another_kind_is_told_where_fields_are_missing(
    options: tuple[str, ...],
) -> None:
    """Without --field the workbook is named, too, and its bytes are no columns."""
    ran = here("sanitize", "book.csv", *options, "-o", "o.csv")
    assert (ran.code, ran.err.count("\n")) == (4, 1)
    assert WORKBOOK.format("csv") in ran.err
    (ran) = here("sanitize", *options, "--format", "csv", "-f", "x", given=OFFICE)
    assert f"standard input: {WORKBOOK.format('csv')}" in ran.err


def test_check_suggests_a_near_name() -> None:
    """A misspelt export is one finding."""
    ran = here("check", "note.csv")
    assert ran.code == 1
    assert ": No such file or directory; did you mean notes.csv?" in (
        ran.out.decode() + ran.err
    )
