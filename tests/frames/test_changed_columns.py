"""Columns of tables that are left out or become pseudonyms, and their warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import dptext
from dptext.errors import InputError, UnknownFieldError, UsageError
from dptext.pseudonyms import Pseudonyms
from dptext.randomness import RunKey
from tests.frames.test_frames import KEY, TEXTS, settings

pa = pytest.importorskip("pyarrow")

__all__ = ["settings"]

TOKEN = Pseudonyms(RunKey.from_bytes(KEY)).token
ROWS: dict[str, list[Any]] = {
    "who": [7, None, 9, 7, 8],
    "text": ["" if text is None else text for text in TEXTS],
    "deep": [{"id": "7.0", "n": number} for number in range(5)],
    "only": [{"name": "Ada"}] * 5,
    "left": list("abcde"),
    "kept": [1.5, 2.5, None, 3.0, 4.0],
}
WANTED = {
    "who": [None if who is None else TOKEN(str(who)) for who in ROWS["who"]],
    "deep": [{"id": TOKEN("7")}] * 5,
    "kept": ROWS["kept"],
}
CHANGED: dict[str, Any] = {
    "drop": ["left", "deep.n", "only.name"],
    "pseudonym": ["who", "deep.id"],
}


def arrow(rows: dict[str, list[Any]]) -> Any:
    """Make a table."""
    return pa.table(rows)


def record_batch(rows: dict[str, list[Any]]) -> Any:
    """Make a record batch."""
    return pa.RecordBatch.from_pydict(rows)


def pandas(rows: dict[str, list[Any]]) -> Any:
    """Make a data frame of pandas; whole numbers are floats beside a null."""
    return pytest.importorskip("pandas").DataFrame(rows)


def nullable(rows: dict[str, list[Any]]) -> Any:
    """Make a data frame of pandas with its nullable types."""
    return pandas(rows).convert_dtypes()


def polars(rows: dict[str, list[Any]]) -> Any:
    """Make a data frame of Polars."""
    return pytest.importorskip("polars").DataFrame(rows)


def datasets(rows: dict[str, list[Any]]) -> Any:
    """Make a data set."""
    return pytest.importorskip("datasets").Dataset.from_dict(rows)


def of_pandas(rows: dict[str, list[Any]]) -> Any:
    """Make a data set from pandas, with other types of strings."""
    made = pytest.importorskip("datasets").Dataset
    return made.from_pandas(pandas(rows))


MAKERS = (arrow, record_batch, pandas, nullable, polars, datasets, of_pandas)


def columns_of(table: Any) -> dict[str, list[Any]]:
    """Return the columns of a table of any kind as lists, missing values as None."""
    if hasattr(table, "to_pydict"):
        return dict(table.to_pydict())
    if hasattr(table, "to_dicts"):
        return dict(table.to_dict(as_series=False))
    if hasattr(table, "features"):
        return dict(table.to_dict())
    return {
        name: [
            None if str(value) in ("<NA>", "nan") else value for value in table[name]
        ]
        for name in table.columns
    }


@pytest.mark.parametrize("make", MAKERS)
def test_every_kind_of_table(
    make: Callable[..., Any], settings: dict[str, Any]
) -> None:
    """Columns go, tokens come, nulls and all other columns stay, in every library."""
    given = make(ROWS)
    private, report = dptext.privatize(
        given, columns="text", report=True, **CHANGED, **settings
    )
    assert type(private) is type(given)
    new = columns_of(private)
    assert list(new) == ["who", "text", "deep", "kept"]
    assert {name: new[name] for name in WANTED} == WANTED
    plain = dptext.privatize(given, columns="text", **settings)
    assert new["text"] == columns_of(plain)["text"]
    layout = report.run.layout
    assert layout.dropped == ("left", "deep.n", "only.name")
    assert layout.pseudonyms == ("who", "deep.id")


@pytest.mark.parametrize("make", [arrow, pandas, polars, datasets])
def test_an_empty_table(make: Callable[..., Any], settings: dict[str, Any]) -> None:
    """It has the columns of one with rows."""
    rows = {"who": [1], "text": ["bread"], "left": ["x"]}
    given = make(rows)
    empty = given.select([]) if make is datasets else given[:0]
    private = dptext.privatize(
        empty, columns="text", drop="left", pseudonym="who", **settings
    )
    assert len(private) == 0
    assert list(columns_of(private)) == ["who", "text"]


def test_an_id_may_be_left_out_after_use(settings: dict[str, Any]) -> None:
    """Randomness goes by it all the same."""
    rows = {"id": ["b", "a"], "text": ["the film was good"] * 2}
    named = dptext.privatize(pa.table(rows), columns="text", id="id", **settings)
    for use in ("drop", "pseudonym"):
        changed: dict[str, Any] = {use: "id"}
        new = dptext.privatize(
            pa.table(rows), columns="text", id="id", **changed, **settings
        )
        assert new["text"].to_pylist() == named["text"].to_pylist()
        assert ("id" in new.column_names) == (use == "pseudonym")


def test_wrong_choices(settings: dict[str, Any]) -> None:
    """Each is refused before anything is drawn, with what to do."""
    table = pa.table(ROWS | {"raw": [b"x"] * 5})
    keyless = {name: value for name, value in settings.items() if name != "key"}
    with pytest.raises(UsageError, match="needs a key"):
        dptext.privatize(table, columns="text", pseudonym="who", **keyless)
    choices: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"drop": "lefd"}, UnknownFieldError, "did you mean 'left'"),
        ({"pseudonym": "deep.name"}, UnknownFieldError, "no such column"),
        ({"drop": "text"}, UsageError, "both a private text and left out"),
        ({"drop": "who", "pseudonym": "who"}, UsageError, "cannot be both"),
        ({"pseudonym": "raw"}, InputError, "cannot become a pseudonym"),
        ({"pseudonym": "deep"}, InputError, "cannot become a pseudonym"),
    ]
    for wrong, error, said in choices:
        with pytest.raises(error, match=said):
            dptext.privatize(table, columns="text", **wrong, **settings)
    with pytest.raises(UsageError, match="apply to tables"):
        dptext.privatize("the film", drop="a", **settings)


def warned(table: Any, settings: dict[str, Any], **changed: Any) -> str:
    """Return what a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dptext.privatize(table, columns="text", **changed, **settings)
    return "; ".join(str(each.message) for each in caught)


@pytest.mark.parametrize("make", MAKERS)
def test_all_tables_get_one_survey(
    make: Callable[..., Any], settings: dict[str, Any]
) -> None:
    """Warnings name the same columns, whatever the library calls its types."""
    rows = {
        "author": ["Mary Smith", "John Brown", "Anna Jones", "Paul White"],
        "at": [{"mail": f"a{number}@x.org", "n": 1} for number in range(4)],
        "tags": [[f"b{number}@x.org", None] for number in range(4)],
        "customer_id": [100_000 + number for number in range(4)],
        "text": ["the film was good"] * 4,
        "color": ["red", "blue", "red", "red"],
    }
    said = warned(make(rows), settings)
    assert "'author' (names of people)" in said
    assert "'at.mail' (e-mail addresses)" in said
    assert "'tags' (e-mail addresses)" in said
    assert "'customer_id' (personal numbers)" in said
    assert "'color'" not in said
    gone = {"drop": ["author", "at"], "pseudonym": ["tags", "customer_id"]}
    assert not warned(make(rows), settings, **gone)
