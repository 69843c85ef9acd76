"""The release of topics through the whole program: formats, processes, ledger, keys."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import dptext
from dptext.errors import UsageError
from dptext.lexicons import topics
from tests import distributions, made_topics
from tests.cli.running import here

HOSTILE = [
    "The company, reported; a profit of 5,000!",
    "",
    "  ",
    '"quoted", text, with; marks',
    "=1+1",
    "soup " * 4000,
    "Привет 你好 🙂",
    "a@b.example 555-0199",
]


@pytest.fixture(scope="module", autouse=True)
def made(run_folders: Path) -> topics.TopicFile:
    """Build topics once."""
    return made_topics.make("released")


@pytest.fixture(scope="module")
def phrases() -> set[str]:
    """Return all that may be written."""
    return set(topics.open_lexicon("released", 8).words)


def save(path: Path, texts: list[str]) -> None:
    """Write records with a number and a text, in the format of the suffix."""
    rows = [{"id": number, "text": text} for number, text in enumerate(texts)]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".txt":
        path.write_text("".join(f"{text}\n" for text in texts))
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "text"])
            writer.writerows((row["id"], row["text"]) for row in rows)
    elif path.suffix == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        import openpyxl

        book = openpyxl.Workbook()
        assert book.active is not None
        book.active.append(["id", "text"])
        for row in rows:
            book.active.append([row["id"], row["text"]])
        book.save(path)


def texts_of(path: Path) -> list[str]:
    """Return the texts of a file."""
    if path.suffix == ".jsonl":
        return [json.loads(line)["text"] for line in path.read_text().splitlines()]
    if path.suffix == ".json":
        return [row["text"] for row in json.loads(path.read_text())]
    if path.suffix == ".txt":
        return path.read_text().splitlines()
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return [row["text"] for row in csv.DictReader(file)]
    if path.suffix == ".parquet":
        from pyarrow import parquet

        found: list[str] = parquet.read_table(path).column("text").to_pylist()
        return found
    import openpyxl

    sheet = openpyxl.load_workbook(path).active
    assert sheet is not None
    return [str(row[1]) for row in sheet.iter_rows(2, values_only=True)]


@pytest.mark.parametrize(
    "suffix", [".jsonl", ".json", ".txt", ".csv", ".parquet", ".xlsx"]
)
def test_every_format_writes_topics_alone(
    suffix: str, phrases: set[str], tmp_path: Path
) -> None:
    """Whatever texts hold, each becomes one topic, as it stands in the public file."""
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    texts = HOSTILE
    if suffix in (".txt", ".xlsx"):
        # A blank line and an empty cell are no text, which the statement says.
        texts = [text for text in HOSTILE if text.strip() and text[0] != "="]
    save(source, texts)
    field = () if suffix == ".txt" else ("-f", "text")
    ran = here(
        "sanitize",
        str(source),
        "--topics",
        "released",
        "-o",
        str(target),
        "-q",
        *field,
    )
    assert ran.code == 0, ran.err
    written = texts_of(target)
    assert len(written) == len(texts)
    assert set(written) <= phrases
    assert here("check", str(target)).code == 0


@pytest.mark.parametrize("text", ["the storm brought rain", "", "\x00 ]} Привет 🙂"])
@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_written_files_follow_the_law(suffix: str, text: str, tmp_path: Path) -> None:
    """Randomised response at epsilon, from file to file, for any text (alarm 1e-6)."""
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    text = text.replace("\x00", "" if suffix == ".csv" else "\x00")
    save(source, [text] * 4000)
    run = ("sanitize", str(source), "-f", "text", "--topics", "released/8", "-q")
    assert here(*run, "--epsilon", "2", "--shuffle", "-o", str(target)).code == 0
    phrases = topics.open_lexicon("released", 8).words
    drawn = np.array([phrases.index(each) for each in texts_of(target)])
    counts = np.bincount(drawn, minlength=8)
    law = np.full(8, 1.0 / (np.exp(2.0) + 7.0))
    law[counts.argmax()] *= np.exp(2.0)
    distributions.assert_follows(drawn, law, distributions.ALARM / 6)


def test_processes_and_runs_by_key_give_the_same_bytes(tmp_path: Path) -> None:
    """With a seed, one process and two write the same; the lexicon is found by name."""
    source = tmp_path / "in.jsonl"
    save(source, HOSTILE * 40)
    written = []
    for jobs in ("1", "2"):
        target = tmp_path / f"out{jobs}.jsonl"
        ran = here(
            "sanitize",
            str(source),
            "-f",
            "text",
            "--topics",
            "released",
            "-q",
            "-o",
            str(target),
            "--seed",
            "3",
            "--jobs",
            jobs,
            "--batch-size",
            "64",
        )
        assert ran.code == 0, ran.err
        written.append(target.read_bytes())
    assert written[0] == written[1]


def test_a_run_is_resumed_with_the_same_topics(key: str, tmp_path: Path) -> None:
    """Finished files stay; one that is gone is written again with the same bytes."""
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        save(tmp_path / "in" / f"{name}.jsonl", [f"{text} {name}" for text in HOSTILE])
    out = tmp_path / "out"
    run = (
        "sanitize",
        str(tmp_path / "in"),
        "-f",
        "text",
        "--out-dir",
        str(out),
        "--key-file",
        key,
        "--resume",
        "-q",
    )
    assert here(*run, "--topics", "released").code == 0
    before = {path.name: path.read_bytes() for path in out.glob("*.jsonl")}
    (out / "b.jsonl").unlink()
    stays = (out / "a.jsonl").stat().st_mtime_ns
    assert here(*run, "--topics", "released").code == 0
    assert {path.name: path.read_bytes() for path in out.glob("*.jsonl")} == before
    assert (out / "a.jsonl").stat().st_mtime_ns == stays
    # Another number of topics is another release.
    ran = here(*run, "--topics", "released/4")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "2 finished outputs anew (first a.jsonl), made with" in ran.err
    assert (out / "a.jsonl").stat().st_mtime_ns == stays


def test_each_text_of_a_record_is_charged(tmp_path: Path) -> None:
    """Two fields of a record cost twice epsilon, and empty texts cost it, too."""
    source = tmp_path / "in.jsonl"
    rows = [
        {"who": "a", "title": "rain", "text": "storm"},
        {"who": "b", "title": "", "text": "soup"},
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    common = ("--topics", "released", "--epsilon", "3", "-f", "text", "-f", "title")
    ledger = ("--ledger", str(tmp_path / "ledger"), "--subject", "who")
    target = str(tmp_path / "out.jsonl")
    refused = here(
        "sanitize", str(source), *common, *ledger, "--limit", "5.9", "-o", target
    )
    assert refused.code != 0
    allowed = here(
        "sanitize", str(source), *common, *ledger, "--limit", "6.1", "-o", target
    )
    assert allowed.code == 0, allowed.err
    again = here(
        "sanitize", str(source), *common, *ledger, "--limit", "6.1", "-o", target
    )
    assert again.code != 0


def test_numbers_of_topics_take_the_place_of_words(tmp_path: Path) -> None:
    """`tokens.topic` writes the number of a topic, or both."""
    over = {"lexicon": "topics:released", "tokens": {"topic": "id"}}
    (private,) = dptext.privatize(["rain"], profile="topics", overrides=over)
    assert private.startswith("topic ")
    assert private.removeprefix("topic ").isdecimal()


def test_frames_become_topics(phrases: set[str]) -> None:
    """A column of a table, in the library of the table."""
    import pandas as pd

    table = pd.DataFrame({"id": range(len(HOSTILE)), "text": HOSTILE})
    private = dptext.privatize(
        table,
        profile="topics",
        overrides={"lexicon": "topics:released"},
        columns="text",
    )
    assert set(private["text"]) <= phrases
    assert list(private["id"]) == list(table["id"])


def test_a_size_that_follows_from_no_epsilon_is_refused() -> None:
    """A risk of one word says nothing of texts."""
    with pytest.raises(UsageError, match="epsilon of a whole text"):
        dptext.open_pipeline(
            "topics",
            {"lexicon": "topics:released", "budget": {"epsilon": None, "risk": 0.2}},
        )
