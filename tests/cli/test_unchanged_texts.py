"""The count of unchanged texts on the command line, and the verdict on a copy."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.running import here

COPIED = ("I am so glad.", "it is so, and so", "we had a good day")
CHANGED = (
    "Anna came on Monday.",
    "the physiotherapist found arthritis",
    "call 5550142",
)
# More than the first texts, after which processes read parts of a file.
SOME = (*COPIED, *CHANGED, *CHANGED) * 10
MANY = SOME * 50


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: Path, texts: Sequence[str]) -> None:
    """Write texts into a file of the format that its name ends with."""
    if path.suffix == ".txt":
        path.write_text("".join(f"{each}\n" for each in texts))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"text": each}) + "\n" for each in texts))
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([["text"], *([each] for each in texts)])
    else:
        pq.write_table(pa.table({"text": [*texts]}), path)


def read(path: Path) -> list[str]:
    """Return the texts of a file."""
    if path.suffix == ".txt":
        return path.read_text().splitlines()
    if path.suffix == ".jsonl":
        return [json.loads(line)["text"] for line in path.read_text().splitlines()]
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return [row["text"] for row in csv.DictReader(file)]
    texts: list[str] = pq.read_table(path)["text"].to_pylist()
    return texts


@pytest.mark.parametrize(("jobs", "texts"), [("1", SOME), ("2", MANY)])
@pytest.mark.parametrize("suffix", [".txt", ".csv", ".jsonl", ".parquet"])
def test_unchanged_texts_are_those_without_a_difference(
    suffix: str, jobs: str, texts: tuple[str, ...]
) -> None:
    """The count equals that of equal texts in the two files, in every format."""
    before, after = Path(f"in{suffix}"), Path(f"out{suffix}")
    write(before, texts)
    named = () if suffix == ".txt" else ("--field", "text")
    run = ("sanitize", str(before), *named, "-p", "readable", "-o", str(after))
    ran = here(*run, "--json", "-j", jobs)
    assert ran.code == 0, ran.err
    same = sum(one == two for one, two in zip(texts, read(after), strict=True))
    said = json.loads(ran.err)
    assert said["output"]["unchanged_texts"] == same >= len(texts) / 3
    assert (
        f"{same:,} of {len(texts):,} texts are unchanged" in said["output"]["sentence"]
    )


def test_a_copy_is_no_protected_output() -> None:
    """The verdict on a file in which nothing was replaced warns, as do its pages."""
    write(Path("in.txt"), COPIED)
    run = ("sanitize", "in.txt", "-p", "readable", "-o", "out.txt")
    ran = here(*run, "--report", "r.json")
    assert Path("out.txt").read_bytes() == Path("in.txt").read_bytes()
    verdict = "Do not hand it on: every text is a copy of its original."
    assert ran.err.splitlines()[0] == verdict
    assert "3 of 3 texts" in ran.err
    assert "Do not send it unless you could send the original" in ran.err
    assert verdict in here("report", "r.json").out.decode()
    # The public report counts nothing that depends on the text, and claims nothing.
    public = " ".join(here("report", "out.txt").out.decode().split())
    assert "names, numbers, dates or the like, if any, replaced: out.txt" in public


def test_mostly_unchanged_texts_are_no_protected_output() -> None:
    """From half of the texts on, the verdict warns where common words stay."""
    write(Path("in.txt"), (*COPIED, *CHANGED))
    ran = here("sanitize", "in.txt", "-p", "readable", "-o", "out.txt", "--json")
    said = json.loads(ran.err)
    assert said["output"]["unchanged_texts"] == 3
    assert said["verdict"]["sentence"] == (
        "Do not hand it on: half of the texts or more are unchanged."
    )


def test_words_replaced_by_themselves_are_counted() -> None:
    """The count equals that of equal words in the two files, capitals apart."""
    words = ("film", "actor", "scene", "music", "story") * 20
    write(Path("in.jsonl"), words)
    run = ("sanitize", "in.jsonl", "-f", "text", "-p", "balanced", "-o", "out.jsonl")
    ran = here(*run, "--json")
    after = read(Path("out.jsonl"))
    same = sum(one == two.lower() for one, two in zip(words, after, strict=True))
    said = json.loads(ran.err)["output"]
    assert said["words_replaced"] == 100
    assert said["replaced_by_the_same"] == same > 0
    assert f'100 words of "text" replaced ({same} by the same word)' in said["sentence"]
