"""Options that an input cannot take are refused: all options against all formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dptext import formats, registry
from dptext.run import groups
from dptext.run.marks import Needs
from dptext.run.selection import Selection
from dptext.run.work import LedgerUse, Outputs, Work
from tests.cli.running import here, small

openpyxl = pytest.importorskip("openpyxl")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
ALL = tuple(registry.names("formats"))
TABLES, FIELDS = {"csv", "tsv"}, {*ALL} - {"text"}
# Each with a value that it takes, and the formats that it goes with.
GIVEN = {
    "field": (("--field", "text"), FIELDS),
    "id": (("--id", "id"), FIELDS),
    "missing": (("--missing", "pass"), {"json", "jsonl", "parquet"}),
    "sheet": (("--sheet", "Sheet"), {"xlsx"}),
    "delimiter": (("--delimiter", ";"), TABLES),
    "quoting": (("--no-quoting",), TABLES),
    "header": (("--no-header",), TABLES),
    "skip_lines": (("--skip-lines", "1"), TABLES),
    "encoding": (("--encoding", "cp1252"), {*ALL} - {"parquet", "xlsx"}),
    "escapes": (("--escapes", "none"), TABLES),
    "line_buffered": (("--line-buffered",), {*ALL} - {"parquet", "xlsx"}),
    "drop": (("--drop", "id"), FIELDS),
    "pseudonym": (("--pseudonym", "id"), FIELDS),
    "language_field": (("--language-field", "id"), FIELDS),
    "subject": (
        ("--ledger", "l", "--subject", "id", "--limit", "900"),
        FIELDS,
    ),
}
# What all formats take, and options of outputs that do not ask for a format.
EVERYWHERE = {
    "format",
    "max_record_bytes",
    "on_error",
    "quarantine",
    "other_language",
    "output",
    "out_dir",
    "in_place",
    "resume",
    "include",
    "exclude",
    "fail_on",
    "shuffle",
    "ledger",
    "limit",
    "limit_delta",
    "jobs",
    "batch_size",
    "engine",
    "master",
}


def test_every_option_of_inputs_is_in_a_table() -> None:
    """An option that is added is either for all formats or has a requirement."""
    of_inputs = (Selection, Work, Outputs, LedgerUse)
    named = {
        option.spelled or name
        for group in of_inputs
        for name, option, _ in groups.options(group)
    }
    assert named == GIVEN.keys() | (EVERYWHERE & named)
    assert {*groups.named(Needs)} == GIVEN.keys()


def written(name: str, folder: Path) -> Path:
    """Write a file of a format with the columns id and text."""
    rows = [{"id": str(n), "text": "the old film was good"} for n in range(3)]
    path = folder / f"in{formats.find(None, name).SUFFIXES[0]}"
    if name in ("json", "jsonl"):
        several = "\n".join(map(json.dumps, rows))
        path.write_text(several if name == "jsonl" else json.dumps(rows))
    elif name in TABLES:
        mark = "," if name == "csv" else "\t"
        table = [("id", "text"), *(tuple(row.values()) for row in rows)]
        path.write_text("\n".join(map(mark.join, table)) + "\n")
    elif name == "text":
        path.write_text("the old film was good\n" * 3)
    elif name == "parquet":
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        book = openpyxl.Workbook()
        for row in ({"id": "id", "text": "text"}, *rows):
            book.active.append(list(row.values()))
        book.save(path)
    return path


@pytest.mark.parametrize("way", ["name", "content", "input"])
@pytest.mark.parametrize(
    ("name", "option"),
    [(name, each) for each in GIVEN for name in ALL if name not in GIVEN[each][1]],
)
def test_an_option_that_a_format_cannot_take_is_refused(
    name: str, option: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the format is known, one line names the option; nothing is written."""
    monkeypatch.chdir(tmp_path)
    given, _ = GIVEN[option]
    path = written(name, tmp_path)
    field = ("--field", "text") if name != "text" else ()
    if way == "content":
        path = path.rename(tmp_path / "in")
    source: tuple[str, ...] = (str(path),)
    data = b""
    if way == "input":
        source, data = ("--format", name), path.read_bytes()
    out = ("-o", str(tmp_path / f"out{formats.find(None, name).SUFFIXES[0]}"))
    run = here("sanitize", *source, *field, *given, *out, *small(tmp_path), given=data)
    shown = given[0] if option != "subject" else "--subject"
    assert run.code == 2, run
    assert shown in run.err
    assert "leave it out" in run.err
    assert run.err.count("\n") == 1
    assert not Path(out[1]).exists()


@pytest.mark.parametrize(
    ("data", "given"),
    [
        (b"one text\nanother\n", ("--id", "a")),
        (b"one text\nanother\n", ("--no-header",)),
        (b'{"text": "the film"}\n', ("-f", "text", "--delimiter", ";")),
        (b"id,text\n1,film\n", ("-f", "text", "--missing", "pass")),
    ],
)
def test_standard_input_shows_its_format(
    data: bytes, given: tuple[str, ...], tmp_path: Path
) -> None:
    """What the first bytes tell decides there."""
    run = here("sanitize", *given, *small(tmp_path), given=data)
    assert (run.code, run.out) == (2, b"")
    assert (
        f"{given[-2] if given[-1] != '--no-header' else given[-1]}: the input"
        in run.err
    )


def test_of_several_inputs_one_is_enough(tmp_path: Path) -> None:
    """A folder of a table and a text takes a field; settings need no input at all."""
    folder = tmp_path / "in"
    folder.mkdir()
    written("csv", folder)
    written("text", folder)
    out = ("--out-dir", str(tmp_path / "out"), "-q", *small(tmp_path))
    assert here("sanitize", str(folder), "--field", "text", *out).code == 0
    (folder / "in.csv").unlink()
    out = ("--out-dir", str(tmp_path / "again"), *out[2:])
    run = here("sanitize", str(folder), "--field", "text", *out)
    assert run.code == 2
    assert "--field: the input is text" in run.err
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPTEXT_FIELD", "text")
        assert here("sanitize", str(folder), *out).code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "in.txt", "in.txt"),
        ("compare", "in.txt"),
        ("embed", "in.txt", "-o", "out.npy"),
        ("init", "in.txt"),
        ("calibrate", "--public-text", "in.txt", "--risk", "20%"),
        ("sanitize", "--plan", "--public-text", "in.txt"),
        ("lexicon", "adapt", "in.txt", "--name", "n"),
    ],
)
def test_other_commands_refuse_fields_of_plain_text(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a field is named, the text must have fields."""
    monkeypatch.chdir(tmp_path)
    written("text", tmp_path)
    run = here(*command, "--field", "body")
    assert run.code == 2
    assert "--field: the input is text" in run.err


def test_a_field_of_no_text_is_refused() -> None:
    """Without public text, no field is read."""
    run = here("calibrate", "--field", "body", "--risk", "20%")
    assert run.code == 2
    assert "--public-text" in run.err


def test_a_plan_holds_changed_fields_against_its_files(tmp_path: Path) -> None:
    """They are no fields of the public text; text files have none."""
    public, table = written("text", tmp_path), written("csv", tmp_path)
    about = ("--public-text", str(public), "--drop", "id", "-q", *small(tmp_path))
    for files in ((), (str(table),)):  # the text is too short to measure with
        assert (
            "too few distinct records" in here("sanitize", "--plan", *files, *about).err
        )
    run = here("sanitize", "--plan", str(public), *about)
    assert run.code == 2
    assert "--drop: the input is text" in run.err
