"""Figures have one form and one sentence; what bounds are worth has a badge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext import pipeline, profile
from dptext.engine import plan
from dptext.report import answer, figures, html, protection
from dptext.run.python import PYTHON
from tests import small
from tests.report.pages import (
    changed,
    closed,
    internal_report,
    panel,
    planned,
    rendered,
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.0%"),
        (1e-5, "<0.1%"),
        (0.0654, "6.5%"),
        (0.9999, ">99.9%"),
        (1.0, "100.0%"),
        (None, "-"),
        (-1e-9, "0.0%"),
        (-0.02, "-2.0%"),
    ],
)
def test_a_share_is_a_percentage(value: float | None, shown: str) -> None:
    """A share between 0 and 1 is not rounded to either."""
    assert figures.share(value) == shown
    assert figures.measure("PP", value) in (shown, "no words")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.45, "about 45.0%"), (0.9999, "over 99.9%"), (1e-5, "under 0.1%")],
)
def test_an_estimated_share_has_one_word_before_it(value: float, shown: str) -> None:
    """A plan says "about" of figures, and never "about >"."""
    assert figures.about(value) == shown


def test_figures_are_the_same_everywhere(tmp_path: Path) -> None:
    """N_w and S_w stand in panel, page and plan in one form, with what they are."""
    document = internal_report("rank", tmp_path)
    assert document.words is not None
    deny = document.words.deniability
    assert deny is not None
    recipe: dict[str, Any] = {"mechanism": {"name": "rank", "k": 8}}
    recipe["budget"] = {"name": "uniform", "epsilon": 3.0}
    ready = pipeline.build(profile.parse(recipe, "t.yaml"), small.cloud(20, 4))
    shown = " ".join(planned(plan.plan(ready)).values())
    assert document.private is not None
    assert document.private.words is not None
    document.private.words.metrics["CS"]["share_kept"] = 0.5  # its text is alone
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


def of_text(total: float, word: float) -> dict[str, Any]:
    """Return the values of a bound for whole texts, and for one word of them."""
    bound = {"total": total}
    return {"level": "text", "text_loss": bound, "loss": even(word)}


@pytest.mark.parametrize(
    ("values", "tone", "words"),
    [
        ({"notion": "none"}, "bad", "No guarantee"),
        ({"text_loss__each": 12.0}, "fair", "limited protection; texts: not protected"),
        ({"text_loss__each": 5.0}, "fair", "texts of 3 words and more: not protected"),
        (
            {"text_loss__each": None},
            "fair",
            "limited protection; whole texts: not protected",
        ),
        ({"loss": even(1.0)}, "fair", "Single words: strong protection"),
        ({"loss": even(1.0001)}, "fair", "Single words: limited protection"),
        ({"loss": even(10.5)}, "fair", "Single words: weak protection"),
        ({"loss": even(31.0)}, "bad", "No meaningful protection"),
        (
            {"loss": {"nearest": 1.0, "median": 20.0, "farthest": 31.0}},
            "fair",
            "strong protection from each other; very different words and",
        ),
        (
            {"loss": {"nearest": 12.0, "median": 20.0, "farthest": 31.0}},
            "fair",
            "Similar words: weak protection from each other; very",
        ),
        (
            {
                "loss": {"nearest": 1.0, "median": 20.0, "farthest": 31.0},
                "metric": {"kind": "chains", "name": "places"},
            },
            "fair",
            "Words close on public chains: strong protection from each other; distant",
        ),
        ({"text_loss__each": 5e-324}, "fair", "limited protection; texts of"),
        ({"worst_loss": None, "level": "words"}, "fair", "The longer a text, the less"),
        (of_text(1.0, 1.0), "good", "Whole texts: strong protection"),
        (of_text(10.0, 10.0), "fair", "Whole texts: limited protection"),
        (of_text(10.5, 10.5), "fair", "weak protection; whole texts: not protected"),
        (of_text(60.0, 31.0), "bad", "No meaningful protection"),
        (
            {**of_text(40.0, 40.0), "equal_parts": True},
            "fair",
            "Whole texts: not protected; one of n words loses at most 40",
        ),
    ],
)
def test_one_badge_says_what_is_protected(
    values: dict[str, Any], tone: str, words: str, tmp_path: Path
) -> None:
    """Of words and of texts, in words and in a colour, wherever a report is shown."""
    named = {f"guarantee__bound__{key}": value for key, value in values.items()}
    document = changed(internal_report("rank", tmp_path), **named)
    shown = protection.badge(document.guarantee)
    assert shown.tone == tone
    assert words in shown.text
    page = closed(rendered(document))
    assert shown.text in page.text
    assert str(page.named("section")[0]["class"]) == f"fold {tone}"
    assert shown.text in panel(document, tmp_path)


def test_words_close_on_chains_are_not_called_similar(tmp_path: Path) -> None:
    """Words near in meaning may be distant there; a frequent best guess is named."""
    loss = {"nearest": 1.0, "median": 20.0, "farthest": 31.0}
    named: dict[str, Any] = {"guarantee__bound__loss": loss}
    named["guarantee__bound__notion"] = "metric-DP"
    named["words__risk"] = {"baseline": 0.1, "success": 0.2}
    document = changed(internal_report("rank", tmp_path), **named)
    sentence = protection.protection(document.guarantee, document)[0].sentence
    assert (
        "of similar words from each other, none of very different words (" in sentence
    )
    metric = {"kind": "chains", "name": "places"}
    document = changed(document, guarantee__bound__metric=metric)
    sentence = protection.protection(document.guarantee, document)[0].sentence
    assert "similar words" not in sentence
    assert (
        "of words close on public chains from each other, none of distant" in sentence
    )
    assert "words of similar meaning may be distant" in sentence
    assert "can guess" not in sentence
    risk = {"baseline": 0.1, "success": 0.9}
    guessed = changed(document, words__risk=risk)
    sentence = protection.protection(guessed.guarantee, guessed)[0].sentence
    assert "An attacker can guess at least 90% of words (" in sentence


def test_unchanged_fields_are_named(tmp_path: Path) -> None:
    """By their names where the output has them, else as all but the private ones."""
    layout = {"run__layout__format": "csv", "run__layout__fields": ["body"]}
    known = changed(
        internal_report("rank", tmp_path), output__copied=["id", "stars"], **layout
    )
    unknown = changed(internal_report("rank", tmp_path), **layout)
    public = changed(known, private=None, run__settings__tokens__unknown="keep")
    for document, words in (
        (public, "in the texts: identifiers, punctuation, unknown words"),
        (known, "unchanged id, stars; in the texts: punctuation"),
        (unknown, "unchanged every other column; in the texts: punctuation"),
    ):
        assert words in closed(rendered(document)).text
        assert words in panel(document, tmp_path)


def test_nothing_is_sent_that_is_not_protected(tmp_path: Path) -> None:
    """The answer does not call single words protected where they are not."""
    document = internal_report("risk", tmp_path)
    for nats, words in ((3.0, "Send only"), (31.0, "Do not send it unless you")):
        other = changed(document, guarantee__bound__loss=even(nats))
        assert words in closed(rendered(other)).text


@pytest.mark.parametrize(
    ("name", "values", "verdict", "whom"),
    [
        ("risk", {}, "Hand it at most to a partner's programs", "Nobody as a whole."),
        ("rank", {}, "Do not hand it on: most words can", "Nobody."),
        ("risk", {"run__key": "seed"}, "Do not hand it on: the s", "Nobody."),
        ("risk", {"guarantee__bound__notion": "none"}, "Do not hand it on", "Nobody."),
        (
            "risk",
            {"guarantee__bound__loss": even(31.0)},
            "Do not hand it on",
            "Nobody.",
        ),
        (
            "risk",
            {"guarantee__scope__unprotected": ["common-words"]},
            "Hand it at most to people under contract",
            "Nobody as a whole.",
        ),
        (
            "risk",
            {
                "guarantee__bound__text_loss": {"total": 9.0},
                "guarantee__bound__level": "text",
            },
            "Hand it at most to programs that learn from texts",
            "People with one text",
        ),
    ],
)
def test_the_verdict_follows_from_the_guarantee(
    name: str, values: dict[str, Any], verdict: str, whom: str, tmp_path: Path
) -> None:
    """One line states the use of an output, another the people that it protects."""
    document = changed(internal_report(name, tmp_path), **values)
    said = {line.name: line.sentence for line in answer.answer(document)}
    assert said["verdict"].startswith(verdict)
    assert len(said["verdict"]) <= 79, "one line of a terminal"
    assert said["for whom"].startswith(whom)
    none = said["people"].startswith(("Not protected", "No guarantee"))
    assert not none or said["for whom"].startswith("Nobody")
    page = closed(rendered(document)).text
    assert said["verdict"] in page
    assert said["for whom"] in page


@pytest.mark.parametrize("nats", [5.0, 50.0])
@pytest.mark.parametrize("total", [9.0, 900.0])
@pytest.mark.parametrize("unprotected", [[], ["common-words"]])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_people_are_protected_in_both_lines_or_in_none(
    nats: float, total: float, unprotected: list[str], delta: float, tmp_path: Path
) -> None:
    """Also with a ledger, of which a large limit protects nobody as a whole."""
    limits = {"field": "who", "nats": nats, "delta": delta}
    values: dict[str, Any] = {
        "guarantee__bound__text_loss": {"total": total},
        "guarantee__scope__unprotected": unprotected,
    }
    ledger = {"run__recorded": {"ledger": "ab" * 16, "entry": None, "limits": limits}}
    for recorded in ({}, ledger):
        document = changed(internal_report("risk", tmp_path), **values, **recorded)
        said = {line.name: line.sentence for line in answer.answer(document)}
        none = said["people"].startswith("Not protected")
        assert none == said["for whom"].startswith("Nobody"), said["people"]


def test_a_plan_is_a_page() -> None:
    """The page of a plan is closed and says what the plan says."""
    recipe = {"mechanism": "rank", "budget": {"name": "uniform", "epsilon": 3.0}}
    ready = pipeline.build(profile.parse(recipe, "t.yaml"), small.cloud(20, 4))
    whole = plan.plan(ready, plan.Size(900, packed=300))
    page = closed(html.render(plan.view(whole))).text
    for part in (
        whole.guarantee.wording.sentence,
        "300 compressed bytes",
        plan.SENTENCES[0],
    ):
        assert part in page


KEYED = {"run__key": "key-file", "run__layout__fields": ["body"]}


@pytest.mark.parametrize(
    ("values", "anew", "by_id"),
    [
        ({}, "s with a changed text, and those behind", True),
        ({"run__layout__fields": None}, "Changed lines, and those behind", False),
        ({"run__layout__id_field": "id"}, "s with a changed text are", False),
        ({"guarantee__scope__strategy": "data-set"}, "", False),
        ({"run__key": "system"}, "", False),
    ],
)
def test_a_key_alone_draws_by_the_position_of_records(
    values: dict[str, Any], anew: str, by_id: bool, tmp_path: Path
) -> None:
    """A changed text is drawn anew; without ids, records behind another, too."""
    document = changed(internal_report("risk", tmp_path), **KEYED | values)
    said = {line.name: line.sentence for line in answer.answer(document)}
    assert anew in said["again"]
    assert ("Send only one version of each" in said["again"]) is bool(anew)
    assert ("are drawn anew" in said["again"]) is bool(anew)
    assert ("with --id only the first" in said["again"]) is by_id, "lines have no id"


def test_functions_of_python_speak_of_arguments_and_of_texts() -> None:
    """No option of the command line stands there, and no column of a list of texts."""
    texts = ["Anna praised the screenplay.", "Call Peter Miller at noon, please."]
    _, report = dptext.privatize(texts, "readable", report=True)
    shown = str(report)
    said = {line.name: line for line in answer.answer(report, interface=PYTHON)}
    assert said["output"].figures["texts"] == 2
    assert said["output"].sentence.startswith("2 texts, ")
    part = re.sub(r"<style>.*</style>", "", report._repr_html_(), flags=re.S)
    for each in (shown, part):
        assert "--" not in each
        assert "column" not in each
        assert "field" not in each
        assert "key= makes reruns identical" in " ".join(each.split())
        assert "Send only the new texts." in " ".join(each.split())
    assert "text" not in (report.run.layout.fields or ())


def test_functions_of_python_speak_of_rows_and_columns_of_a_table() -> None:
    """A table has columns, of which one is private, and an id."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": [1, 2], "body": ["good film", "bad film"]})
    key = bytes(range(32))
    _, report = dptext.privatize(
        frame, "balanced", columns="body", report=True, key=key
    )
    shown = " ".join(str(report).split())
    assert '2 rows, 4 words of "body" replaced' in shown
    assert "unchanged n; in the texts: punctuation" in shown
    assert "May the unchanged columns leave? Read every row. Send only the new" in shown
    assert "behind an added or missing one, are drawn anew; with id= only" in shown
    assert "--" not in shown
    nested = pandas.DataFrame({"n": [1], "body": [{"a": "good film", "b": "x"}]})
    _, report = dptext.privatize(nested, "balanced", columns="body.a", report=True)
    shown = " ".join(str(report).split())
    assert "unchanged every other column;" in shown, "b is one of them"
