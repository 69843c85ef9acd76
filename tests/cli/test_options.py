"""Options that several commands have are the same in all; old names say the new one."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from dptext.cli import arguments, options
from tests.cli.running import here
from tests.cli.test_boundary import ALL

# What means something else in one command than in the others, and why.
DIFFERENT = {
    ("check", "--quiet"),  # its findings, too
    ("compare", "--jobs"),  # cells, not processes of one run
    ("check", "--format"),  # of findings, not of records
    ("lexicon import", "--format"),  # of vectors, not of records
    ("embed", "--output"),  # of vectors: another format than that of the input
    ("compare", "--resume"),  # a file of finished rows, not unfinished outputs
}


def by_name() -> dict[str, dict[str, Any]]:
    """Return every option by its long name, then by the command that has it."""
    named: dict[str, dict[str, Any]] = defaultdict(dict)
    for command, parsed in ALL.items():
        for option in parsed.params:
            name = max(option.opts, key=len)
            if name.startswith("--") and (command, name) not in DIFFERENT:
                named[name][command] = option
    return named


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
    said = "--format xml: choose csv, jsonl, parquet, text or tsv"
    assert (ran.code, ran.err) == (2, f"dptext: {said}\n")


@pytest.mark.parametrize("old", arguments.RENAMED)
@pytest.mark.parametrize("command", sorted(ALL))
def test_an_old_option_is_refused_with_its_new_name(command: str, old: str) -> None:
    """On every command, also with a value: one line, exit code 2."""
    new = arguments.RENAMED[old]
    for given in ((old,), (f"{old}=x",), (old, "x")):
        ran = here(*command.split(), *given)
        expected = f"dptext: {old}: this option is now {new}\n"
        assert (ran.code, ran.out, ran.err) == (2, b"", expected)


def test_new_names_are_options_and_old_ones_are_not() -> None:
    """The table of old names leads to options that there are."""
    every = {
        name
        for command in ALL.values()
        for option in command.params
        for name in (*option.opts, *option.secondary_opts)
    }
    assert every >= set(arguments.RENAMED.values())
    assert not every & arguments.RENAMED.keys()


def test_jobs_may_be_left_to_the_machine() -> None:
    """Auto is one process for each core that this one may use."""
    assert 1 <= options.jobs_of("auto") <= (os.cpu_count() or 1)
    assert options.jobs_of("3") == 3


def test_no_help_is_taken_for_markup() -> None:
    """Square brackets around a word would be styles, and vanish from the terminal."""
    for command, parsed in ALL.items():
        for option in parsed.params:
            text = getattr(option, "help", None) or ""
            assert not re.search(r"(?<!\\)\[[a-z/]", text), (command, option.name)
