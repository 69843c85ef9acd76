"""Fields that are left out or become pseudonyms: the same in every format."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import formats
from dptext.errors import InputError, InternalError, UnknownFieldError, UsageError
from dptext.formats import _fields
from dptext.pseudonyms import Pseudonyms, is_token
from dptext.randomness import RunKey
from dptext.run.selection import Selection
from dptext.types import Record, Verbatim
from tests.formats.pipe import copied_names, faults, find, records, through

KEY = RunKey.from_bytes(bytes(range(7, 71)))
TOKEN = Pseudonyms(KEY).token


def written(name: str, data: bytes, selection: Selection) -> bytes:
    """Send bytes through both ends of a format; texts become capitals."""
    module, out = find(None, name), io.BytesIO()
    writer = module.writer(out, selection, TOKEN)
    for item in module.read(formats.Input(io.BytesIO(data), selection, "in")):
        if isinstance(item, Record):
            writer.write(item, [text.upper() for text in item.texts])
        elif isinstance(item, Verbatim):
            writer.verbatim(item)
    writer.close()
    return out.getvalue()


def chosen(*dropped: str, replaced: tuple[str, ...] = (), **more: Any) -> Selection:
    """Return a selection of the field text."""
    return Selection(dropped=dropped, replaced=replaced, **more)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('{"a": 1, "text": "x", "b" : 2 }', '{"text": "X", "b" : 2 }'),
        ('{ "text":"x" , "a":1 }', '{ "text":"X" }'),
        ('{"text": "x", "a": {"b": [1, "}"]} }', '{"text": "X" }'),
        ('{"b":1.50,\t"\\u0061":"\\"," ,"text":"x"}', '{"b":1.50,\t"text":"X"}'),
        ('{"text":"x"}', '{"text":"X"}'),
        ('{"a":null,"text":"x"}', '{"text":"X"}'),
        ('{"a":1,"text":"x","c":{"d":1,"e":[]}}', '{"text":"X","c":{"e":[]}}'),
        ('{"text":"x","c":[{"d":1},{"d":2,"f":3}]}', '{"text":"X","c":[{},{"f":3}]}'),
    ],
)
@pytest.mark.parametrize("name", ["jsonl", "json"])
def test_a_dropped_key_leaves_all_other_bytes(
    name: str, line: str, wanted: str
) -> None:
    """A key goes with its value and one comma, wherever it stands and is spelled."""
    selection = chosen("a", "c.d")
    assert written(name, line.encode(), selection).decode() == wanted


names = st.sampled_from(["a", "b", "c", "d", "e"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(names, values, max_size=5),
    st.sets(names, max_size=5),
    st.sampled_from([None, 2]),
    st.randoms(use_true_random=False),
)
def test_what_is_left_is_the_record_without_the_keys(
    record: dict[str, Any], gone: set[str], indent: int | None, random: Any
) -> None:
    """Any keys of any record, on one line or on several."""
    items = [*record.items(), ("text", "x")]
    random.shuffle(items)
    data = json.dumps(dict(items), indent=indent).encode()
    out = written("json", data, chosen(*gone))
    kept = {key: value for key, value in items if key not in gone}
    assert json.loads(out) == {**kept, "text": "X"}
    assert list(json.loads(out)) == list(kept)


def test_a_dropped_column_is_gone_from_header_and_rows() -> None:
    """The other fields keep their bytes, quotes and line ends, as does the header."""
    data = b'a,"text",b\r\n1,"x, y",  2 \r\n"3\n4",z,5\n'
    out = written("csv", data, chosen("a"))
    assert out == b'"text",b\r\n"X, Y",  2 \r\n"Z",5\n'
    out = written("tsv", data.replace(b",", b"\t"), chosen("b"))
    assert out == b'a\t"text"\r\n1\t"X\t Y"\r\n"3\n4"\t"Z"\n'
    # Nothing but an empty text is left of a row: it is no blank line.
    assert written("csv", b"a,text\n1,\n", chosen("a")) == b'text\n""\n'
    selection = Selection(("2",), dropped=("1", "3"), header=False)
    assert written("csv", b"1,a,3,4\n", selection) == b"A,4\n"


def test_columns_without_names_are_found_again_in_the_output() -> None:
    """Where a column before them is left out, columns have other numbers."""
    selection = Selection(
        ("2",),
        id_field="4",
        header=False,
        dropped=("1", "3"),
        replaced=("5",),
    )
    there = selection.output_selection()
    assert (there.fields, there.id_field, there.replaced) == (("1",), "2", ("3",))
    out = written("csv", b"1,a,3,4,5\n", selection)
    (record,) = records("csv", out, there)
    assert (record.texts, record.identity) == (("A",), "4")
    assert chosen("id", id_field="id").output_selection().id_field is None
    assert chosen("who", id_field="who.id").output_selection().id_field is None
    assert chosen("who", id_field="whom").output_selection().id_field == "whom"


ROWS: list[dict[str, Any]] = [
    {"text": "x", "who": 7, "when": "2024-01-02", "ok": True, "share": 7.5},
    {"text": "y", "who": None, "when": None, "ok": None, "share": None},
    {
        "text": "z",
        "who": 12345678901234567890,
        "when": "Zoë",
        "ok": False,
        "share": 1e-7,
    },
]
COLUMNS = ("who", "when", "ok", "share")


def parquet() -> tuple[Any, Any]:
    """Return pyarrow and its part for Parquet."""
    return pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


def as_jsonl() -> bytes:
    """Write the rows as JSON lines, numbers as numbers."""
    return "".join(f"{json.dumps(row)}\n" for row in ROWS).encode()


def as_text() -> bytes:
    """Write the rows as JSON lines, numbers as texts."""

    def text(value: Any) -> Any:
        if isinstance(value, bool) or value is None:
            return value
        return "0.0000001" if value == 1e-7 else str(value)

    rows = [{name: text(row[name]) for name in row} for row in ROWS]
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def as_csv() -> bytes:
    """Write the rows as CSV; numbers as spreadsheets and programs write them."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(ROWS[0])
    for row in ROWS:
        cells = ["" if value is None else value for value in row.values()]
        cells[1] = "7.0" if cells[1] == 7 else cells[1]
        cells[3] = str(cells[3]).lower()
        cells[4] = "0.0000001" if cells[4] == 1e-7 else cells[4]
        rows.writerow(cells)
    return out.getvalue().encode()


def as_parquet() -> bytes:
    """Write the rows as Parquet, each column with its type."""
    pa, pq = parquet()
    from decimal import Decimal

    out = io.BytesIO()
    who = [None if row["who"] is None else Decimal(row["who"]) for row in ROWS]
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    table = pa.table(columns | {"who": pa.array(who, pa.decimal128(22, 2))})
    pq.write_table(table, out)
    return out.getvalue()


def as_xlsx() -> bytes:
    """Write the rows as a workbook; Excel has no whole numbers of 20 digits."""
    openpyxl = pytest.importorskip("openpyxl")
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active.append(list(ROWS[0]))
    for row in ROWS:
        book.active.append(
            list({**row, "who": row["who"] and str(row["who"])}.values())
        )
    book.save(out)
    return out.getvalue()


def rows_of(name: str, data: bytes) -> list[tuple[str, ...]]:
    """Read the pseudonyms of an output as texts; "" for a missing one."""
    selection = Selection(COLUMNS, missing="pass")
    if name == "jsonl":
        lines = map(json.loads, data.splitlines())
        return [tuple(line[each] or "" for each in COLUMNS) for line in lines]
    if name == "parquet":
        pq = parquet()[1]
        lines = pq.read_table(io.BytesIO(data)).to_pylist()
        return [tuple(line[each] or "" for each in COLUMNS) for line in lines]
    return [record.texts for record in records(name, data, selection)]


FILES: dict[str, Callable[[], bytes]] = {
    "jsonl": as_jsonl,
    "csv": as_csv,
    "parquet": as_parquet,
    "xlsx": as_xlsx,
}


def test_equal_values_have_equal_tokens_in_all_formats() -> None:
    """Numbers, texts of numbers, dates and truth values; missing ones stay missing."""
    selection = chosen(replaced=COLUMNS)
    wanted = rows_of("jsonl", written("jsonl", as_text(), selection))
    assert wanted[1] == ("", "", "", "")
    tokens = [token for row in (wanted[0], wanted[2]) for token in row]
    assert all(map(is_token, tokens))
    assert len({*tokens}) == len(tokens)
    for name, make in FILES.items():
        assert rows_of(name, written(name, make(), selection)) == wanted, name


def test_a_number_has_one_spelling_with_all_its_digits() -> None:
    """Neither the way that a number is written counts, nor is any digit lost."""
    same = ["7", "7.0", "7e0", "70E-1", '"7"', '"7.0"']
    spelled = {
        _fields.replacement_input(_fields.value_of_json(each), "") for each in same
    }
    assert spelled == {"7"}
    for number in ("1234567890123456780", "9007199254740993", "1" + "0" * 30):
        for each in (number, f'"{number}"', f"{number}.0"):
            value = _fields.replacement_input(_fields.value_of_json(each), "")
            assert value == number
    assert _fields.replacement_input("007", "") == "007", "a text is no number"
    assert _fields.replacement_input("1.10", "") == "1.10"
    assert _fields.replacement_input("e\u0301", "") == "é"
    for missing in (None, "", " \t", float("nan")):
        assert _fields.replacement_input(missing, "") is None


def test_tokens_depend_on_the_key_and_the_value_alone() -> None:
    """They are pinned: a token that changed would break all links of its owners."""
    assert TOKEN("ada@example.org") == "p_tl5t6zelg6pz3rar"
    other = Pseudonyms(RunKey.from_bytes(bytes(range(8, 72))))
    assert other.token("ada@example.org") != TOKEN("ada@example.org")
    assert repr(other) == "Pseudonyms()"
    for key in (RunKey.fresh(), RunKey.from_seed(1)):
        with pytest.raises(UsageError, match="--key-file"):
            Pseudonyms(key)


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "xlsx"])
def test_no_value_is_written_without_a_key(name: str) -> None:
    """A writer that has no key fails rather than copy a value."""
    selection = chosen(replaced=("who",))
    with pytest.raises(InternalError):
        through(name, FILES[name](), selection=selection)


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "xlsx"])
def test_changed_fields_are_not_copied_fields(name: str) -> None:
    """Neither a header nor a record names them among copied fields."""
    selection = chosen("when", replaced=("who",))
    data = FILES[name]()
    assert copied_names(name, data, selection) == ["ok", "share"]
    module = find(None, name)
    for record in records(name, data, selection):
        others = dict(module.others(record, selection))
        assert not {"when", "who", "text"} & others.keys()
    # In the output, the tokens are no copied fields, either.
    out = written(name, data, selection)
    assert copied_names(name, out, selection.output_selection()) == ["ok", "share"]


@pytest.mark.parametrize("name", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize("use", ["dropped", "replaced"])
def test_a_column_that_is_not_there_is_named_with_the_nearest(
    name: str, use: str
) -> None:
    """The error lists the columns."""
    selection = replace(Selection(), **{use: ("whom",)})  # type: ignore[arg-type]
    with pytest.raises(UnknownFieldError, match=r"'whom'.*did you mean 'who'.*'when'"):
        written(name, FILES[name](), selection)


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "xlsx"])
def test_no_field_has_two_uses(name: str) -> None:
    """A private text, a field that is left out and a pseudonym are different fields."""
    for selection in (
        chosen("text"),
        chosen(replaced=("text",)),
        chosen("who", replaced=("who",)),
    ):
        with pytest.raises(UsageError, match="cannot be both"):
            written(name, FILES[name](), selection)


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "xlsx"])
def test_id_and_subject_are_read_before_they_are_changed(name: str) -> None:
    """Draws and ledgers go by the values of the input."""
    data = FILES[name]().replace(b'"who": null', b'"who": 8')
    for selection in (
        chosen("ok", id_field="ok", missing="pass"),
        chosen(replaced=("ok",), id_field="ok", missing="pass"),
    ):
        plain = Selection(id_field="ok", missing="pass")
        before, after = (records(name, data, each) for each in (plain, selection))
        assert [each.identity for each in before] == [each.identity for each in after]
        assert before
        out = written(name, data, selection)
        assert b"TRUE" not in out


def test_a_dropped_object_may_hold_id_and_subject() -> None:
    """It goes as a whole, after both were read; no other choice fits inside."""
    line = b'{"who": {"id": 1, "name": "Ada"}, "text": "x"}'
    selection = chosen("who", id_field="who.id", subject_field="who.name")
    (record,) = records("jsonl", line, selection)
    assert (record.identity, record.subject) == ("1", "Ada")
    assert written("jsonl", line, selection) == b'{"text": "X"}'
    for wrong in (
        chosen("who", "who.id"),
        chosen("who", replaced=("who.id",)),
        Selection(("who.name",), dropped=("who",)),
    ):
        with pytest.raises(UsageError, match="contains the field"):
            written("jsonl", line, wrong)


def test_an_object_has_no_pseudonym() -> None:
    """A record with an object as the value cannot be read; lists go one by one."""
    selection = chosen(replaced=("who",))
    (fault,) = faults("jsonl", b'{"text":"x","who":{"a":1}}', selection)
    assert "not text or a number" in fault.reason
    out = written("jsonl", b'{"text":"x","who":[1,["1.0",null,""]]}', selection)
    one = TOKEN("1")
    assert json.loads(out) == {"text": "X", "who": [one, [one, None, ""]]}


def test_nested_fields_of_parquet() -> None:
    """Lists and structs keep their shape; a struct of nothing is left out itself."""
    pa, pq = parquet()
    data = {
        "text": ["x", "y", None],
        "people": [[{"id": 1, "name": "A"}, None], None, []],
        "one": [{"only": 5}, None, {"only": None}],
        "tags": [["a", None], [], None],
    }
    out = io.BytesIO()
    pq.write_table(pa.table(data), out)
    selection = chosen(
        "people.name",
        "one.only",
        replaced=("people.id", "tags"),
        missing="pass",
    )
    new = pq.read_table(io.BytesIO(written("parquet", out.getvalue(), selection)))
    assert new.to_pydict() == {
        "text": ["X", "Y", None],
        "people": [[{"id": TOKEN("1")}, None], None, []],
        "tags": [[TOKEN("a"), None], [], None],
    }


def test_pandas_is_told_nothing_of_what_is_gone() -> None:
    """An index that is left out is no index, and no name of it stays in the file."""
    pa, pq = parquet()
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": ["x", "y"], "n": [1, 2]}).set_index(
        pd.Index(["ada", "bob"], name="secret_name")
    )
    out = io.BytesIO()
    frame.to_parquet(out)
    new = written("parquet", out.getvalue(), chosen("secret_name", replaced=("n",)))
    assert b"secret_name" not in new
    back = pd.read_parquet(io.BytesIO(new))
    assert list(back.columns) == ["text", "n"]
    assert back["n"].tolist() == [TOKEN("1"), TOKEN("2")]
    assert pq.read_schema(io.BytesIO(new)).field("n").type == pa.string()


def test_bytes_have_no_pseudonym() -> None:
    """A column of a type that no other format has is refused, with a way out."""
    pa, pq = parquet()
    out = io.BytesIO()
    pq.write_table(pa.table({"text": ["x"], "raw": [b"\0"]}), out)
    with pytest.raises(InputError, match="--drop"):
        written("parquet", out.getvalue(), chosen(replaced=("raw",)))
    new = written("parquet", out.getvalue(), chosen("raw"))
    assert pq.read_table(io.BytesIO(new)).column_names == ["text"]
