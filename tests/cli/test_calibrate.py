"""`dptext calibrate` on a small lexicon: one profile, one mechanism, all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dptext import registry
from tests.cli.running import Ran, here, lexicon


def rows(tmp_path: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    """Calibrate and return the rows by mechanism."""
    where = ("--lexicon", lexicon(tmp_path), "--json")
    ran = here("calibrate", *arguments, *where)
    assert ran.code == 0, ran.err
    table = json.loads(ran.out)
    assert table["lexicon_digest"]
    return {row["mechanism"]: row for row in table["rows"]}


@pytest.fixture(scope="module")
def of_all(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Calibrate all mechanisms, once."""
    where = ("--lexicon", lexicon(tmp_path_factory.mktemp("all")), "--json")
    return here("calibrate", "--risk", "25%", "--mechanism", "all", *where)


def test_all_mechanisms_are_listed_with_an_epsilon_or_a_reason(of_all: Ran) -> None:
    """Every registered mechanism has one row; the risk is met, "none" is said."""
    assert of_all.code == 0, of_all.err
    listed = {row["mechanism"]: row for row in json.loads(of_all.out)["rows"]}
    assert set(listed) == set(registry.names("mechanisms"))
    measured = {name: row for name, row in listed.items() if row["skipped"] is None}
    assert {"rank", "santext", "tem", "laplace", "gaussian", "vickrey"} <= set(measured)
    for row in measured.values():
        assert row["epsilon"] > 0
        assert row["risk"]["success"] <= 0.25
        assert 0.0 <= row["n_w"] <= 1.0
        assert row["seconds"] >= 0.0
    for name in set(listed) - set(measured):
        assert listed[name]["skipped"].strip()
    assert "synonyms" in listed["syntf"]["skipped"]
    assert measured["vickrey"]["notion"] == "none"
    assert measured["vickrey"]["worst_loss"] is None
    assert measured["vickrey"]["reason"]
    for name in ("laplace", "gaussian", "vickrey"):
        assert measured[name]["risk"]["low"] < measured[name]["risk"]["high"]
    assert measured["rank"]["risk"]["low"] is None
    assert measured["rank"]["worst_loss"] == measured["rank"]["epsilon"]


def test_results_are_told_as_they_come(of_all: Ran) -> None:
    """An estimate first, then a line for each mechanism, all off standard output."""
    json.loads(of_all.out)
    lines = [line for line in of_all.err.splitlines() if "so far)" not in line]
    assert "is cached" in lines[0]
    names = [line.split(": ")[1] for line in lines[1:]]
    assert names == list(registry.names("mechanisms"))
    assert any("epsilon" in line and "risk" in line for line in lines[1:])


def test_a_profile_keeps_its_own_parameters(tmp_path: Path) -> None:
    """The table says mechanism, parameters, limits of the risk and its caveat."""
    ran = here(
        "calibrate", "thesis-laplace", "--risk=40%", "--lexicon", lexicon(tmp_path)
    )
    assert ran.code == 0
    out = " ".join(ran.out.decode().split())
    assert "laplace" in out
    assert "two-nearest" in out or "mapping" in out
    assert " to " in out
    assert "A scale for comparison, not a guarantee." in out


def test_the_epsilon_is_that_of_sanitize(tmp_path: Path) -> None:
    """The same profile and risk give the same epsilon and risk in a report."""
    row = rows(tmp_path, "cmp", "--risk", "35%")["laplace"]
    text, report = tmp_path / "in.txt", tmp_path / "report.json"
    text.write_text("the film was good\n")
    ran = here(
        "sanitize",
        str(text),
        "--profile",
        "cmp",
        "--risk",
        "35%",
        "--quiet",
        "--lexicon",
        lexicon(tmp_path),
        "--report",
        str(report),
        "-o",
        str(tmp_path / "out.txt"),
    )
    assert ran.code == 0, ran.err
    written = json.loads(report.read_text())
    assert written["run"]["settings"]["budget"]["epsilon"] == row["epsilon"]
    risk = written["words"]["risk"]
    shown = {name: value for name, value in risk.items() if value is not None}
    assert shown == {
        key: value for key, value in row["risk"].items() if value is not None
    }
    assert written["words"]["risk"]["success"] <= 0.35


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--risk", "0%"), "between 0 and 1"),
        (("--risk", "1%"), "out of reach"),
        (("--risk", "20%", "--mechanism", "nothing"), "nothing"),
        (("--risk", "20%", "--set", "budget={name: per-text, epsilon: 9}"), "budget"),
        (("--risk", "40%", "--mechanism", "syntf"), "no synonyms"),
    ],
)
def test_what_cannot_be_is_one_line(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    """Exit code 2 and what to do."""
    ran = here("calibrate", *arguments, "--lexicon", lexicon(tmp_path))
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert said in ran.err
    assert ran.out == b""


def test_fitted_is_shown_as_the_law_that_runs(tmp_path: Path) -> None:
    """The report's settings hold the table, so that they make the same pipeline."""
    text, report = tmp_path / "in.txt", tmp_path / "report.json"
    text.write_text("the film was good\n")
    ran = here(
        "sanitize",
        str(text),
        "--risk",
        "40%",
        "--quiet",
        "--report",
        str(report),
        "--lexicon",
        lexicon(tmp_path),
        "-o",
        str(tmp_path / "out.txt"),
    )
    assert ran.code == 0, ran.err
    settings = json.loads(report.read_text())["run"]["settings"]
    assert settings["mechanism"]["weights"] == "steps"
    row = rows(tmp_path, "balanced", "--risk", "40%")["rank"]
    assert row["parameters"]["steps"] == settings["mechanism"]["steps"]
    assert row["epsilon"] == settings["budget"]["epsilon"]
