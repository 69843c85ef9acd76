"""Weights of parts of speech."""

from __future__ import annotations

from typing import Any

import pytest

from dptext import models
from dptext.budgets.scores import pos
from dptext.errors import UsageError
from tests.budgets import texts


@pytest.fixture(params=["nltk", "spacy"])
def tagger(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """Return the settings of each tagger."""
    if request.param == "spacy":
        return {"tagger": "spacy", "pipeline": texts.pipeline()}
    texts.nltk_data(monkeypatch, "averaged_perceptron_tagger_eng")
    return {"tagger": "nltk"}


def test_the_thesis_sentence_is_weighed_as_in_the_thesis(
    tagger: dict[str, Any],
) -> None:
    """NN 15, PR 14, VB 8, JJ 3.7, all others 0.1."""
    batch = texts.words(texts.THESIS)
    scored = texts.by_word(texts.scored(pos, tagger, batch), batch)
    for word in ("Stanford", "University", "John", "Munich", "job", "SAP", "engineer"):
        assert scored[word] == 15.0
    assert (scored["he"], scored["his"]) == (14.0, 14.0)
    assert (scored["graduating"], scored["moved"], scored["start"]) == (8.0, 8.0, 8.0)
    assert scored["new"] == 3.7
    assert (scored["from"], scored["where"], scored["a"]) == (0.1, 0.1, 0.1)


def test_weights_can_be_set(tagger: dict[str, Any]) -> None:
    """The longest prefix counts; 0 is allowed."""
    batch = texts.words("John works here in the city")
    weights = {"weights": {"NN": 1.0, "NNP": 2.0, "VB": 0.0}, "other": 0.5}
    scored = texts.by_word(texts.scored(pos, tagger | weights, batch), batch)
    assert (scored["John"], scored["city"]) == (2.0, 1.0)
    assert (scored["works"], scored["in"]) == (0.0, 0.5)


def test_a_divided_word_has_the_greatest_weight_of_its_parts(
    tagger: dict[str, Any],
) -> None:
    """Taggers read "won't" as two words; here it may be one."""
    batch = texts.words("They won't go")
    weights = {"weights": {"MD": 9.0, "RB": 1.0}, "other": 0.1}
    scored = texts.scored(pos, tagger | weights, batch)
    assert scored[1] == 9.0


def test_scores_follow_from_the_text_alone(tagger: dict[str, Any]) -> None:
    """Odd texts too, and a text longer than spaCy gets at a time."""
    texts.assert_alone(pos, tagger, *texts.ODD, "the dog runs. " * 700)


def test_absent_taggers_give_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """NLTK's data and spaCy's pipelines."""
    pytest.importorskip("spacy", exc_type=ImportError)
    monkeypatch.setattr(models.package("nltk", "", "nlp").data, "path", [])
    with pytest.raises(UsageError, match="downloader averaged_perceptron_tagger_eng"):
        pos.Params().prepare(texts.english())
    absent = pos.Params(tagger="spacy", pipeline="xx_absent_sm")
    with pytest.raises(UsageError, match="python -m spacy download xx_absent_sm"):
        absent.prepare(texts.english())
