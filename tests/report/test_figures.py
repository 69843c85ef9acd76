"""Figures have one form and one sentence; bounds of words and texts a badge each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dptext import pipeline, profile
from dptext.measures.bayes_risk import Risk
from dptext.report import figures, html, meaning, plan, terminal, views
from dptext.report.blocks import Figures
from tests import small
from tests.report.test_document import made
from tests.report.test_html import changed, closed, rendered


def panel(document: Any, folder: Path) -> str:
    """Return the text of the panel, with single spaces."""
    with (folder / "panel").open("w") as out:
        console = Console(record=True, width=100, file=out)
        terminal.show([views.report(document)], console)
        return " ".join(console.export_text().split())


def planned(found: plan.Plan) -> dict[str, str]:
    """Return the figures of a plan."""
    blocks = [b for section in plan.view(found).sections for b in section.blocks]
    (rows,) = [block.rows for block in blocks if isinstance(block, Figures)]
    return {str(name): str(value) for name, value in rows}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.0%"),
        (1e-5, "<0.1%"),
        (0.0654, "6.5%"),
        (0.9999, ">99.9%"),
        (1.0, "100.0%"),
        (None, "-"),
    ],
)
def test_a_share_is_a_percentage(value: float | None, shown: str) -> None:
    """What is neither 0 nor 1 is not rounded to it."""
    assert figures.share(value) == shown
    assert figures.measure("PP", value) in (shown, "no words")


def test_figures_are_the_same_everywhere(tmp_path: Path) -> None:
    """N_w and S_w stand in panel, page and plan in one form, with what they are."""
    document = made("rank", tmp_path)
    assert document.words is not None
    deny = document.words.deniability
    assert deny is not None
    recipe: dict[str, Any] = {"mechanism": {"name": "rank", "k": 8}}
    recipe["budget"] = {"name": "uniform", "epsilon": 3.0}
    ready = pipeline.build(profile.parse(recipe, "t.yaml"), small.cloud(20, 4))
    shown = " ".join(planned(plan.plan(ready)).values())
    page = closed(rendered(document)).text
    for text in (panel(document, tmp_path), page, shown):
        for part in (
            figures.share(deny.n_w),
            figures.distinct(deny.s_w, deny.runs),
            figures.MEANINGS["N_w"],
            figures.MEANINGS["S_w"],
        ):
            assert part in text
    for name in ("PP", "CS", "LOW"):
        assert figures.MEANINGS[name] in page
        assert figures.MEANINGS[name] in panel(document, tmp_path)


def even(nats: float) -> dict[str, float]:
    """Return the bound on the loss of one word where no distance matters."""
    return {"nearest": nats, "median": nats, "farthest": nats}


@pytest.mark.parametrize(
    ("values", "tone", "words"),
    [
        ({"notion": "none"}, "bad", "Whole texts: no guarantee"),
        (
            {"text_loss__each": 12.0},
            "bad",
            "at most n times 12 nats, no meaningful bound",
        ),
        (
            {"text_loss__each": 4.0},
            "fair",
            "no meaningful bound from n = 3 on",
        ),
        (
            {"text_loss__each": 5.0},
            "fair",
            "no meaningful bound from n = 3 on",
        ),
        ({"text_loss__each": None}, "bad", "Whole texts: no bound"),
        (
            {"notion": "metric-DP", "text_loss__each": 20.0},
            *("bad", "no meaningful bound for words far from each other"),
        ),
        (
            {"strategy": "record", "text_loss__each": 4.0},
            "fair",
            "Whole records of n",
        ),
        (
            {"level": "text", "loss": even(0.5)},
            "good",
            "One replaced word: strong",
        ),
        ({"level": "text", "loss": even(20.0)}, "fair", "One replaced word: weak"),
    ],
)
def test_the_other_level_has_its_own_badge(
    values: dict[str, Any], tone: str, words: str, tmp_path: Path
) -> None:
    """Beside the bound of what epsilon is of stands that of the text, or of a word."""
    named = {f"guarantee__{key}": value for key, value in values.items()}
    document = changed(made("rank", tmp_path), **named)
    shown = meaning.badges(document.guarantee)[1]
    assert shown.tone == tone
    assert words in shown.text
    page = closed(rendered(document))
    assert shown.text in page.text
    assert f"label {tone}" in [a.get("class") for a in page.named("p")]
    assert shown.text in panel(document, tmp_path)


def test_what_a_risk_is_good_for_is_said(tmp_path: Path) -> None:
    """Three sentences: one word, a person's whole file, health data."""
    document = made("risk", tmp_path)
    assert document.words is not None
    risk = document.words.risk
    assert risk is not None
    word, person, health = meaning.good_for(risk)
    assert figures.share(risk.success) in word
    assert "a person's whole file" in person
    assert "health data" in health
    page = closed(rendered(document)).text
    for line in (word, person, health):
        assert line in page
        assert line in panel(document, tmp_path)
    sampled = Risk(0.01, 0.2, (), low=0.1, high=0.2, confidence=0.95)
    assert "at most 20.0% (with 95.0% confidence)" in meaning.good_for(sampled)[0]


def test_copied_fields_are_named(tmp_path: Path) -> None:
    """By their names where the output has them, else as all but the private ones."""
    layout = {"run__layout__format": "csv", "run__layout__fields": ["body"]}
    known = changed(made("rank", tmp_path), output__copied=["id", "stars"], **layout)
    unknown = changed(made("rank", tmp_path), **layout)
    for document, words in (
        (known, "Copied unchanged id, stars"),
        (unknown, "Copied unchanged every field but body"),
    ):
        assert words in closed(rendered(document)).text
        assert words in panel(document, tmp_path)


def test_a_plan_is_a_page() -> None:
    """The page of a plan is closed and says what the plan says."""
    recipe = {"mechanism": "rank", "budget": {"name": "uniform", "epsilon": 3.0}}
    ready = pipeline.build(profile.parse(recipe, "t.yaml"), small.cloud(20, 4))
    found = plan.plan(ready, plan.Size(900, packed=300))
    page = closed(html.render(plan.view(found))).text
    for part in (found.guarantee.sentence, "300 compressed bytes", plan.SENTENCES[0]):
        assert part in page
