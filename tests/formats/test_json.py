"""JSON: every byte but the private strings comes back; damage ends the reading."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext import formats
from dptext.errors import InputError, UsageError
from dptext.formats import Input
from dptext.run.selection import Selection
from dptext.types import Fault, Record
from tests.formats.pipe import (
    Endless,
    copied_names,
    faults,
    records,
    texts,
    through,
)

ROWS = [{"text": "a [b", "n": 1}, {"text": 'quo"te}', "o": {"p": ["]", {}]}}]
SPELLED = [
    b'[{"text":"a"},{"text":"b"}]',
    b' [\r\n  {"n": 1.50e0, "text": "a"} ,\n\t{"text" :"b"}\n ]\n\n',
    b'\xef\xbb\xbf[{"text":"a"}]',
    b"[]",
    b" [\n]",
    b"",
    b"\n",
    b'{\n  "text": "a"\n}\n',
    b'{"text":"a"}\n{"text":"b"}',
    b'{"text":"a"}{"text":"b"} ',
    b'{"text":["a","b\\\\"],"x":"[{\\"\\\\"}',
    json.dumps(ROWS, indent=4).encode(),
]


@pytest.mark.parametrize("data", SPELLED)
@pytest.mark.parametrize("size", [1, 2**16])
def test_bytes_come_back(
    data: bytes, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With unchanged texts every byte comes back, in any parts."""
    monkeypatch.setattr("dptext.formats.json._READ", size)
    assert through("json", data) == data


def test_only_selected_strings_change() -> None:
    """Spaces, commas, numbers, escapes and key order around the texts stay."""
    data = b'[ {"n":1.0, "text":"\\u0061"},\n\n{"k":"\\u0061","text":"b"}\n]'
    private = through("json", data, lambda text: text + '"')
    assert private == (
        b'[ {"n":1.0, "text":"a\\""},\n\n{"k":"\\u0061","text":"b\\""}\n]'
    )


@given(st.lists(st.text(max_size=5)), st.sampled_from([None, 0, 3]))
def test_any_texts(given: list[str], indent: int | None) -> None:
    """JSON written by Python is read, and written unchanged."""
    array = [{"text": text, "other": [text]} for text in given]
    data = json.dumps(array, indent=indent, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )
    assert texts("json", data) == [(text,) for text in given]
    assert json.loads(through("json", data)) == array


def test_one_object_is_one_record() -> None:
    """A file of one object is a record; its lists are gone through by paths."""
    data = b'{"tickets": [{"body": "a"}, {"body": "b"}]}'
    selection = Selection(fields=("tickets.body",))
    assert texts("json", data, selection) == [("a", "b")]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'[1, {"text":"b"}, "x", null, [{}]]', "a JSON number, not an object"),
        (b'[{"text":1}, {"text":"b"}]', "is a JSON number, not text"),
        (b'[{"text":"a",}, {"text":"b"}]', "not valid JSON"),
        (b'[{"text":"\xff"}, {"text":"b"}]', "not valid UTF-8"),
        (b'[{"text":"a","text":"c"}, {"text":"b"}]', "occurs twice"),
        (b'[{}, {"text":"b"}]', "field 'text' is absent"),
        (b'[{"text":"a"], {"text":"b"}]', "not valid JSON"),
    ],
)
def test_faulty_records(data: bytes, reason: str) -> None:
    """A record that cannot be read is a fault with its number, and is left out."""
    first = faults("json", data)[0]
    assert reason in first.reason
    assert first.location == "in:1: record 1"
    assert records("json", data)[0].texts == ("b",)
    assert json.loads(through("json", data)) == [{"text": "b"}]


@pytest.mark.parametrize(
    "data",
    [
        b'[{"text":"a"} {"text":"b"}]',
        b'[,{"text":"a"}]',
        b'[{"text":"a"},]',
        b'[{"text":"a"},,{"text":"a"}]',
        b'[{"text":"a"}',
        b'[{"text":"a"},',
        b'[{"text":"a',
        b'[{"text":"a\\',
        b'[{"text":"a"}]]',
        b'[{"text":"a"}] {"text":"a"}',
        b'[{"text":"a"}}]',
        b'{"text":"a"},{"text":"a"}',
        b'{"text":"a"}]',
        b"[",
        b"]",
        b"}",
        b"[}",
    ],
)
def test_damage_between_records(data: bytes) -> None:
    """Behind it nothing can be told apart: it ends the reading, without its text."""
    with pytest.raises(InputError, match=r"^in:1: not valid JSON: ") as caught:
        faults("json", data)
    assert "text" not in str(caught.value)


def test_lines_are_counted() -> None:
    """A message names the line that a record begins on, and its number."""
    data = b'[\n{"text":\n"a"},\n\n{"text":2}]'
    assert faults("json", data)[0].location == "in:5: record 2"


def test_long_records_are_passed_over() -> None:
    """A record over the limit is a fault before it is read, and memory stays flat."""
    selection = Selection(max_record_bytes=100)
    stream = io.BufferedReader(
        Endless(b'[{"text":"b"},{"text":"', b'\\"', 2**19, b'"},{"text":"c"}]')
    )
    module = formats.find(None, "json")
    tracemalloc.start()
    items = list(module.read(Input(cast(io.BufferedReader, stream), selection, "in")))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**19  # half of the record
    assert [item.texts for item in items if isinstance(item, Record)] == [
        ("b",),
        ("c",),
    ]
    (fault,) = (item for item in items if isinstance(item, Fault))
    assert "longer than 100 bytes" in fault.reason
    endless = io.BufferedReader(Endless(b'[{"text":"', b"x", 2**60, b""))
    given = module.read(Input(cast(io.BufferedReader, endless), selection, "in"))
    next(given)
    assert isinstance(next(given), Fault)


def test_arrays_become_one_array() -> None:
    """Two inputs of one output give one array; objects of two files are refused."""
    two = [b'[\n {"text":"a"}\n]\n', b"[]", b'[{"text":"b"}]']
    assert through("json", two) == b'[\n {"text":"a"},{"text":"b"}]'
    for other in (b"[]", b'{"text":"b"}'):
        with pytest.raises(InputError, match="--out-dir"):
            through("json", [b'{"text":"a"}', other])


def test_copied_fields() -> None:
    """Every path that is not selected is copied, in any record."""
    data = b'[{"text":"a"}, {"text":"b","o":{"n":1}}]'
    assert copied_names("json", data) == ["o.n"]
    with pytest.raises(InputError):
        copied_names("json", b'[{"text":"a"')


def test_fields_within_each_other_are_refused() -> None:
    """An id has no fields below it, and no text has an id there."""
    for selection in (
        Selection(fields=("a.b",), id_field="a"),
        Selection(fields=("a",), id_field="a.b"),
    ):
        with pytest.raises(UsageError):
            texts("json", b'[{"a":{"b":"x"}}]', selection)


def test_an_array_of_strings_is_an_array_of_texts() -> None:
    """Where no field is named, a string is a record; with a field it is a fault."""
    data = b' ["one",\n "t\\u0077o" ]\n'
    plain = Selection(fields=())
    assert texts("json", data, plain) == [("one",), ("two",)]
    assert through("json", data, str.upper, plain) == b' ["ONE",\n "TWO" ]\n'
    assert copied_names("json", data, plain) == []
    assert through("jsonl", b'"a"\n "b" \n', str.upper, plain) == b'"A"\n "B" \n'
    assert "a JSON string, not an object" in faults("json", data)[0].reason
    mixed = b'["one", {"text": "two"}, ["three"]]'
    strings = Selection(fields=(), strings=True)
    assert [
        "not a string" in each.reason for each in faults("json", mixed, strings)
    ] == [
        True,
        True,
    ]
