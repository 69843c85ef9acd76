"""Every command, and every help, as a person sees it: in a pseudo-terminal."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.commands import ALL, GOOD, SMALL, write_inputs
from tests.cli.running import environment, on_terminal

if sys.platform == "win32":
    pytest.skip("needs POSIX terminals", allow_module_level=True)

# Runs commands one after the other; says how each ended.
PROGRAM = """
import json, sys
from dptext.cli.app import app
for arguments in json.loads(sys.argv[1]):
    try:
        app(arguments, prog_name="dptext")
    except SystemExit as ended:
        print(f"\\nENDED {ended.code}", flush=True)
"""
HELP = [
    (),
    ("--help",),
    ("lexicon",),
    ("lexicon", "--help"),
    ("ledger", "--help"),
    *((*name.split(), "--help") for name in ALL),
]
RUN = ("sanitize", "in.jsonl", *SMALL, "--no-bayes-risk", "-o", "out.jsonl")
BUDGET = ("--ledger", "spent.db", "--subject", "a", "--limit", "99")
COMMANDS = [
    (*RUN, "--report", "full.json", *BUDGET),
    ("report", "full.json"),
    ("check", "out.jsonl", "folder", "in.jsonl"),
    *(
        (*name.split(), *options, *arguments)
        for name, (arguments, options) in GOOD.items()
        if name not in ("sanitize", "report", "check")
    ),
    ("nonsense",),
    ("sanitize", "\x1b[31m"),
]
_STYLES = re.compile(r"\x1b\[([0-9;]*)m")
_WRITTEN_OUT = re.compile(r"\\u00[0-9a-f]{2}")


def shown(
    lines: list[tuple[str, ...]], columns: int, folder: Path, **env: str
) -> list[tuple[str, int]]:
    """Return what each command line prints on a terminal, and its exit code.

    Questions are answered with their defaults.
    """
    write_inputs(folder)
    given = {**environment(TERM="xterm-256color", DPTEXT_HOME=str(folder / "home"))}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS"):
        given.pop(name, None)
    code, _, text = on_terminal(
        [sys.executable, "-c", PROGRAM, json.dumps(lines)],
        {**given, **env},
        columns=columns,
        typed=b"\n" * 9,
        cwd=folder,
    )
    assert code == 0
    *outputs, _ = re.split(r"ENDED (\d+)\n", text)
    return list(zip(outputs[::2], map(int, outputs[1::2]), strict=True))


def has_colour(text: str) -> bool:
    """Tell whether a text has colours, beside bold and faint letters."""
    styles = {each for codes in _STYLES.findall(text) for each in codes.split(";")}
    return any(each[:1] in ("3", "4", "9") and each[1:] for each in styles)


@pytest.mark.parametrize(("columns", "colour"), [(80, True), (200, False)])
def test_every_help_in_a_terminal(columns: int, colour: bool, tmp_path: Path) -> None:
    """Help fits the width, in colours unless NO_COLOR is set, and as itself."""
    env = {} if colour else {"NO_COLOR": "1"}
    seen = shown(HELP, columns, tmp_path, **env)
    for line, (text, code) in zip(HELP, seen, strict=True):
        assert code == (0 if "--help" in line else 2), line
        assert "Usage" in text, line
        assert not _WRITTEN_OUT.search(text), line
        assert has_colour(text) == colour, line
        widths = [len(_STYLES.sub("", each)) for each in text.splitlines()]
        assert max(widths) <= columns, line


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "colour"), [(80, True), (200, False)])
def test_every_command_in_a_terminal(
    columns: int, colour: bool, tmp_path: Path
) -> None:
    """Colours reach the terminal as such, and text of others does not."""
    env = {} if colour else {"NO_COLOR": "1"}
    seen = shown(COMMANDS, columns, tmp_path, **env)
    for line, (text, code) in zip(COMMANDS, seen, strict=True):
        assert code in (0, 1, 2), (line, text)
        assert colour or not has_colour(text), line
        assert "Traceback" not in text, line
        assert bool(_WRITTEN_OUT.search(text)) == ("\x1b[31m" in line), (line, text)


def test_colours_that_are_asked_for_are_not_written_out(tmp_path: Path) -> None:
    """FORCE_COLOR, as build servers set it, is no reason to show codes."""
    ((text, _),) = shown([("--help",)], 80, tmp_path, FORCE_COLOR="1")
    assert "\x1b[1m" in text
    assert not _WRITTEN_OUT.search(text)


def test_values_of_others_in_help_do_not_move_the_cursor(tmp_path: Path) -> None:
    """A default that the environment sets is no part of the help."""
    ((text, code),) = shown(
        [("sanitize", "--help")], 80, tmp_path, DPTEXT_FIELD="\x1b[8mhidden"
    )
    assert (code, "hidden" in text) == (0, False)
