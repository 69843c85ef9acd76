"""Components of other packages take no name of dptext, and break nothing."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dptext import registry
from tests.cli.running import Ran, lexicon, there

LINE = b'{"text":"the film was good"}\n'
BARE = "from dataclasses import dataclass\n@dataclass\nclass Params:\n    pass\n"
# Modules that no mechanism can be, and what is said of each.
BROKEN = {
    "raises": ("raise RuntimeError('first\\nsecond')", "RuntimeError: first)"),
    "missing": ("import no_such_package", "No module named 'no_such_package'"),
    "exits": ("raise SystemExit(3)", "SystemExit: 3"),
    "empty": ("", "lacks FAMILY"),
    "no_params": ("FAMILY = 'choice'", "lacks Params"),
    "no_prepare": (f"FAMILY = 'choice'\n{BARE}", "lacks prepare"),
    "no_draw": (
        f"FAMILY = 'noise'\n{BARE}prepare = guarantee = choose = print",
        "lacks perturb",
    ),
    "family": (
        f"FAMILY = 'other'\n{BARE}prepare = guarantee = choose = print",
        "FAMILY 'other'",
    ),
    "params": (
        "FAMILY = 'choice'\nclass Params: pass\nprepare = guarantee = choose = print",
        "no dataclass",
    ),
}


def install(site: Path, package: str, group: str, entries: str, **modules: str) -> None:
    """Lay a package into a folder for packages, as an installer does."""
    facts = site / f"{package}-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
    )
    (facts / "entry_points.txt").write_text(f"[{group}]\n{entries}\n")
    for name, text in modules.items():
        (site / f"{name}.py").write_text(text)


def run(site: Path, *arguments: str, given: bytes = b"") -> Ran:
    """Run a command that sees the packages of a folder."""
    root = str(Path(__file__).parents[1])
    return there(*arguments, given=given, PYTHONPATH=os.pathsep.join([str(site), root]))


def refused(ran: Ran, *said: str) -> None:
    """Check that one line with code 2 says all that."""
    assert ran.code == 2, ran.err
    assert ran.out == b""
    assert ran.err.count("\n") == 1
    for part in said:
        assert part in ran.err


@pytest.mark.parametrize("stage", registry.STAGES)
def test_members_that_are_asked_for_are_those_of_dptext(stage: str) -> None:
    """What an outside module must have, every component of dptext has."""
    counted = ("english", "epsilons") if stage == "metrics" else ()  # no meters
    for name in registry.names(stage):
        if name not in counted:
            assert not registry._unfit(stage, registry.find(stage, name)), name


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("", "lacks Params"),
        (BARE, "Params that does not extend dptext.budgets.Params"),
        (
            "from dptext import budgets\nclass Params(budgets.Params): pass",
            "Params without prepare",
        ),
    ],
)
def test_a_component_that_is_half_written_is_refused(
    program: str, problem: str
) -> None:
    """Settings that are no budget's, and such as cannot be made ready."""
    module = ModuleType("half")
    sys.modules["half"] = module
    exec(program, vars(module))
    assert problem in registry._unfit("budgets", module)


@pytest.mark.slow
def test_broken_mechanisms_break_no_other(tmp_path: Path) -> None:
    """Each is listed with its package and reason; other mechanisms are used as ever."""
    entries = "\n".join(f"{name} = bad_{name}" for name in BROKEN)
    modules = {f"bad_{name}": text for name, (text, _) in BROKEN.items()}
    entries += "\nfunction = bad_empty:print\nodd = 5 $"
    install(tmp_path, "brokenpack", "dptext.mechanisms", entries, **modules)
    ran = run(tmp_path, "mechanisms", "--json")
    assert ran.code == 0, ran.err
    rows = {row["mechanism"]: row for row in json.loads(ran.out)}
    assert rows["rank"]["family"] == "choice"
    for name, (_, said) in BROKEN.items():
        assert said in rows[name]["broken"]
        assert "brokenpack" in rows[name]["broken"]
        assert "\n" not in rows[name]["broken"]
    assert "brokenpack" in rows["function"]["broken"]
    assert "brokenpack" in rows["odd"]["broken"]
    ran = run(tmp_path, "mechanisms")
    assert ran.code == 0, ran.err
    assert b"laplace" in ran.out
    assert b"brokenpack" in ran.out
    refused(run(tmp_path, "mechanisms", "raises"), "brokenpack", "cannot be imported")
    small = ("--lexicon", lexicon(tmp_path), "--epsilon", "3", "-q")
    assert run(tmp_path, "sanitize", *small, given=LINE).code == 0
    ran = run(tmp_path, "sanitize", *small, "--mechanism", "exits", given=LINE)
    refused(ran, "'exits' of package brokenpack: cannot be imported (SystemExit: 3)")


@pytest.mark.slow
def test_names_of_dptext_are_taken(tmp_path: Path) -> None:
    """A package that takes the name of a component is refused by name, never loaded."""
    text = "raise SystemExit('loaded')"
    install(tmp_path, "thief", "dptext.mechanisms", "rank = evil", evil=text)
    small = ("--lexicon", lexicon(tmp_path), "--epsilon", "3", "-q")
    ran = run(tmp_path, "sanitize", *small, given=LINE)
    refused(ran, "'rank' of package thief", "a component of dptext", "remove")
    ran = run(tmp_path, "sanitize", *small, "--mechanism", "santext", given=LINE)
    assert ran.code == 0, ran.err
    ran = run(tmp_path, "mechanisms", "--json")
    rows = {row["mechanism"]: row for row in json.loads(ran.out)}
    assert "thief" in rows["rank"]["broken"]
    assert "santext" in rows


def test_a_name_taken_twice_is_nobodys(tmp_path: Path) -> None:
    """Of two packages with one name neither is used; both are named."""
    for name in ("one", "two"):
        install(tmp_path, name, "dptext.mechanisms", "mine = x")
    ran = run(tmp_path, "mechanisms", "mine")
    refused(ran, "one and two", "taken twice")


@pytest.mark.slow
def test_metadata_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    """A package whose entry points are no such file breaks nothing."""
    install(tmp_path, "odd", "dptext.mechanisms", "no equals sign")
    install(tmp_path, "fine", "dptext.formats", "jsonl = x")
    assert run(tmp_path, "mechanisms", "rank").code == 0
    small = ("--lexicon", lexicon(tmp_path), "--epsilon", "3", "-q")
    refused(run(tmp_path, "sanitize", *small, given=LINE), "'jsonl' of package fine")
