"""Classifiers on texts with known labels, and scores counted by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dptext.errors import UsageError
from dptext.evaluation import classify
from dptext.evaluation.classify import (
    Linear,
    check_classifier,
    learn,
    make_classifier,
)
from tests import language_models, small

LEXICON = small.cloud(30, 3)
WORDS = LEXICON.words


def texts(count: int, seed: int) -> tuple[list[str], list[str]]:
    """Give texts that a word decides: the first words are of one class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    near = [[0, 1, 2, 3], [4, 5, 6, 7]]
    lines = [
        " ".join(WORDS[rng.choice(near[label])] for _ in range(4)) for label in labels
    ]
    return lines, [str(label) for label in labels]


@pytest.mark.parametrize("name", ["tfidf", "vectors"])
def test_it_learns_what_can_be_learnt(name: str) -> None:
    """Originals are told apart; texts of another word tell nothing."""
    pytest.importorskip("sklearn")
    before, labels = texts(160, 1)
    make = make_classifier(name, LEXICON)
    same = learn("label", labels, before, before, name, make, 2)
    assert same.original.accuracy > 0.85
    assert same.private == same.static == same.original
    blind = learn("label", labels, before, [WORDS[9]] * 160, name, make, 2)
    assert blind.original == same.original
    assert blind.private.accuracy <= blind.chance + 0.12
    assert blind.static.accuracy <= blind.chance + 0.12


def test_labels_as_long_as_texts_take_no_memory_of_their_own() -> None:
    """Labels of 10 million letters, 40 GB were each text to hold one."""
    long = "x" * 10_000_000
    with pytest.raises(UsageError, match="cannot be a label"):
        learn("label", [long] + ["a"] * 999, [], [], "tfidf", Linear, 1)


def test_scores() -> None:
    """Accuracy and macro-F1 of five guesses."""
    truth, guess = np.array([0, 0, 0, 1, 2]), np.array([0, 0, 1, 1, 1])
    accuracy, f1 = classify._scores(truth, guess)
    assert accuracy == pytest.approx(3 / 5)
    # F1: class 0 2*2/(2+3), class 1 2*1/(3+1), class 2 0.
    assert f1 == pytest.approx((0.8 + 0.5 + 0.0) / 3)


def test_splits_keep_the_shares_of_labels() -> None:
    """A quarter of each label is tested on; nothing is on both sides."""
    labels = np.repeat([0, 1], [40, 12])
    train, test = classify._split(labels, 0)
    assert np.bincount(labels[test]).tolist() == [10, 3]
    assert sorted([*train, *test]) == list(range(52))


@pytest.mark.parametrize("values", [["a"] * 40, [str(n) for n in range(40)]])
def test_a_field_that_is_no_label(values: list[str]) -> None:
    """One line says so."""
    with pytest.raises(UsageError, match="'x' cannot be a label"):
        learn("x", values, ["t"] * 40, ["t"] * 40, "tfidf", Linear, 1)


def test_one_split_has_no_spread() -> None:
    """A spread is claimed only where there are several figures."""
    one = classify._mean(np.array([(0.5, 0.25)]))
    assert (one.accuracy, one.accuracy_sd, one.macro_f1_sd) == (0.5, None, None)
    assert str(one) == "50.0%"
    two = classify._mean(np.array([(0.4, 0.2), (0.6, 0.2)]))
    assert two.accuracy_sd == pytest.approx(np.sqrt(0.02))
    assert str(two) == "50.0% ± 14.1%"


def test_texts_without_a_label_are_left_out() -> None:
    """They are neither trained nor tested on, and no class."""
    pytest.importorskip("sklearn")
    before, labels = texts(80, 4)
    values = [None if n % 4 == 0 else label for n, label in enumerate(labels)]
    task = learn("x", values, before, before, "tfidf", Linear, 1)
    assert (task.texts, task.classes) == (60, 2)
    without = [text for n, text in enumerate(before) if n % 4]
    known = [value for value in values if value is not None]
    assert learn("x", known, without, without, "tfidf", Linear, 1) == task


def test_a_folder_that_holds_no_model(tmp_path: Path) -> None:
    """One line names it."""
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text("{}")
    make = make_classifier(str(tmp_path), LEXICON)
    before, labels = texts(64, 2)
    with pytest.raises(UsageError, match="the model cannot be loaded"):
        learn("label", labels, before, before, "bert", make, 1)


def test_no_classifier_of_this_name() -> None:
    """The names are listed."""
    with pytest.raises(UsageError, match="give tfidf, vectors or the folder"):
        check_classifier("nothing")


def test_a_hugging_face_model(tmp_path: Path) -> None:
    """A tiny BERT of random weights is fine-tuned from its folder."""
    language_models.bert(tmp_path, head=False)
    before, labels = texts(64, 2)
    make = make_classifier(str(tmp_path), LEXICON)
    task = learn("label", labels, before, before, "bert", make, 1)
    assert 0.0 <= task.private.accuracy <= 1.0
