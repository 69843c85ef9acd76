"""Parquet: selected strings change, every other value and type stays."""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import threading
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dptext.errors import InputError, MissingExtra
from dptext.formats import Input, _arrow, find, parquet
from dptext.formats import parquet as _parquet_writer
from dptext.run.selection import Selection
from dptext.types import Record, Verbatim
from tests.formats.pipe import TEXT, faults, items, records, texts, through

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
STRINGS = st.text(st.characters(codec="utf-8"), max_size=5)


def spelled(table: Any, **options: Any) -> bytes:
    """Write a table as Parquet."""
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def back(data: bytes) -> Any:
    """Read a table from Parquet."""
    return pq.read_table(io.BytesIO(data))


def upper(value: Any) -> Any:
    """Change every string in a value."""
    if isinstance(value, list):
        return [upper(item) for item in value]
    return value.upper() if isinstance(value, str) else value


KINDS = {
    "string": pa.string(),
    "large": pa.large_string(),
    "view": pa.string_view(),
    "coded": pa.dictionary(pa.int32(), pa.string()),
    "coded_large": pa.dictionary(pa.int32(), pa.large_string(), True),
}
LISTS = {
    "list": pa.list_(pa.string()),
    "large_list": pa.large_list(pa.field("item", pa.string(), nullable=False)),
    "list_list": pa.list_(pa.list_(pa.string())),
}


def shaped(kind: Any, values: list[Any]) -> list[Any]:
    """Put values into lists as deep as the type asks."""
    depth = str(kind).count("list<")
    for _ in range(depth):
        values = [None if value is None else [value, value] for value in values]
    return values


def column(kind: Any, values: list[Any]) -> Any:
    """Make an array of a type."""
    if pa.types.is_dictionary(kind):
        coded = pa.array(values, kind.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(
            coded.indices, coded.dictionary, ordered=kind.ordered
        )
    return pa.array(values, kind)


@pytest.mark.parametrize("name", [*KINDS, *LISTS])
def test_text_types(name: str) -> None:
    """Each type of text is read, changed, and written back as the same type."""
    kind = (KINDS | LISTS)[name]
    array = column(kind, shaped(kind, ["a", "b", None, "ö", ""]))
    table = pa.table({"n": pa.array(range(5)), "text": array})
    # The library reads some types back as others: what it reads is what we get.
    table = back(spelled(table))
    selection = Selection(missing="pass")
    same = back(through("parquet", spelled(table), selection=selection))
    assert same.equals(table)
    assert same.schema.equals(table.schema)
    changed = back(through("parquet", spelled(table), str.upper, selection))
    assert changed.schema.equals(table.schema)
    assert changed["text"].to_pylist() == upper(table["text"].to_pylist())
    assert changed["n"].equals(table["n"])


def test_a_narrow_dictionary_gets_room() -> None:
    """More new words than an 8-bit index can count are written all the same."""
    kind = pa.dictionary(pa.int8(), pa.string())
    coded = pa.DictionaryArray.from_arrays(pa.array([0] * 500, pa.int8()), ["a"])
    table = pa.table({"text": coded.cast(kind), "other": coded.cast(kind)})
    number = iter(range(500))
    out = back(through("parquet", spelled(table), lambda _: str(next(number))))
    assert out["text"].to_pylist() == [str(n) for n in range(500)]
    assert out["text"].type.index_type == pa.int32()
    assert out["other"].type == kind
    head = items("parquet", spelled(table))[0]
    assert isinstance(head, Verbatim)
    assert head.note == (
        "in: the dictionary of 'text' (int8) has an int32 index in the copy, to have "
        "room for new texts"
    )


INDEXES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("count", [0, 128, 129])
def test_the_index_of_a_dictionary(index: str, count: int) -> None:
    """It stays where it has room for any texts, and does not tell how many it had."""
    kind = pa.dictionary(getattr(pa, index)(), pa.string(), True)
    coded = pa.array([0] * count, kind.index_type)
    coded = pa.DictionaryArray.from_arrays(
        coded, pa.array(["a"], pa.string()), ordered=True
    )
    nested = pa.StructArray.from_arrays([coded], ["x"])
    table = pa.table({"text": coded, "s": nested, "n": range(count)})
    data = spelled(table)
    number = iter(range(2 * count))
    chosen = Selection(fields=("text", "s.x"))
    out = back(through("parquet", data, lambda _: str(next(number)), chosen))
    stays = count <= 128 or index.endswith(("32", "64"))
    shown = kind if stays else pa.dictionary(pa.int32(), pa.string(), True)
    assert out.schema.field("text").type == shown
    assert out.schema.field("s").type.field("x").type == shown
    assert out["text"].to_pylist() == [str(2 * n) for n in range(count)]
    head = items("parquet", data, chosen)[0]
    assert isinstance(head, Verbatim)
    assert bool(head.note) != stays


def test_a_narrow_index_has_room_for_two_inputs_and_for_lists() -> None:
    """Values count, not rows; of several inputs nobody knows how many come."""
    coded = pa.DictionaryArray.from_arrays(pa.array([0] * 100, pa.int8()), ["a"])
    data, number = spelled(pa.table({"text": coded})), iter(range(500))
    out = back(through("parquet", [data, data], lambda _: str(next(number))))
    assert out["text"].type.index_type == pa.int32()
    assert out["text"].to_pylist() == [str(n) for n in range(200)]
    lists = pa.ListArray.from_arrays(pa.array([0, 50, 100], pa.int32()), coded)
    for rows, index in ((1, pa.int8()), (2, pa.int32())):
        data = spelled(pa.table({"text": pa.concat_arrays([lists] * rows)}))
        out = back(through("parquet", data, lambda _: str(next(number))))
        assert out["text"].type.value_type.index_type == index


STRUCT = pa.struct(
    [
        pa.field("note", pa.string()),
        pa.field("when", pa.timestamp("ns")),
        pa.field("deep", pa.struct([pa.field("a.b", pa.large_string())])),
    ]
)


@PATIENT
@given(
    st.lists(
        st.none()
        | st.fixed_dictionaries(
            {
                "note": st.none() | STRINGS,
                "when": st.none()
                | st.integers(0, 2**60).map(lambda n: n // 1000 * 1000),
                "deep": st.none() | st.fixed_dictionaries({"a.b": STRINGS}),
            }
        ),
        max_size=6,
    )
)
def test_fields_of_structs(rows: list[Any]) -> None:
    """Strings inside structs change; their neighbours and the nulls do not."""
    nested = pa.array(rows, STRUCT)
    offsets = pa.array([0, *([len(rows)] * 2)], pa.int32())
    lists = pa.ListArray.from_arrays(offsets, nested)
    selection = Selection(fields=(r"s.deep.a\.b", "s.note"), missing="pass")
    for array in (nested, lists):
        table = pa.table({"s": array})
        data = spelled(table)
        assert back(through("parquet", data, selection=selection)).equals(table)
        out = back(through("parquet", data, lambda text: text + "!", selection))
        values = out["s"].to_pylist()
        flat = (values[0] + values[1]) if array is lists else values
        for row, old in zip(flat, rows, strict=True):
            assert (row is None) == (old is None)
            if old is not None:
                old_note = old["note"]
                assert row["note"] == (None if old_note is None else old_note + "!")
                if old["deep"] is not None:
                    assert row["deep"] == {"a.b": old["deep"]["a.b"] + "!"}
        assert out["s"].type == table["s"].type


def test_foreign_columns_and_their_metadata_stay() -> None:
    """Types that JSON or Python would bend come out as they went in."""
    schema = pa.schema(
        [
            pa.field("text", pa.string(), nullable=False, metadata={"a": "b"}),
            pa.field("ns", pa.timestamp("ns", "UTC"), metadata={"c": "d"}),
            pa.field("money", pa.decimal128(38, 9)),
            pa.field("raw", pa.binary()),
            pa.field("code", pa.dictionary(pa.int8(), pa.string())),
            pa.field("fixed", pa.list_(pa.float32(), 2)),
            pa.field("map", pa.map_(pa.string(), pa.int64())),
            pa.field("none", pa.null()),
            pa.field("small", pa.uint8()),
        ],
        metadata={"k": "v", "pandas": "{}"},
    )
    table = pa.table(
        [
            pa.array(["a", "b"]),
            pa.array([1, 2**62 + 1], schema.field("ns").type),
            pa.array([Decimal("1.000000001"), None], pa.decimal128(38, 9)),
            pa.array([b"\xff", None]),
            pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int8()), ["x"]),
            pa.array([[1, 2], [3, 4]], pa.list_(pa.float32(), 2)),
            pa.array([[("k", 1)], None], schema.field("map").type),
            pa.nulls(2),
            pa.array([255, 0], pa.uint8()),
        ],
        schema=schema,
    )
    data = spelled(table)
    out = back(through("parquet", data, str.upper))
    # As pyarrow reads it: some releases widen the numbers of a dictionary.
    table = back(data)
    assert out.schema.equals(table.schema)
    assert not out.schema.metadata
    assert not out.schema.field("text").metadata
    assert out.schema.field("ns").metadata == {b"c": b"d"}
    assert out.drop(["text"]).equals(table.drop(["text"]))
    assert out["text"].to_pylist() == ["A", "B"]


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
def test_codec_is_kept(codec: str) -> None:
    """The output is compressed as the input's columns without private text were."""
    table = pa.table({"s": [{"text": "a", "x": 1}], "n": [1]})
    data = spelled(table, compression={"s.text": "gzip", "s.x": "gzip", "n": codec})
    out = through("parquet", data, selection=Selection(fields=("s.text",)))
    group = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0)
    new = pq.ParquetFile(io.BytesIO(out)).metadata.row_group(0)
    assert {new.column(i).compression for i in range(3)} == {
        group.column(2).compression
    }


@pytest.mark.parametrize(
    ("rows", "size"), [(2048, 2**26), (1024, 60_000), (2**17, 2**26)]
)
def test_row_groups_are_our_own(
    rows: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row groups end at a number of rows, or of bytes written, for any input."""
    monkeypatch.setattr(_parquet_writer, "_GROUP_ROWS", rows)
    monkeypatch.setattr(_parquet_writer, "_GROUP_BYTES", size)
    table = pa.table({"text": [str(n) for n in range(5000)], "n": ["x" * 50] * 5000})
    outs = {through("parquet", spelled(table, row_group_size=n)) for n in (700, 9000)}
    (out,) = outs
    metadata = pq.ParquetFile(io.BytesIO(out)).metadata
    counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert counts[:-1] == [rows] * (4999 // rows)
    assert back(out).equals(table)


def test_size_is_that_of_the_values() -> None:
    """How an array lies in memory, and what a slice leaves out, does not count."""
    size = _arrow.size
    rows = [["a", None], None, ["bcd"], []] * 3
    structs = [None if row is None else {"x": row, "n": 1} for row in rows]
    for kind in (
        pa.list_(pa.string()),
        pa.large_list(pa.string_view()),
        pa.list_(pa.dictionary(pa.int8(), pa.string())),
        pa.struct([pa.field("x", pa.list_(pa.large_binary())), ("n", pa.int8())]),
    ):
        if pa.types.is_list(kind) and pa.types.is_dictionary(kind.value_type):
            flat = pa.array(rows, pa.list_(pa.string()))
            array = pa.ListArray.from_arrays(
                flat.offsets, flat.values.dictionary_encode(), mask=flat.is_null()
            )
        else:
            array = pa.array(structs if pa.types.is_struct(kind) else rows, kind)
        assert size(array) == 3 * size(array[4:8]) > 0
    texts = pa.array([{"a": "xyz"}, None], pa.map_(pa.string(), pa.string()))
    assert size(texts) == 2 * size(texts[:1])


def test_old_timestamps_stay_old() -> None:
    """96-bit timestamps of older writers keep their physical type."""
    table = pa.table({"text": ["a"], "t": pa.array([datetime(2020, 1, 1)])})
    out = through("parquet", spelled(table, use_deprecated_int96_timestamps=True))
    assert pq.ParquetFile(io.BytesIO(out)).schema.column(1).physical_type == "INT96"


def test_no_rows_give_a_valid_file() -> None:
    """A table without rows keeps its schema."""
    table = pa.table({"text": pa.array([], pa.string()), "n": pa.array([], pa.int8())})
    assert back(through("parquet", spelled(table))).equals(table)


def test_null_is_a_fault_with_its_row_as_json() -> None:
    """A null text is a fault that names the row and holds it as one line of JSON."""
    table = pa.table(
        {
            "text": ["a", None, "c"],
            "n": [1, 2, 3],
            "t": pa.array([0, 1, 2], pa.timestamp("ns")),
        }
    )
    data = spelled(table)
    (fault,) = faults("parquet", data)
    assert (fault.location, fault.reason) == ("in: row 2", "field 'text' is null")
    assert fault.described().endswith("; --missing pass leaves nulls unchanged")
    assert fault.raw.endswith(b"\n")
    assert json.loads(fault.raw)["n"] == 2
    read = records("parquet", data)
    assert [record.ordinal for record in read] == [0, 2]
    out = back(through("parquet", data, str.upper))
    assert out["text"].to_pylist() == ["A", "C"]
    assert out["n"].to_pylist() == [1, 3]


def test_missing_may_pass() -> None:
    """With missing = pass a null stays null and gives no text."""
    data = spelled(pa.table({"text": ["a", None]}))
    selection = Selection(missing="pass")
    assert texts("parquet", data, selection) == [("a",), ()]
    out = back(through("parquet", data, str.upper, selection))
    assert out["text"].to_pylist() == ["A", None]


def test_all_rows_may_be_faults() -> None:
    """A file of which no row can be read gives one without rows."""
    table = pa.table({"text": pa.array([None, None], pa.string())})
    assert back(through("parquet", spelled(table))).num_rows == 0


def test_rows_too_long_are_faults() -> None:
    """The limit holds for the texts of a row."""
    (fault,) = faults(
        "parquet", spelled(pa.table({"text": ["abc"]})), Selection(max_record_bytes=2)
    )
    assert fault.reason.startswith("longer than 2 bytes")


def test_identity_is_spelled_as_json() -> None:
    """The id is spelled as JSON would, so that 1 and "1" differ."""
    table = pa.table({"text": ["a", "b"], "id": [1, 2], "s": ["x", None]})
    ns = pa.array([1, 2], pa.timestamp("ns"))
    data = spelled(table.append_column("ns", ns))
    by_time = records("parquet", data, Selection(id_field="ns"))
    assert by_time[0].identity == '"1970-01-01 00:00:00.000000001"'
    by_number = records("parquet", data, Selection(id_field="id"))
    assert [record.identity for record in by_number] == ["1", "2"]
    selection = Selection(id_field="s")
    assert records("parquet", data, selection)[0].identity == '"x"'
    assert "'s' is null" in faults("parquet", data, selection)[0].reason


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            ("txt",),
            "no field 'txt'; did you mean 'text'.; fields with strings: 'text', 'deep",
        ),
        (("n",), "in: field 'n' is of type int64, not text"),
        (("s",), "in: field 's' is of type struct, not text"),
        (("n.x",), "in: field 'n.x' leads into int64, not a struct"),
        (("s.y",), "in: no field 's.y'"),
    ],
)
def test_columns_that_cannot_be_read(fields: tuple[str, ...], message: str) -> None:
    """A column that is absent or no text stops the run before the first row."""
    deep = [[{"note": "a", "n": 1}]]
    table = pa.table({"text": ["a"], "n": [1], "s": [{"x": 1}], "deep": deep})
    with pytest.raises(InputError, match=message):
        items("parquet", spelled(table), Selection(fields=fields))


def test_columns_of_one_name_are_refused() -> None:
    """Of two columns with the selected name neither is guessed."""
    table = pa.table([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    with pytest.raises(InputError, match="twice"):
        items("parquet", spelled(table))


def test_copied_columns_may_have_any_names() -> None:
    """Also one name twice, or an empty one: only selected ones are asked for by it."""
    rows = [pa.array(["the film"]), *(pa.array([text]) for text in "abc")]
    data = spelled(pa.Table.from_arrays(rows, ["text", "b", "b", ""]))
    (record,) = records("parquet", data)
    others = find(None, "parquet").others(record, TEXT)
    assert list(others) == [("b", "a"), ("b", "b"), ("", "c")]
    out = pq.ParquetFile(io.BytesIO(through("parquet", data)))
    assert out.read().equals(pq.ParquetFile(io.BytesIO(data)).read())


def test_not_a_parquet_file() -> None:
    """Other bytes, or a file cut off, are refused in one line."""
    data = spelled(pa.table({"text": ["secret"] * 100}))
    for bad in (b"", b"secret", data[:-10]):
        with pytest.raises(InputError, match="not a Parquet file"):
            items("parquet", bad)


def test_damaged_pages_are_an_input_error() -> None:
    """Damage inside the file is named without its content."""
    data = bytearray(spelled(pa.table({"text": [str(n) for n in range(9999)]})))
    data[100:4000] = b"\xff" * 3900
    with pytest.raises(InputError, match="damaged"):
        items("parquet", bytes(data))


def test_a_damaged_footer_is_an_input_error() -> None:
    """A flipped byte of the footer never ends the process, as pyarrow alone would."""
    data = spelled(pa.table({"text": ["a", "b"]}), compression="NONE")
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for at in range(footer, len(data)):
        for bits in (0x01, 0x32, 0x80):
            broken = bytearray(data)
            broken[at] ^= bits
            with contextlib.suppress(InputError):
                items("parquet", bytes(broken))


@pytest.mark.parametrize("name", ["text", "copied"])
def test_strings_that_are_not_utf8_are_an_input_error(name: str) -> None:
    """In a private column, and in one that is copied and searched for identifiers."""
    columns = {"text": pa.array(["a"]), "copied": pa.array(["b"])}
    bad = pa.py_buffer(b"\xff")
    columns[name] = pa.Array.from_buffers(
        pa.string(), 1, [None, columns[name].buffers()[1], bad]
    )
    with pytest.raises(
        InputError, match="rows from 1: damaged, or strings are not valid UTF-8"
    ):
        items("parquet", spelled(pa.table(columns)))


def test_inputs_of_one_schema_make_one_file() -> None:
    """Several inputs give the rows of all in one file."""
    one, two = (spelled(pa.table({"text": [text]})) for text in "ab")
    assert back(through("parquet", [one, two]))["text"].to_pylist() == ["a", "b"]
    other = spelled(pa.table({"text": ["a"], "n": [1]}))
    with pytest.raises(InputError, match="columns of the inputs differ"):
        through("parquet", [one, other])


def test_a_pipe_is_read_into_memory() -> None:
    """An input that cannot seek is read all the same."""
    data = spelled(pa.table({"text": ["a", "b"]}))
    reading, writing = os.pipe()

    def feed() -> None:
        with open(writing, "wb") as pipe:
            pipe.write(data)

    thread = threading.Thread(target=feed)
    thread.start()
    with open(reading, "rb") as pipe:
        read = list(find("in.parquet").read(Input(pipe, TEXT, "in")))
    thread.join()
    assert [item.texts for item in read if isinstance(item, Record)] == [
        ("a",),
        ("b",),
    ]


def test_a_pipe_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than memory should hold is refused with the way out."""
    module = find("in.parquet")
    monkeypatch.setattr(parquet, "IN_MEMORY", 10)

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    with pytest.raises(InputError, match="path of a plain one"):
        list(module.read(Input(Pipe(spelled(pa.table({"text": ["a"]}))), TEXT, "in")))


def test_an_abandoned_writer_is_silent() -> None:
    """A writer raises nothing when it goes, after a failed run closed its stream."""
    module, out = find("in.parquet"), io.BytesIO()
    writer = module.writer(out, TEXT)
    for item in items("parquet", spelled(pa.table({"text": ["a"]}))):
        if isinstance(item, Verbatim):
            writer.verbatim(item)
    out.close()
    del writer


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the message says what to install."""
    real = builtins.__import__

    def absent(name: str, *args: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtra, match=r"\.\[parquet\]"):
        next(find("a.parquet").read(Input(io.BytesIO(b""), TEXT, "in")))
