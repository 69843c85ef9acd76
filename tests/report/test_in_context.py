"""The guess of a reader of the whole text comes before that of a single word."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import dptext
from dptext.report import answer, html, plan, views
from dptext.report.blocks import Chart
from dptext.report.document import Document
from tests.report.pages import panel, planned, rendered


@cache
def measured() -> Document:
    """Return a report of the default profile, whose readers were measured."""
    return dptext.privatize(["The film was good."], report=True)[1]


def test_the_strongest_comes_first() -> None:
    """Rows go by what was found, and the answer takes the strongest by figures."""
    words = measured().words
    assert words is not None
    shares = [each.success for each in words.readers]
    assert shares == sorted(shares, reverse=True)
    best = replace(words.readers[0], reader="another", success=0.9)
    line = answer.reader(words.risk, "", [*words.readers, best])
    assert line.sentence.startswith("finds 90% of words")
    assert line.figures["reader"] == "another"


def test_the_panel_begins_with_it(tmp_path: Path) -> None:
    """Readers stand above the single guess, then that more can be found."""
    shown = panel(measured(), tmp_path)
    places = [
        shown.index(part)
        for part in ("a reader finds", "Share of words", "20.0%", "public text of the")
    ]
    assert places == sorted(places)


def test_the_table_begins_with_it() -> None:
    """The first bar of the page is the reader's, and the longest of all guesses."""
    page = rendered(measured()).decode()
    bars = re.findall(r"--b:[\d.]+\">([\d.]+%)</td>", page)
    words = measured().words
    assert words is not None
    assert bars[0] == f"{words.readers[0].success:.1%}"
    assert bars[len(words.readers) :][:2] == ["20.0%", "5.2%"]


def test_a_reader_with_text_of_the_kind_finds_most() -> None:
    """Of all kinds of text, and its share of rare words never stands alone."""
    words = measured().words
    assert words is not None
    assert {each.kind for each in words.readers} >= {"news", "reviews", "sentences"}
    assert {each.reader for each in words.readers} == {"same-kind"}
    assert all(each.rare and each.counted for each in words.readers)


def test_a_page_without_readers_names_none(tmp_path: Path) -> None:
    """Where nothing was measured in whole texts, no row says so."""
    document, words = measured(), measured().words
    assert words is not None
    bare = replace(document, words=replace(words, readers=()))
    for shown in (rendered(bare).decode(), panel(bare, tmp_path)):
        assert "pairs of words" not in shown
        assert "text of the kind" not in shown
        assert "text of the same kind" not in shown


def test_the_plan_says_it_in_the_same_words() -> None:
    """A plan and its run print the same sentence about readers."""
    result = plan.plan(dptext.open_pipeline("balanced"))
    rows = planned(result)
    lines = {line.name: line.sentence for line in answer.answer(measured())}
    for name in ("one word", "a person", "a reader"):
        assert rows[name] == lines[name]


def test_labels_of_the_picture_keep_apart() -> None:
    """No two stand in one another's box, some 30 wide and 12 high."""
    chart, _ = views.trade(measured())
    assert isinstance(chart, Chart)
    labels = [each for line in html.drawn(chart).lines for each in line.labels]
    assert len(labels) > 5
    for (x, y, _), (other_x, other_y, _) in itertools.combinations(labels, 2):
        assert abs(x - other_x) > 30 or abs(y - other_y) > 12


def test_the_picture_marks_the_setting_of_a_run() -> None:
    """Measured risks, each with what is found and kept; other settings have none."""
    chart, _ = views.trade(measured())
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
    assert views.trade(replace(measured(), run=other)) == []
    words = measured().words
    assert words is not None
    assert not views.trade(replace(measured(), words=replace(words, readers=())))
