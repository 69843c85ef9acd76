"""Of several copied columns any one may identify people: the first, the last, any.

`check` and `sanitize --fail-on identifying` find it in every format, in nested fields
and lists, in any of several files, and beside others that are allowed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import here, small
from tests.cli.test_contents import WRITERS

Row = dict[str, Any]
COPIED = 4
# Ways to identify people: three or more values of a column, each of another row.
VALUES = {
    "address": [f"write to a{n}@mail.example" for n in range(6)],
    "name": "Mary Smith,James Lee,Susan Roy,Linda Ray,Karen Hay,Robert Z".split(","),
    "card": ["4111111111111111", "5500000000000004", "378282246310005"] * 2,
}
PLAIN = ["open", "closed", "new", "open", "old", "closed"]


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Work in an empty folder; return options of a quick run."""
    monkeypatch.chdir(tmp_path)
    return ("-f", "text", *small(tmp_path), "-q")


def rows(at: int | None, text_at: int, how: str = "address") -> list[Row]:
    """Return a table with columns c0, c1, ..., of which one may identify people."""
    names = [f"c{number}" for number in range(COPIED)]
    names.insert(text_at, "text")
    table = []
    for line, plain in enumerate(PLAIN):
        values = dict.fromkeys(names, plain)
        values["text"] = "the film was good"
        if at is not None:
            values[f"c{at}"] = VALUES[how][line]
        table.append(values)
    return table


def messages(*paths: str) -> list[tuple[str, str]]:
    """Return the findings of `check`, with their files."""
    ran = here("check", *paths, "--format", "json")
    data = json.loads(ran.out)
    assert ran.code == (not data["success"])
    return [
        (each["file"], finding["message"])
        for each in data["exports"]
        for finding in each["findings"]
    ]


@pytest.mark.parametrize("suffix", WRITERS)
def test_any_one_of_several_columns_is_found(
    words: tuple[str, ...], suffix: str
) -> None:
    """At every place, before and behind the text; without one nothing is found."""
    source, out = f"in.{suffix}", f"out.{suffix}"
    for at in (None, *range(COPIED)):
        WRITERS[suffix](rows(at, text_at=(at or 0) % 3), Path(source))
        ran = here("sanitize", source, *words, "-o", out)
        assert ran.code == 0, ran.err
        found = messages(out)
        stopped = here("sanitize", source, *words, "--fail-on", "identifying")
        if at is None:
            assert found == []
            assert stopped.code == 0
            continue
        ((_, line),) = found
        assert f"column 'c{at}' is unchanged and looks like" in line
        assert (stopped.code, stopped.out) == (5, b"")
        assert f"'c{at}'" in stopped.err


@pytest.mark.parametrize("how", VALUES)
def test_every_way_to_identify_counts_in_the_last_column(
    words: tuple[str, ...], how: str
) -> None:
    """A table without a header, whose columns are numbers, too."""
    table = rows(COPIED - 1, text_at=0, how=how)
    for header in (True, False):
        lines = io.StringIO()
        writer = csv.writer(lines)
        if header:
            writer.writerow(table[0])
        writer.writerows(row.values() for row in table)
        Path("in.csv").write_text(lines.getvalue())
        options = words if header else ("--no-header", "-f", "1", *words[2:])
        name = f"c{COPIED - 1}" if header else str(COPIED + 1)
        ran = here("sanitize", "in.csv", *options, "-o", "out.csv")
        assert ran.code == 0, ran.err
        ((_, line),) = messages("out.csv")
        assert f"column '{name}' is unchanged" in line
        ran = here("sanitize", "in.csv", *options, "--fail-on", "identifying")
        assert (ran.code, f"'{name}'" in ran.err) == (5, True)


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_any_one_of_nested_fields_is_found(words: tuple[str, ...], suffix: str) -> None:
    """Inside of objects, of objects in lists, and as items of lists, at every place."""
    for at in range(COPIED):
        table = []
        for row in rows(at, text_at=0):
            text, *plain = row.values()
            inner = {f"c{number}": each for number, each in enumerate(plain)}
            table.append(
                {"text": text, "of": inner, "more": [{"x": 1}, inner], "all": plain}
            )
        WRITERS[suffix](table, Path(f"in.{suffix}"))
        ran = here("sanitize", f"in.{suffix}", *words, "-o", f"out.{suffix}")
        assert ran.code == 0, ran.err
        found = " ".join(line for _, line in messages(f"out.{suffix}"))
        for name in (f"'of.c{at}'", f"'more.c{at}'", "'all'"):
            assert f"column {name} is unchanged" in found
        assert found.count("is unchanged") == 3


def test_any_one_of_several_files_is_found(words: tuple[str, ...]) -> None:
    """Each file is named for what it holds itself, in a folder and one by one."""
    Path("in").mkdir()
    for at in range(COPIED):
        WRITERS["csv"](rows(at, text_at=1), Path(f"in/f{at}.csv"))
    WRITERS["csv"](rows(None, text_at=1), Path("in/plain.csv"))
    assert here("sanitize", "in", *words, "--out-dir", "out").code == 0
    names = [f"out/f{at}.csv" for at in range(COPIED)]
    for paths in (("out",), (*names, "out/plain.csv")):
        found = messages(*paths)
        assert [file for file, _ in found] == names
        for at, (_, line) in enumerate(found):
            assert f"column 'c{at}'" in line
    for last in range(COPIED):  # of two files either one stops the run
        files = ("in/plain.csv", f"in/f{last}.csv")
        for each in (files, files[::-1]):
            to = f"o{last}{each.index(files[0])}"
            run = ("sanitize", *each, *words, "--out-dir", to)
            ran = here(*run, "--fail-on", "identifying")
            assert (ran.code, f"'c{last}'" in ran.err) == (5, True), ran.err


@pytest.mark.parametrize("at", [0, 2, 4])
def test_any_one_id_of_vectors_is_found(words: tuple[str, ...], at: int) -> None:
    """One address among ids, the first or the last: by both commands."""
    table = [{"id": f"n{line}", "text": "the film was good"} for line in range(5)]
    table[at]["id"] = "mary@mail.example"
    WRITERS["jsonl"](table, Path("in.jsonl"))
    run = ("embed", "in.jsonl", "--id", "id", *words[:4], "--epsilon", "8", "-q")
    assert here(*run, "-o", "out.npz").code == 0
    ran = here("check", "out.npz", *words[2:4], "--set", "max_loss=1e9")
    assert (ran.code, "column 'id' is unchanged" in ran.out.decode()) == (1, True)
    ran = here(*run, "-o", "other.npz", "--fail-on", "identifying")
    assert (ran.code, "column 'id'" in ran.err) == (5, True)


@pytest.mark.parametrize(
    ("names", "is_found"),
    [
        (["mary@mail.example"], True),
        (["x", "mary@mail.example"], True),
        (["mary@mail.example", "x"], True),
        (["Mary Smith", "James Lee"], False),
        (["Mary Smith", "James Lee", "Susan Roy"], True),
    ],
)
def test_any_one_name_of_a_field_is_found(
    words: tuple[str, ...], names: list[str], is_found: bool
) -> None:
    """One address is enough; two names of people may be those of columns."""
    row = {"text": "the film was good", **dict.fromkeys(names, 1)}
    WRITERS["jsonl"]([row] * 3, Path("in.jsonl"))
    assert here("sanitize", "in.jsonl", *words, "-o", "out.jsonl").code == 0
    found = [line for _, line in messages("out.jsonl")]
    assert any("names of fields" in line for line in found) is is_found


def test_any_one_that_is_not_allowed_is_found(words: tuple[str, ...]) -> None:
    """All columns identify people and all but one may: this one is found."""
    table = [
        {name: text if name == "text" else f"a{line}@mail.example" for name in row}
        for line, row in enumerate(rows(None, text_at=2))
        for text in [row["text"]]
    ]
    WRITERS["csv"](table, Path("in.csv"))
    assert here("sanitize", "in.csv", *words, "-o", "out.csv").code == 0
    assert len(messages("out.csv")) == COPIED
    for left in range(COPIED):
        allowed = ", ".join(f"c{at}" for at in range(COPIED) if at != left)
        Path(".dptext.yaml").write_text(
            f"check:\n  allow: [punctuation, forms, identifying: [{allowed}]]\n"
        )
        ((_, line),) = messages("out.csv")
        assert f"column 'c{left}'" in line
        ran = here("sanitize", "in.csv", *words, "--fail-on", "identifying")
        assert (ran.code, f"column 'c{left}'" in ran.err) == (5, True)


def test_any_one_of_copied_columns_is_held_against_the_policy(
    words: tuple[str, ...],
) -> None:
    """The keys copy, fields and deny_columns look at every copied column."""
    names = [f"c{number}" for number in range(COPIED)]
    for suffix in ("csv", "jsonl"):
        WRITERS[suffix](rows(None, text_at=1), Path(f"in.{suffix}"))
        out = f"out.{suffix}"
        assert here("sanitize", f"in.{suffix}", *words, "-o", out).code == 0
        for left in names:
            others = ", ".join(name for name in names if name != left)
            for key, value in (
                ("copy", f"[{others}]"),
                ("fields", f"[text, {left}]"),
                ("deny_columns", f"[{left}]"),
                ("deny_columns", f"[a, '*{left[1:]}', b]"),
            ):
                ran = here("check", out, "--set", f"{key}={value}")
                assert (ran.code, f"'{left}'" in ran.out.decode()) == (1, True)
        assert here("check", out, "--set", f"copy=[{', '.join(names)}]").code == 0


def test_any_one_of_several_pseudonyms_is_looked_at(words: tuple[str, ...]) -> None:
    """A value that is no token is found in each column of pseudonyms."""
    Path("key").write_bytes(bytes(range(64)))
    Path("key").chmod(0o600)
    WRITERS["csv"](rows(None, text_at=1), Path("in.csv"))
    named = [part for at in range(COPIED) for part in ("--pseudonym", f"c{at}")]
    run = ("sanitize", "in.csv", *words, *named, "--key-file", "key", "-o", "out.csv")
    assert here(*run).code == 0
    assert messages("out.csv") == []
    honest, side = Path("out.csv").read_text(), Path("out.csv.dptext.json")
    report = json.loads(side.read_text())
    *above, last = honest.splitlines()
    for at in range(COPIED):
        values = last.split(",")
        values[at + (at >= 1)] = "Mary"
        Path("out.csv").write_text("\n".join([*above, ",".join(values)]) + "\n")
        data = Path("out.csv").read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        report["output"] |= {"bytes": len(data), "sha256": digest}
        side.write_text(json.dumps(report))
        ((_, line),) = messages("out.csv")
        assert line == f"column 'c{at}': 1 of {len(PLAIN)} values are no pseudonyms"
