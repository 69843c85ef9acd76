"""Two exports side by side: the stronger one, and nothing where that cannot be said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dptext.report import answer, html, side_by_side
from dptext.report.document import Document
from dptext.report.side_by_side import Aspect, Comparison, Side
from tests.cli.running import BALANCED, here, lexicon
from tests.report.pages import changed, closed, internal_report


@pytest.fixture
def report(tmp_path: Path) -> Document:
    """Return the report of a run of words on text."""
    return internal_report("rank", tmp_path)


def compared(first: Document, second: Document) -> Comparison:
    """Compare two reports."""
    return side_by_side.compare(Side("a.txt", first), Side("b.txt", second))


def aspects(first: Document, second: Document) -> dict[str, Aspect]:
    """Return the aspects of a comparison by their names."""
    return {each.name: each for each in compared(first, second).aspects}


GUARANTEE = "guarantee"


@pytest.mark.parametrize(
    ("values", "better"),
    [
        ({}, "equal"),
        ({"guarantee__bound__epsilon": 2.0}, "B"),
        ({"guarantee__bound__epsilon": 4.0}, "A"),
        ({"guarantee__bound__notion": "none"}, "A"),
        ({"guarantee__bound__level": "text"}, None),
        ({"guarantee__bound__notion": "metric-DP"}, None),
        (
            {
                "guarantee__scope__unprotected": ["common-words"],
                "guarantee__bound__epsilon": 1.0,
            },
            None,
        ),
    ],
)
def test_guarantees_are_compared_only_if_they_are_alike(
    values: dict[str, Any], better: str | None, report: Document
) -> None:
    """A smaller epsilon is stronger for the same words; else nothing is said."""
    found = aspects(report, changed(report, **values))[GUARANTEE]
    assert found.better == better
    assert bool(found.reason) == (better is None)


def test_the_comparison_does_not_depend_on_the_order(report: Document) -> None:
    """With the files exchanged, A becomes B."""
    other = changed(
        report, guarantee__bound__epsilon=2.0, guarantee__scope__unprotected=["case"]
    )
    turned = {"A": "B", "B": "A", "equal": "equal", None: None}
    for name, found in aspects(report, other).items():
        assert aspects(other, report)[name].better == turned[found.better]


def test_a_text_that_is_protected_protects_people_more(report: Document) -> None:
    """Bounds above 10 nats protect nobody, however far above."""
    whole = changed(report, guarantee__bound__text_loss={"total": 2.0})
    weaker = changed(report, guarantee__bound__text_loss={"total": 12.0})
    for name in ("people", "original texts"):
        assert aspects(report, whole)[name].better == "B"
        assert aspects(report, weaker)[name].better == "equal"


def test_unchanged_columns_are_compared_as_sets(report: Document) -> None:
    """Fewer is stronger; of two sets with a difference on each side nothing is said."""
    layout = {"run__layout__format": "csv", "run__layout__fields": ["body"]}
    few, more, other = (
        changed(report, output__copied=names, **layout)
        for names in (["id"], ["id", "name"], ["city"])
    )
    assert aspects(few, more)["unchanged parts"].better == "A"
    assert aspects(few, few)["unchanged parts"].better == "equal"
    assert aspects(few, other)["unchanged parts"].better is None
    unknown = changed(report, **layout)
    unknown = replace(unknown, private=None)
    assert aspects(few, unknown)["unchanged parts"].better is None


def test_the_verdict_names_the_stronger_export(report: Document) -> None:
    """It says which one protects more, or that they cannot be compared."""
    stronger = changed(report, guarantee__bound__epsilon=2.0)
    said = compared(report, stronger).verdict
    assert said.startswith(f"B protects more where comparable: in {GUARANTEE}.")
    assert "Not comparable: attackers" in said
    mixed = changed(
        stronger, guarantee__scope__unprotected=["case", "grammar", "classes"]
    )
    assert "B" not in compared(report, report).verdict.split()[:1]
    assert compared(report, mixed).verdict != said


@pytest.mark.parametrize(
    ("better", "verdict"),
    [
        (("A", "A"), "A protects more: in x and y. B protects more in nothing."),
        (("equal", "B"), "B protects more: in y. A protects more in nothing."),
        (("equal", "equal"), "Both protect the same."),
        (
            ("A", "B"),
            "They cannot be compared as a whole: A is stronger in x, B in y.",
        ),
        (
            (None, "equal"),
            "Neither protects more where comparable. Not comparable: x.",
        ),
    ],
)
def test_the_verdict_follows_from_the_aspects(
    better: tuple[Any, Any], verdict: str
) -> None:
    """One export is stronger as a whole only where it is in nothing weaker."""
    aspects = [
        Aspect(name=name, a="", b="", better=each)
        for name, each in zip("xy", better, strict=True)
    ]
    both = Comparison(names=("a", "b"), settings=[], answers=[], aspects=aspects)
    assert both.verdict == verdict


def test_of_the_same_texts_only_one_may_leave(report: Document) -> None:
    """Whichever protects more; each has its verdict, and advice for both uses."""
    other = changed(report, guarantee__bound__epsilon=2.0, output__sha256="0" * 64)
    both = compared(report, other)
    assert both.advice == (
        "If both are of the same texts, share only one: two versions reveal more "
        "than one."
    )
    assert compared(report, report).advice.startswith("Both are the same file")
    plain: dict[str, Any] = both.data()
    answered = plain["answers"]
    assert [*answered] == ["fit_for", "before_you_send", "again"]
    lines = {each.name: each.sentence for each in answer.answer(report)}
    for name, line in zip(answered, ("verdict", "sending", "again"), strict=True):
        assert answered[name]["a"] == lines[line]
    page = closed(html.render(side_by_side.view(both)))
    for part in (both.advice, lines["verdict"], lines["sending"], lines["again"]):
        assert part in page.text


def test_the_page_has_both_answers(report: Document) -> None:
    """Sentences are those of the answers, and settings are those that differ."""
    other = changed(
        report, guarantee__bound__epsilon=2.0, run__settings__budget__epsilon=2.0
    )
    both = compared(report, other)
    assert [name for name, _, _ in both.settings] == ["budget.epsilon"]
    page = closed(html.render(side_by_side.view(both)))
    for document in (report, other):
        lines = {each.name: each.sentence for each in answer.answer(document)}
        for name in ("words", "people", "unchanged", "original"):
            assert lines[name] in page.text
    assert both.verdict in page.text


def test_the_command_compares_two_exports(tmp_path: Path) -> None:
    """In the terminal, as JSON and as a page; columns are read from the files."""
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 1, "name": "A", "text": "the film was good"}\n' * 3)
    words = ("--lexicon", lexicon(tmp_path))
    run = ("sanitize", str(source), "-f", "text", *words, *BALANCED)
    first, second = str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")
    for more in (
        ("--epsilon", "3", "-o", first),
        ("--epsilon", "2", "--drop", "name", "-o", second),
    ):
        assert here(*run, *more).code == 0
    found = json.loads(here("report", first, second, "--json").out)
    assert found["aspects"]["guarantee"]["stronger"] == "B"
    assert found["aspects"]["unchanged_parts"]["stronger"] == "B"
    assert found["aspects"]["unchanged_parts"]["a"].startswith("id, name; ")
    assert "budget.epsilon" in found["settings"]
    shown = " ".join(here("report", first, second).out.decode().split())
    assert " ".join(found["verdict"].split()) in shown
    page = tmp_path / "page.html"
    assert here("report", first, second, "--html", str(page)).code == 0
    assert found["verdict"] in closed(page.read_bytes()).text
