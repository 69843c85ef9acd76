"""Records in random order: all of them, by the key, in every format."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.running import here
from tests.cli.test_topics_release import save

TEXTS = [f"the river number {number} was calm" for number in range(60)]


def ids_of(path: Path) -> list[int]:
    """Return the ids of records in the order of a file."""
    if path.suffix == ".jsonl":
        return [json.loads(line)["id"] for line in path.read_text().splitlines()]
    if path.suffix == ".json":
        return [row["id"] for row in json.loads(path.read_text())]
    if path.suffix == ".csv":
        lines = path.read_text().splitlines()
        assert lines[0] == "id,text"
        return [int(line.partition(",")[0]) for line in lines[1:]]
    if path.suffix == ".parquet":
        from pyarrow import parquet

        found: list[int] = parquet.read_table(path).column("id").to_pylist()
        return found
    import openpyxl

    sheet = openpyxl.load_workbook(path).active
    assert sheet is not None
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == ("id", "text")
    return [int(str(row[0])) for row in rows[1:]]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet", ".xlsx"])
def test_every_format_keeps_its_records_in_another_order(
    suffix: str, tmp_path: Path
) -> None:
    """No record is lost, and each keeps its own fields; a report says it."""
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    save(source, TEXTS)
    run = ("sanitize", str(source), "-f", "text", "-q", "-o", str(target))
    assert here(*run, "--shuffle").code == 0
    found = ids_of(target)
    assert sorted(found) == list(range(60))
    assert found != sorted(found)
    assert here("check", str(target)).code in (0, 1)
    report = json.loads(Path(f"{target}.dptext.json").read_text())
    assert report["run"]["layout"]["shuffled"] is True
    lines = " ".join(report["guarantee"]["scope"]["not_covered"])
    assert "The order of records is random" in lines
    assert "number and order of records" not in lines


def test_lines_without_fields_and_blank_ones(tmp_path: Path) -> None:
    """Plain text: blank lines come first, and the last line needs no end."""
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("\n".join(["a cat", "", *["a dog"] * 30, "", "an old dog"]))
    run = ("sanitize", str(source), "--shuffle", "-q", "-o", str(target))
    assert here(*run).code == 0
    lines = target.read_text().split("\n")
    assert lines[:2] == ["", ""]
    assert len([line for line in lines if line]) == 32


def test_a_key_repeats_the_order_in_processes_and_batches(
    key: str, tmp_path: Path
) -> None:
    """With a key file equal input gives equal bytes; without one another order."""
    source = tmp_path / "in.jsonl"
    save(source, TEXTS)
    written = []
    for number, more in enumerate(
        [
            ("--key-file", key),
            ("--key-file", key, "--jobs", "2", "--batch-size", "7"),
            (),
            (),
        ]
    ):
        target = tmp_path / f"out{number}.jsonl"
        run = ("sanitize", str(source), "-f", "text", "-q", "-o", str(target))
        ran = here(*run, "--shuffle", *more)
        assert ran.code == 0, ran.err
        written.append(target.read_bytes())
    assert written[0] == written[1]
    orders = [ids_of(tmp_path / f"out{number}.jsonl") for number in range(4)]
    assert len(set(map(tuple, orders))) == 3


def test_every_place_is_equally_likely(tmp_path: Path) -> None:
    """The first of three records is first, second and third in a third of runs."""
    source = tmp_path / "in.jsonl"
    save(source, ["a cat", "a dog", "a cat"])
    from dptext import calibration, formats, lexicons, profile
    from dptext.engine.job import Shuffled
    from dptext.randomness import RunKey
    from dptext.types import Record

    recipe = profile.load("balanced", {})
    ready = calibration.build(recipe, lexicons.find("builtin"))

    class Kept(formats.Writer):
        def __init__(self) -> None:
            self.order: list[int] = []

        def write(self, record: Record, texts: object) -> None:
            self.order.append(record.ordinal)

        def verbatim(self, item: object) -> None:
            raise AssertionError

        def close(self) -> None:
            pass

    orders: Counter[tuple[int, ...]] = Counter()
    for _ in range(3000):
        kept = Kept()
        shuffled = Shuffled(kept, ready, RunKey.fresh(), None)
        for ordinal in range(3):
            shuffled.write(Record(ordinal, ("a cat",), None), ("a dog",))
        shuffled.close()
        orders[tuple(kept.order)] += 1
    assert len(orders) == 6
    assert min(orders.values()) > 380  # 500 less 5.8 standard deviations


@pytest.mark.parametrize(
    "options",
    [("--in-place",), ("--line-buffered",), ("--resume", "--out-dir", "out")],
)
def test_where_an_order_has_no_meaning_it_is_refused(
    options: tuple[str, ...], key: str, tmp_path: Path
) -> None:
    """One line, before anything is read."""
    source = tmp_path / "in.jsonl"
    save(source, TEXTS)
    more = ("--key-file", key) if "--resume" in options else ()
    ran = here("sanitize", str(source), "-f", "text", "--shuffle", *options, *more)
    assert ran.code == 2
    assert "--shuffle" in ran.err


def test_rows_of_topics_are_linked_by_nothing_but_their_fields(tmp_path: Path) -> None:
    """The answer of a release of topics leaves the order out."""
    from tests import made_topics

    made_topics.make("shuffled")
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    save(source, TEXTS)
    run = ("sanitize", str(source), "-f", "text", "--topics", "shuffled", "--json")
    ran = here(*run, "-o", str(target), "--shuffle")
    assert ran.code == 0, ran.err
    original = json.loads(ran.err)["original"]["sentence"]
    assert original.endswith(". Unchanged fields can give a row away.")
    assert here("check", str(target)).code == 0
