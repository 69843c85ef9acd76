"""Who recognises the row of a text: exact figures of small laws, and the command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import dptext
from dptext.evaluation import linkage
from dptext.evaluation.linkage import LinkageFigures
from dptext.evaluation.rows import Pair
from tests import made_topics
from tests.cli.running import here


@pytest.fixture(scope="module", autouse=True)
def made(run_folders: Path) -> None:
    """Build topics once."""
    made_topics.make("linked")


def by_name(
    linked: tuple[LinkageFigures, ...],
) -> dict[tuple[str, str], LinkageFigures]:
    """Return attackers by what they do."""
    names = {value: key for key, value in linkage._KNOWS.items()}
    return {(each.attack, names[each.knows]): each for each in linked}


def pairs(texts: list[str]) -> list[Pair]:
    """Pair each text with itself."""
    return [Pair((text,), (text,)) for text in texts]


def test_ties_are_broken_by_chance() -> None:
    """Of equal candidates each is picked as often, and places are means."""
    scores = np.array([[3.0, 1.0, 1.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    first, place = linkage._places(scores, np.arange(3))
    np.testing.assert_allclose(first, [1.0, 0.5, 1 / 3])
    np.testing.assert_allclose(place, [1.0, 1.5, 2.0])
    none = np.full((2, 2), -np.inf)
    np.testing.assert_allclose(linkage._places(none, np.arange(2))[0], 0.5)


def test_holders_of_originals_find_no_more_than_the_bound() -> None:
    """Topics: at most K p / N on average (false alarm 1e-6), layout says nothing."""
    writer = dptext.open_pipeline(
        "topics", {"lexicon": "topics:linked/4", "budget": {"epsilon": 2.0}}
    )
    texts = [f"{text} so" for text in made_topics.public_texts().texts]
    found = by_name(linkage.linkage(pairs(texts), writer))
    count, odds = len(texts), math.exp(2.0)
    layout = found["layout", "all"]
    assert layout.first == pytest.approx(1 / count)
    assert layout.of_two == pytest.approx(0.5)
    most = 4 * odds / (odds + 3) / count
    law = found["law", "all"]
    # The first guess is a mean over rows of 1 / (members of a topic) or 0.
    assert law.first <= most * 1.25
    assert 0.6 < law.of_two <= odds / (1 + odds)
    assert law.low <= law.first <= law.high


def test_drawn_words_give_their_text_away() -> None:
    """Words: the law finds every text, and marks alone find odd ones."""
    writer = dptext.open_pipeline("strict", {})
    texts = [f"{text} today" for text in made_topics.public_texts(10).texts]
    texts += ["What, a storm! (Again.)"]
    found = by_name(linkage.linkage(pairs(texts), writer))
    assert found["law", "all"].first > 0.9
    assert found["law", "all"].first >= found["law", "ten"].first
    assert 1 / len(texts) < found["layout", "all"].first < 0.5
    # The private file is the original: a layman finds all of it.
    assert found["cosine", "all"].first > 0.9


def test_settings_without_an_exact_law_have_the_layout_only() -> None:
    """A noise mechanism: no law of the draws is claimed."""
    writer = dptext.open_pipeline(
        "strict",
        {"mechanism": "laplace", "budget": {"epsilon": 5, "risk": None}},
    )
    texts = made_topics.public_texts(3).texts
    found = by_name(linkage.linkage(pairs(list(texts)), writer))
    assert {attack for attack, _ in found} == {"layout", "cosine"}
    assert {
        attack for attack, _ in by_name(linkage.linkage(pairs(list(texts)), None))
    } == {"cosine"}


def test_empty_texts_and_single_rows() -> None:
    """Nothing to tell apart is no error."""
    writer = dptext.open_pipeline("strict", {})
    assert linkage.linkage(pairs(["one"]), writer) == ()
    found = by_name(linkage.linkage(pairs(["", "", " "]), writer))
    assert found["law", "all"].first <= 1.0


def test_the_command_measures_it(tmp_path: Path) -> None:
    """`evaluate --linkage` reads the settings from the report beside the output."""
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    texts = [f"{text} now" for text in made_topics.public_texts(10).texts]
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    for options in (("--topics", "linked"), ("-p", "strict")):
        ran = here(
            "sanitize", str(source), "-f", "text", "-o", str(target), "-q", *options
        )
        assert ran.code == 0, ran.err
        ran = here(
            "evaluate",
            str(source),
            str(target),
            "--field",
            "text",
            "--linkage",
            "--profile",
            f"{target}.dptext.json",
            "--no-attackers",
            "--json",
        )
        assert ran.code == 0, ran.err
        linked = json.loads(ran.out)["linkage"]
        assert [each["attack"] for each in linked[:2]] == ["layout", "law"]
        assert all(each["records"] == len(texts) for each in linked)
