"""Components of other packages take no name of dptext, and break nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dptext import registry
from tests.cli.running import BALANCED, Ran, lexicon
from tests.outside import install, run

LINE = b'{"text":"the film was good"}\n'
BARE = "from dataclasses import dataclass\n@dataclass\nclass Params:\n    pass\n"
UNFIT = "does not extend dptext.mechanisms.Params"
# Modules that no mechanism can be, and the error of each.
BROKEN = {
    "raises": ("raise RuntimeError('first\\nsecond')", "RuntimeError: first)"),
    "missing": ("import no_such_package", "No module named 'no_such_package'"),
    "exits": ("raise SystemExit(3)", "SystemExit: 3"),
    "empty": ("", "lacks Params"),
    "function": (
        "def Params():\n    pass\n",
        "does not extend dptext.mechanisms.Params",
    ),
    "no_dataclass": (
        "class Params:\n    pass\n",
        "does not extend dptext.mechanisms.Params",
    ),
    "params": (BARE, UNFIT),
}


def refused(ran: Ran, *said: str) -> None:
    """Check that one line with code 2 says all that."""
    assert ran.code == 2, ran.err
    assert ran.out == b""
    assert ran.err.count("\n") == 1
    for part in said:
        assert part in ran.err


@pytest.mark.parametrize("stage", registry.STAGES)
def test_members_that_are_asked_for_are_those_of_dptext(stage: str) -> None:
    """Every component of dptext has the members required of outside modules."""
    for name in registry.names(stage):
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
    entries += "\nprinter = bad_empty:print\nodd = 5 $"
    install(tmp_path, "brokenpack", "dptext.mechanisms", entries, **modules)
    ran = run(tmp_path, "list", "mechanisms", "--json")
    assert ran.code == 0, ran.err
    rows = {row["mechanism"]: row for row in json.loads(ran.out)}
    assert rows["rank"]["family"] == "words"
    for name, (_, said) in BROKEN.items():
        assert said in rows[name]["broken"]
        assert "brokenpack" in rows[name]["broken"]
        assert "\n" not in rows[name]["broken"]
    assert "brokenpack" in rows["printer"]["broken"]
    assert "brokenpack" in rows["odd"]["broken"]
    ran = run(tmp_path, "list", "mechanisms")
    assert ran.code == 0, ran.err
    assert b"laplace" in ran.out
    assert b"brokenpack" in ran.out
    refused(
        run(tmp_path, "list", "mechanisms", "raises"),
        "brokenpack",
        "cannot be imported",
    )
    small = (*BALANCED, "--lexicon", lexicon(tmp_path), "--epsilon", "3", "-q")
    assert run(tmp_path, "sanitize", "-f", "text", *small, given=LINE).code == 0
    ran = run(
        tmp_path, "sanitize", "-f", "text", *small, "--mechanism", "exits", given=LINE
    )
    refused(ran, "'exits' of package brokenpack: cannot be imported (SystemExit: 3)")


@pytest.mark.slow
def test_names_of_dptext_are_taken(tmp_path: Path) -> None:
    """A package that takes the name of a component is refused by name, never loaded."""
    text = "raise SystemExit('loaded')"
    install(tmp_path, "thief", "dptext.mechanisms", "rank = evil", evil=text)
    small = (*BALANCED, "--lexicon", lexicon(tmp_path), "--epsilon", "3", "-q")
    ran = run(tmp_path, "sanitize", "-f", "text", *small, given=LINE)
    refused(ran, "'rank' of package thief", "a component of dptext", "remove")
    ran = run(
        tmp_path, "sanitize", "-f", "text", *small, "--mechanism", "santext", given=LINE
    )
    assert ran.code == 0, ran.err
    ran = run(tmp_path, "list", "mechanisms", "--json")
    rows = {row["mechanism"]: row for row in json.loads(ran.out)}
    assert "thief" in rows["rank"]["broken"]
    assert "santext" in rows


def test_a_name_taken_twice_is_nobodys(tmp_path: Path) -> None:
    """Of two packages with one name neither is used; both are named."""
    for name in ("one", "two"):
        install(tmp_path, name, "dptext.mechanisms", "mine = x")
    ran = run(tmp_path, "list", "mechanisms", "mine")
    refused(ran, "one and two", "several packages use the name")


@pytest.mark.slow
def test_metadata_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    """A package with an invalid file of entry points breaks nothing."""
    install(tmp_path, "odd", "dptext.mechanisms", "no equals sign")
    install(tmp_path, "fine", "dptext.formats", "jsonl = x")
    assert run(tmp_path, "list", "mechanisms", "rank").code == 0
    small = (*BALANCED, "--lexicon", lexicon(tmp_path), "--epsilon", "3", "-q")
    refused(
        run(tmp_path, "sanitize", "-f", "text", *small, given=LINE),
        "'jsonl' of package fine",
    )


METRIC = """
from dptext.metrics import Meter as Base
NAME = "Length"
class Meter(Base):
    def __init__(self, lexicon):
        pass
    def observe(self, batch):
        return len(batch.written), len(batch.words.ends)
    def merge(self, one, other):
        return one[0] + other[0], one[1] + other[1]
    def result(self, total):
        return {"mean": total[0] / total[1], "texts": total[1]}
"""
LINES = LINE * 30


@pytest.mark.slow
def test_a_metric_of_another_package_is_measured(tmp_path: Path) -> None:
    """It is in the report and on the terminal, the same with one process and two."""
    install(tmp_path, "lengths", "dptext.metrics", "length = lengths", lengths=METRIC)
    shown = []
    for jobs in ("1", "2"):
        report = tmp_path / "report.json"
        small = (
            *BALANCED,
            "--lexicon",
            lexicon(tmp_path),
            "--epsilon",
            "3",
            "--batch-size",
            "7",
        )
        options = (*small, "--report", str(report), "--jobs", jobs)
        ran = run(tmp_path, "sanitize", "-vf", "text", *options, given=LINES)
        assert ran.code == 0, ran.err
        assert "How much changed" in ran.err
        assert "Length" in ran.err.partition("How much changed")[2]
        shown.append(json.loads(report.read_bytes())["private"]["words"]["metrics"])
    assert shown[0]["Length"] == {"mean": 4.0, "texts": 30}
    assert shown[0].keys() == {"PP", "LOW", "CS", "Length"}
    assert shown[0]["Length"] == shown[1]["Length"]


@pytest.mark.parametrize(
    ("base", "said"),
    [("", "does not extend dptext.metrics.Meter"), ("(Base)", "without merge")],
)
def test_a_metric_without_its_parts_is_refused(
    base: str, said: str, tmp_path: Path
) -> None:
    """A metric that several processes cannot measure is refused by name."""
    text = METRIC.replace("(Base)", base).replace("def merge", "def add")
    install(tmp_path, "oldpack", "dptext.metrics", "old = oldpack", oldpack=text)
    small = (*BALANCED, "--lexicon", lexicon(tmp_path), "--epsilon", "3", "-q")
    ran = run(tmp_path, "sanitize", "-f", "text", *small, given=LINE)
    refused(ran, "'old' of package oldpack", said)


MECHANISM = """
from dataclasses import dataclass
from dptext.mechanisms import rank
import failpack.helper

@dataclass(frozen=True, slots=True)
class Params(rank.Params):
    def prepare(self, space, aim):
        honest = rank.Params.prepare(self, space, aim)
        return Fails(honest.params, honest.space, honest.orders, honest.outputs)

class Fails(rank.Rank):
    def sample(self, ids, eps, bits):
        return failpack.helper.fail(ids)
"""
# Each ends the run in another way; the message is private text.
FAILING = {
    "exception": "raise ZeroDivisionError('zqxjkmarker7')",
    "library": "import json; json.loads('{zqxjkmarker7')",
    "exit": "raise SystemExit(0)",
    "misuse": "from dptext.randomness import RunKey; RunKey.from_bytes(ids)",
    "own class": "raise type('Odd', (OSError,), {'__init__': lambda s, x: None})(1)",
}


def failing(tmp_path: Path, kind: str) -> tuple[str, ...]:
    """Install a mechanism that fails; return options that use it."""
    folder = tmp_path / "failpack"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "helper.py").write_text(f"def fail(ids):\n    {FAILING[kind]}\n")
    (folder / "mine.py").write_text(MECHANISM)
    entry = "mine = failpack.mine"
    install(tmp_path, "failing", "dptext.mechanisms", entry)
    return (
        "--lexicon",
        lexicon(tmp_path),
        "--epsilon",
        "3",
        "-q",
        "--mechanism",
        "mine",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "jobs"),
    [*((kind, "1") for kind in FAILING), ("exception", "2"), ("exit", "2")],
)
def test_a_component_that_fails_is_named(kind: str, jobs: str, tmp_path: Path) -> None:
    """Code 1 and one line with package, file and line; nothing of the message."""
    options = (*failing(tmp_path, kind), "--jobs", jobs, "--no-bayes-risk")
    ran = run(tmp_path, "sanitize", "-f", "text", *options, given=LINE)
    assert ran.code == 1, ran.err
    assert ran.out == b""
    assert ran.err.count("\n") == 1
    assert "package failing failed (" in ran.err
    assert "at helper.py:2)" in ran.err
    assert "zqxjkmarker7" not in ran.err
    assert "bug" not in ran.err


@pytest.mark.slow
def test_a_component_that_fails_in_a_comparison_is_named(tmp_path: Path) -> None:
    """Its row has the reason, as have those of mechanisms that cannot be used."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(LINE * 3)
    ran = run(tmp_path, "compare", str(source), *failing(tmp_path, "exception"))
    printed = ran.err + ran.out.decode()
    assert "package failing failed (ZeroDivisionError at helper.py:2)" in printed
    assert "bug" not in printed
    assert "zqxjkmarker7" not in printed


@pytest.mark.slow
@pytest.mark.parametrize("method", ["__init__", "observe", "merge", "result"])
def test_a_metric_that_fails_is_named(method: str, tmp_path: Path) -> None:
    """Wherever it is called, in this process or a worker."""
    at = METRIC.split("\n")
    row = next(n for n, line in enumerate(at) if f"def {method}(" in line)
    at[row + 1] = "        raise KeyError('zqxjkmarker7')"
    text = "\n".join(at)
    install(tmp_path, "lengths", "dptext.metrics", "length = lengths", lengths=text)
    small = (
        *BALANCED,
        "--lexicon",
        lexicon(tmp_path),
        "--epsilon",
        "3",
        "-q",
        "--jobs",
        "2",
    )
    report = ("--report", str(tmp_path / "report.json"))  # asks for results
    ran = run(tmp_path, "sanitize", "-f", "text", *small, *report, given=LINE)
    assert ran.code == 1, ran.err
    said = (
        f"metric 'length' of package lengths failed (KeyError at lengths.py:{row + 2}"
    )
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert "zqxjkmarker7" not in ran.err
