"""A run names its private fields, and standard input is known or refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.running import MARKER, Ran, here

JSONL = f'{{"id": 1, "a": {{"body": "{MARKER}"}}, "title": "the"}}\n'.encode()
CSV = f"id,body,title\n1,{MARKER},the\n".encode()


@pytest.fixture
def options(options: tuple[str, ...]) -> tuple[str, ...]:
    """Add the options of these tests."""
    return (*options, "-q")


def _refused(ran: Ran, *said: str, code: int = 2) -> None:
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, b"", 1), ran.err
    assert MARKER not in ran.err
    for each in said:
        assert each in ran.err


@pytest.mark.parametrize("command", ["sanitize", "embed"])
@pytest.mark.parametrize(
    ("name", "data", "listed"),
    [
        ("a.jsonl", JSONL, "fields with strings: 'a.body', 'title'"),
        ("a.csv", CSV, "fields with strings: 'id', 'body', 'title'"),
        ("a.tsv", CSV.replace(b",", b"\t"), "'id', 'body', 'title'"),
        ("a.csv", f"7,{MARKER} is ill\n".encode(), "--field NAME\n"),
        ("a.jsonl", b'{"a": "' + b"x" * 2**17, "--field NAME\n"),
        ("a.jsonl", b"broken\n", "--field NAME\n"),
        ("a.jsonl", b"", "--field NAME\n"),
    ],
)
def test_a_run_names_its_fields(
    command: str, name: str, data: bytes, listed: str, options: tuple[str, ...]
) -> None:
    """Without --field nothing is written, and one line lists names, never values."""
    more = ("-o", "o.npy") if command == "embed" else ("-o", name.replace("a.", "o."))
    Path(name).write_bytes(data)
    settings = (*options[:2], "-q") if command == "embed" else options
    _refused(here(command, name, *settings, *more), listed)
    Path(f"{name}.gz").write_bytes(gzip.compress(data))
    _refused(here(command, f"{name}.gz", *settings, *more), listed)
    assert {path.name for path in Path().iterdir()} == {name, f"{name}.gz"}


def test_no_file_is_done_before_a_field_is_missed(options: tuple[str, ...]) -> None:
    """Of several files the one without a field is refused before the others."""
    Path("a.txt").write_bytes(b"the film\n")
    Path("b.jsonl").write_bytes(JSONL)
    _refused(here("sanitize", "a.txt", "b.jsonl", *options, "--in-place"), "b.jsonl:")
    assert Path("a.txt").read_bytes() == b"the film\n"


def test_fields_of_parquet_are_listed(options: tuple[str, ...]) -> None:
    """The schema of a Parquet file tells which columns are strings."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"id": [1], "body": [MARKER]}), "a.parquet")
    _refused(here("sanitize", "a.parquet", *options), "fields with strings: 'body'\n")
    given = Path("a.parquet").read_bytes()
    _refused(here("sanitize", *options, given=given), "standard input: name each")
    ran = here("sanitize", *options, "-f", "body", given=given)
    assert (ran.code, ran.out[:4]) == (0, b"PAR1")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (CSV, "--format csv --field NAME"),
        (CSV.replace(b",", b"\t"), "--format tsv --field NAME"),
        (CSV.replace(b",", b";"), "--format csv --delimiter ';'"),
        (b"Customer name|What they say\r\n", "--format csv --delimiter '|'"),
        (b"\xef\xbb\xbfid,body", "--format csv"),
        (b'1,"Say, it is long enough to be a text of some kind",3\n' * 3, "csv"),
        (JSONL, "fields with strings: 'a.body', 'title'"),
    ],
)
def test_tables_on_standard_input_are_refused(
    given: bytes, said: str, options: tuple[str, ...]
) -> None:
    """Input that looks like a table is never read as text, not even with --quiet."""
    _refused(here("sanitize", *options, given=given), said)


@pytest.mark.parametrize(
    "given", ["the film\n", "Hello, world, it is\n", "Dear Sir,\n", "\n", "", "a; b\n"]
)
def test_plain_text_needs_no_field(given: str, options: tuple[str, ...]) -> None:
    """Lines of text on standard input are texts; a field of theirs is refused."""
    assert here("sanitize", *options, given=given.encode()).code == 0
    if given:
        ran = here("sanitize", *options, "-f", "text", given=given.encode())
        _refused(ran, "looks like plain text, which has no fields")
    assert here("sanitize", *options, "--format", "text", given=CSV).code == 0


@pytest.mark.parametrize(
    ("name", "data"), [("a.jsonl", b"\n"), ("a.csv", b"id,body\n"), ("a.csv", b"")]
)
def test_an_input_without_records_is_copied_and_said(
    name: str, data: bytes, options: tuple[str, ...]
) -> None:
    """An export of an empty day is no error; one line says that nothing was in it."""
    Path(name).write_bytes(data)
    settings = tuple(each for each in options if each != "-q")
    ran = here("sanitize", name, *settings, "-f", "body", "-o", f"o.{name}")
    assert (ran.code, Path(f"o.{name}").read_bytes()) == (0, data)
    assert f"{name}: it has no records" in ran.err
