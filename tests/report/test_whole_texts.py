"""Reports and answers of topics speak of whole texts, with figures that are true."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from dptext.guarantees.sentences import nearest_percent, percent
from dptext.lexicons import topics
from tests import made_topics
from tests.cli.running import Ran, here

TEXTS = [f"{text} indeed" for text in made_topics.public_texts().texts[:40]]


@pytest.fixture(scope="module", autouse=True)
def made(run_folders: Path) -> topics.TopicFile:
    """Build topics once."""
    return made_topics.make("said")


def ran(folder: Path, *more: str) -> Ran:
    """Make some texts private."""
    source = folder / "in.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    target = str(folder / "out.jsonl")
    done = here(
        "sanitize",
        str(source),
        "-f",
        "text",
        "--topics",
        "said",
        "-o",
        target,
        *more,
    )
    assert done.code == 0, done.err
    return done


def test_the_answer_speaks_of_texts(tmp_path: Path) -> None:
    """No line says a word of words; the exact law is rounded to nearest."""
    answer = json.loads(ran(tmp_path, "--epsilon", "2", "--json").err)
    said = {
        name: line["sentence"] for name, line in answer.items() if "sentence" in line
    }
    assert "words" not in said
    assert "attacker" not in said
    assert "40 texts" in said["output"]
    odds = math.exp(2.0)
    nearest = odds / (odds + 3)
    assert answer["topic"]["nearest"] == pytest.approx(nearest, rel=1e-9)
    assert f"{100 * nearest:.1f}%" in said["topic"]
    most = 4 * nearest / 1000
    assert answer["original"]["picked"] == pytest.approx(most, rel=1e-9)
    assert answer["original"]["picked_after"] == pytest.approx(odds / (odds + 999))
    assert answer["original"]["picked_of_two"] == pytest.approx(odds / (odds + 1))


def test_the_report_has_the_same_figures(tmp_path: Path) -> None:
    """The public report holds them, and `check` recomputes them."""
    ran(tmp_path)
    beside = tmp_path / "out.jsonl.dptext.json"
    document = json.loads(beside.read_text())
    assert document["words"]["topics"]["topics"] == 8
    assert here("check", str(tmp_path / "out.jsonl")).code == 0
    document["words"]["topics"]["picked"] /= 2
    beside.write_text(json.dumps(document))
    assert here("check", str(tmp_path / "out.jsonl")).code != 0
    shown = here("report", str(beside)).out.decode()
    assert "A large language model as attacker: not measured." in shown
    assert "any two texts" in shown
    assert "any two words" not in shown


def test_a_set_of_topics_is_stated(tmp_path: Path) -> None:
    """By subset selection: how often the nearest is in the set, and who finds a row."""
    more = ("--mechanism", "subset", "--set", "mechanism.k=3", "--epsilon", "1")
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    target = str(tmp_path / "out.jsonl")
    done = here(
        "sanitize",
        str(source),
        "-f",
        "text",
        "--topics",
        "said/8",
        "-o",
        target,
        *more,
        "--json",
    )
    assert done.code == 0, done.err
    answer = json.loads(done.err)
    held = 3 * math.e / (3 * math.e + 5)
    assert answer["topic"]["nearest"] == pytest.approx(held)
    assert answer["topic"]["sentence"].startswith("3 of 8 topics for each text")
    picked = 8 * math.e / (3 * math.e + 5) / 1000
    assert answer["original"]["picked"] == pytest.approx(picked)
    report = json.loads((tmp_path / "out.jsonl.dptext.json").read_text())
    assert "a set of 3 of 8 public topics" in report["guarantee"]["wording"]["sentence"]
    assert report["words"]["no_risk"] == "context"
    assert "a set of topics" in report["words"]["risk_note"]
    assert "whole text" not in report["words"]["risk_note"]
    others = "evenly from the topics that are not nearest"
    assert others in report["guarantee"]["wording"]["text_level"]
    phrases = set(topics.open_lexicon("said", 8).words)
    for line in (tmp_path / "out.jsonl").read_text().splitlines():
        written = json.loads(line)["text"].split("; ")
        assert len(set(written)) == 3
        assert set(written) <= phrases
    assert here("check", target).code == 0
    estimated = json.loads(here("topics", "estimate", target, "--json").out)
    shares = [each["share"] for each in estimated["tables"][0]["topics"]]
    assert sum(shares) == pytest.approx(1.0)
    assert here("report", f"{target}.dptext.json").code == 0
    assert here("sanitize", "--plan", "--topics", "said/8", *more).code == 0
    assert here("explain", "rain", "--topics", "said/8", *more).code == 0


def test_a_seed_leaves_no_bound(tmp_path: Path) -> None:
    """Who has the seed repeats the draws: no figure of holders is shown."""
    answer = json.loads(ran(tmp_path, "--seed", "1", "--json").err)
    assert answer["original"]["picked"] is None
    assert "No guarantee" in answer["texts"]["sentence"]


def test_a_plan_and_an_explanation_speak_of_texts(tmp_path: Path) -> None:
    """Before a run, too."""
    planned = here("sanitize", "--plan", "--topics", "said").out.decode()
    assert "one text" in planned
    assert "any two texts" in planned
    explained = here("explain", "the storm brought rain", "--topics", "said")
    assert "What the text may become" in explained.out.decode()


@pytest.mark.usefixtures("empty_folders")
def test_topics_that_are_elsewhere_are_named(
    tmp_path: Path, made: topics.TopicFile
) -> None:
    """`check` says which file is missing, and takes it by its path.

    In empty folders, since equal topics of other tests, under another name, also serve.
    """
    path = made_topics.save(made)
    ran(tmp_path)
    moved = tmp_path / "moved.json"
    path.rename(moved)
    there = here("check", str(tmp_path / "out.jsonl"))
    assert there.code != 0
    assert str(topics.folder()) in there.out.decode() + there.err
    named = ("--lexicon", topics.named(str(moved), 8))
    assert here("check", str(tmp_path / "out.jsonl"), *named).code == 0
    made_topics.save(replace(made, name="other"))
    assert here("check", str(tmp_path / "out.jsonl")).code == 0


def test_bounds_are_rounded_up_and_probabilities_to_nearest() -> None:
    """A bound is never understated; an exact figure is as near as its digits allow."""
    assert percent(0.015427) == "1.6%"
    assert nearest_percent(0.964151) == "96.4%"
    assert nearest_percent(0.99996) == "99.996%"
    assert percent(0.99996) == "99.996%"


def test_whole_text_budgets_bound_holders_of_originals(tmp_path: Path) -> None:
    """Every statement with an epsilon of a whole text says how many are picked."""
    for options in (
        ("--set", "budget=per-text", "--epsilon", "4"),
        ("--set", "budget.name=per-text", "--set", "budget.epsilon=4"),
    ):
        planned = here("sanitize", "--plan", "--mechanism", "rank", *options)
        if planned.code == 0:
            shown = " ".join(planned.out.decode().split())
            assert "Of 1,000 equally likely originals" in shown
            assert "in at most 5.2% of cases, of two in at most 98.3%" in shown
            return
    pytest.fail(planned.err)
