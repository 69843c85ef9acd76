"""Which fields of a file are copied: the names that a policy is held against."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest

from dptext import formats
from dptext.errors import InputError
from dptext.run.selection import Selection


def copied(name: str, data: bytes, *fields: str, **more: Any) -> list[str]:
    """Return the copied fields of a file in a format."""
    selection = Selection(fields=fields, **more)
    return list(formats.find(None, name).copied(io.BytesIO(data), selection))


@pytest.mark.parametrize(
    ("data", "fields", "wanted"),
    [
        (b'{"a":1,"t":"x"}\n{"t":"x","b":null}\n', ("t",), ["a", "b"]),
        (b'{"t":["x"],"o":{"p":{"q":1},"r":[{"s":2}]}}', ("t",), ["o.p.q", "o.r.s"]),
        (b'{"o":{"t":"x","u":"y"}}', ("o.t",), ["o.u"]),
        (b'{"o":null}\n{"o":{}}\n{"o":[]}\n', ("o.t",), []),
        (b'{"o":"text"}', ("o.t",), ["o"]),
        (b'{"o.t":"x","o":{"t":"y"}}', ("o.t",), [r"o\.t"]),
        (b'{"o.t":"x","o":{"t":"y"}}', (r"o\.t",), ["o.t"]),
        (b'{"a":{"b":1},"a":{"c":2},"t":""}', ("t",), ["a.b", "a.c"]),
        (b'\xef\xbb\xbf{"t":"x","n":' + b"9" * 5000 + b"}\n\n", ("t",), ["n"]),
        (b'{"t":{"u":"x"}}', ("t",), ["t.u"]),
    ],
)
def test_paths_in_json(data: bytes, fields: tuple[str, ...], wanted: list[str]) -> None:
    """Every value that no selected path names is copied, twice given keys included."""
    assert copied("jsonl", data, *fields) == wanted


def test_every_record_of_a_format_is_looked_at() -> None:
    """By default, too: a field beyond the first record is copied, and named once."""
    data = io.BytesIO(b'{"text":"x","id":1}\n{"text":"y","name":"Ann","id":2}\n')
    names = formats.Format.copied(formats.find(None, "jsonl"), data, Selection())
    assert list(names) == ["id", "name"]


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[" * 99_999, b'{"t":"x"}\nno\n'])
def test_what_is_no_json(data: bytes) -> None:
    """A line that cannot be read is an error, not an absence."""
    with pytest.raises(InputError):
        copied("jsonl", data, "t")


@pytest.mark.parametrize("inner", [b"[%b]", b'{"a": %b}'])
def test_what_is_nested_deeply(inner: bytes) -> None:
    """No depth is an error of the program: the fields are named, or it is said."""
    value = b"1"
    for depth in range(1050):
        value = inner % value
        data = b'{"text": "x", "b": %b}' % value
        if depth > 600:
            with contextlib.suppress(InputError):
                assert copied("jsonl", data, "text")


def test_columns() -> None:
    """Columns have the names of the header, or numbers."""
    data = b'\xef\xbb\xbf\nid,"my text",n\n1,x,2\n'
    assert copied("csv", data, "my text") == ["id", "n"]
    assert copied("csv", b"1;x;2\n", "2", header=False, delimiter=";") == ["1", "3"]
    assert copied("tsv", b"a\tt\n", "t") == ["a"]
    assert copied("csv", b"", "t") == []
    with pytest.raises(InputError):
        copied("csv", data, "text")


def test_text_has_no_other_field() -> None:
    """Lines of text are private as a whole."""
    assert copied("text", b"a\n") == []


def test_parquet() -> None:
    """Columns and fields of structs, through lists."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    row = {"t": "x", "o": {"u": "y", "v": [{"w": 1}]}, "n": 2, "a.b": "z"}
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row]), sink)
    data = sink.getvalue()
    assert copied("parquet", data, "t") == ["n", r"a\.b", "o.u", "o.v.w"]
    assert copied("parquet", data, "t", "o.u", r"a\.b") == ["n", "o.v.w"]
    with pytest.raises(InputError):
        copied("parquet", data, "text")
