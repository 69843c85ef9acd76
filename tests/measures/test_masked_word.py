"""The masked-word attack on a tiny model of random weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from dptext.errors import UsageError
from dptext.evaluation import run
from tests import language_models


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build a tiny BERT that prefers one word in every text."""
    return language_models.bert(tmp_path_factory.mktemp("model"), always="house")


def test_guesses_are_counted(model: str) -> None:
    """A model that always says "house" is right where "house" was."""
    pieces = ["a", " cat", ",", " x"]
    words = [(pieces, 0, "the"), (pieces, 1, "house")]
    guessed = run.guess_masked(model, words)
    assert guessed is not None
    assert (guessed.words, guessed.first) == (2, 0.5)
    assert guessed.first_five >= guessed.first
    fewer = run.guess_masked(model, words, most=1)
    assert fewer is not None
    assert fewer.words == 1
    assert run.guess_masked(model, []) is None


def test_only_the_word_is_hidden() -> None:
    """Its space and the punctuation around it stay; the rest of the text is seen."""
    pieces = ["Well", ",", " cats", "."]
    shown = [run._masked_text("[M]", pieces, position) for position in (0, 2)]
    assert shown == ["[M], cats.", "Well, [M]."]


def test_words_are_chosen_evenly(model: str) -> None:
    """From the first to the last, not those of the first texts."""
    words = [([" x"], 0, "house" if n % 25 == 0 else "cat") for n in range(101)]
    guessed = run.guess_masked(model, words, most=5)
    assert guessed is not None
    assert (guessed.words, guessed.first) == (5, 1.0)


def test_long_texts_are_cut_around_the_mask(model: str) -> None:
    """Words anywhere in a long text are asked for, the mask in sight."""
    pieces = ["a", *[" a"] * 299]
    words = [(pieces, position, "house") for position in (*range(0, 300, 6), 299)]
    guessed = run.guess_masked(model, words)
    assert guessed is not None
    assert (guessed.first, guessed.words) == (1.0, 51)


def test_no_model(tmp_path: Path) -> None:
    """One line that names the option, for any missing file of the folder."""
    pytest.importorskip("transformers")
    with pytest.raises(UsageError, match=r"--masked-model: .* no config\.json"):
        run.guess_masked(str(tmp_path), [])
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match=r"--masked-model: .* no tokenizer"):
        run.guess_masked(str(tmp_path), [])
