"""Cells of a comparison: content of a row, stored cells, cells that cannot run."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import dptext
from dptext import lexicons, profile
from dptext.cli import compare
from dptext.evaluation import comparison, comparison_views
from dptext.evaluation.comparison import Cell, CellRow, Sample
from dptext.evaluation.run import EvaluationSettings
from dptext.report import html
from tests.cli import running
from tests.cli.running import WORDS, here

pytest.importorskip("sklearn")
SETTINGS = EvaluationSettings(
    labels=("label",), attributes=("who",), splits=2, bayes=False
)
#: No classifier is loaded, by each process of a cell.
BARE = EvaluationSettings(bayes=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a small lexicon and a file of 80 labelled texts."""
    position = tmp_path_factory.mktemp("compare")
    running.lexicon(position)
    rng = np.random.default_rng(0)
    with (position / "in.jsonl").open("w") as file:
        for number in range(80):
            label, who = number % 2, int(rng.integers(0, 2))
            words = [WORDS[int(rng.integers(0, 3)) + 3 * label] for _ in range(5)]
            row = {"text": " ".join(words), "label": label, "who": f"w{who}"}
            file.write(json.dumps(row) + "\n")
        file.write('{"text": "", "label": 1, "who": "w0"}\n{"text": "x"}\n')
    return position


def cells(folder: Path, *mechanisms: str) -> list[Cell]:
    """Plan cells at two epsilons."""
    grid = compare.Grid(
        mechanism=[*mechanisms], epsilon=[1.0, 30.0], lexicon=[running.lexicon(folder)]
    )
    return grid.cells()


def uniform(epsilon: float) -> dict[str, Any]:
    """Return the budget of an epsilon per word."""
    return {"name": "uniform", "epsilon": epsilon, "risk": None}


def sample(folder: Path) -> Sample:
    """Read the labelled texts."""
    lines = (folder / "in.jsonl").read_text().splitlines()[:80]
    rows = [json.loads(line) for line in lines]
    return Sample(
        tuple(row["text"] for row in rows),
        tuple((str(row["label"]), row["who"]) for row in rows),
    )


def test_all_mechanisms_write_their_draws(folder: Path) -> None:
    """No cell has a decoder, under any profile: few mechanisms can be decoded."""
    assert profile.load("balanced").decoder.name == "ngram"
    for cell in cells(folder, "rank", "laplace"):
        assert profile.load(cell.profile, cell.over).decoder.name == "none"


def test_the_mechanism_of_the_profile_comes_first() -> None:
    """It has the settings of the profile, which its row names; others the defaults."""
    names = dict.fromkeys(cell.mechanism for cell in compare.Grid().cells())
    assert list(names) == [*compare.MECHANISMS]
    published = "custext:k=50,mapping=balanced"
    for given in (None, ["custext"], ["custext:k=50"], [published]):
        grid = compare.Grid(profile="custext", mechanism=given, epsilon=[3.0])
        first, *rest = grid.cells()
        assert first.mechanism == published
        assert [cell.mechanism for cell in rest] == [
            each for each in compare.MECHANISMS if given is None
        ]
        asked = profile.load("custext").mechanism
        assert profile.load(first.profile, first.over).mechanism == asked
    (plain,) = compare.Grid(mechanism=["custext"], epsilon=[3.0]).cells()
    assert plain.mechanism == "custext"
    own = compare.Grid(profile="comparative-gumbel", epsilon=[3.0]).cells()[0]
    assert own.mechanism == "gumbel:low_epsilon=true"
    read = profile.load(
        "balanced",
        compare.Grid(mechanism=[own.mechanism], epsilon=[3.0]).cells()[0].over,
    )
    assert read.mechanism == profile.load("comparative-gumbel").mechanism


def test_notes_explain_units_and_missing_figures(folder: Path) -> None:
    """An epsilon per unit of distance is none of LDP, and empty cells have a cause."""
    read = sample(folder)
    planned = cells(folder, "rank:k=5", "laplace")[::2]
    rows = [comparison.compute(cell, read, SETTINGS) for cell in planned]
    assert [row.notion for row in rows] == ["LDP", "metric-DP"]
    note = "Do not compare epsilons of LDP with those of metric DP"
    shown = html.render(comparison_views.comparison(rows)).decode()
    assert note in shown
    assert "No risk in a row" not in shown
    for row in rows:
        assert note not in html.render(comparison_views.comparison([row])).decode()
    unknown = html.render(comparison_views.comparison([replace(rows[0], risk=None)]))
    assert "No risk in a row" in unknown.decode()


def test_a_row_says_what_the_mechanism_does(folder: Path) -> None:
    """Little noise keeps texts and labels, much noise does not; others say why not."""
    given = sample(folder)
    planned = cells(folder, "rank:weights=staircase,k=1")
    much, little = (comparison.compute(cell, given, SETTINGS) for cell in planned)
    assert not much.reason
    assert not little.reason
    assert much.result is not None
    assert little.result is not None
    assert much.epsilon == much.worst_loss == 1.0
    assert (much.result.kept.pp or 0) > 0.6
    assert (little.result.kept.pp or 0) < 0.1
    assert little.result.utility[0].private.accuracy > 0.9
    assert little.result.utility[0].original.accuracy > 0.9
    assert much.result.utility[0].private.accuracy < 0.9
    assert len(little.examples) == 3
    assert (little.words_per_second or 0) > 0
    assert (little.megabytes or 0) > 10
    refused = comparison.compute(cells(folder, "gumbel")[0], given, SETTINGS)
    assert "too small for gumbel" in refused.reason


def test_rows_are_kept_and_not_computed_again(folder: Path, tmp_path: Path) -> None:
    """Finished rows are not run again; a changed sample or measure is another row."""
    planned = cells(folder, "rank:k=5")[:1]
    given, kept = sample(folder), tmp_path / "rows"
    first = list(comparison.run(planned, given, BARE, resume=kept))
    assert first[0][1].result is not None
    lines = kept.read_bytes()
    # Figures of a new run would differ: its draws are fresh, and it takes other time.
    assert list(comparison.run(planned, given, BARE, resume=kept)) == first
    assert kept.read_bytes() == lines
    other = Sample(given.texts[1:], given.values[1:])
    list(comparison.run(planned, other, BARE, resume=kept))
    assert len(kept.read_bytes().splitlines()) == 2


def test_cells_see_the_environment_of_now(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders of lexicons and caches may have changed since the first comparison."""
    planned, given = cells(folder, "rank:k=5")[:1], sample(folder)
    list(comparison.run(planned, given, BARE))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ((_, row),) = comparison.run(planned, given, BARE)
    assert row.result is not None, row.reason
    # The lexicon was imported into the folder of now.
    assert (tmp_path / "cache").exists()


def test_nothing_is_computed_for_all_words_of_the_lexicon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At usual risks all tables ship: nothing that takes long is left to be kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "in.txt").write_text("the film was good\n" * 3)
    usual = ("-m", "santext", "--risk", "20%")
    ran = here("compare", str(tmp_path / "in.txt"), *usual, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["rows"][0]["reason"] == ""
    kept = [each.suffix for each in (tmp_path / "cache").rglob("*") if each.is_file()]
    assert {*kept} <= {".digest"}  # of the files of the lexicon, which were verified
    first, last = ran.err.splitlines()
    assert "a mechanism at a level: 1; texts: 3" in first
    assert "1 of 1: santext, risk 0.2: epsilon 14.35, risk 20.0%, N_w" in last


class Texts(HTMLParser):
    """Gather the texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        """Take in a text."""
        self.texts.append(data)


def test_the_command(folder: Path) -> None:
    """Table, CSV, page and kept rows; a second run reads them."""
    page, table, kept = (folder / name for name in ("p.html", "t.csv", "rows"))
    arguments = (
        "compare",
        str(folder / "in.jsonl"),
        "--label",
        "label",
        "--attribute",
        "who",
        "-m",
        "rank:k=5",
        "-m",
        "gumbel",
        "--epsilon",
        "2",
        "--splits",
        "1",
        "--lexicon",
        running.lexicon(folder),
        "--sample",
        "60",
        "-q",
        "--html",
        str(page),
        "--csv",
        str(table),
        "--resume",
        str(kept),
        "--json",
    )
    ran = here(*arguments)
    assert (ran.code, ran.err) == (0, "")
    compared = json.loads(ran.out)
    assert "owner" in compared["audience"]
    assert compared["texts"] == 60
    assert [row["mechanism"] for row in compared["rows"]] == ["rank:k=5", "gumbel"]
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert [row["reason"] == "" for row in rows] == [True, False]
    assert float(rows[0]["epsilon"]) == 2.0
    assert 0.0 <= float(rows[0]["utility"]) <= 1.0
    for name in ("utility", "attack"):
        assert 0.0 <= float(rows[0][f"{name}_original"]) <= 1.0
        assert 0.5 <= float(rows[0][f"{name}_by_chance"]) <= 1.0
    (task,) = compared["rows"][0]["result"]["utility"]
    assert task["chance"] == float(rows[0]["utility_by_chance"])
    texts = Texts()
    texts.feed(page.read_text())
    shown = " ".join(texts.texts)
    for part in ("rank:k=5", "too small for gumbel", "Utility", "owner of the text"):
        assert part in shown
    for part in ("on originals", "by chance", "how often the best"):
        assert part in shown
    assert f"{task['chance']:.1%}" in shown
    # One split of 60 texts: no spread, and 1.96 times the root of 0.25 / 15.
    assert "Each split tests on about 15 texts" in shown
    assert "uncertain by up to 25.3 points (95%)" in shown
    assert "standard deviation" not in shown
    assert "http" not in page.read_text().replace("http-equiv", "")
    assert len(kept.read_bytes().splitlines()) == 1
    again = here(*arguments)
    assert json.loads(again.out)["rows"][0] == compared["rows"][0]


def test_tables_are_read_as_sanitize_reads_them(folder: Path) -> None:
    """Other delimiters and files without a header have their options here, too."""
    (folder / "in.csv").write_text("x;the film\ny;was good\n" * 10)
    layout = ("--delimiter", ";", "--no-header", "--field", "2", "--label", "1")
    cell = ("-m", "rank:k=5", "--epsilon", "2", "--lexicon", running.lexicon(folder))
    ran = here("compare", str(folder / "in.csv"), *layout, *cell, "-q", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["texts"] == 20


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--risk", "10%", "--epsilon", "1"), "not both"),
        (("-m", "rank:k"), "--mechanism rank: k: write KEY=VALUE"),
        (("--label", "labl"), "'labl' of --label; did you mean 'label'?; fields: 't"),
        (("--field", "nothing"), "'nothing' of --field; fields: 'text', 'label'"),
        (
            ("--figure", "x.png"),
            "--figure x.png: only SVG is supported; use a file name",
        ),
        (
            ("--figure", "x.pdf"),
            "--figure x.pdf: only SVG is supported; use a file name",
        ),
    ],
)
def test_wrong_options(folder: Path, arguments: tuple[str, ...], reason: str) -> None:
    """One line each."""
    ran = here("compare", str(folder / "in.jsonl"), *arguments)
    assert ran.code in (2, 4)
    assert reason in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-m", "mlm", "--epsilon", "2"), "compare: -m mlm:model=DIR), a Hugging Face"),
        (("-m", "mlm:model=x", "--epsilon", "2"), "mechanism.model: no folder x"),
        (("-m", "mlm:model=x", "--risk", "20%"), "undefined; give --epsilon"),
        (("-m", "rank:h=2", "--epsilon", "2"), "1 of 2 cells cannot run; rank:h=2"),
        (("--lexicon", "nowhere", "--epsilon", "2"), "nowhere"),
    ],
)
def test_cells_are_checked_before_the_first_run(
    folder: Path, arguments: tuple[str, ...], reason: str
) -> None:
    """One cell that cannot run is one line at once, and no figure of the others."""
    pytest.importorskip("transformers")
    given = ("--lexicon", running.lexicon(folder)) if "nowhere" not in arguments else ()
    ran = here("compare", str(folder / "in.jsonl"), "-m", "rank", *given, *arguments)
    assert (ran.code, ran.out) == (2, b"")
    assert "nothing was run: " in ran.err
    assert reason in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("command", ["compare", "evaluate"])
def test_missing_packages_are_found_before_the_first_cell(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No cell runs for minutes only to end without a classifier."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "dptext.models.importlib.util.find_spec",
        lambda name: None if name == "sklearn" else find(name),
    )
    texts = str(folder / "in.jsonl")
    given = [texts] if command == "compare" else [texts, texts]
    ran = here(command, *given, "--label", "label")
    assert (ran.code, ran.out) == (2, b"")
    assert 'a classifier needs the "evaluate" extra' in ran.err
    assert ran.err.count("\n") == 1


def test_a_risk_without_an_upper_limit_is_no_figure(folder: Path) -> None:
    """100% stands for no limit in a report; in a table it would be a finding."""
    planned = cells(folder, "privunit", "laplace")
    read = sample(folder)
    unlimited, sampled = (
        comparison.compute(cell, read, EvaluationSettings()) for cell in planned[::2]
    )
    assert (unlimited.reason, unlimited.risk) == ("", None)
    assert 0.0 < (sampled.risk or 0.0) < 1.0


def test_a_seed_repeats_the_figures(folder: Path) -> None:
    """The CSV names the seed of the draws, which gives them again, and the version."""
    (cell, *_), given = cells(folder, "rank:k=5"), sample(folder)
    first, other = (comparison.compute(cell, given, SETTINGS) for _ in range(2))
    assert first.seed != other.seed
    assert first.examples != other.examples
    again = comparison.compute(replace(cell, seed=first.seed), given, SETTINGS)
    assert (again.seed, again.examples) == (first.seed, first.examples)
    assert again.result == first.result
    table = list(csv.DictReader(io.StringIO(comparison_views.as_csv([first, other]))))
    assert [row["seed"] for row in table] == [str(first.seed), str(other.seed)]
    assert {row["dptext"] for row in table} == {dptext.__version__}
    assert {row["kernel"] for row in table} <= {"compiled", "numpy"}
    lexicon = lexicons.find(cell.lexicon)
    assert {row["lexicon_sha256"] for row in table} == {lexicon.digest}
    read = {row["sample_sha256"] for row in table}, {row["texts"] for row in table}
    assert read == ({given.digest()}, {str(len(given.texts))})
    assert {row["profile"] for row in table} == {"balanced"}


def test_a_column_has_the_name_of_its_figure(folder: Path) -> None:
    """CS is the share of meaning in the CSV, the table, JSON and the table of LaTeX."""
    (cell, *_), read = cells(folder, "rank:k=5"), sample(folder)
    row = comparison.compute(cell, read, replace(SETTINGS, splits=3))
    assert row.result is not None
    (table,) = csv.DictReader(io.StringIO(comparison_views.as_csv([row])))
    kept = row.result.kept
    for name in ("pp", "cs", "low", "mean_cosine", "unrelated_cosine"):
        assert float(table[name]) == getattr(kept, name), name
    assert kept.cs == kept.metrics["CS"]["share_kept"]
    shown = html.render(comparison_views.comparison([row])).decode()
    assert "±: standard deviation over 3 splits. Each split tests on about 20" in shown
    latex = comparison_views.as_latex([row]).splitlines()
    names, figures = (latex[at].removesuffix(r" \\").split(" & ") for at in (4, 6))
    of_paper = dict(zip(names, figures, strict=True))
    assert of_paper["CS"] == f"{kept.cs:.1%}".replace("%", r"\%")


def test_every_column_is_documented(folder: Path) -> None:
    """docs/papers.md explains each column of the CSV, and no other."""
    page = (Path(__file__).parents[2] / "docs" / "papers.md").read_text("utf-8")
    rows = page.partition("### Columns\n")[2].partition("\n## ")[0]
    named = [
        name
        for row in re.findall(r"(?m)^\| (`[^|]*) \|", rows)
        for name in re.findall(r"`(\w+)`", row)
    ]
    assert named == comparison_views.as_csv([]).strip().split(",")
    *first, last = (f"`{name}`" for name in compare.MECHANISMS)
    shown = " ".join(page.split())
    assert f"is compared with five: {', '.join(first)} and {last};" in shown
    help_text = " ".join(
        here("compare", "--help").out.decode().replace("│", "").split()
    )
    default = f"the profile's mechanism, then {', '.join(compare.MECHANISMS)}"
    assert f"Default: {default}." in help_text


def test_tables_and_pictures_for_papers(folder: Path) -> None:
    """A table with the rules of booktabs, names escaped, and a picture in plain SVG."""
    table, picture = folder / "t.tex", folder / "f.svg"
    grid = "-m rank:k=5 -m rank:weights=staircase,k=1 -m gumbel --epsilon 2 --epsilon 9"
    rest = "--seed 3 --label label --splits 1 -q --lexicon"
    files = running.lexicon(folder), "--latex", str(table), "--figure", str(picture)
    given = str(folder / "in.jsonl"), *grid.split(), *rest.split(), *files
    ran = here("compare", *given)
    assert ran.code == 0, ran.err
    assert "Draws are compared" in " ".join(ran.out.decode().split())
    lines = table.read_text().splitlines()
    named = f"% dptext compare, version {dptext.__version__}; "
    assert lines[0] == named + r"\usepackage{booktabs}"
    rules = r"\toprule", r"\midrule", r"\bottomrule"
    assert lines[1] == "% texts: 80; seeds of the rows: 3, 3, 3, 3"
    assert (lines[3], lines[5], lines[-2]) == rules
    head, *rows = (line for line in lines if line.endswith(r" \\"))
    assert r"$\varepsilon$ & guarantee & " in head
    assert all(" & LDP & " in row for row in rows)
    assert "utility & (originals)" in head
    assert "attack" not in head
    assert len(rows) == 4, "cells that were not run are left out"
    assert {row.count(" & ") for row in rows} == {head.count(" & ")}
    assert all(re.search(r"[^\\]%", row) is None for row in rows)
    root = ElementTree.fromstring(picture.read_text())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any((each or "").startswith("rank:k=5 (") for each in texts)
    assert "accuracy on private texts" in texts
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 4


def test_nothing_to_compare_is_an_error(folder: Path) -> None:
    """A page without a figure would look complete."""
    cell = ("-m", "gumbel", "--epsilon", "2", "--lexicon", running.lexicon(folder))
    page = folder / "nothing.html"
    ran = here("compare", str(folder / "in.jsonl"), *cell, "-q", "--html", str(page))
    assert (ran.code, ran.out) == (1, b"")
    assert "nothing could be compared; gumbel, epsilon 2:" in ran.err
    assert "too small for gumbel" in ran.err
    assert ran.err.count("\n") == 1
    assert not page.exists()


def test_a_page_without_rows_is_a_page() -> None:
    """All cells may have failed."""
    row = CellRow("rank", "risk 1%", "builtin", reason="out of reach")
    assert b"out of reach" in html.render(comparison_views.comparison([row], ["text"]))
