"""Sentences of an answer are true of the file that leaves, whatever its settings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext.report import answer, attackers
from dptext.report.document import Document
from tests import made_topics
from tests.cli.running import here

MIXED = ["The physiotherapist found arthritis.", "Anna came on Monday with 12 dogs."]

# At this epsilon most words can be guessed from their draws.
WIDE = {"epsilon": 20.0, "risk": None}


@pytest.fixture(scope="module")
def visits(run_folders: Path) -> str:
    """Build topics once, and return their name."""
    made_topics.make("visits")
    return "visits"


def sentences(name: str, texts: list[str], **over: Any) -> dict[str, str]:
    """Return the sentences of the answer on texts by their lines."""
    document = dptext.privatize(texts, profile=name, overrides=over, report=True)[1]
    return by_line(document)


def by_line(document: Document) -> dict[str, str]:
    """Return the sentences of an answer by their lines."""
    return {line.name: line.sentence for line in answer.answer(document)}


@pytest.mark.parametrize(
    ("name", "over"),
    [
        ("readable", {"tokens": {"common": 1000}, "budget": {"epsilon": 20.0}}),
        ("balanced", {"tokens": {"stop_word": "keep"}, "budget": WIDE}),
        ("balanced", {"tokens": {"number": "keep"}, "budget": WIDE}),
    ],
)
def test_shares_are_of_replaced_words_where_others_stay(
    name: str, over: dict[str, Any]
) -> None:
    """No share of replaced words reads as one of all words; a guess may find more."""
    said = sentences(name, MIXED, **over)
    for line in ("words", "one guess", "meaning"):
        found = re.findall(r"\d% of (\w+)", said[line])
        assert found[0] == "replaced", said[line]
    assert "can guess at least " in said["words"]
    drawn = sentences("balanced", MIXED, budget=WIDE)
    for line in ("words", "one guess", "meaning"):
        assert re.search(r"\d% of words", drawn[line]), drawn[line]


@pytest.mark.filterwarnings("ignore:.*language:UserWarning")
@pytest.mark.parametrize(
    ("profile", "settings", "part"),
    [
        ("readable", {}, "another language becomes a mark. All"),
        ("balanced", {}, "most words are unknown to it"),
        ("readable", {"languages": ["en", "de"]}, "in one of the languages of the run"),
        ("readable", {"languages": ["de"]}, "is read in German, whatever it is in"),
    ],
)
def test_the_page_says_what_becomes_of_another_language(
    profile: str, settings: dict[str, Any], part: str
) -> None:
    """Under readable such a text becomes a mark, or is read in its language."""
    given = [*MIXED, "Das Paket kam leider erst gestern bei uns an, und es war offen."]
    texts, document = dptext.privatize(given, profile, report=True, **settings)
    assert part in by_line(document)["language"]
    marked = texts[2] == "[text in another language]"
    assert marked == (profile == "readable" and not settings)


@pytest.mark.parametrize("profile", ["balanced", "readable", "topics"])
def test_no_answer_claims_that_an_attacker_is_never_certain(
    profile: str, visits: str
) -> None:
    """The output proves no word; an attacker who knows more may be certain of one."""
    if profile == "topics":
        made = dptext.privatize(MIXED, topics=visits, report=True)
    else:
        made = dptext.privatize(MIXED, profile, report=True)
    said = by_line(made[1])
    line = said["texts" if profile == "topics" else "words"]
    assert "the output never proves " in line
    assert "certain" not in line


@pytest.mark.parametrize(
    ("texts", "part"),
    [
        (
            ["I am so glad.", "", " ", "-", "..."],
            "; the only text with letters or digits is unchanged",
        ),
        (["I am so glad."], "; the only text is unchanged"),
        (["I am so glad.", "Anna"], "; 1 of 2 texts is unchanged"),
        (["I am glad.", "so", "Anna"], "; 2 of 3 texts are unchanged"),
        (
            ["I am glad.", "so", "", "Anna"],
            "; 2 of 3 texts with letters or digits are unchanged",
        ),
    ],
)
def test_unchanged_texts_are_counted_of_those_that_are_not_empty(
    texts: list[str], part: str
) -> None:
    """So the count agrees with the verdict on the same texts."""
    said = sentences("readable", texts)
    assert said["output"].endswith(part)
    every = "every text is a copy" in said["verdict"]
    assert every == (part.startswith("; the only"))


def test_no_question_on_columns_that_are_not_there(tmp_path: Path) -> None:
    """Where no other column is unchanged, nobody is asked about unchanged columns."""
    for name, record, asked in (
        ("one.jsonl", '{"text":"Anna came."}\n', False),
        ("two.jsonl", '{"id":1,"text":"Anna came."}\n', True),
        ("one.csv", 'text\n"Anna came."\n', False),
    ):
        source = tmp_path / name
        source.write_text(record)
        out = tmp_path / f"out-{name}"
        ran = here(
            "sanitize", str(source), "-f", "text", "-p", "readable", "-o", str(out)
        )
        assert ran.code == 0, ran.err
        said = " ".join(ran.err.split())
        assert ("no other column" in said) != asked
        assert ("May the unchanged columns" in said) == asked
        assert "the common words leave?" in said
        shown = " ".join(here("report", str(out)).out.decode().split())
        assert ("May the unchanged columns" in shown) == asked


def test_sets_of_topics_are_told_as_sets(visits: str) -> None:
    """A text that becomes a set of topics did not become one topic."""
    overrides = {"mechanism": {"name": "subset", "k": 2}, "budget": {"epsilon": 2.0}}
    for texts, part in (
        (MIXED, "2 texts became a set of 2 topics each"),
        (MIXED[:1], "1 text became a set of 2 topics"),
    ):
        document = dptext.privatize(
            texts, topics=visits, overrides=overrides, report=True
        )[1]
        said = by_line(document)
        assert said["output"].endswith(part)
        assert said["sending"].startswith("May the topics leave? ")
        assert not re.search("in [0-9.]+%", said["original"].replace("at most", ""))
    said = by_line(dptext.privatize(MIXED, topics=visits, report=True)[1])
    assert said["output"] == "2 texts, 2 texts became a topic each"
    assert said["sending"].startswith("May the topic of each text leave? ")


def test_each_limit_on_holders_of_originals_is_a_limit(visits: str) -> None:
    """Three shares, each with "at most"."""
    said = by_line(dptext.privatize(MIXED, topics=visits, report=True)[1])
    assert len(re.findall(r"at most \d", said["original"])) == 3


def test_a_seed_needs_the_texts_to_make_an_output_again(tmp_path: Path) -> None:
    """With the seed alone nobody has the output; a key file repeats draws, too."""
    (tmp_path / "in.txt").write_text("Anna came.\n")
    ran = here("sanitize", str(tmp_path / "in.txt"), "--seed", "1", "--json")
    said = json.loads(ran.err)
    assert said["again"]["sentence"].startswith("Anyone who has the texts and ")
    assert "--key-file nobody can repeat" in said["stronger"]["sentence"]


def test_advice_does_not_promise_that_epsilon_protects_common_words() -> None:
    """The copied words leak, which no epsilon limits."""
    said = sentences("readable", MIXED)["stronger"]
    assert said == (
        "--topics protects whole texts; a smaller --epsilon no common word."
    )
    assert "common" not in sentences("balanced", MIXED)["stronger"]


@pytest.mark.parametrize("language", ["de", "unknown"])
def test_trials_in_english_tell_nothing_of_another_language(language: str) -> None:
    """A lexicon of another language has no figures of a language model."""
    known = attackers.Attackers(
        risk=None, risk_note="", common=True, language=language, profile="custom"
    )
    said = attackers.attacker_line(known)
    assert "readable" not in said.sentence
    assert said.figures["found_by_language_model"] is None
