"""An output is a function of the new texts and of copied parts, and of nothing else.

Two inputs that differ in their private texts alone, as the statement allows (as many
texts, the same ones absent), are given equal new texts, as equal draws would: the
output files must be equal byte for byte, in every format and compression.
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dptext import streams
from dptext.formats import _arrow
from dptext.run.selection import Selection
from dptext.streams.outputs import open_output
from tests.formats.pipe import through

SETTINGS = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# Awkward for one format or another; never empty, as empty texts are shown.
WORDS = ("a", "film", 'q"q', "x,y", "tab\tbed", "two\nlines", "é", "\u2028", "\\", "=1")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
PAIRS = st.tuples(TEXTS, TEXTS)


def fresh(seed: int) -> Any:
    """Return a function that gives the same new texts, one by one, for any old ones."""
    new = (WORDS[(seed + n * n) % len(WORDS)] + str(n % 7) for n in itertools.count())
    return lambda text: next(new)


def same(name: str, both: tuple[bytes, bytes], seed: int, selection: Selection) -> None:
    """Check that two inputs with equal new texts give equal bytes."""
    one, two = (through(name, data, fresh(seed), selection) for data in both)
    assert one == two


@SETTINGS
@given(st.lists(PAIRS, min_size=1, max_size=6), st.integers(0, 99), st.data())
def test_json_lines(rows: list[tuple[str, str]], seed: int, data: Any) -> None:
    """How a private text was escaped does not show."""
    lines: list[list[str]] = [[], []]
    for number, row in enumerate(rows):
        ascii_too = data.draw(st.booleans())
        for into, text, plain in zip(lines, row, (True, ascii_too), strict=True):
            spelled = json.dumps(text, ensure_ascii=plain)
            if not plain:
                spelled = spelled.replace("a", r"\u0061")
            into.append(f'{{"n": {number} , "text":{spelled}, "x":["\\u00e9"]}}\n')
    one, two = ("".join(each).encode() for each in lines)
    same("jsonl", (one, two), seed, Selection())


@SETTINGS
@given(
    st.lists(PAIRS, min_size=1, max_size=6),
    st.integers(0, 99),
    st.sampled_from([",", "\t"]),
    st.booleans(),
    st.booleans(),
)
def test_delimited(
    rows: list[tuple[str, str]], seed: int, delimiter: str, header: bool, quotes: bool
) -> None:
    """Whether a private field had to be quoted, or was, does not show."""
    both = []
    for side in (0, 1):
        out = io.StringIO()
        for number, row in enumerate(rows):
            spelled = row[side]
            if (side and quotes) or set(spelled) & {delimiter, '"', "\n"}:
                spelled = '"' + spelled.replace('"', '""') + '"'
            out.write(f'"{number}"{delimiter}{spelled}{delimiter} z \n')
        names = f'id{delimiter}text{delimiter}"z"\n' if header else ""
        both.append((names + out.getvalue()).encode())
    field = "text" if header else "2"
    name = "csv" if delimiter == "," else "tsv"
    selection = Selection(fields=(field,), header=header)
    same(name, (both[0], both[1]), seed, selection)


@SETTINGS
@given(st.lists(PAIRS, min_size=1, max_size=6), st.integers(0, 99))
def test_plain_text(rows: list[tuple[str, str]], seed: int) -> None:
    """A line shows nothing of the line it replaces."""
    one, two = (
        "".join(row[side].replace("\n", " ") + "\r\n" for row in rows).encode()
        for side in (0, 1)
    )
    same("text", (one, two), seed, Selection())


def _shapes() -> dict[str, Any]:
    pa = pytest.importorskip("pyarrow")
    text = pa.string()
    return {
        "string": text,
        "large": pa.large_string(),
        "view": pa.string_view(),
        "categories": pa.dictionary(pa.int8(), text),
        "ordered": pa.dictionary(pa.int16(), text, True),
        "list": pa.list_(text),
        "list of categories": pa.list_(pa.dictionary(pa.int8(), text)),
        "struct": pa.struct([("text", text), ("n", pa.int32())]),
        "list of structs": pa.list_(
            pa.struct([("n", pa.int32()), ("text", pa.dictionary(pa.int8(), text))])
        ),
    }


def _column(kind: Any, texts: list[str | None]) -> Any:
    """Put texts into a column of a kind; the numbers beside them are their places."""
    import pyarrow as pa

    if pa.types.is_list(kind):
        inner = _column(kind.value_type, [t for t in texts if t is not None])
        counts = [0, *itertools.accumulate(int(t is not None) for t in texts)]
        mask = pa.array([t is None for t in texts])
        return pa.ListArray.from_arrays(pa.array(counts, pa.int32()), inner, mask=mask)
    if pa.types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        numbers = pa.array(range(len(texts)), pa.int32())
        arrays = [
            numbers if field.name == "n" else _column(field.type, texts)
            for field in fields
        ]
        names = [field.name for field in fields]
        return pa.StructArray.from_arrays(arrays, names)
    if pa.types.is_dictionary(kind):
        coded = pa.array(texts, kind.value_type).dictionary_encode()
        # As pandas does: the width of the index follows the number of texts. Its first
        # limit is made smaller here, as the texts are few.
        index = pa.int8() if len(coded.dictionary) <= _arrow.FEW else pa.int16()
        return pa.DictionaryArray.from_arrays(
            coded.indices.cast(index), coded.dictionary, ordered=kind.ordered
        )
    return pa.array(texts, kind)


def _as_pandas(texts: list[str | None]) -> dict[str, Any]:
    """Return what pandas writes of a column of categories and of a row index."""
    distinct = len({text for text in texts if text is not None})
    about = {"field_name": "x", "name": "x"}
    private = {
        "pandas_type": "categorical",
        "numpy_type": "int8" if distinct <= _arrow.FEW else "int16",
        "metadata": {"num_categories": distinct, "ordered": False},
    }
    other = {"field_name": "id", "name": "id", "pandas_type": "int64"}
    return {
        "index_columns": [{"kind": "range", "start": 0, "stop": 9, "step": 1}],
        "column_indexes": [],
        "columns": [about | private, other],
        "attributes": {"longest": max(map(len, filter(None, texts)), default=0)},
        "pandas_version": "2.2.0",
    }


def _parquet(kind: Any, texts: list[str | None], options: dict[str, Any]) -> bytes:
    """Write a file that says much of its texts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = _column(kind, texts)
    metadata = {"pandas": json.dumps(_as_pandas(texts)), "sum": str(len(str(texts)))}
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), metadata={"of": "the numbers"}),
            pa.field("x", column.type, metadata={"distinct": str(len(set(texts)))}),
            pa.field("code", pa.dictionary(pa.int8(), pa.string())),
        ],
        metadata=metadata,
    )
    codes = pa.DictionaryArray.from_arrays(
        pa.array([n % 2 for n in range(len(texts))], pa.int8()), ["p", "q"]
    )
    table = pa.table([pa.array(range(len(texts))), column, codes], schema=schema)
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def _options(seed: int, side: int, kind: Any) -> dict[str, Any]:
    """Return how a file is written: what follows its bytes may differ in the two."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    is_plain = not (pa.types.is_nested(kind) or pa.types.is_dictionary(kind))
    options: dict[str, Any] = {
        "row_group_size": [1, 2, 3, 100][(seed + side) % 4],
        "write_statistics": bool(seed & 1 or side),
        "write_page_index": bool(seed & 1 and side),
        "data_page_size": 1 + 100 * side,
        "use_dictionary": ["id", "code", "x"][: 2 + bool(seed & 2 or not side)],
    }
    if is_plain and not seed % 3:
        options["sorting_columns"] = [pq.SortingColumn(1)] if side else []
    if is_plain and seed % 3 == 1 and not pa.types.is_string_view(kind):
        options["compression"] = {"id": "zstd", "x": "gzip" if side else "none"}
    return options


@pytest.mark.parametrize("shape", list(_shapes()))
@settings(SETTINGS, max_examples=25)
@given(
    st.lists(st.none() | PAIRS, min_size=1, max_size=9),
    st.integers(0, 99),
)
def test_parquet(
    monkeypatch: pytest.MonkeyPatch,
    shape: str,
    rows: list[tuple[str, str] | None],
    seed: int,
) -> None:
    """Nothing that a file says of its texts shows, nor how its row groups were cut."""
    import pyarrow as pa

    monkeypatch.setattr(_arrow, "FEW", 3)
    kind = _shapes()[shape]
    both = []
    for side in (0, 1):
        texts = [None if row is None else row[side] for row in rows]
        both.append(_parquet(kind, texts, _options(seed, side, kind)))
    is_nested = pa.types.is_nested(kind) and shape not in ("list", "list of categories")
    fields = ("x.text",) if is_nested else ("x",)
    same("parquet", (both[0], both[1]), seed, Selection(fields=fields, missing="pass"))


def test_pandas_still_knows_its_columns() -> None:
    """The row index and other columns are said as they were, private ones as text."""
    pq = pytest.importorskip("pyarrow.parquet")
    data = _parquet(_shapes()["categories"], ["a", "b"], {})
    out = through("parquet", data, selection=Selection(fields=("x",)))
    schema = pq.read_schema(io.BytesIO(out))
    assert set(schema.metadata) == {b"pandas"}
    pandas = json.loads(schema.metadata[b"pandas"])
    before = _as_pandas(["a", "b"])
    assert pandas["index_columns"] == before["index_columns"]
    assert pandas["columns"][1] == before["columns"][1]
    assert pandas["columns"][0] == {
        "name": "x",
        "field_name": "x",
        "pandas_type": "unicode",
        "numpy_type": "object",
        "metadata": None,
    }
    assert b"num_categories" not in out
    assert b"attributes" not in out
    assert schema.field("id").metadata[b"of"] == b"the numbers"


def test_two_inputs_may_count_their_categories_differently(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Files of one layout are joined with any number of distinct texts in them."""
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(_arrow, "FEW", 3)
    kind = _shapes()["categories"]
    inputs = [_parquet(kind, list(texts), {}) for texts in ("ab", "abcdef")]
    out = through("parquet", inputs, selection=Selection(fields=("x",)))
    assert pq.read_table(io.BytesIO(out))["x"].to_pylist() == list("ababcdef")


def _packed(folder: Path, name: str, pieces: Iterator[bytes]) -> bytes:
    with open_output(str(folder / name)) as output:
        for piece in pieces:
            output.stream.write(piece)
    return (folder / name).read_bytes()


@pytest.mark.parametrize("suffix", ["", *streams.COMPRESSIONS])
def test_compressed_bytes_follow_the_data_alone(suffix: str, tmp_path: Path) -> None:
    """Names, times and the sizes of single writes are not in compressed files."""
    if suffix == ".zst":
        pytest.importorskip("zstandard")
    data = b"".join(b"%d film\n" % n for n in range(60_000))
    one = _packed(tmp_path, f"patient{suffix}", iter([data]))
    parts = (data[at : at + 999] for at in range(0, len(data), 999))
    two = _packed(tmp_path, f"other{suffix}", parts)
    assert one == two
    assert suffix == "" or b"patient" not in one
    if suffix == ".gz":  # neither a name nor a time in the header
        assert one[3] == 0
        assert one[4:8] == bytes(4)
