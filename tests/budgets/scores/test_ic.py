"""Information content, from the lexicon and from NLTK."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from dptext import models
from dptext.budgets.scores import ic
from dptext.errors import UsageError
from tests import small
from tests.budgets import texts

NLTK: dict[str, Any] = {"source": "nltk"}


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let NLTK see the test data."""
    texts.nltk_data(monkeypatch, "wordnet", "wordnet_ic")


def test_the_lexicon_has_its_own() -> None:
    """Without any other package; unknown words have the most."""
    batch = texts.words(texts.THESIS + " Zqxjk")
    scored = texts.scored(ic, {}, batch)
    assert batch.ids[-1] == -1
    content = texts.english().information_content
    assert content is not None
    assert scored[-1] == content.max()
    by = texts.by_word(scored, batch)
    assert by["Munich"] > by["engineer"] > by["software"] > by["he"] > by["to"]
    texts.assert_alone(ic, {}, *texts.ODD)


def test_a_lexicon_without_any_is_refused() -> None:
    """One line that says what to do instead."""
    lexicon = dataclasses.replace(small.cloud(4, 2), information_content=None)
    with pytest.raises(UsageError, match="source: nltk"):
        ic.Params().prepare(lexicon)


@pytest.mark.usefixtures("data")
def test_nltk_gives_the_known_value() -> None:
    """The one synset of software has 6.9857 nats in ic-brown.dat."""
    batch = texts.words(texts.THESIS)
    scored = texts.by_word(texts.scored(ic, NLTK, batch), batch)
    wordnet = models.package("nltk.corpus", "the test", "nlp").wordnet
    table = models.package("nltk.corpus", "the test", "nlp").wordnet_ic.ic(
        "ic-brown.dat"
    )
    reader = models.package("nltk.corpus.reader.wordnet", "the test", "nlp")
    (synset,) = wordnet.synsets("software")
    expected = reader.information_content(synset, table)
    assert scored["software"] == pytest.approx(expected)
    assert expected == pytest.approx(6.985735781897362)
    values = [
        reader.information_content(each, table) for each in wordnet.synsets("engineer")
    ]
    assert scored["engineer"] == pytest.approx(math.fsum(values) / len(values))


@pytest.mark.usefixtures("data")
def test_nltk_leaves_words_without_counted_synsets_neutral() -> None:
    """Function words, adjectives and unknown words; "at" is not astatine."""
    batch = texts.words("At Zqxjk new his as München")
    assert texts.scored(ic, NLTK | {"neutral": 2.5}, batch).tolist() == [2.5] * 6


@pytest.mark.usefixtures("data")
def test_nltk_files_are_averaged_and_counts_may_be_asked_for() -> None:
    """The mean over files; the published measure gives common words more."""
    batch = texts.words("person trombonist")
    one, two = (
        texts.scored(ic, NLTK | {"files": (name,)}, batch)
        for name in ("ic-brown.dat", "ic-semcor.dat")
    )
    both = ("ic-brown.dat", "ic-semcor.dat")
    mean = texts.scored(ic, NLTK | {"files": both}, batch)
    np.testing.assert_allclose(mean, (one + two) / 2)
    counts = texts.scored(ic, NLTK | {"measure": "count"}, batch)
    assert one[0] < one[1]
    assert counts[0] > counts[1]


@pytest.mark.usefixtures("data")
def test_nltk_scores_follow_from_the_text_alone() -> None:
    """Odd texts too."""
    texts.assert_alone(ic, NLTK, *texts.ODD)


@pytest.mark.usefixtures("data")
def test_an_unknown_file_is_named() -> None:
    """With those that are there."""
    with pytest.raises(UsageError, match=r"no file 'ic-x\.dat'; known: ic-bnc\.dat"):
        texts.scored(ic, NLTK | {"files": ("ic-x.dat",)}, texts.words("dog"))


def test_absent_data_give_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, before any text is read."""
    pytest.importorskip("nltk", exc_type=ImportError)
    monkeypatch.setattr(models.package("nltk", "", "nlp").data, "path", [])
    with pytest.raises(UsageError, match=r"python -m nltk\.downloader wordnet ") as e:
        ic.Params(**NLTK).prepare(texts.english())
    assert "\n" not in str(e.value)
