"""`--engine`, `--master`, and folders of files as inputs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dptext.errors import install_command
from tests.cli.running import here

LINE = '{"text":"the film was good"}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with a folder of files."""
    monkeypatch.chdir(tmp_path)
    for name in ("in/b.jsonl", "in/deep/a.csv", "in/.c.jsonl", "in/_d/e.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\nfilm\n" if name.endswith("csv") else LINE)
    (tmp_path / "in" / "b.jsonl.dptext.json").write_text("{}")
    (tmp_path / "in" / "note.docx").write_text("x")
    return tmp_path


def test_folders_are_the_files_in_them(
    options: tuple[str, ...], folder: Path, key: str
) -> None:
    """Known files at any depth have outputs of the same paths, each with its report."""
    run = (
        "sanitize",
        "-f",
        "text",
        "in",
        "--out-dir",
        "in/out",
        *options,
        "--no-bayes-risk",
        "--key-file",
        key,
    )
    for _ in range(2):  # outputs inside the folder are no inputs
        ran = here(*run, "--report", "r.json")
        assert ran.code == 0, ran.err
        said = " ".join(ran.err.split())
        assert said.endswith("in: skipped files of unknown format: 1")
        assert json.loads((folder / "r.json").read_bytes())["private"]["records"] == 2
    written = sorted(
        str(path.relative_to(folder / "in/out"))
        for path in (folder / "in/out").rglob("*")
        if path.is_file()
    )
    assert written == [
        "b.jsonl",
        "b.jsonl.dptext.json",
        f"deep{os.sep}a.csv",
        f"deep{os.sep}a.csv.dptext.json",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("in", "in", "--out-dir", "out"), "two inputs are named b.jsonl"),
        (("in/.hidden", "--out-dir", "out"), "no file of a known format"),
        (("in",), "is a folder"),
        (("in", "--master", "yarn", "--out-dir", "out"), "--engine spark: give both"),
        (("in", "--engine", "spark"), "and --out-dir"),
        (("in", "--engine", "spark", "--out-dir", "out", "-j", "2"), "'local[4]'"),
        (
            ("in", "--engine", "spark", "--out-dir", "out", "--quarantine", "q"),
            "--on-error skip",
        ),
        (
            (
                "in",
                "--engine",
                "spark",
                "--out-dir",
                "out",
                "--ledger",
                "l",
                "--subject",
                "text",
                "--limit",
                "9",
            ),
            "--engine local",
        ),
        (("in", "--engine", "flink"), "choose local or spark"),
    ],
)
def test_what_does_not_go_together(
    arguments: tuple[str, ...], said: str, options: tuple[str, ...], folder: Path
) -> None:
    """It is refused in one line, before anything is written."""
    (folder / "in" / ".hidden").mkdir()
    ran = here("sanitize", "-f", "text", *arguments, *options, "-q", "--no-bayes-risk")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.count("\n") == 1
    assert said in ran.err
    assert not (folder / "out").exists()


def test_spark_needs_java(
    options: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Java, or without pyspark, a line says what to install."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    ran = here(
        "sanitize",
        "-f",
        "text",
        "in",
        "--engine",
        "spark",
        "--out-dir",
        "out",
        *options,
    )
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert install_command("spark") in ran.err or "default-jre" in ran.err
