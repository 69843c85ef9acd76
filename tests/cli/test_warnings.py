"""Warnings stand in full wherever a run says what it did, and are not public."""

from __future__ import annotations

import html
import json
import os
import re
import warnings
from pathlib import Path

import pytest

import dptext
from tests.cli.running import command, environment, here, on_terminal

# Names that a screen has hardly room for.
NAMES = [f"customer_email_of_a_rather_long_name_{number}" for number in range(12)]
ENDS = "or leave them out (--drop)"


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> tuple[str, ...]:
    """Return a run on a file with many columns that identify people."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {name: f"u{row}@example.org" for name in NAMES} | {"text": "the film was good"}
        for row in range(5)
    ]
    Path("in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return ("sanitize", "-f", "text", "in.jsonl", *options, "-o", "out.jsonl")


def is_whole(said: str) -> bool:
    """Tell whether the warning that names the columns stands in a text in full."""
    plain = "".join(said.split())
    named = ", ".join(f"'{name}' (e-mail addresses)" for name in NAMES)
    line = f"columns were left unchanged and look identifying: {named}"
    return "".join(line.split()) in plain and "".join(ENDS.split()) in plain


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", [80, 40])
def test_terminals_of_any_width_show_all(run: tuple[str, ...], columns: int) -> None:
    """A screen of 80 columns and that of a telephone; no line is longer."""
    set_ = environment(TERM="xterm", COLUMNS="", LINES="")
    set_ = {key: value for key, value in set_.items() if value}
    code, _, shown = on_terminal(command(*run), set_, columns=columns)
    assert code == 0, shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    lines = plain[plain.rindex("Hand it at most to") :].splitlines()
    if lines[-1].startswith("dptext evaluate "):  # a command stays whole, to be copied
        lines.pop()
    assert all(len(line) <= columns for line in lines)
    assert is_whole("\n".join(lines))
    assert "..." not in " ".join(lines[-10:])


def test_reports_of_the_owner_hold_warnings_and_the_public_one_does_not(
    run: tuple[str, ...],
) -> None:
    """Page, JSON, internal report and answer agree, also on whether there are any.

    A warning depends on the private text, and so does its absence.
    """
    ran = here(*run, "--report", "internal.json", "--html", "page.html", "--json")
    assert ran.code == 0, ran.err
    (line,) = json.loads(ran.err)["warnings"]
    assert is_whole(line)
    internal = json.loads(Path("internal.json").read_bytes())
    assert internal["private"]["warnings"] == [line]
    page = html.unescape(re.sub(r"<[^>]+>", " ", Path("page.html").read_text()))
    assert is_whole(page)
    assert is_whole(here("report", "internal.json").out.decode())
    public = Path("out.jsonl.dptext.json").read_bytes()
    assert b"warning" not in public
    assert b"left unchanged" not in public
    clean = here("sanitize", "-", *run[4:-2], "-o", "clean.txt", given=b"the film\n")
    assert clean.code == 0, clean.err
    assert (
        json.loads(public).keys()
        == json.loads(Path("clean.txt.dptext.json").read_bytes()).keys()
    )


def test_verbose_runs_say_them_last_in_full(run: tuple[str, ...]) -> None:
    """The report stands before them; their last words are the last of the run."""
    ran = here(*run, "--verbose")
    assert is_whole(ran.err)
    assert " ".join(ran.err.split()).endswith(ENDS)


def test_a_program_finds_them_in_its_report() -> None:
    """Warnings of a call are in its internal report, as they were given."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"email": ["a@example.org"] * 3, "text": ["a film"] * 3})
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        _, report = dptext.privatize(frame, columns="text", report=True)
    said = [str(each.message) for each in given if "email" in str(each.message)]
    assert report.private is not None
    assert list(report.private.warnings) == said
    assert said[0].startswith("column 'email' was left unchanged and looks like e-mail")


def test_null_marks_that_become_words_are_counted(options: tuple[str, ...]) -> None:
    """With the setting that keeps them; the report says that a list keeps words."""
    marks = ["NULL", r"\N", "NA", "N/A", "nan", "None", "<NA>"]
    lines = [f"{number},{text}" for number, text in enumerate([*marks, "the film", ""])]
    table = "\n".join(["id,text", *lines, ""]).encode()
    run = ("sanitize", "-f", "text", "--format", "csv", *options, "--json")
    kept = r"""--set=tokens.keep.patterns=['^(NULL|\\N|NA|N/A|nan|None)$']"""
    for more, said in (((), "6 texts are null marks"), ((kept,), "1 text is a null")):
        ran = here(*run, *more, given=table)
        assert ran.code == 0, ran.err
        (line,) = [
            each for each in json.loads(ran.err)["warnings"] if "null mark" in each
        ]
        assert line.startswith(said)
        assert """'tokens.keep.patterns=["^(NULL|NA)$"]'""" in line
    texts = [line.partition(b",")[2].decode() for line in ran.out.splitlines()]
    assert texts[1:7] == marks[:6]
    assert not any(marks[0] in each for each in lines[7:])
    many = b"text\n" + b"NULL\n" * 300
    ran = here(*run, given=many)
    assert "200 texts in the first 200 records are null marks" in ran.err
