"""Texts that budgets and scores must bear, divided by the built-in lexicon."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from dptext import lexicons, models
from dptext.budgets.scores import Score
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon, Words
from tests.lexicons.files import real

THESIS = (
    "After graduating from Stanford University, John Smith moved to Munich to start "
    "his new job at SAP, where he works as a software engineer."
)
ODD = (
    THESIS,
    "",
    "Paris",
    "... !?\n",
    "Nach dem Studium zog Jürgen Müller nach München; er arbeitet bei der Post.",
    "他在柏林工作。 работает 🙂🙂 http://example.org/x?y=1 joe@example.org",
    "It's a well-known don't-care ``quote'' \"quoted\" 'word'. He said: \"No.\"",
    "very very very good",
    "\u0000 \u200b zq42 3.14 1,000",
)
KEEP = Policy(stop_word="keep", number="keep")


@cache
def english() -> Lexicon:
    """Return the built-in lexicon."""
    return lexicons.find("builtin")


@cache
def _tokenizer(policy: Policy) -> Tokenizer:
    return Tokenizer(english(), policy)


def words(*texts: str, policy: Policy | None = None) -> Words:
    """Divide texts."""
    return _tokenizer(policy or Policy()).words(texts)


def nltk_data(patch: pytest.MonkeyPatch, *needed: str) -> None:
    """Let NLTK look in the test data alone; skip if the needed data are missing."""
    pytest.importorskip("nltk", exc_type=ImportError)
    for name in needed:
        real(f"nltk_data/{models.NLTK_DATA[name]}")
    nltk = models.package("nltk", "the test", "nlp")
    patch.setattr(nltk.data, "path", [str(real("nltk_data"))])


def pipeline() -> str:
    """Return the folder of the spaCy pipeline of the test data."""
    if not models.has("spacy"):
        pytest.skip("spacy is not installed")
    return str(real("spacy/en_dptext_sm"))


def sentence_model() -> str:
    """Return the name of an installed sentence model."""
    if not models.has("sentence_transformers"):
        pytest.skip("sentence-transformers is not installed")
    if models.sentence_path(models.PACKAGE) is None:
        pytest.skip(f"{models.PACKAGE} is not installed")
    return models.PACKAGE


def scored(module: Any, settings: dict[str, Any], batch: Words) -> np.ndarray:
    """Return the scores of a batch."""
    score: Score = module.Params(**settings).prepare(english())
    assert score.description
    values = score.values(batch)
    assert values.dtype == np.float64
    assert values.shape == batch.ids.shape
    assert (np.isfinite(values) & (values >= 0)).all()
    return values


def by_word(scored: np.ndarray, batch: Words) -> dict[str, float]:
    """Return the values by word, for a text without repeated words."""
    names = [batch.pieces[position].strip() for position in batch.positions.tolist()]
    return dict(zip(names, scored.tolist(), strict=True))


def assert_alone(module: Any, settings: dict[str, Any], *texts: str) -> None:
    """Hold each text's scores in a batch against those it gets alone, bit by bit."""
    together = words(*texts)
    whole = scored(module, settings, together)
    for number, text in enumerate(texts):
        alone = scored(module, settings, words(text))
        np.testing.assert_array_equal(whole[together.texts == number], alone, text)
