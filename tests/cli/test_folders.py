"""Folders in the place of files: sanitize, check and compare take them."""

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
    """Files of known formats count, others do not; nothing else is said."""
    plan = ("sanitize", "--plan", *options, "--no-bayes-risk", "--json")
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


def test_patterns_choose_files_of_a_folder(
    folder: Path, options: tuple[str, ...]
) -> None:
    """Includes first, then excludes; paths are those in the folder, from any one on."""
    (folder / "in" / "deep" / "c.csv").write_text("id,text\n1,the film\n")
    run = ("sanitize", "in", "-f", "text", *options, "--no-bayes-risk", "-q")
    for number, (given, expected) in enumerate(
        (
            (("--include", "*.jsonl"), ["a.jsonl", "deep/b.jsonl"]),
            (("--include", "deep/*"), ["deep/b.jsonl", "deep/c.csv"]),
            (("--include", "deep/*", "--exclude", "*.csv"), ["deep/b.jsonl"]),
            (("--exclude", "b.jsonl"), ["a.jsonl", "deep/c.csv"]),
        )
    ):
        out = folder / f"out{number}"
        ran = here(*run, *given, "-o", str(out))
        assert ran.code == 0, ran.err
        found = (path.relative_to(out).as_posix() for path in out.rglob("*"))
        files = [name for name in found if name.endswith(("csv", "jsonl"))]
        assert sorted(files) == expected


def test_an_interrupted_run_goes_on_with_its_patterns(
    folder: Path, options: tuple[str, ...]
) -> None:
    """Finished files stay, others are written as in one run."""
    key = folder / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    run = ("sanitize", "in", "-f", "text", *options, "--no-bayes-risk")
    chosen = ("--include", "*.jsonl", "--key-file", str(key))
    assert here(*run, *chosen, "--out-dir", "one", "-q").code == 0
    again = ("--out-dir", "two", "--resume")
    assert here(*run, *chosen, "--exclude", "deep/*", *again, "-q").code == 0
    ran = here(*run, *chosen, *again, "--report", "r.json")
    assert "1 of 2 files were already finished" in ran.err
    for name in ("a.jsonl", "deep/b.jsonl"):
        assert Path("two", name).read_bytes() == Path("one", name).read_bytes()
    assert json.loads(Path("r.json").read_text())["success"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("in", "--include", "*.tsv"), "--include *.tsv: no file of in fits it"),
        (("in", "--exclude", "old/*"), "--exclude old/*: no file of in fits it"),
        (("in/a.jsonl", "--include", "*"), "no input is a folder"),
        (("in", "--exclude", "*.jsonl"), "no file of a known format that fits"),
    ],
)
def test_patterns_that_choose_nothing_are_refused(
    given: tuple[str, ...], said: str, folder: Path, options: tuple[str, ...]
) -> None:
    """A misspelt pattern is no reason to read other files."""
    ran = here("sanitize", *given, "-f", "text", *options, "--out-dir", "out")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert said in ran.err


def test_a_folder_has_no_single_output(folder: Path, options: tuple[str, ...]) -> None:
    """The message is about the option that was typed."""
    ran = here("sanitize", "in", "-f", "text", *options, "-o", "y.csv")
    assert ran.code == 2
    assert ran.err.startswith("dptext: -o y.csv: in is a folder")
    assert "--out-dir" not in ran.err


def test_links_in_a_circle_and_to_nothing_are_named(
    folder: Path, options: tuple[str, ...]
) -> None:
    """As an input, inside of a folder, and as an output; patterns leave them out."""
    one, two, lost = (
        Path("in", "one.jsonl"),
        Path("in", "two"),
        Path("in", "lost.jsonl"),
    )
    one.symlink_to("two")
    two.symlink_to("one.jsonl")
    run = ("sanitize", "-f", "text", *options, "-q")
    for args in (("in", "--out-dir", "out"), (str(one),), (str(two),)):
        ran = here(*run, *args)
        assert ran.code == 2
        assert ran.err.endswith(": Too many levels of symbolic links\n")
    ran = here(*run, "in/a.jsonl", "-o", str(one))
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert here(*run, "in", "--out-dir", "out2", "--exclude", "one*").code == 0
    one.unlink()
    lost.symlink_to("nowhere")
    ran = here(*run, "in", "--out-dir", "out3", "--on-error", "skip")
    assert ran.code == 4
    ran = here(*run, str(lost))
    assert ran.err.endswith("it is a link to a missing file\n")
