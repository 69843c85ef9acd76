"""What the benchmark of identities counts, and the page that it writes."""

from __future__ import annotations

import random
import sys
import xml.etree.ElementTree as Xml
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.identities import corpora, measures, page, systems
from benchmarks.identities.corpora import Marked


def longest(one: Sequence[str], two: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, by its definition."""
    row = [0] * (len(two) + 1)
    for word in one:
        before, row = row, [0]
        for at, other in enumerate(two):
            same = before[at] + 1 if word == other else 0
            row.append(max(same, before[at + 1], row[at]))
    return row[-1]


def test_the_longest_common_subsequence() -> None:
    """As by its definition, on random words."""
    rng = random.Random(3)
    for _ in range(200):
        one, two = (
            [rng.choice("abcde") for _ in range(rng.randint(0, 90))] for _ in range(2)
        )
        assert measures.common_length(one, two) == longest(one, two)


def test_values_are_counted_by_kind() -> None:
    """Each in its own text, whole and in part."""
    texts = ["Ann Lee of Oslo", "Bob Ray of Rome"]
    values = [(1, "person", "Ann Lee"), (1, "place", "Oslo"), (2, "person", "Bob Ray")]
    private = ["Ann Lee of Rome", "Ann Ray of Rome"]
    found = measures.standing(Marked(texts, values), private, {"of"}, computed=False)
    person, place = found["person"], found["place"]
    assert (person["values"], person["whole"]["count"]) == (2, 1)
    assert person["in_part"]["count"] == 2
    assert (place["values"], place["in_part"]["count"]) == (1, 0)


def test_tickets_are_the_same_for_a_seed_and_hold_their_values() -> None:
    """Made by faker, where that is installed."""
    pytest.importorskip("faker")
    given = corpora.tickets(60, seed=1)
    assert given == corpora.tickets(60, seed=1)
    assert {kind for _, kind, _ in given.values} == {
        "person",
        "e-mail",
        "telephone",
        "order number",
        "account number",
        "address",
        "date of birth",
    }
    assert all(value in given.texts[number - 1] for number, _, value in given.values)
    assert not any("{" in text for text in given.texts)


def test_the_chance_of_a_random_equal_value() -> None:
    """By its form: ten digits, 26 letters, unchanged marks."""
    assert corpora.chance_of_equal("order number", "AB-12") == pytest.approx(
        1 / 26**2 / 100
    )
    assert corpora.chance_of_equal("address", "12 High St") == pytest.approx(1 / 100)
    assert corpora.chance_of_equal("date of birth", "1.2.1990") == 1 / 36_525
    assert corpora.chance_of_equal("person", "Ann") is None


def test_what_cannot_be_measured_is_left_out_with_a_reason(tmp_path: Path) -> None:
    """A peer that is not installed, and settings that no version knows."""
    with pytest.raises(systems.LeftOut, match="unknown key"):
        systems.opened("readable tokens.nothing=500")
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    script.chmod(0o755)
    with pytest.raises(systems.LeftOut, match="not installed"):
        systems.run("philter", ["text"], str(script), tmp_path, 0)


def test_the_page_and_its_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are written from results alone, as JSON holds them."""
    values = [(1, kind, "Ann Lee") for kind in ("person", "place", "organisation")]
    given = Marked(["Ann Lee said it"], values)
    found = measures.standing(given, ["Ann Ray said it"], (), computed=True)
    read = {
        "words_unchanged": 0.5,
        "perplexity": {"by_pairs": 12.0, "by_model": None},
        "cosine": None,
    }
    marked = {"words_unchanged": 0.75, "kinds": found}
    names = (*corpora.MARKED, corpora.TICKETS)
    row = {
        "versions": {"dptext": "0"},
        "marked": dict.fromkeys(names, marked),
        "read": dict.fromkeys(corpora.TEXTS, read),
        "accuracy": 0.5,
        "words_per_second": 1000,
    }
    results = {
        "sizes": {"sentences": 0, "tickets": 1, "texts": 1, "rows": 1, "seed": 0},
        "systems": {
            page.ORIGINALS: {**row, "marked": {}},
            "readable": row,
            "presidio": row,
        },
        "left_out": {"philter": "not installed"},
        "lexicon": "0",
        "python": "3",
    }
    monkeypatch.setattr(page, "DOCS", tmp_path)
    monkeypatch.setattr(page, "PICTURE", tmp_path / "identities.svg")
    page.write(results)
    text = (tmp_path / "identities.md").read_text("utf-8")
    assert "| `readable` | 0.0% (100%) |" in text
    assert "| Presidio |" in text
    assert "Not measured: Philter (not installed)." in text
    assert "None of this is anonymity" in text
    assert "](identities.svg)" in text, "beside the page"
    Xml.fromstring((tmp_path / "identities.svg").read_text("utf-8"))
    assert '"sizes": {"sentences": 0' in page.to_json(results)
