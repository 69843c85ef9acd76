"""The private field is found by itself where one field holds text, and only then."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext import formats, streams
from dptext.engines import detection
from dptext.errors import UsageError
from dptext.types import Selection
from tests.cli.running import MARKER, Ran, here, small

FILM = "the film was good"
AUTO = Selection(fields=())


def detected(name: str, data: bytes, selection: Selection = AUTO) -> tuple[str, ...]:
    """Return the fields of an input, which must be unread afterwards."""
    for raw in (io.BytesIO(data), _Pipe(data)):
        stream: io.BufferedReader = io.BufferedReader(raw)
        chosen, rest = detection.detect(stream, formats.find(name), selection, name)
        assert rest.read() == data
    return chosen.fields


class _Pipe(io.RawIOBase):
    """Bytes that come a few at a time and only once."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        return self._data.readinto(view[: min(len(view), 7)])


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"body": FILM}, "body"),
        ({"id": 7, "body": FILM, "score": 0.5, "on": True, "no": None}, "body"),
        ({"text": FILM, "title": FILM}, "text"),
        ({"text": None, "title": FILM}, "text"),
        ({"a": {"b": FILM}}, "a.b"),
        ({"a": [{"b": FILM}, {"b": "bad"}]}, "a.b"),
        ({"when": "2026-03-02T10:00:00Z", "body": "x"}, "body"),
        ({"id": "3f2c9a10-1b2c-4d5e-8f90-a1b2c3d4e5f6", "body": FILM}, "body"),
        ({"id": "17", "body": "\u6771\u4eac"}, "body"),
        ({"id": 7}, "text"),
        ({}, "text"),
        ({"two words": FILM}, "text"),
        ({"x" * 41: FILM}, "text"),
    ],
)
def test_field_of_a_record(record: dict[str, object], field: str) -> None:
    """It is `text` where that is there, else the only field with letters."""
    assert detected("x.jsonl", json.dumps(record).encode() + b"\n") == (field,)


@pytest.mark.parametrize(
    ("table", "field"),
    [
        (f"id,body\n1,{FILM}\n", "body"),
        (f"id,body\r\n1,{FILM}\r\n", "body"),
        (f"body\n{FILM}\n", "body"),
        (f"text,body\n{FILM},{FILM}\n", "text"),
        (f"id;body\n1;{FILM}\n", "text"),
        (f"1,{FILM}\n2,bad\n", "text"),
        (f"{FILM},1\nbad,2\n", "text"),
        ("id,body\n", "text"),
        ("", "text"),
    ],
)
def test_column_of_a_table(table: str, field: str) -> None:
    """Of tables, too; not where the header may be a record or is divided otherwise."""
    assert detected("x.csv", table.encode()) == (field,)


def test_field_that_is_named_otherwise() -> None:
    """The field of --id is not a text, and plain text has no field."""
    data = f'{{"id": "A-1", "body": "{FILM}"}}\n'.encode()
    with pytest.raises(UsageError, match="'body', 'id'; choose with --field"):
        detected("x.jsonl", data)
    assert detected("x.jsonl", data, Selection(fields=(), id_field="id")) == ("body",)
    assert detected("x.txt", FILM.encode()) == ("text",)


def test_field_of_parquet(tmp_path: Path) -> None:
    """Of Parquet files as well, from a pipe or not."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"id": [1, 2], "body": [FILM, "bad"]}), path)
    assert detected("x.parquet", path.read_bytes()) == ("body",)
    with streams.open_input(str(path)) as stream:
        chosen, rest = detection.detect(stream, formats.find("x.parquet"), AUTO, "x")
        assert chosen.fields == ("body",)
        assert rest.read() == path.read_bytes()


@given(st.dictionaries(st.sampled_from("abc"), st.text("aZ1-: \u00e9", max_size=9)))
def test_nothing_with_letters_is_left(record: dict[str, str]) -> None:
    """Whatever a record holds, no field but the one taken is text."""
    data = json.dumps(record).encode() + b"\n"
    try:
        (field,) = detected("x.jsonl", data)
    except UsageError:
        return
    if "text" not in record:
        rest = [text for name, text in record.items() if name != field]
        assert not any(detection.holds_text(text) for text in rest)


@pytest.fixture
def options(
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[str, ...]:
    """Work in an empty folder; return the options of a quick run."""
    monkeypatch.chdir(tmp_path)
    return small(tmp_path_factory.getbasetemp())


def _run(options: tuple[str, ...], *more: str) -> Ran:
    return here("sanitize", *more, *options, "--no-bayes-risk")


def test_it_is_named(options: tuple[str, ...]) -> None:
    """Standard error and the report name it; check draws the same statement up."""
    Path("a.jsonl.gz").write_bytes(gzip.compress(b'{"n": 1, "body": "the film"}\n'))
    ran = _run(options, "a.jsonl.gz", "-o", "out.jsonl")
    assert ran.code == 0, ran.err
    assert "the private field is 'body'" in ran.err
    report = json.loads(Path("out.jsonl.dptext.json").read_bytes())
    assert report["run"]["layout"]["fields"] == ["body"]
    assert report["run"]["layout"]["detected"]
    said = " ".join(report["guarantee"]["not_covered"])
    assert 'dptext took "body" because no other field' in said
    assert here("check", "out.jsonl").code == 0
    given = b'{"n": 1, "body": "the film"}\n'
    ran = here("sanitize", *options, "-q", given=given)
    assert ran.code == 0
    assert json.loads(ran.out)["n"] == 1


def test_several_are_named_in_one_line(options: tuple[str, ...]) -> None:
    """Several fields with text are refused, in the first record or in later ones."""
    first = {"title": "good", "body": MARKER}
    Path("a.jsonl").write_text(json.dumps(first) + "\n")
    said = "several fields hold text: 'body', 'title'; choose with --field, all that"
    ran = _run(options, "a.jsonl", "-o", "out.jsonl")
    assert (ran.code, ran.err) == (2, f"dptext: {said} are private\n")
    later = [{"title": None, "body": "the film"}] * 3 + [first]
    Path("a.jsonl").write_text("".join(json.dumps(each) + "\n" for each in later))
    ran = _run(options, "a.jsonl", "-o", "out.jsonl")
    assert ran.code == 2
    assert said in ran.err
    assert MARKER not in ran.err
    assert not Path("out.jsonl").exists()


def test_field_of_several_inputs(options: tuple[str, ...]) -> None:
    """All inputs of a run have the same field, or are refused by name."""
    Path("a.jsonl").write_text('{"body": "the film"}\n')
    Path("b.jsonl").write_text('{"title": "the film"}\n')
    ran = _run(options, "a.jsonl", "b.jsonl", "-o", "out.jsonl")
    assert ran.code == 2
    assert (
        "b.jsonl: its text is in 'title', that of the first input in 'body'" in ran.err
    )
    Path("b.jsonl").write_text('{"body": "bad"}\n')
    ran = _run(options, "a.jsonl", "b.jsonl", "--out-dir", "out", "--report", "r.json")
    assert ran.code == 0, ran.err
    assert json.loads(Path("r.json").read_bytes())["run"]["layout"]["fields"] == [
        "body"
    ]
    assert here("check", "out/a.jsonl", "out/b.jsonl").code == 0
