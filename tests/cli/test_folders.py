"""Folders in the place of files: sanitize, check, compare and plan take them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import here

RECORD = '{"id":1,"text":"the film was very good"}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a folder of two files of records, and one of no known format."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a.jsonl").write_text(RECORD * 2)
    (tmp_path / "in" / "deep" / "b.jsonl").write_text(RECORD * 3)
    (tmp_path / "in" / "notes.bin").write_bytes(b"\0")
    return tmp_path


def test_an_output_of_a_folder_is_a_folder(
    folder: Path, options: tuple[str, ...]
) -> None:
    """Sanitize IN -o OUT writes a file for each; check passes all of OUT."""
    run = ("sanitize", "in", "-f", "text", *options, "--no-bayes-risk")
    ran = here(*run, "-o", "out")
    assert ran.code == 0, ran.err
    written = sorted(str(each) for each in Path("out").rglob("*.jsonl"))
    assert written == ["out/a.jsonl", "out/deep/b.jsonl"]
    lexicon = options[options.index("--lexicon") + 1]
    policy = ("--set", "max_epsilon=3", "--lexicon", lexicon)
    assert here("check", "out", *policy).code == 0
    assert here(*run, "-o", "out", "--out-dir", "out").code == 2
    assert here(*run).code == 2, "nowhere to write"


def test_plan_takes_the_sizes_of_a_folder(
    folder: Path, options: tuple[str, ...]
) -> None:
    """Files of known formats count, others do not; with -q nothing else is said."""
    plan = ("plan", *options, "--no-bayes-risk", "--json", "-q")
    ran = here(*plan, "in")
    assert (ran.code, ran.err) == (0, "")
    each = here(*plan, "in/a.jsonl", "in/deep/b.jsonl")
    assert json.loads(ran.out)["bytes"] == json.loads(each.out)["bytes"] == 205
    (folder / "empty").mkdir()
    ran = here(*plan, "empty")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "no file of a known format" in ran.err


def test_compare_takes_all_texts_of_a_folder(
    folder: Path, options: tuple[str, ...]
) -> None:
    """The sample is taken from all files together."""
    lexicon = options[options.index("--lexicon") + 1]
    run = ("--lexicon", lexicon, "-m", "rank", "--epsilon", "3", "--json", "-q")
    ran = here("compare", "in", *run)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["texts"] == 5
