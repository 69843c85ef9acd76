"""Tables keep their kind: text columns are new, all others are shared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext.errors import InputError, UsageError
from tests.cli.running import BALANCED, here, lexicon

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

KEY = bytes(range(7, 7 + 64))
TEXTS = ["the film was good", None, "bad story", "", "the music and the plot"]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return settings of a quick call that can be repeated."""
    folder = tmp_path_factory.mktemp("lexicon")
    return {
        "profile": "balanced",
        "lexicon": lexicon(folder),
        "epsilon": 3,
        "key": KEY,
    }


def table() -> Any:
    """Return a table with a column of each kind that may hold texts."""
    nested = [None if text is None else [text, "water"] for text in TEXTS]
    deep = [{"note": text, "n": 1} for text in TEXTS]
    coded = pa.array(TEXTS).dictionary_encode()
    return pa.table(
        {
            "n": pa.array(range(5)),
            "a.b": pa.array(TEXTS),
            "nested": pa.array(nested),
            "deep": pa.array(deep),
            "coded": coded,
        }
    )


FIELDS = ["a.b", "nested", "deep.note", "coded"]


def arrow(given: Any) -> Any:
    """Return the table unchanged."""
    return given


def record_batch(given: Any) -> Any:
    """Give the table as a record batch."""
    return given.to_batches()[0]


def pandas(given: Any) -> Any:
    """Give the table as a data frame of pandas."""
    pytest.importorskip("pandas")
    return given.to_pandas()


def polars(given: Any) -> Any:
    """Give the table as a data frame of Polars."""
    return pytest.importorskip("polars").from_arrow(given)


def data_set(given: Any) -> Any:
    """Give the table as a data set; it has no dictionaries."""
    datasets = pytest.importorskip("datasets")
    plain = given.column("coded").cast(pa.string())
    return datasets.Dataset(given.set_column(4, "coded", plain))


def values(frame: Any, name: str) -> list[Any]:
    """Return the values of a column, nulls as None and lists as lists."""
    if hasattr(frame, "to_pylist"):
        return [row[name] for row in frame.to_pylist()]
    column = frame[name]
    entries = column.to_list() if hasattr(column, "to_list") else list(column)
    return [None if value != value else value for value in entries]


LIBRARIES = [arrow, record_batch, pandas, polars, data_set]


@pytest.mark.parametrize("kind", LIBRARIES, ids=lambda kind: kind.__name__)
def test_each_kind_comes_back_as_it_was(
    kind: Callable[[Any], Any], settings: dict[str, Any]
) -> None:
    """Nulls, lists, structs and dictionaries keep their shape; all texts are equal."""
    given = kind(table())
    private, report = dptext.privatize(
        given, columns=FIELDS, missing="pass", report=True, **settings
    )
    assert type(private) is type(given)
    expected = dptext.privatize(table(), columns=FIELDS, missing="pass", **settings)
    for name in ("n", "a.b", "nested", "coded"):
        assert values(private, name) == values(expected, name), name
    notes = [row["note"] for row in values(private, "deep")]
    assert notes == [row["note"] for row in values(expected, "deep")]
    assert values(private, "n") == [0, 1, 2, 3, 4]
    assert [text is None for text in notes] == [text is None for text in TEXTS]
    assert values(private, "a.b") != TEXTS
    assert report.run.layout.fields == (r"a\.b", "nested", "deep.note", "coded")
    assert report.private is not None
    assert report.private.records == 5
    assert report.private.texts == 20
    assert '"nested", "deep.note" and "coded"' in " ".join(
        report.guarantee.scope.not_covered
    )
    # The given table is unchanged.
    assert values(given, "a.b") == TEXTS


def test_the_texts_are_those_of_the_file(
    settings: dict[str, Any], key: str, tmp_path: Path
) -> None:
    """A table and its Parquet file get the same texts from the same key."""
    source, target = (tmp_path / name for name in ("in.pq", "out.pq"))
    pq.write_table(table(), source)
    ran = here(
        "sanitize",
        str(source),
        "-o",
        str(target),
        "--key-file",
        key,
        "-q",
        *BALANCED,
        "--lexicon",
        settings["lexicon"],
        "--epsilon",
        "3",
        "--missing",
        "pass",
        "--field",
        "nested",
        "--field",
        "coded",
        "--id",
        "n",
        "--no-bayes-risk",
    )
    assert not ran.code, ran.err
    private = dptext.privatize(
        table(), columns=["coded", "nested"], id="n", missing="pass", **settings
    )
    assert pq.read_table(target).to_pylist() == private.to_pylist()


def test_other_columns_are_shared(settings: dict[str, Any]) -> None:
    """The memory of a column that holds no text is that of the table given."""
    given = table()
    private = dptext.privatize(given, columns="a.b", missing="pass", **settings)
    for name in ("n", "nested", "coded"):
        buffers = [table.column(name).chunk(0).buffers() for table in (given, private)]
        addresses = [[each and each.address for each in part] for part in buffers]
        assert addresses[0] == addresses[1]
    numpy = pytest.importorskip("numpy")
    frame = pandas(given)
    private = dptext.privatize(frame, columns="a.b", missing="pass", **settings)
    assert numpy.shares_memory(frame["n"].to_numpy(), private["n"].to_numpy())


def test_dtypes_of_pandas(settings: dict[str, Any]) -> None:
    """Each dtype stays, and so do the index and the kind of a null."""
    pd = pytest.importorskip("pandas")
    nan = float("nan")
    frame = pd.DataFrame(
        {
            "object": pd.Series(["good", nan, None], dtype=object),
            "string": pd.Series(["good", None, "film"], dtype="string"),
            "arrow": pd.Series(["good", None, "film"], dtype="string[pyarrow]"),
            "category": pd.Series(["good", None, "film"], dtype="category"),
            "empty": pd.Series([None, None, None], dtype=object),
            5: [1, 2, 3],
        }
    ).set_axis(["x", "x", "y"])
    columns = ["object", "string", "arrow", "category", "empty"]
    private = dptext.privatize(frame, columns=columns, missing="pass", **settings)
    assert list(private.index) == ["x", "x", "y"]
    for name in columns:
        if name != "category":
            assert private[name].dtype == frame[name].dtype
        assert list(private[name].isna()) == list(frame[name].isna())
    assert private["category"].dtype.name == "category"
    assert private["object"].iloc[1] != private["object"].iloc[1]
    assert private["object"].iloc[2] is None


@pytest.mark.parametrize(
    ("columns", "others", "said"),
    [
        ("txt", {}, "columns: no column 'txt' in the table; columns: 'text',"),
        ("number", {}, "column 'number' is of type int64, not text"),
        ("mixed", {}, "column 'mixed' contains values of several types"),
        ("twice", {}, "column 'twice' occurs more than once"),
        ("text", {}, "row 1, counted from 0: column 'text' is null; missing='pass'"),
        ("text", {"missing": "skip"}, "missing skip: choose fail or pass"),
        ([], {}, "columns: name at least one"),
        (5, {}, "columns: give a name or a list of names, not int"),
        ("tetx", {}, "did you mean 'text'?"),
        ("text, x", {}, "a list names several: ['text', 'x']"),
        ("x", {"id": "X"}, "id: no column 'X' in the table"),
        ("x", {"id": 5}, "id: give a text, not int"),
        ([5], {}, "columns: give a name or a list of names, not int"),
    ],
)
def test_what_is_refused(
    columns: Any, others: Any, said: str, settings: dict[str, Any]
) -> None:
    """A wrong column or option is named in one line, without values of the table."""
    pd = pytest.importorskip("pandas")
    data = {"text": ["film", None], "number": [1, 2], "mixed": ["film", 5], "x": 0}
    frame = pd.concat([pd.DataFrame(data), pd.DataFrame({"twice": [1, 2]})], axis=1)
    frame = pd.concat([frame, frame[["twice"]]], axis=1)
    with pytest.raises((InputError, UsageError, TypeError)) as raised:
        dptext.privatize(frame, columns=columns, **others, **settings)
    assert said in str(raised.value)
    assert "film" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_is_no_table(settings: dict[str, Any]) -> None:
    """Columns are for tables, and a table needs them."""
    of_spark = type("DataFrame", (), {"__module__": "pyspark.sql.dataframe"})()
    with pytest.raises(TypeError, match="a Spark DataFrame: use"):
        dptext.privatize(of_spark, columns="text")
    with pytest.raises(TypeError, match="columns apply to tables"):
        dptext.privatize(["film"], columns="text", **settings)
    with pytest.raises(TypeError, match="name its columns"):
        dptext.privatize(table(), **settings)
    with pytest.raises(UsageError, match="apply to tables"):
        dptext.privatize("film", id="n", **settings)


def test_polars_of_its_own(settings: dict[str, Any]) -> None:
    """A lazy frame and an Enum are refused; a categorical gets new categories."""
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"c": pl.Series(["film", None], dtype=pl.Categorical), "e": ["film", "bad"]}
    ).with_columns(pl.col("e").cast(pl.Enum(["film", "bad"])))
    private = dptext.privatize(frame, columns="c", missing="pass", **settings)
    assert private.schema == frame.schema
    with pytest.raises(InputError, match="column 'e' is an Enum"):
        dptext.privatize(frame, columns="e", **settings)
    with pytest.raises(TypeError, match="collect it"):
        dptext.privatize(frame.lazy(), columns="c", **settings)


def test_empty_and_long_tables(settings: dict[str, Any]) -> None:
    """No rows give no rows; chunks do not show in the texts."""
    schema = pa.schema([("text", pa.dictionary(pa.int8(), pa.string()))])
    empty = schema.empty_table()
    for given in (empty, *empty.to_batches(), pa.RecordBatch.from_pylist([], schema)):
        assert not dptext.privatize(given, columns="text", **settings).num_rows
    texts = ["the film was good", "bread"] * 1500
    chunks = pa.table({"text": pa.chunked_array([texts[:7], texts[7:]])})
    private = dptext.privatize(chunks, columns="text", **settings)
    assert private["text"].to_pylist() == dptext.privatize(texts, **settings)


def test_splits_of_a_data_set(settings: dict[str, Any], tmp_path: Path) -> None:
    """Splits are rows of one run; format, features and rows picked stay."""
    datasets = pytest.importorskip("datasets")
    rows: dict[str, Any] = {"n": list(range(6)), "text": ["the film was good"] * 6}
    parts = datasets.DatasetDict(
        train=datasets.Dataset.from_dict(rows).select([5, 3, 1]).with_format("numpy"),
        test=datasets.Dataset.from_dict(rows),
        none=datasets.Dataset.from_dict(rows).select([]),
    )
    parts["test"].save_to_disk(str(tmp_path / "saved"))
    parts["test"] = datasets.load_from_disk(str(tmp_path / "saved"))
    private, report = dptext.privatize(parts, columns="text", report=True, **settings)
    expected = dptext.privatize(rows["text"] + rows["text"][:3], **settings)
    assert list(private["train"]["text"]) == expected[:3]
    assert list(private["test"]["text"]) == expected[3:]
    assert list(private["train"]["n"]) == [5, 3, 1]
    assert private["train"].format["type"] == "numpy"
    assert private["test"].features == parts["test"].features
    assert len(private["none"]) == 0
    assert report.private is not None
    assert report.private.records == 9
    fresh = {name: value for name, value in settings.items() if name != "key"}
    drawn = [dptext.privatize(parts, columns="text", **fresh) for _ in range(2)]
    assert list(drawn[0]["test"]["text"]) != list(drawn[1]["test"]["text"])


@pytest.mark.parametrize("kind", LIBRARIES, ids=lambda kind: kind.__name__)
def test_rows_of_equal_id_and_text_are_drawn_apart(
    kind: Callable[[Any], Any], settings: dict[str, Any]
) -> None:
    """Equal draws would show that such rows are equal; a second call repeats them."""
    rows = {"who": [1, 1, 2], "text": ["the film was good and old " * 5] * 3}
    given = kind(pa.table({**rows, "n": [1] * 3, "m": [2] * 3, "coded": ["x"] * 3}))
    private = dptext.privatize(given, columns="text", id="who", **settings)
    texts = values(private, "text")
    assert len(set(texts)) == 3
    again = dptext.privatize(given, columns="text", id="who", **settings)
    assert values(again, "text") == texts
