"""What becomes of a record does not follow from the records before or behind it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import calibration, profile
from dptext.lexicons import topics
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Lexicon, Record
from tests import made_topics
from tests.cli.running import here

# tests/mechanisms/test_mlm.py tests dp-mlm, which needs a model.
MAIN = ("balanced", "readable", "strict")
OTHERS = sorted({*profile.shipped()} - {"dp-mlm", *MAIN})
# These classes and forms ask for something of their neighbours: articles above all.
PIECES = [
    *"a an A An AN the The He was is were to went two these".split(),
    *"film zebra apple unusual day days year old people zqxj ecru FILM IT".split(),
    *"Ulrich Anna Sarah Oslo Sony August May Monday Dr. Mr. New York".split(),
    *"8 11 18 7 1 42 1845 2021 8th 1990s 3.5 8,000 eight".split(),
    *"$5 €80 8% AB12CD x@y.org @ann #tag 😡 report.pdf v1.2.3 10.0.0.1 8:30".split(),
    *"8 May|8 dollars|1 day|+49 171 1234567|https://a.b/c|<b>|&amp;".split("|"),
    *"don't it's well-known Sarah's cancer iPhone e.g.".split(),
]
GAPS = [" "] * 8 + [", ", ". ", "\n", "\n\n", ' "', '" ', " (", ") ", "-", " - ", "  "]
TEXTS = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(GAPS)), max_size=6)
FIELDS = st.lists(TEXTS.map(lambda pairs: "".join(map("".join, pairs))), max_size=2)
RECORDS = {
    "rows": st.lists(FIELDS, min_size=1, max_size=5),
    "size": st.integers(1, 4),
    "others": st.lists(FIELDS, max_size=2),
}
KEY = RunKey(b"k" * 32, "key-file")


@cache
def _ready(name: str, builtin: Lexicon) -> Pipeline:
    recipe = profile.load(name)
    if name.startswith("topics"):
        made_topics.make("batches")
        return calibration.build(recipe, topics.open_lexicon("batches", 4))
    return calibration.build(recipe, builtin)


def run(
    ready: Pipeline, records: list[Record], size: int
) -> dict[str, tuple[str, ...]]:
    """Return the output of each record by its id."""
    randomness = ready.randomness(KEY)
    out: dict[str, tuple[str, ...]] = {}
    for begin in range(0, len(records), size):
        some = records[begin : begin + size]
        texts = ready.privatize(some, randomness).texts
        out |= {str(each.identity): new for each, new in zip(some, texts, strict=True)}
    return out


def check_alone(
    ready: Pipeline, rows: list[list[str]], size: int, others: list[list[str]]
) -> None:
    """Write records in any division into batches, behind and before any others."""
    records = [
        Record(at, tuple(row), None, identity=f"{at}") for at, row in enumerate(rows)
    ]
    around = [
        Record(9, tuple(row), None, identity=f"x{at}") for at, row in enumerate(others)
    ]
    alone = run(ready, records, 1)
    assert run(ready, records, len(records)) == alone
    for many in ([*around, *records], [*records[::-1], *around]):
        found = run(ready, many, size)
        assert {key: found[key] for key in alone} == alone


@pytest.mark.parametrize("name", MAIN)
@settings(max_examples=25, deadline=None)
@given(**RECORDS)
def test_a_record_is_written_as_if_it_were_alone(
    name: str, builtin: Lexicon, **records: Any
) -> None:
    """In any division into batches, behind and before any records (with an id)."""
    check_alone(_ready(name, builtin), **records)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=5, deadline=None)
@given(**RECORDS)
def test_so_it_is_in_every_profile(name: str, builtin: Lexicon, **records: Any) -> None:
    """Other mechanisms and decoders take their time; their texts are written alike."""
    check_alone(_ready(name, builtin), **records)


CASES = ["He met an Ulrich there.", "An Anna\n", "an August", "The zebra slept.", "a"]


@pytest.mark.parametrize("name", MAIN)
def test_bytes_are_those_of_any_batch_and_process(
    name: str, key: str, tmp_path: Path
) -> None:
    """Through files: batches of one and of all, two processes, a record alone."""
    lines = [json.dumps({"id": at, "text": text}) for at, text in enumerate(CASES)]
    every, one = tmp_path / "every.jsonl", tmp_path / "one.jsonl"
    every.write_text("\n".join(lines) + "\n")
    one.write_text(lines[2] + "\n")

    def outputs(source: Path, *options: str) -> list[bytes]:
        given = ("--field", "text", "--id", "id", "--profile", name, "--key-file", key)
        done = here("sanitize", str(source), *given, *options, "-q", "-o", "-")
        assert done.code == 0, done.err
        return done.out.splitlines()

    whole = outputs(every)
    assert outputs(every, "--batch-size", "1") == whole
    assert outputs(every, "--batch-size", "2", "--jobs", "2") == whole
    assert outputs(one) == whole[2:3]
