"""Factors of named entities."""

from __future__ import annotations

from typing import Any

import pytest

from dptext.budgets.scores import ner
from dptext.errors import UsageError
from tests.budgets import texts


def test_entities_count_twice() -> None:
    """Names in the thesis sentence; all other words once."""
    batch = texts.words(texts.THESIS)
    scored = texts.scored(ner, {"pipeline": texts.pipeline()}, batch)
    by = texts.by_word(scored, batch)
    for word in ("Stanford", "University", "John", "Smith", "Munich", "SAP"):
        assert by[word] == 2.0
    assert (by["graduating"], by["engineer"], by["a"]) == (1.0, 1.0, 1.0)


def test_labels_have_their_own_factors() -> None:
    """PERSON 5; all others as set."""
    batch = texts.words(texts.THESIS)
    settings: dict[str, Any] = {"pipeline": texts.pipeline(), "multiplier": 3.0}
    settings["labels"] = {"PERSON": 5.0}
    by = texts.by_word(texts.scored(ner, settings, batch), batch)
    assert (by["John"], by["Smith"], by["Munich"], by["job"]) == (5.0, 5.0, 3.0, 1.0)
    score = ner.Params(**settings).prepare(texts.english())
    assert score.description.endswith("en_dptext_sm, times 3, PERSON 5")


def test_scores_follow_from_the_text_alone() -> None:
    """Odd texts too, and a text longer than spaCy gets at a time."""
    settings = {"pipeline": texts.pipeline()}
    texts.assert_alone(ner, settings, *texts.ODD, "John runs. " * 800)


def test_an_absent_pipeline_gives_the_command() -> None:
    """A name that could be one is in the command, else the usual one."""
    pytest.importorskip("spacy", exc_type=ImportError)
    for name, suggested in (("en_x_md", "en_x_md"), ("no/such/dir", "en_core_web_sm")):
        with pytest.raises(UsageError, match=f"spacy download {suggested} "):
            ner.Params(pipeline=name).prepare(texts.english())
