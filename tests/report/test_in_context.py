"""The guess of an attacker of the whole text comes before that of a single word."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import dptext
from dptext.engine import plan
from dptext.report import answer, attackers, html, trade, units
from dptext.report.blocks import Chart
from dptext.report.document import Document
from tests.report.pages import internal_report, panel, planned, rendered


@cache
def measured() -> Document:
    """Return a report of balanced, which has measured attackers."""
    return dptext.privatize(["The film was good."], "balanced", report=True)[1]


def test_the_strongest_comes_first() -> None:
    """Rows go by the share found, and the answer takes the strongest by figures."""
    words = measured().words
    assert words is not None
    shares = [each.success for each in words.attackers]
    assert shares == sorted(shares, reverse=True)
    best = replace(words.attackers[0], attacker="another", success=0.9)
    known = units.attackers_on(measured(), words)
    known = replace(known, attackers=[best, *words.attackers])
    attacker, written, guess = attackers.attack_lines(known)
    assert (attacker.name, written.name) == ("attacker", "same word")
    assert attacker.sentence.startswith("Recovers at least 34 to 90% of all words")
    assert attacker.figures["attacker"] == "another"
    assert guess.figures["found"] == pytest.approx(0.2, rel=1e-3)


def test_written_words_come_before_draws() -> None:
    """The first figure of a report is of what leaves, in the answer and the table."""
    words = measured().words
    assert words is not None
    lines = {line.name: line for line in answer.answer(measured())}
    shares = [each.success for each in words.written]
    assert [*lines].index("same word") < [*lines].index("one guess")
    assert lines["same word"].figures["found"] == [min(shares), max(shares)]
    assert min(shares) > 0.2, "more than the risk of a draw"
    page = rendered(measured()).decode()
    assert page.index("words as written") < page.index("one draw, best guess")


def test_whoever_has_the_text_finds_its_row(tmp_path: Path) -> None:
    """A line of the answer says so, and a sentence of every report, vectors' too."""
    said = "Anyone who has an original text"
    for name in ("rank", "laplace", "tem-text"):
        document = internal_report(name, tmp_path)
        assert any(
            each.startswith(said) for each in document.guarantee.scope.not_covered
        )
        assert said in rendered(document).decode()
        lines = [line.sentence for line in answer.answer(document)]
        assert document.words is None or any(each.startswith(said) for each in lines)


def test_a_lower_limit_names_its_risk() -> None:
    """Where attackers were measured at a smaller risk alone, the sentence says so."""
    words = measured().words
    assert words is not None
    document = replace(
        measured(), words=replace(words, attackers_risk=0.2, written=(), risk=None)
    )
    lines = {line.name: line for line in answer.answer(document)}
    assert "at risk 20%, which protects more" in lines["attacker"].sentence
    assert lines["attacker"].figures["measured_at_risk"] == 0.2
    assert lines["same word"].sentence.startswith("Not measured for these settings: ")
    assert "at risk 20.0%, which protects more" in rendered(document).decode()


def test_texts_in_another_language_get_no_figures() -> None:
    """Neither the answer nor the page of the owner shows any of the measured ones."""
    german = "Der Arzt sagte gestern, dass meine Mutter keine Schmerzen mehr hat."
    with pytest.warns(UserWarning, match="another language"):
        document = dptext.privatize([german], "balanced", report=True)[1]
    lines = {line.name: line for line in answer.answer(document)}
    for name in ("same word", "attacker"):
        assert lines[name].sentence.startswith(
            "Not measured for texts in this language"
        )
        assert lines[name].figures["found"] is None
    assert lines["one guess"].figures["found"] is None
    page = rendered(document).decode()
    assert "AG News" not in page
    assert "text of the kind" not in page


def test_the_panel_begins_with_it(tmp_path: Path) -> None:
    """Attackers stand above the single guess, then that more can be found."""
    shown = panel(measured(), tmp_path)
    places = [
        shown.index(part)
        for part in (
            "attacker Recovers",
            "Share of words",
            "20.0%",
            "public text of the",
        )
    ]
    assert places == sorted(places)


def test_the_table_begins_with_it() -> None:
    """Bars are of written words, of attackers, of a trial, last of single guesses."""
    page = rendered(measured()).decode()
    bars = re.findall(r"--b:[\d.]+\">([\d.]+%)</td>", page)
    words = measured().words
    assert words is not None
    shown = [f"{each.success:.1%}" for each in (*words.written, *words.attackers)]
    assert bars[: len(shown) + 3] == [*shown, "28.5%", "20.0%", "5.3%"]


def test_a_attacker_with_text_of_the_kind_finds_most() -> None:
    """Of all kinds of text, and its share of rare words never stands alone."""
    words = measured().words
    assert words is not None
    assert {each.kind for each in words.attackers} >= {"news", "reviews", "sentences"}
    assert {each.attacker for each in words.attackers} == {"same-kind"}
    assert all(each.rare and each.counted for each in words.attackers)


def test_a_page_without_attackers_names_none(tmp_path: Path) -> None:
    """Where nothing was measured, a line with the command takes the place of rows."""
    document, words = measured(), measured().words
    assert words is not None
    bare = replace(document, words=replace(words, attackers=(), written=()))
    for shown in (rendered(bare).decode(), panel(bare, tmp_path)):
        assert "pairs of words" not in shown
        assert "text of the kind" not in shown
        assert "text of the same kind" not in shown
        assert shown.count("Not measured for these settings") == 4


def test_the_plan_says_it_in_the_same_words() -> None:
    """A plan and its run print the same sentence about attackers."""
    result = plan.plan(dptext.open_pipeline("balanced"))
    rows = planned(result)
    lines = {line.name: line.sentence for line in answer.answer(measured())}
    for name in ("words", "people", "same word", "attacker", "one guess"):
        assert rows[name] == lines[name]


def test_labels_of_the_picture_keep_apart() -> None:
    """No two stand in one another's box, some 30 wide and 12 high."""
    chart, _ = trade.blocks(measured())
    assert isinstance(chart, Chart)
    labels = [each for line in html.drawn(chart).lines for each in line.labels]
    assert len(labels) > 5
    for (x, y, _), (other_x, other_y, _) in itertools.combinations(labels, 2):
        assert abs(x - other_x) > 30 or abs(y - other_y) > 12


def test_the_picture_marks_the_setting_of_a_run() -> None:
    """Measured risks with the shares found and kept; other settings have no picture."""
    chart, _ = trade.blocks(measured())
    assert isinstance(chart, Chart)
    (_, points), (name, mine) = chart.lines
    assert {"6%", "10%", "13%", "20%", "30%"} <= {point.note for point in points}
    assert name == "this run, 20%"
    assert [point.note for point in mine] == ["20%"]
    for axis in ("x", "y"):
        values = [getattr(point, axis) for point in points]
        assert values[0] < values[len(values) // 2] < values[-1]
    run = measured().run
    other = replace(run, settings={**run.settings, "budget": {"epsilon": 3}})
    assert trade.blocks(replace(measured(), run=other)) == []
    words = measured().words
    assert words is not None
    assert not trade.blocks(replace(measured(), words=replace(words, attackers=())))
