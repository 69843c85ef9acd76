"""Options that several commands have are the same in all."""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import dptext.cli
from dptext import registry
from dptext.cli.app import COMMANDS, app
from dptext.run.marks import Number, cores
from tests.cli.commands import ALL
from tests.cli.running import here

pytestmark = pytest.mark.quick

# Options that mean something else in one command than in the others, and why.
DIFFERENT = {
    ("check", "--quiet"),  # its findings, too
    ("compare", "--jobs"),  # cells, not processes of one run
    ("check", "--format"),  # of findings, not of records
    ("lexicon import", "--format"),  # of vectors, not of records
    ("embed", "--output"),  # of vectors: another format than that of the input
    ("lexicon adapt", "--language"),  # of a text, where a run reads texts
    ("lexicon import", "--language"),  # of vectors
    ("lexicon adapt", "--min-count"),  # of words, not of pairs
    ("calibrate", "--attacker"),  # the one to calibrate by, not one more
    ("compare", "--resume"),  # a file of finished rows, not unfinished outputs
    ("words build", "--epsilon"),  # of a whole list, not of a word
    ("words build", "--sign-key"),  # a list, not a report
    ("words build", "--output"),  # a list, not a file made private
    ("topics build", "--label"),  # what topics follow, not what a classifier predicts
    ("topics build", "--lexicon"),  # of the vectors of texts
    ("topics build", "--model"),
    ("topics estimate", "--subject"),  # an unchanged field of the output
}


def by_name() -> dict[str, dict[str, Any]]:
    """Return every option by its long name, then by the command that has it."""
    named: dict[str, dict[str, Any]] = defaultdict(dict)
    for command, parsed in ALL.items():
        for option in parsed.params:
            name = max(option.opts, key=len)
            if name == "--help-all":  # it counts the options that it shows
                continue
            if name.startswith("--") and (command, name) not in DIFFERENT:
                named[name][command] = option
    return named


SUMMARIES = {name: each for group in COMMANDS.values() for name, each in group.items()}
SHARED = {name: having for name, having in by_name().items() if len(having) > 1}


def test_what_is_shared_is_known() -> None:
    """The options that a user meets again and again are walked here."""
    names = "profile risk epsilon lexicon set mechanism jobs json html field format"
    assert {f"--{name}" for name in names.split()} <= SHARED.keys()


@pytest.mark.parametrize("name", sorted(SHARED))
def test_an_option_reads_the_same_everywhere(name: str) -> None:
    """One help, which a command may add a remark to, and the same short name."""
    helps = {option.help for option in SHARED[name].values()}
    common = min(helps, key=len).rstrip(".")
    assert common
    assert all(help.startswith(common) for help in helps), helps
    shorts = {
        tuple(each for each in option.opts if not each.startswith("--"))
        for command, option in SHARED[name].items()
        if command != "compare" or name != "--mechanism"  # its main option
    }
    assert len(shorts) == 1, shorts


@pytest.mark.parametrize("command", ["sanitize", "evaluate", "compare"])
def test_a_format_is_checked_in_one_way(command: str, tmp_path: Path) -> None:
    """A format that is not there is refused before anything is read."""
    files = ["nowhere.jsonl"] * (2 if command == "evaluate" else 1)
    ran = here(command, *files, "--format", "xml")
    *first, last = registry.names("formats")
    message = f"--format xml: choose {', '.join(first)} or {last}"
    assert (ran.code, ran.err) == (2, f"dptext: {message}\n")


def test_the_help_names_all_formats() -> None:
    """A new format is in the help of --format."""
    for name in registry.names("formats"):
        assert all(name in option.help for option in SHARED["--format"].values())


@pytest.mark.parametrize("command", sorted(ALL))
def test_help_fits_on_a_screen_and_names_the_rest(command: str) -> None:
    """At 80 columns 50 lines at most, with an example; --help-all shows all options."""
    parsed = ALL[command]
    hidden = [each for each in parsed.params if each.hidden]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.setenv("TERMINAL_WIDTH", "80")
        lines = here(*command.split(), "--help").out.decode().strip().splitlines()
        assert len(lines) <= 50
        assert not re.search(r"<\w", "\n".join(lines))  # types, as in <bool>
        assert lines[-1].strip().startswith("Example: dptext ")
        more = f"--help-all Show all options: {len(hidden)} more."
        assert (more in re.sub(" +", " ", "\n".join(lines))) == bool(hidden)
        if hidden:
            ran = here(*command.split(), "--help-all")
            shown = ran.out.decode()
            assert ran.code == 0, ran.err
            assert ran.err == ""
            assert not re.search(r"<\w", shown)
            for each in parsed.params:
                assert each.help, each.name
                option = each.param_type_name == "option"
                assert (max(each.opts, key=len) if option else each.metavar) in shown
    assert hidden == [each for each in parsed.params if each.hidden]


def test_summaries_are_those_of_commands() -> None:
    """The list of commands, which loads none, README and each help begin alike."""
    readme = (Path(dptext.cli.__file__).parents[2] / "README.md").read_text("utf-8")
    for name, summary in SUMMARIES.items():
        row = summary.replace(".dptext.yaml", "`.dptext.yaml`")
        assert f"| `dptext {name}` | {row}" in readme
        command: Any = get_command(app).get_command(None, name)  # type: ignore[attr-defined]
        assert command.help.partition("\n\n")[0] == summary


def examples() -> list[str]:
    """Return the examples of all commands."""
    epilogs = "\n\n".join(command.epilog for command in ALL.values())
    return [each.replace("\\[", "[") for each in epilogs.split("\n\n")]


@pytest.mark.parametrize("example", examples())
def test_every_example_is_parsed(example: str) -> None:
    """The options and arguments of an example are those of its command."""
    text = example.removeprefix("Example: dptext ").partition(" > ")[0]
    name = next(name for name in ALL if f"{text} ".startswith(f"{name} "))
    given = shlex.split(text.removeprefix(name))
    with ALL[name].make_context(name, given) as context:
        assert context.params


def test_no_command_takes_more_than_a_reader_can_hold() -> None:
    """At most 18 parameters, groups of options among them; at most 16 commands."""
    assert len({name.split()[0] for name in ALL}) <= 16
    for path in Path(dptext.cli.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                count = len(node.args.args) + len(node.args.kwonlyargs)
                assert count <= 18, (path.name, node.name)


def test_jobs_may_be_left_to_the_machine() -> None:
    """Auto is one process for each core that this one may use."""
    assert 1 <= cores() <= (os.cpu_count() or 1)
    jobs = Number(kind=int, low=1, high=9, auto=True)
    assert jobs("auto") == cores()
    assert jobs("3") == 3


def test_no_help_is_taken_for_markup() -> None:
    """Square brackets around a word would be styles, and vanish from the terminal."""
    for command, parsed in ALL.items():
        for option in parsed.params:
            text = getattr(option, "help", None) or ""
            assert not re.search(r"(?<!\\)\[[a-z/]", text), (command, option.name)
