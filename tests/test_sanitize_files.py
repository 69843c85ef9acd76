"""`dptext.sanitize_files` does the work of `dptext sanitize` for programs."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext import formats
from dptext.engine import pool
from dptext.errors import InputError, OutputError, UsageError
from tests.cli.running import here, lexicon

KEY = bytes(range(32))
ROWS = [
    {"id": "1", "body": "the film was good", "stars": "5"},
    {"id": "2", "body": "a good film", "stars": "3"},
]


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    """Choose a small lexicon and a key."""
    return {
        "profile": "balanced",
        "lexicon": lexicon(tmp_path),
        "epsilon": 3.0,
        "key": KEY,
    }


def table(path: Path) -> Path:
    """Write a table of reviews."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ROWS[0].keys())
        writer.writeheader()
        writer.writerows(ROWS)
    return path


def test_the_bytes_are_those_of_the_command(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    """Under a key; the public report is the same, and `check` accepts it."""
    file, key = table(tmp_path / "in.csv"), tmp_path / "key"
    key.write_bytes(KEY)
    key.chmod(0o600)
    by_call, by_command = tmp_path / "a" / "out.csv", tmp_path / "b" / "out.csv"
    for out in (by_call, by_command):
        out.parent.mkdir()
    result = dptext.sanitize_files(
        file, by_call, fields="body", id="id", drop="stars", **settings
    )
    chosen = f"--lexicon {settings['lexicon']} --epsilon 3 -p balanced".split()
    fields = "-f body --id id --drop stars".split()
    files = ["--key-file", str(key), "-o", str(by_command)]
    ran = here("sanitize", str(file), *fields, *chosen, *files)
    assert ran.code == 0
    assert result.paths == (by_call,)
    assert by_call.read_bytes() == by_command.read_bytes()
    reports = [Path(f"{out}.dptext.json").read_bytes() for out in (by_call, by_command)]
    assert reports[0] == reports[1]
    assert here("check", str(by_call), *chosen[:2]).code == 0
    assert result.report.private is not None
    assert result.report.private.records == 2
    assert "film" not in str(result.report)


def test_folders_go_to_folders(tmp_path: Path, settings: dict[str, Any]) -> None:
    """Each file has its own output and report; the result names all."""
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        table(folder / name)
    result = dptext.sanitize_files([folder], out_dir=out, fields=["body"], **settings)
    assert sorted(path.name for path in result.paths) == ["a.csv", "b.csv"]
    assert all(Path(f"{path}.dptext.json").is_file() for path in result.paths)
    assert result.report.private is not None
    assert result.report.private.records == 4


def test_the_format_of_a_file_is_decided_once(
    tmp_path: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its content, where its name does not tell, is looked at by the plan alone."""
    seen, look = list[str](), formats._by_content

    def noted(path: str) -> formats.Format | None:
        seen.append(path)
        return look(path)

    monkeypatch.setattr(formats, "_by_content", noted)
    file, out = tmp_path / "reviews", tmp_path / "private"
    file.write_text('{"body": "a good film"}\n')
    with pytest.warns(UserWarning, match="detected as jsonl from its content"):
        dptext.sanitize_files(file, out, fields="body", **settings)
    assert seen == [str(file)]


def test_a_run_that_fails_leaves_nothing(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    """A faulty record is an InputError; with on_error="skip" the others are written."""
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text('{"body": "good"}\n{"body": 3}\n')
    with pytest.raises(InputError, match=r"in\.jsonl:2"):
        dptext.sanitize_files(file, out, fields="body", **settings)
    assert [path.name for path in tmp_path.glob("out*")] == []
    dptext.sanitize_files(file, out, fields="body", on_error="skip", **settings)
    assert len(out.read_text().splitlines()) == 1
    with pytest.raises(OutputError):
        dptext.sanitize_files(file, tmp_path / "no" / "o.jsonl", fields="body")


def test_columns_of_people_are_warned_of(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    """The warning names arguments of the call, and stands in the internal report."""
    file = tmp_path / "in.jsonl"
    rows = [{"body": "the film", "email": f"person{n}@example.org"} for n in range(30)]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.warns(UserWarning, match=r"email.*drop="):
        result = dptext.sanitize_files(
            file, tmp_path / "out.jsonl", fields="body", **settings
        )
    assert result.report.private is not None
    assert any("email" in line for line in result.report.private.warnings)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "output or out_dir"),
        ({"output": "o.csv", "out_dir": "o"}, "out_dir or output, not both"),
        ({"output": "-"}, "not standard input or output"),
        ({"output": "in.csv"}, "in.csv"),
        ({"output": "o.csv", "drop": "body"}, "both a private text and left out"),
        ({"output": "o.csv", "fields": ()}, "name each private field"),
        ({"output": "o.csv", "fields": "nothing"}, "nothing"),
        ({"output": "o.csv", "pseudonym": "id"}, "key"),
        ({"output": "o.csv", "encoding": "none"}, "none"),
        ({"output": "o.csv", "fields": "bdy"}, "did you mean 'body'"),
        ({"output": "o.csv", "fields": "body,id"}, r"fields=\['body', 'id'\]"),
        ({"output": "o.csv", "format": "cvs"}, "format cvs: choose csv, json,"),
        (
            {"output": "o.csv", "jobs": 0},
            "jobs 0: give an integer from 1 to 256",
        ),
        (
            {"output": "o.csv", "on_error": "ignore"},
            "on_error ignore: choose fail, skip or",
        ),
        ({"output": "o.csv", "missing": "skip"}, "missing skip: choose fail or pass"),
        ({"output": "o.csv", "missing": "pass"}, "missing: the input is csv"),
    ],
)
def test_wrong_arguments_are_refused(
    given: dict[str, Any],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before anything is written."""
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "in.csv")
    with pytest.raises((UsageError, InputError), match=reason):
        dptext.sanitize_files("in.csv", **({"fields": "body"} | given))
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    ("paths", "given", "reason"),
    [
        (5, {"output": "o.csv"}, "paths: give a path, not int"),
        ("in.csv", {"output": 5}, "output: give a path, not int"),
        ("in.csv", {"out_dir": 5}, "out_dir: give a path, not int"),
        ("in.csv", {"output": "o.csv", "fields": 5}, "fields: give a name or a list"),
        ("in.csv", {"output": "o.csv", "drop": [5]}, "drop: give a name or a list"),
        (".", {"output": "o.csv"}, r"\. is a folder: give out_dir= instead"),
        ("in.txt", {"output": "o.txt"}, "fields: the input is text, and plain text"),
    ],
)
def test_arguments_of_other_kinds_are_refused(
    paths: Any,
    given: dict[str, Any],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By their names, before anything is written."""
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "in.csv")
    (tmp_path / "in.txt").write_text("the film was good\n")
    with pytest.raises((UsageError, TypeError), match=reason):
        dptext.sanitize_files(paths, **({"fields": "body"} | given))
    assert {path.name for path in tmp_path.iterdir()} == {"in.csv", "in.txt"}


@pytest.mark.parametrize(
    ("name", "content", "arguments", "said"),
    [
        (
            "in.csv",
            "a,b\n1,x\n",
            {"fields": "b", "pseudonym": "a"},
            "give it with key=",
        ),
        ("in.txt", "a text\n", {"fields": "b"}, "as in format='csv'"),
        ("in.jsonl", '{"b": {"c": "x"}}\n', {"fields": "b"}, "fields='b.NAME'"),
        (
            "in.csv",
            "a report\n\na,b\n1,x\n",
            {"fields": "b"},
            "skip_lines=2",
        ),
        ("in.jsonl", '{"b": 1}\n', {"fields": "b", "jobs": 2}, "on_error='skip'"),
    ],
)
@pytest.mark.parametrize("copies", [True, False], ids=["fork", "spawn"])
def test_errors_name_arguments(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    name: str,
    content: str,
    arguments: dict[str, Any],
    said: str,
    copies: bool,
) -> None:
    """Also from other processes; an option without an argument is the command's."""
    monkeypatch.setattr(pool, "_can_copy", lambda: copies)
    file = tmp_path / name
    file.write_text(content * 2000 if "jobs" in arguments else content)
    with pytest.raises((InputError, UsageError)) as refused:
        dptext.sanitize_files(
            file,
            tmp_path / f"out.{name}",
            profile="balanced",
            lexicon=lexicon(tmp_path),
            **arguments,
        )
    assert said in str(refused.value)
    assert " --" not in str(refused.value).replace("`dptext sanitize --", "")


def test_warnings_name_arguments(tmp_path: Path, settings: dict[str, Any]) -> None:
    """A value of a key is of its type, not its spelling."""
    (tmp_path / "in.csv").write_text("a,b\n1,NULL\n")
    keeps = r"overrides={'tokens': {'keep': {'patterns': ['^(NULL|NA)$']}}} keeps"
    with pytest.warns(UserWarning, match=re.escape(keeps)):
        dptext.sanitize_files(
            tmp_path / "in.csv", tmp_path / "out.csv", fields="b", **settings
        )
