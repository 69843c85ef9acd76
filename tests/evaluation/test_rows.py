"""Texts and labels of every format, and files that do not belong together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dptext.errors import InputError, UnknownFieldError, UsageError
from dptext.evaluation.rows import (
    Pair,
    TextRow,
    nothing_to_read,
    one_text,
    pairs,
    records,
)
from dptext.run.selection import Selection

RECORDS = [
    {"id": "one", "text": "one, two", "deep": {"list": ["a", "b"]}, "stars": 5},
    {"id": "two", "text": 'three "four"', "deep": {"list": ["c"]}, "stars": None},
]
TEXT, BY_ID = Selection(), Selection(id_field="id")


def written(folder: Path, name: str) -> str:
    """Write the records in the format of a suffix."""
    path = folder / name
    if name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n\n" for row in RECORDS))
    elif name.endswith(".csv"):
        path.write_text('id,text,stars\none,"one, two",5\ntwo,"three ""four""",\n')
    elif name.endswith(".tsv"):
        path.write_text('id\ttext\tstars\none\tone, two\t5\ntwo\t"three ""four"""\t\n')
    elif name.endswith(".txt"):
        path.write_text('one, two\n\nthree "four"\n')
    else:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(RECORDS), path)
    return str(path)


def lines(folder: Path, name: str, records: Sequence[object]) -> str:
    """Write JSON lines."""
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt", "a.parquet"])
def test_texts_of_every_format(tmp_path: Path, name: str) -> None:
    """The same texts from each, blank lines are no records."""
    rows = list(records(written(tmp_path, name), TEXT))
    assert rows == [TextRow(("one, two",)), TextRow(('three "four"',))]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.parquet"])
def test_ids_and_labels_of_every_format(tmp_path: Path, name: str) -> None:
    """Strings without quotes, numbers as text; an absent value is None or empty."""
    rows = list(records(written(tmp_path, name), BY_ID, {"label": ["stars", "id"]}))
    missing = "" if name[-3:] in ("csv", "tsv") else None
    assert [row.identity for row in rows] == ["one", "two"]
    assert [row.values for row in rows] == [("5", "one"), (missing, "two")]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_deep_fields_and_lists(tmp_path: Path, name: str) -> None:
    """Every element of a list is a text; as one text they are lines."""
    rows = list(records(written(tmp_path, name), Selection(fields=("deep.list",))))
    assert rows == [TextRow(("a", "b")), TextRow(("c",))]
    assert [one_text(row.texts) for row in rows] == ["a\nb", "c"]


def test_a_nested_value_is_none(tmp_path: Path) -> None:
    """An object is no label, and no error in the record."""
    path = lines(tmp_path, "a.jsonl", [{"text": "x", "y": {"z": 1}}, {"text": "x"}])
    assert [row.values for row in records(path, TEXT, {"label": ["y"]})] == [
        (None,),
        (None,),
    ]


def test_pairs_in_order_across_formats(tmp_path: Path) -> None:
    """Texts together, with further values of the original."""
    one, two = written(tmp_path, "a.jsonl"), written(tmp_path, "b.csv")
    assert list(pairs(one, two, TEXT, {"label": ["stars"]})) == [
        Pair(("one, two",), ("one, two",), ("5",)),
        Pair(('three "four"',), ('three "four"',), (None,)),
    ]


def test_pairs_by_id(tmp_path: Path) -> None:
    """In the private file's order; originals that were left out are passed over."""
    one = written(tmp_path, "a.jsonl")
    two = lines(tmp_path, "b.jsonl", [{"id": "two", "text": "x"}])
    paired = Pair(('three "four"',), ("x",), identity="two")
    assert list(pairs(one, two, BY_ID)) == [paired]
    turned = lines(tmp_path, "c.jsonl", RECORDS[::-1])
    matched = list(pairs(one, turned, BY_ID))
    assert [pair.before for pair in matched] == [('three "four"',), ("one, two",)]
    assert all(pair.before == pair.after for pair in matched)


@pytest.mark.parametrize(
    ("records", "selection", "said"),
    [
        (RECORDS[:1], TEXT, r"a\.jsonl: record 2 has no counterpart in .*--id"),
        ([*RECORDS, *RECORDS], TEXT, r"b\.jsonl: record 3 has no counterpart"),
        ([{"id": "x", "text": "y"}], BY_ID, r"b\.jsonl: record 1 has no counterpart"),
        ([*RECORDS, RECORDS[0]], BY_ID, r"b\.jsonl: record 3 has no counterpart"),
    ],
)
def test_files_that_do_not_belong_together(
    tmp_path: Path, records: list[object], selection: Selection, said: str
) -> None:
    """Other counts and other ids are one line each, with exit code 4."""
    one, two = written(tmp_path, "a.jsonl"), lines(tmp_path, "b.jsonl", records)
    with pytest.raises(InputError, match=said) as failed:
        list(pairs(one, two, selection))
    assert failed.value.exit_code == 4
    assert "three" not in str(failed.value)


def test_originals_with_one_id(tmp_path: Path) -> None:
    """Which of them a private record belongs to cannot be known."""
    one = lines(tmp_path, "a.jsonl", [RECORDS[0], RECORDS[0]])
    with pytest.raises(InputError, match=r"a\.jsonl: record 2 has the id of an"):
        list(pairs(one, one, BY_ID))


def test_records_with_other_texts(tmp_path: Path) -> None:
    """A list that has grown does not belong to its original."""
    one = lines(tmp_path, "a.jsonl", [{"text": ["x"]}])
    two = lines(tmp_path, "b.jsonl", [{"text": ["x", "y"]}])
    with pytest.raises(InputError, match="record 1 has 2 texts, its original"):
        list(pairs(one, two, TEXT))


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """File and line, never the text; no field passes as an empty one."""
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "x"}\nsecret\n')
    with pytest.raises(InputError, match=r"bad\.jsonl:2: not valid JSON") as failed:
        list(records(str(bad), TEXT))
    assert "secret" not in str(failed.value)
    one = written(tmp_path, "a.jsonl")
    with pytest.raises(InputError, match=r"a\.jsonl:1: field 'txet' is absent"):
        list(records(one, Selection(fields=("txet",))))
    table = written(tmp_path, "a.csv")
    with pytest.raises(InputError, match="field 'nothing' of --label"):
        list(records(table, TEXT, {"label": ["nothing"]}))


def test_what_has_no_fields(tmp_path: Path) -> None:
    """Plain text has no labels and no ids, a pipe cannot be read twice."""
    plain = written(tmp_path, "a.txt")
    with pytest.raises(UsageError, match="has no field 'stars'"):
        list(records(plain, TEXT, {"label": ["stars"]}))
    with pytest.raises(UsageError, match="has no field 'id'"):
        list(pairs(plain, plain, BY_ID))
    with pytest.raises(UsageError, match="'text' cannot be both a text and a label"):
        list(records(written(tmp_path, "a.jsonl"), TEXT, {"label": ["text"]}))
    with pytest.raises(UsageError, match="read twice"):
        list(records("-", TEXT))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
@pytest.mark.parametrize("option", ["label", "attribute"])
def test_an_unknown_label_is_named_by_its_option(
    tmp_path: Path, name: str, option: str
) -> None:
    """A format that knows its fields refuses it, with those that it has."""
    path, values = written(tmp_path, name), {option: ["star"]}
    said = f"no record has the field 'star' of --{option}; did you mean 'stars'?"
    if name == "a.jsonl":
        for row in records(path, TEXT, values):
            assert row.values == (None,)
        assert said in str(nothing_to_read([path], TEXT, values))
        return
    with pytest.raises(UnknownFieldError) as raised:
        list(records(path, TEXT, values))
    assert said in str(raised.value)
    assert "--id" not in str(raised.value)


def test_the_first_row_of_a_table_without_header_is_not_listed(tmp_path: Path) -> None:
    """It may be data, which no message holds."""
    path = tmp_path / "a.csv"
    path.write_text("text,Mary Zqxjk\nthe film,5\n")
    with pytest.raises(UnknownFieldError) as raised:
        list(records(str(path), TEXT, {"label": ["stars"]}))
    assert "Zqxjk" not in str(raised.value)
