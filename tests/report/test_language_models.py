"""The words that a large language model found: declared once, told by all."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext import profile
from dptext.report import answer, attackers
from dptext.report import document as report
from dptext.report.document import Document
from dptext.report.lines import AnswerLine, say
from tests.cli.running import here
from tests.report.pages import rendered

NOT_MEASURED = say("not_measured.language_model")
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results" / "language-models.md"
TEXT = "She works at the office in Hamburg and cannot log in since Tuesday."


def document(name: str, **over: Any) -> Document:
    """Return the report of a run."""
    return dptext.privatize([TEXT], profile=name, overrides=over, report=True)[1]


def line(of: Document, name: str = "attacker") -> AnswerLine:
    """Return a line of an answer."""
    (found,) = [each for each in answer.answer(of) if each.name == name]
    return found


def percents(row: attackers.Finding) -> tuple[str, ...]:
    """Write the figures of a row as the page writes them."""
    return tuple(f"{100 * each:g}" for each in (row.share, row.low, row.high))


def test_the_page_has_the_figures_that_reports_show() -> None:
    """One table in the docs, one file of data: each share stands with its limits."""
    page = PAGE.read_text("utf-8")
    for trial in attackers.trials().values():
        for row in trial.rows:
            share, low, high = percents(row)
            pattern = rf"\b{share}%?\*{{0,2}} \({low} to {high}%?\)"
            assert re.search(pattern, page), row
            assert row.low < row.share < row.high


def test_a_model_finds_the_words_that_the_copied_ones_tell() -> None:
    """The answer, the page of the one who signs and a plan say it in plain words."""
    readable = document("readable")
    said = line(readable)
    assert said.short is not None
    names = "a fifth to over a third of names", "20 to 40% of names"
    for sentence, of_names in zip((said.sentence, said.short), names, strict=True):
        for part in ("about half of the", "two thirds", of_names):
            assert part in sentence
        assert "at least" in sentence
    assert "about 70 (news) to 90 (customer reviews)" in said.sentence
    assert said.figures["found_by_language_model"] == [0.35, 0.74]
    page = rendered(readable).decode()
    for row in attackers.trials()["readable"].rows:
        share, low, high = percents(row)
        assert row.texts in page
        assert f"{share}.0%" in page
        assert f"{low}.0% to {high}.0%" in page
    assert "no epsilon limits that" in page
    shown = here("sanitize", "--plan", "--profile", "readable").out.decode()
    assert "in trials about half of the others" in " ".join(shown.split())


@pytest.mark.parametrize(
    "settings",
    [
        {"tokens": {"common": 500}},
        {"budget": {"epsilon": 6.0}},
        {"tokens": {"forms": ["email"]}},
    ],
)
def test_settings_that_were_not_tried_show_whose_figures_they_are(
    settings: dict[str, Any],
) -> None:
    """The sentence names the profile of the trials, and no figure is theirs."""
    said = line(document("readable", **settings))
    assert said.short is not None
    assert said.short.startswith("In trials with `readable` a large language model")
    assert "`readable` leaves about 70" in said.sentence
    assert said.figures["found_by_language_model"] is None


def test_profiles_without_common_words() -> None:
    """The figure of `balanced` is a lower limit; of others there is none."""
    said = line(document("balanced"))
    assert "at least 28.5% of words (25 to 32%) in 20 texts" in said.sentence
    assert said.figures["found_by_language_model"] == [0.285, 0.285]
    for other in (document("strict"), document("balanced", budget={"risk": 0.1})):
        said = line(other)
        assert said.sentence.endswith(NOT_MEASURED)
        assert said.figures["found_by_language_model"] is None
        assert NOT_MEASURED in rendered(other).decode()
        assert "language model, `" not in rendered(other).decode()


def test_a_seed_and_another_language_have_no_trial() -> None:
    """With the seed nobody guesses, and the texts of the trials are English."""
    known = attackers.Attackers(
        risk=None, risk_note="", common=True, seeded=True, profile="readable"
    )
    assert attackers.attacker_line(known).sentence == say("not_measured.seed")
    known = attackers.Attackers(
        risk=None, risk_note="", common=True, other_language=True, profile="readable"
    )
    said = attackers.attacker_line(known)
    assert said.sentence.startswith("Not measured for texts in this language")
    assert said.figures["found_by_language_model"] is None


def test_an_answer_prints_the_share_of_words_that_stay() -> None:
    """Of the texts of a run, for their owner; the public report has no such figure."""
    said = line(document("readable"), "output")
    figures: dict[str, Any] = said.figures
    share, common = figures["share_of_common_words"], figures["by_class"]["common"]
    every = figures["words_replaced"] + sum(figures["other_words"].values())
    assert share == pytest.approx(common / every)
    assert f"{common} common words unchanged ({share:.0%} of words" in said.sentence
    public = report.public(document("readable"))
    (output,) = [each for each in answer.answer(public) if each.name == "output"]
    assert "%" not in output.sentence
    assert "share_of_common_words" not in output.figures
    drawn = line(document("balanced"), "output")
    assert "of words and numbers" not in drawn.sentence


def test_no_page_prints_the_share_of_a_counting_attacker_as_the_most() -> None:
    """A share that an attacker recovers is a lower limit, and says so."""
    docs = (f"docs/{name}.md" for name in ("protection", "three-ways", "tutorial"))
    pages = [ROOT / name for name in ("README.md", "THREATS.md", *docs)]
    pages += (ROOT / "profiles").glob("*.yaml")
    for page in pages:
        text = " ".join(page.read_text("utf-8").split())
        for found in re.finditer(r"(recovers|finds) (\S+ \S+ )?\d+ to \d+%", text):
            assert "at least" in found[0], (page, found[0])
    about = profile.load("readable").about
    assert "about half of the others" in about
