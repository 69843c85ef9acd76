"""Every command that dptext prints can be run as it stands, or names its options."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import ALL
from tests.cli.running import BALANCED, here, lexicon

PACKAGE = Path(__file__).parents[2] / "dptext"
TEXT = "the film was good and the actor was sad"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(**others: str) -> str:
    """Return lines of JSON with an id and a text."""
    every = [{"id": str(n), "text": TEXT, **others} for n in range(3)]
    return "".join(f"{json.dumps(row)}\n" for row in every)


FIELD = ("-f", "text")
LAYOUTS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "names with blanks": ("my file's.jsonl", rows(), FIELD),
    "another field": (
        "a.jsonl",
        rows().replace('"text"', '"a note"'),
        ("-f", "a note"),
    ),
    "two fields": ("a.jsonl", rows(note="a sad film"), (*FIELD, "-f", "note")),
    "strings": ("a.json", json.dumps([TEXT, TEXT]), ()),
    "plain text": ("a.txt", f"{TEXT}\n{TEXT}\n", ()),
    "a folder between": ("sub/a.jsonl", rows(), FIELD),
    "a suffix of no format": ("a.data", rows(), (*FIELD, "--format", "jsonl")),
    "a delimiter": ("a.csv", f"id:text\n1:{TEXT}\n", (*FIELD, "--delimiter", ":")),
    "no header": ("a.csv", f"1,{TEXT}\n2,{TEXT}\n", ("-f", "2", "--no-header")),
    "a column less": ("a.csv", f"id,text\n1,{TEXT}\n", (*FIELD, "--drop", "id")),
    "an encoding": ("a.csv", f"id,text\né,{TEXT}\n", (*FIELD, "--encoding", "latin-1")),
    "null texts": (
        "a.jsonl",
        rows() + '{"id": "9", "text": null}\n',
        (*FIELD, "--missing", "pass"),
    ),
    "another order": ("a.jsonl", rows(), (*FIELD, "--shuffle", "--id", "id")),
    "a dash before": ("-a.jsonl", rows(), FIELD),
}


def printed(err: str, command: str) -> list[str]:
    """Return the arguments of a command that stands in a line of its own."""
    (line,) = [
        each for each in err.splitlines() if each.startswith(f"dptext {command}")
    ]
    return shlex.split(line)[1:]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_comparison_runs_as_printed(layout: str, folder: Path) -> None:
    """Files, fields and layout are in the line, quoted for a shell."""
    name, content, options = LAYOUTS[layout]
    encoding = "latin-1" if "latin-1" in options else "utf-8"
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding)
    source = f"./{name}" if name.startswith("-") else name
    output = str(path.with_name(f"out of{path.suffix}"))
    made = ("--lexicon", lexicon(folder), *BALANCED, "-o", output)
    ran = here("sanitize", source, *options, *made)
    assert ran.code == 0, ran.err
    compared = here(*printed(ran.err, "evaluate"))
    assert compared.code == 0, compared.err
    shown = here("report", output)
    assert shown.code == 0, shown.err


def test_a_named_sheet_is_in_the_line(folder: Path) -> None:
    """So is the field with its sheet, which a shell would read otherwise."""
    book = pytest.importorskip("openpyxl").Workbook()
    for name in ("one", "two sheets"):
        sheet = book.create_sheet(name)
        sheet.append(["text"])
        sheet.append([TEXT])
    book.save("a.xlsx")
    for options in (("-f", "text", "--sheet", "two sheets"), ("-f", "two sheets!text")):
        made = ("--lexicon", lexicon(folder), *BALANCED, "-o", "o.xlsx")
        ran = here("sanitize", "a.xlsx", *options, *made)
        assert ran.code == 0, ran.err
        assert here(*printed(ran.err, "evaluate")).code == 0


@pytest.mark.parametrize(
    "options",
    [("--shuffle",), ("--in-place",), ("--no-sidecar",), ("--on-error", "skip")],
)
def test_no_line_where_none_can_be_run(options: tuple[str, ...], folder: Path) -> None:
    """Records in another order, or fewer, and no original: nothing to compare."""
    lines = rows() + ("{\n" if "skip" in options else "")
    Path("a.jsonl").write_text(lines)
    where = () if "--in-place" in options else ("-o", "o.jsonl")
    made = ("-f", "text", "--lexicon", lexicon(folder), *BALANCED, *where, *options)
    ran = here("sanitize", "a.jsonl", *made)
    assert ran.code in (0, 1), ran.err
    assert "dptext evaluate a.jsonl" not in ran.err


# A command in a sentence or in backquotes: its name, then what belongs to it.
_COMMAND = re.compile(r"(?<![\w./])dptext ([a-z]+(?: [a-z]+)?)((?: [^`;:()]*)?)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def texts(tree: ast.AST) -> Iterator[str]:
    """Give the strings of code that are no docstring; blanks of f-strings are X."""
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if node.body and isinstance(node.body[0], ast.Expr)
    }
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else _blank(part)
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in documented | inner:
                yield node.value


def _blank(part: ast.AST) -> str:
    """Return an option that a part writes, as in option("field"); else X."""
    call = getattr(part, "value", None)
    if isinstance(call, ast.Call) and getattr(call.func, "id", "") in (
        "option",
        "noun",
    ):
        name = call.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return f"--{name.value}"
    return "X"


def named_commands() -> Iterator[tuple[str, str]]:
    """Give the commands that messages and sentences name, with the text behind."""
    sources = [
        text
        for path in PACKAGE.rglob("*.py")
        for text in texts(ast.parse(path.read_text("utf-8")))
    ]
    sources += [path.read_text("utf-8") for path in PACKAGE.rglob("*.toml")]
    for text in sources:
        joined = re.sub(r"\{option:([a-z-]+)[^}]*\}", r"--\1", text)
        for match in _COMMAND.finditer(joined):
            yield match[1], match[2]


def test_messages_name_commands_and_options_that_exist() -> None:
    """A command, and each option that stands behind it, is one of the program."""
    groups = {name.partition(" ")[0] for name in ALL}
    seen = 0
    for named, behind in named_commands():
        first = named.partition(" ")[0]
        if first not in groups:
            continue  # a sentence about dptext
        name = named if named in ALL else first
        if first not in ALL and name not in ALL:
            assert first in groups, named
            continue
        known = {each for option in ALL[name].params for each in option.opts}
        known |= {each for p in ALL[name].params for each in p.secondary_opts}
        wrong = {*_OPTION.findall(behind)} - known
        assert not wrong, f"dptext {named}{behind}"
        seen += 1
    assert seen > 30
