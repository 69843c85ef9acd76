"""Values of fields from every format, and files that do not belong together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dptext.errors import InputError, UsageError
from dptext.evaluation.rows import Pair, pairs, rows

RECORDS = [
    {"id": 1, "text": "one, two", "deep": {"list": ["a", "b"]}, "stars": 5},
    {"id": 2, "text": 'three "four"', "deep": {"list": []}, "stars": None},
]


def written(folder: Path, name: str) -> str:
    """Write the records in the format of a suffix."""
    path = folder / name
    if name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n\n" for row in RECORDS))
    elif name.endswith(".csv"):
        path.write_text('id,text,stars\n1,"one, two",5\n2,"three ""four""",\n')
    elif name.endswith(".tsv"):
        path.write_text('id\ttext\tstars\n1\tone, two\t5\n2\t"three ""four"""\t\n')
    elif name.endswith(".txt"):
        path.write_text('one, two\nthree "four"\n')
    else:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(RECORDS), path)
    return str(path)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt", "a.parquet"])
def test_texts_of_every_format(tmp_path: Path, name: str) -> None:
    """The same texts from each."""
    found = [row[0] for row in rows(written(tmp_path, name), ["text"])]
    assert found == ["one, two", 'three "four"']


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_deep_fields_lists_and_numbers(tmp_path: Path, name: str) -> None:
    """Lists are joined by lines, numbers written, null stays null."""
    found = list(rows(written(tmp_path, name), ["deep.list", "stars", "id"]))
    assert found == [["a\nb", "5", "1"], ["", None, "2"]]


def test_pairs(tmp_path: Path) -> None:
    """Text fields together, further values of the original."""
    one = written(tmp_path, "a.jsonl")
    two = written(tmp_path, "b.csv")
    found = list(pairs(one, two, ["text"], ["stars"], id_field="id"))
    assert found[0] == Pair("one, two", "one, two", ("5",))


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    """Other counts and other ids are one line each."""
    one = written(tmp_path, "a.jsonl")
    short = tmp_path / "short.jsonl"
    short.write_text(json.dumps(RECORDS[0]) + "\n")
    with pytest.raises(InputError, match=r"a\.jsonl: record 2 has no partner"):
        list(pairs(one, str(short), ["text"]))
    short.write_text(json.dumps(RECORDS[1]) + "\n")
    with pytest.raises(InputError, match="record 1 has another id"):
        list(pairs(one, str(short), ["text"], id_field="id"))


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """File and line, never the text."""
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "x"}\nsecret\n')
    with pytest.raises(InputError, match=r"bad\.jsonl:2: not JSON$"):
        list(rows(str(bad), ["text"]))
    with pytest.raises(UsageError, match="no column 'nothing'"):
        list(rows(written(tmp_path, "a.csv"), ["nothing"]))
