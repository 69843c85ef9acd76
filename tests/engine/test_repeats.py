from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from dptext.engine.tally import Repeats
from dptext.randomness import Randomness, RunKey
from dptext.types import Record
from tests.cli.running import here, small
from tests.keys import put


def test_equal_records_are_counted_whatever_stands_between_them() -> None:
    """The count is that of a dictionary; ids and texts do not run together."""
    repeats, seen = Repeats(), Counter[tuple[str, tuple[str, ...]]]()
    for number in range(3000):
        name, text = str(number * 7 % 50), "ab" * (number % 3)
        for texts in ((text,), (name, text), ()):
            record = Record(number, texts, None, name)
            assert repeats.count(record) == seen[name, texts]
            seen[name, texts] += 1
    assert repeats.repeated == sum(seen.values()) - len(seen)


def test_what_does_not_fit_into_memory_is_counted_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With room for 16 KiB, 20,000 records are counted as well."""
    monkeypatch.setattr("dptext.engine.tally._MEMORY", 16)
    repeats = Repeats()
    for number in range(20_000):
        assert repeats.count(Record(number, (), None, str(number))) == 0
    for number in range(0, 20_000, 997):
        assert repeats.count(Record(number, (), None, str(number))) == 1


def test_no_two_records_of_an_output_share_draws() -> None:
    """Those of equal id and texts are told apart by their count, where they stand."""
    for key in (RunKey.from_bytes(bytes(range(32))), RunKey.fresh()):
        run = Randomness(key, "")
        first = Record(0, ("a",), None, "1")
        assert run.nonce(first) != run.nonce(Record(0, ("a",), None, "1", repeat=1))
        assert run.nonce(first) == run.nonce(Record(5, ("a",), None, "1"))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_id_that_names_several_records_is_said_and_draws_differ(
    tmp_path: Path, jobs: str
) -> None:
    """Equal ids with equal texts get other words each, and again in a second run."""
    text = "the old film was good and the story was long " * 4
    rows = [
        {"who": 7, "text": text},
        {"who": 8, "text": text},
        {"who": 7, "text": text},
    ]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    key = str(put(tmp_path / "key", bytes(range(32))))
    options = (str(source), "-f", "text", "--key-file", key, "-j", jobs)
    run = here("sanitize", *options, "--id", "who", *small(tmp_path))
    texts = [json.loads(line)["text"] for line in run.out.splitlines()]
    assert len(set(texts)) == 3
    assert "--id who: 1 of the records repeat" in " ".join(run.err.split())
    assert here("sanitize", *options, "--id", "who", *small(tmp_path)).out == run.out


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_equal_records_of_two_files_are_drawn_apart(tmp_path: Path, jobs: str) -> None:
    """Each output has separate draws; a key file repeats those of an id and text."""
    text = "the old film was good and the story was long " * 4
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(json.dumps({"who": 7, "text": text}) + "\n")
    key = str(put(tmp_path / "key", bytes(range(32))))
    for more, said in (
        ((), "Such records of the files of a run are drawn apart."),
        (("--key-file", key), "with one key file they are drawn alike"),
    ):
        out = tmp_path / f"out{len(more)}"
        ran = here(
            "sanitize",
            str(tmp_path / "a.jsonl"),
            str(tmp_path / "b.jsonl"),
            "-f",
            "text",
            "--id",
            "who",
            "--out-dir",
            str(out),
            "-j",
            jobs,
            "-q",
            *more,
            *small(tmp_path),
        )
        assert ran.code == 0, ran.err
        one, two = (
            json.loads(each.read_text()) for each in sorted(out.glob("?.jsonl"))
        )
        assert (one["text"] == two["text"]) == bool(more)
        report = json.loads((out / "a.jsonl.dptext.json").read_text())
        assert said in " ".join(report["guarantee"]["scope"]["conditions"])
