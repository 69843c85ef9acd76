"""Spark writes what one machine writes: the bytes, the statement, the figures.

One session for all tests: it takes longer to start than they take.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest

import dptext
from dptext import lexicons
from dptext.lexicons import topics
from dptext.report import document
from dptext.spark import open_session, sent
from dptext.spark import privatize as privatized
from tests import made_topics
from tests.cli.running import WORDS, here, lexicon, small
from tests.faults.resuming import files

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed"
    ),
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java"),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]
KEY = bytes(range(7, 7 + 64))
TEXT = "the film {} was very good, not old"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Start Spark with two workers on this machine."""
    with open_session("local[2]") as session:
        yield session


@pytest.fixture
def folder(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with a folder of files of three formats, and a key."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    rows = [TEXT.format(WORDS[row % 30]) for row in range(40)]
    inside = tmp_path / "in" / "month=1"
    inside.mkdir(parents=True)
    lines = "".join(json.dumps({"text": row}) + "\n" for row in rows)
    (tmp_path / "in" / "a.jsonl").write_text("{\n" + lines)
    (inside / "b.csv").write_text("text\n" + "".join(f'"{row}"\n' for row in rows[:7]))
    pq.write_table(pa.table({"text": rows[:9]}), inside / "c.parquet")
    (inside / "_SUCCESS").write_text("")
    return tmp_path


def sanitized(folder: Path, name: str, *more: str, code: int = 0) -> Any:
    """Sanitize the folder into one of a name; return the report without times."""
    ran = here(
        "sanitize",
        "-f",
        "text",
        "in",
        "--out-dir",
        name,
        *small(folder),
        "--key-file",
        "key",
        "--on-error",
        "skip",
        "-q",
        "--no-bayes-risk",
        "--report",
        "r.json",
        *more,
    )
    assert ran.code == code, ran.err
    if code:
        return ran.err
    report = json.loads((folder / "r.json").read_bytes())
    private = report["private"]
    del private["seconds"], private["words"]["words_per_second"]
    return report


def test_folders_are_those_of_one_machine(spark: Any, folder: Path) -> None:
    """Outputs, sidecars and the report are the same, the skipped record counted."""
    report = sanitized(folder, "local")
    assert sanitized(folder, "spark", "--engine", "spark") == report
    assert report["private"]["faults"] == 1
    assert files(folder / "spark") == files(folder / "local")
    assert len(files(folder / "spark")) == 6


@pytest.mark.parametrize("more", [(), ("--mechanism", "subset", "--epsilon", "1")])
def test_topics_are_those_of_one_machine(
    spark: Any, key: str, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """Files and data frames: each text becomes the same topics, and reports agree."""
    made_topics.make("clustered")
    texts = [*made_topics.public_texts().texts[:30], "", "Привет 🙂"]
    rows = [{"id": n, "text": f"{text} indeed"} for n, text in enumerate(texts)]
    (tmp_path / "in").mkdir()
    for name, part in (("a", rows[:20]), ("b", rows[20:])):
        lines = "".join(json.dumps(row) + "\n" for row in part)
        (tmp_path / "in" / f"{name}.jsonl").write_text(lines)
    run = (
        "sanitize",
        str(tmp_path / "in"),
        "-f",
        "text",
        "--topics",
        "clustered/8",
        "--key-file",
        key,
        "-q",
        *more,
    )
    for engine in ("local", "spark"):
        ran = here(*run, "--engine", engine, "--out-dir", str(tmp_path / engine))
        assert ran.code == 0, ran.err
    assert files(tmp_path / "spark") == files(tmp_path / "local")
    assert here("check", str(tmp_path / "spark" / "a.jsonl")).code == 0
    over: dict[str, Any] = {"lexicon": "topics:clustered/8"}
    if more:
        over |= {"mechanism": "subset", "budget": {"epsilon": 1.0}}
    given: dict[str, Any] = {
        "profile": "topics",
        "overrides": over,
        "key": KEY,
        "id": "id",
    }
    frame = spark.createDataFrame(
        [(row["id"], row["text"]) for row in rows], "id int, text string"
    )
    private: Any = privatized(frame, "text", **given)
    one: Any = dptext.privatize(pd.DataFrame(rows), columns="text", **given)
    found = {row.id: row.text for row in private.collect()}
    assert [found[n] for n in range(len(rows))] == list(one["text"])


def test_topics_are_sent_to_other_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of topics travels as an archive, under the name that workers open."""
    made_topics.make("sent")
    lexicon = topics.open_lexicon("sent", 8)
    archives: list[str] = []

    class Context:
        master = "spark://elsewhere"

        def addArchive(self, path: str) -> None:
            with tarfile.open(path) as packed:
                packed.extractall(tmp_path / "there", filter="data")
            archives.append(path)

    with sent(Context(), lexicon) as name:
        assert archives[0].endswith(name)
    named = topics.named(str(tmp_path / "there" / "topics.json"), 8)
    assert lexicons.find(named).digest == lexicon.digest


def test_a_killed_worker_changes_nothing(spark: Any, folder: Path) -> None:
    """A worker that dies while it writes is replaced, and the bytes are the same."""
    line = json.dumps({"text": TEXT.format("bread")}) + "\n"
    (folder / "in" / "large.jsonl").write_text(line * 40_000)
    report = sanitized(folder, "local")
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while not killed and not over.is_set():
            time.sleep(0.005)
            for part in (folder / "spark").glob(".large.jsonl.*.part"):
                if part.stat().st_size:
                    killed.extend(kill_writer(part))

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        assert sanitized(folder, "spark", "--engine", "spark") == report
    finally:
        over.set()
        thread.join()
    assert len(killed) == 1
    assert files(folder / "spark") == files(folder / "local")


def kill_writer(part: Path) -> Iterator[int]:
    """Kill the process below this one that has a file open."""
    for process in psutil.Process().children(recursive=True):
        try:
            if any(each.path == str(part) for each in process.open_files()):
                process.kill()
                yield process.pid
        except psutil.Error:
            continue


def test_files_that_cannot_be_read_are_left_out(spark: Any, folder: Path) -> None:
    """The others have the outputs of one machine; the error names the file."""
    (folder / "in" / "b.jsonl.gz").write_bytes(b"\x1f\x8b\x08 damaged")
    ends = {}
    for engine in ("local", "spark"):
        ends[engine] = sanitized(folder, engine, "--engine", engine, code=4)
        report = json.loads((folder / "r.json").read_bytes())
        assert report["private"]["records"] == 56
    assert "1 of 4 files has no new output: " in ends["local"]
    assert all("in/b.jsonl.gz: damaged" in each for each in ends.values())
    assert files(folder / "spark") == files(folder / "local")
    assert len(files(folder / "spark")) == 6


def test_what_cannot_be_read_is_one_line(spark: Any, folder: Path) -> None:
    """The error of a task is that of one machine: the file, the line, the code."""
    error = sanitized(folder, "out", "--on-error", "fail", "--engine", "spark", code=4)
    assert error.count("\n") == 1
    assert "a.jsonl:1: " in error
    assert not (folder / "out" / "a.jsonl").exists()


def test_data_frames_are_those_of_one_machine(spark: Any, tmp_path: Path) -> None:
    """Texts, nested too, are those of the table; other columns and nulls stay."""
    rows = [
        (row, TEXT.format(WORDS[row % 30]), [{"a": "sad"}, None], None)
        for row in range(25)
    ]
    schema = "n int, text string, more array<struct<a string>>, empty string"
    frame = spark.createDataFrame(rows, schema).repartition(3)
    settings: dict[str, Any] = {
        "columns": ["text", "more.a", "empty"],
        "key": KEY,
        "missing": "pass",
        "profile": "balanced",
        "lexicon": lexicon(tmp_path),
        "epsilon": 3.0,
        "overrides": {"mechanism": {"k": 8}},
        "report": True,
    }
    table = frame.toArrow()
    expected, report = dptext.privatize(table, **settings)
    private, counts = privatized(frame, **settings)
    merged = private.coalesce(1).toArrow()  # partitions keep their numbers
    assert private.schema == frame.schema
    assert merged.to_pylist() == expected.to_pylist()
    assert merged.to_pylist() != table.to_pylist()
    encoded = [json.loads(document.encode(each)) for each in (report, counts.report())]
    for each in encoded:
        del each["private"]["seconds"], each["private"]["words"]["words_per_second"]
    assert encoded[0] == encoded[1]
    named = privatized(frame, **(settings | {"report": False}), id="n")
    table = dptext.privatize(table, **(settings | {"report": False}), id="n")
    assert sorted(named.collect()) == sorted(map(tuple_of, table.to_pylist()))


def tuple_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return a row as Spark gives it."""
    more = [None if each is None else (each["a"],) for each in row["more"]]
    return row["n"], row["text"], more, row["empty"]


def test_rows_that_come_and_go_are_refused(spark: Any, tmp_path: Path) -> None:
    """Rows that were not counted have no number: no text is written for them."""
    counter = spark.sparkContext.accumulator(0)

    def more_each_time(batches: Any) -> Any:
        counter.add(1)
        for batch in batches:
            yield batch
            if Path(tmp_path / "second").exists():
                yield batch

    frame = spark.createDataFrame([("the film",)], "text string")
    frame = frame.mapInArrow(more_each_time, frame.schema)
    private = privatized(
        frame, "text", "balanced", lexicon=lexicon(tmp_path), epsilon=3.0
    )
    (tmp_path / "second").touch()
    with pytest.raises(Exception, match="rows, but 1 were counted"):
        private.collect()


def test_columns_go_and_become_pseudonyms(spark: Any, tmp_path: Path) -> None:
    """A DataFrame has the columns of the table of its rows; others keep their types."""
    import pyarrow as pa
    from pyspark.sql import functions

    rows = [(number % 3, f"a{number}", TEXT.format("bread")) for number in range(8)]
    df = spark.createDataFrame(rows, ["who", "left", "text"])
    df = df.withColumn("at", functions.lit("2024-01-02").cast("timestamp_ntz"))
    settings: dict[str, Any] = {
        "profile": "balanced",
        "lexicon": lexicon(tmp_path),
        "epsilon": 3,
        "key": KEY,
    }
    changed: dict[str, Any] = {"drop": "left", "pseudonym": "who"}
    private, counts = privatized(df, "text", report=True, **changed, **settings)
    table = pa.table(
        dict(zip(["who", "left", "text"], zip(*rows, strict=True), strict=True))
    )
    wanted = dptext.privatize(table, columns="text", **changed, **settings)
    assert private.columns == ["who", "text", "at"]
    assert private.schema["at"] == df.schema["at"]
    collected = private.collect()
    assert [row["who"] for row in collected] == wanted["who"].to_pylist()
    assert [row["text"] for row in collected] == wanted["text"].to_pylist()
    assert counts.report().run.layout.pseudonyms == ("who",)


def test_files_of_a_cluster_have_the_same_tokens(spark: Any, folder: Path) -> None:
    """Tasks write pseudonyms with the key of the run."""
    shutil.rmtree(folder / "in")
    (folder / "in").mkdir()
    (folder / "in" / "a.csv").write_text("who,text,x\n7,bread,1\n8,water,2\n")
    used = ("--pseudonym", "who", "--drop", "x")
    sanitized(folder, "local", *used)
    sanitized(folder, "spark", "--engine", "spark", *used)
    assert files(folder / "spark") == files(folder / "local")
    assert (folder / "spark" / "a.csv").read_text().startswith("who,text\np_")
