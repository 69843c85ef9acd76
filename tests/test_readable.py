"""The profile for people from Python: texts, tables, spans of Presidio."""

from __future__ import annotations

import re

import pytest

import dptext

TEXTS = ("Great thanks to Sarah Miller in Berlin!", "She has cancer since May 5, 2021.")


def test_a_table_keeps_common_words_and_says_so(key: str) -> None:
    """Names and words of special categories do not stay; a key repeats the draws."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [1, 2], "note": TEXTS})
    private, report = dptext.privatize(
        frame, "readable", columns="note", key=key, report=True
    )
    again = dptext.privatize(frame, "readable", columns="note", key=key)
    assert private["note"].tolist() == again["note"].tolist()
    assert private["note"][0].startswith("Great thanks to ")
    assert private["note"][1].startswith("She has ")
    assert "2021" not in private["note"][1] or "May 5" not in private["note"][1]
    assert report.guarantee.scope.not_covered[0].startswith("This does not anonymise.")
    assert report.private is not None
    assert report.private.words is not None
    assert report.private.words.tokens["person"] == 2
    assert (
        "Common words and the facts that they tell can show who someone is"
        in report._repr_html_()
    )


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("hi mark, talk to rose young about it", "mark;rose;young"),
        ("mr power came late, mrs young too", "power;young"),
        ("born third of may nineteen eighty", "third of may;eighty"),
        (
            "call six one two seven four eight double nine three",
            "six one two;eight double nine",
        ),
        ("lives at 7 may street near high street", "7 may"),
        ("Name: Summer\nCity: Reading", "Summer;Reading"),
        ("a 104 year old man, ninety-seven years old", "104;ninety-seven"),
    ],
)
def test_identities_in_everyday_spelling_do_not_stay(
    key: str, text: str, gone: str
) -> None:
    """In several draws each part is replaced; by chance one may come again."""
    texts = [f"{text}.\nDone: {number}" for number in range(12)]
    written = dptext.privatize(texts, "readable", key=key)
    for part in gone.split(";"):
        stays = [re.search(rf"\b{part}\b", each) is not None for each in written]
        assert sum(stays) < len(stays) / 2


def test_spans_of_presidio_say_that_common_words_stay() -> None:
    """A span is a text: its common words are copied, and the statement has that."""
    pytest.importorskip("presidio_anonymizer")
    from dptext.integrations.presidio import DptextOperator, Run

    run = Run(profile="readable")
    operator = DptextOperator()
    assert operator.operate("the", {"run": run}) == "the"
    assert operator.operate("Qwertz", {"run": run}) != "Qwertz"
    promise = run.report().guarantee
    assert "common-words" in promise.scope.unprotected
    assert "the same unchanged common words" in promise.wording.sentence
    assert "the same choice of spans by Presidio" in promise.wording.sentence
