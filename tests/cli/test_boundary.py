"""Every option of every command with bad values: a code, one line, nothing else.

The commands are found by themselves, so that one yet to be written is walked, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dptext.cli import screen
from dptext.run.marks import Number, Option, find_mark
from tests.cli.commands import ALL, GOOD, write_inputs
from tests.cli.running import Ran, here

# No numbers for any option, and values that no option with limits admits.
NO_NUMBER = ("", "x", "nan", "inf", "-inf", "1e400", "\x1b[31m", "9" * 30, "-1e300")
# No files, names or settings; those that some option admits may end in any code.
NAMES = (
    "nowhere/at/all",
    "folder",
    "binary",
    "a\x1b[31m\x9b2J\u202eb\nc",
    "\udcff",
    "x" * 5000,
    "a.b=[",
    "/dev/zero",
    "",
    ".",
    "/",
    "customer's note",
)
# These are tried in every command.
FEW = (NAMES[0], NAMES[3], "/dev/zero", "")
# Options that mean something beside others only.
BESIDE = {
    ("sanitize", "ledger"): ("--subject", "a", "--limit", "99"),
    ("evaluate", "classifier"): ("--label", "a"),
    ("compare", "classifier"): ("--label", "a"),
}


def number_of(command: str, option: Any) -> Number | None:
    """Return the numbers that an option admits, None where it takes none."""
    declared = find_mark(ALL[command].marks[option.name], Option)
    parse = None if declared is None else declared.parse
    return parse if isinstance(parse, Number) else None


OPTIONS = [
    (name, option)
    for name, command in ALL.items()
    for option in command.params
    if not getattr(option, "is_flag", False)
]
#: The command in which all values of an option are tried: each is declared once, and
#: other commands hand its value to the same code or name a file by it.
FIRST = {option.name: name for name, option in reversed(OPTIONS)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with small inputs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPTEXT_HOME", str(tmp_path / "home"))
    write_inputs(tmp_path)
    return tmp_path


def tried(name: str, option: Any, value: str) -> Ran:
    """Run a command with one of its options, or arguments, set to a value."""
    arguments, options = GOOD[name]
    spelt = max(option.opts, key=len)
    if not spelt.startswith("-"):
        index = [p for p in ALL[name].params if p.opts[0][0] != "-"].index(option)
        arguments = (*arguments[:index], value, *arguments[index + 1 :])
        return here(*name.split(), *options, "--", *arguments)
    kept = list(options)
    for each in option.opts:
        if each in kept:
            at = kept.index(each)
            del kept[at : at + 2]
    kept += BESIDE.get((name, option.name), ())
    return here(*name.split(), *kept, f"{spelt}={value}", "--", *arguments)


def refused(ran: Ran, *codes: int) -> None:
    """Check that a command printed one line with the error, and nothing more."""
    assert ran.code in codes, ran
    assert ran.out == b""
    assert ran.err.startswith("dptext: ")
    assert ran.err.count("\n") == 1
    assert screen.escape(ran.err) == ran.err


def test_every_command_is_walked() -> None:
    """The table of good arguments names all commands there are."""
    assert GOOD.keys() == ALL.keys()


@pytest.mark.parametrize(
    ("name", "option"),
    [pair for pair in OPTIONS if number_of(*pair)],
    ids=lambda each: each if isinstance(each, str) else each.name,
)
def test_numbers_that_are_none(name: str, option: Any, folder: Path) -> None:
    """A value that is no number is named with its option and the accepted values."""
    number = number_of(name, option)
    assert number is not None
    before = sorted(folder.rglob("*"))
    below = () if number.low is None else (f"{number.low - 1:g}",)
    above = () if number.high is None else (f"{number.high + 1:g}",)
    whole = ("1.5",) if number.kind is int else ()
    for value in (*NO_NUMBER, *below, *above, *whole):
        if value == "9" * 30 and number.kind is float and number.high is None:
            continue  # a number like any other, which the profile judges
        if value == "-1e300" and number.kind is float and number.low is None:
            continue
        ran = tried(name, option, value)
        refused(ran, 2)
        assert max(option.opts, key=len) in ran.err
        assert number.accepted in ran.err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "option"),
    [pair for pair in OPTIONS if not number_of(*pair)],
    ids=lambda each: each if isinstance(each, str) else each.name,
)
def test_names_of_what_is_not_there(name: str, option: Any, folder: Path) -> None:
    """No name, file or setting ends in a traceback or a bug, or leaves a file."""
    before = sorted(folder.rglob("*"))
    for value in NAMES if FIRST[option.name] == name else FEW:
        if (option.name, value) == ("files", "/"):
            continue  # every file of this machine
        ran = tried(name, option, value)
        if ran.code == 0 or name == "check":  # these print their findings
            assert ran.code in (0, 1, 2), ran
            for path in sorted(set(folder.rglob("*")) - set(before), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            continue
        refused(ran, 1, 2, 4)
        assert sorted(folder.rglob("*")) == before, value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("sanitize", "-f", "text", "--nonsense"), "--nonsense"),
        (("sanitize", "-f", "text", "--epsilon"), "--epsilon"),
        (("sanitize", "-f", "text", "--quiet=3"), "--quiet"),
        (("sanitise",), "'sanitize'"),
        (("lexicon", "imprt"), "'import'"),
        (("lexicon", "import"), "FILE"),
        (("lexicon", "import", "x", "--name", "y", "--format", "elmo"), "glove"),
        (("calibrate",), "--risk"),
        (("--nonsense",), "--nonsense"),
    ],
)
def test_what_the_parser_refuses(given: tuple[str, ...], said: str) -> None:
    """Options and commands that are not there are one line with the way to help."""
    ran = here(*given)
    refused(ran, 2)
    assert said in ran.err


def test_what_an_option_accepts_is_said_exactly() -> None:
    """The range of a number is in words."""
    assert Number(kind=int, low=1, high=256).accepted == "an integer from 1 to 256"
    assert Number(kind=float, low=0, above=True).accepted == "a number above 0"
    assert Number(kind=float, low=0, high=1).accepted == "a number from 0 to 1"
    assert Number(kind=int).accepted == "an integer"
    ran = here("sanitize", "-f", "text", "--epsilon", "nan")
    expected = "dptext: --epsilon nan: give a number above 0\n"
    assert (ran.code, ran.err) == (2, expected)


def test_without_a_command_there_is_help() -> None:
    """The bare command and the bare group of commands show their help, code 2."""
    for given in ((), ("lexicon",)):
        ran = here(*given)
        assert ran.code == 2
        assert b"Usage" in ran.out
        assert ran.err == ""
