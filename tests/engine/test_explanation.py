"""The explanation of one text: epsilons add up, probabilities are the law's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dptext import pipeline, profile
from dptext.engine import explanation
from dptext.engine.explanation import Explanation
from dptext.pipeline import Pipeline
from tests import small

LEXICON = small.cloud(30, 3)
A, B, C = LEXICON.words[:3]
TEXT = f"{A} {B}, zq 42 {A}!"


def built(**other: Any) -> Pipeline:
    """Make a pipeline for a small lexicon."""
    data = {
        "mechanism": {"name": "rank", "k": 6},
        "budget": {"name": "uniform", "epsilon": 2.0},
        **other,
    }
    return pipeline.build(profile.parse(data, "test.yaml"), LEXICON)


def explained(sanitizer: Pipeline, text: str, listed: int = 3) -> Explanation:
    """Explain a text."""
    return explanation.explain(sanitizer, text, listed)


def test_every_token_has_its_epsilon_and_law() -> None:
    """Replaced tokens have all figures, others none; spaces are no tokens."""
    sanitizer = built()
    result = explained(sanitizer, TEXT)
    assert [t.text for t in result.tokens] == [A, B, ",", "zq", "42", A, "!"]
    assert [t.kind for t in result.tokens] == [
        "word",
        "word",
        "punctuation",
        "unknown",
        "number",
        "word",
        "punctuation",
    ]
    assert result.epsilon == pytest.approx(10.0)
    for token in result.tokens:
        assert (token.epsilon == 2.0) == token.replaced
        assert (token.stays is not None) == token.replaced
        assert len(token.likeliest) == 3 * token.replaced
    law = sanitizer.mechanism.probs(np.array([1], np.int32), 2.0)[0]
    second = result.tokens[1]
    assert second.known == B
    assert second.stays == law[1]
    best = np.argsort(-law, kind="stable")[:3]
    assert [each.word for each in second.likeliest] == [LEXICON.words[y] for y in best]
    assert [each.probability for each in second.likeliest] == law[best].tolist()
    assert result.tokens[3].known is None
    assert result.tokens[3].stays == 0.0


def test_tokens_that_are_kept_have_none() -> None:
    """A policy that masks numbers gives them no epsilon."""
    result = explained(built(tokens={"number": "mask"}), TEXT)
    number = result.tokens[4]
    assert (number.kind, number.replaced, number.epsilon) == ("number", False, None)
    assert result.epsilon == pytest.approx(8.0)


@pytest.mark.parametrize("text", ["", " ", "!?"])
def test_a_text_without_words(text: str) -> None:
    """Nothing is replaced and nothing is spent."""
    result = explained(built(), text)
    assert result.epsilon == 0.0
    assert not any(token.replaced for token in result.tokens)


def test_scores_stand_beside_their_words() -> None:
    """The columns of a linguistic budget belong to the tokens they stand at."""
    sanitizer = built(
        budget={"name": "linguistic", "epsilon": 9.0, "scores": {"frequency": 1}}
    )
    result = explained(sanitizer, TEXT)
    assert result.epsilon == pytest.approx(9.0, rel=1e-6)
    scored = [token for token in result.tokens if token.scores]
    assert [token.text for token in scored] == [A, B, "zq", "42", A]
    # Rarer words are given less, and the same word the same.
    first, second, *_, last = scored
    assert first.epsilon == last.epsilon
    assert first.scores == last.scores
    assert (first.epsilon or 0) >= (second.epsilon or 0)
    assert sum(token.proportion or 0 for token in scored) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["class-first", "released-past"])
def test_an_epsilon_that_rests_on_draws_is_said_to(name: str) -> None:
    """A note calls the epsilons shown one of many ways."""
    from dptext import registry

    module: Any = registry.find("budgets", name)
    result = explained(built(budget={"name": name, **module.Params.EXAMPLE}), TEXT)
    assert any("one of many ways" in note for note in result.notes)


def test_noise_has_no_law_to_show() -> None:
    """It is said, and no probability is made up."""
    result = explained(built(mechanism="laplace"), TEXT)
    assert not any(token.likeliest for token in result.tokens)
    assert any("no closed form" in note for note in result.notes)
