"""What a reader of the whole text finds stands before the guess of a single word."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

import dptext
from dptext.report import meaning, plan
from dptext.report.document import Document
from tests.report.test_figures import panel, planned
from tests.report.test_html import closed, rendered


@cache
def measured() -> Document:
    """Return a report of the default profile, whose readers were measured."""
    return dptext.privatize(["The film was good."], report=True)[1]


def test_the_strongest_comes_first() -> None:
    """One row for each kind of text, of the reader that finds most of it."""
    words = measured().words
    assert words is not None
    shares = [
        max(r.success for r in each.readings if r.reader != "alone")
        for each in words.in_context
    ]
    rows = meaning.in_context(words.in_context)
    shown = [float(str(line).split("%")[0].split()[-1]) for _, line in rows]
    np.testing.assert_allclose(shown, [100 * s for s in sorted(shares)[::-1]], atol=0.1)
    assert meaning.found(words.in_context)["all words"] == max(shares)
    assert meaning.found(()) == {}


def test_who_has_text_of_the_kind_finds_most() -> None:
    """Of news, reviews and sentences alike, and a rare guess never stands alone."""
    words = measured().words
    assert words is not None
    best = meaning.by_corpus(words.in_context)
    assert {each.kind for each, _ in best} >= {"news", "reviews", "sentences"}
    assert {reading.reader for _, reading in best} == {"same-kind"}
    for _, line in meaning.in_context(words.in_context):
        assert "words beyond the thousand most frequent" in str(line)


def test_the_panel_begins_with_it(tmp_path: Path) -> None:
    """Readers, that text of the same kind finds more, then the single guess."""
    shown = panel(measured(), tmp_path)
    places = [
        shown.index(part)
        for part in ("risk in context", "text of the same kind", "How often a guess")
    ]
    assert places == sorted(places)


def test_the_table_begins_with_it() -> None:
    """The first bar of the page is the reader's, and the longest of its row."""
    document = measured()
    page = rendered(document).decode()
    # Of all words: the reader, the guess from one output word, the guess without.
    bars = re.findall(r"--b:[\d.]+\">([\d.]+%)</td>", page)
    words = document.words
    assert words is not None
    most = meaning.found(words.in_context)["all words"]
    assert bars[:3] == [f"{most:.1%}", "20.0%", "5.2%"]
    assert "in context" in closed(rendered(document)).text
    meant = page.index("A reader who sees the whole text and knows which words")
    assert meant < page.index("To see the scale")


def test_a_page_without_readers_names_none(tmp_path: Path) -> None:
    """Where nothing was measured in context, no column and no bar says so."""
    document, words = measured(), measured().words
    assert words is not None
    bare = replace(document, words=replace(words, in_context=()))
    assert "in context" not in rendered(bare).decode()
    assert "in context" not in panel(bare, tmp_path)


def test_the_plan_begins_with_it() -> None:
    """Readers stand above the best guess from one word."""
    rows = planned(plan.plan(dptext.open_pipeline("balanced")))
    names = list(rows)
    assert names.index("risk in context, news") < names.index("risk")
    assert "same kind" in rows["at least"]
