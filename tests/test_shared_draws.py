"""Strategies: how often a word is drawn, and that nothing else decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import calibration, pipeline, profile
from dptext.errors import UsageError
from dptext.guarantees import statement
from dptext.guarantees.claims import RunTerms
from dptext.guarantees.statement import Statement
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Record
from tests import small

LEXICON = small.cloud(40, 4)
WORDS = [*LEXICON.words[:12], "zq", "qz"]
KEY = RunKey.from_seed(3)


def built(strategy: str, **other: Any) -> Pipeline:
    """Make a pipeline with a small budget, so that words change."""
    data = {
        "mechanism": {"name": "rank", "k": 6},
        "budget": {"name": "uniform", "epsilon": 1.0},
        "strategy": strategy,
        **other,
    }
    return calibration.build(profile.parse(data, "test.yaml"), LEXICON)


def observed(
    sanitizer: Pipeline, texts: list[tuple[str, ...]], batch: int
) -> tuple[list[tuple[str, ...]], list[tuple[int, int]]]:
    """Privatize records; return the texts, and (word, drawn word) of each word."""
    seen: list[tuple[int, int]] = []

    out: list[tuple[str, ...]] = []
    randomness = sanitizer.randomness(KEY)
    records = (Record(number, each, None) for number, each in enumerate(texts))
    for some in pipeline.batches(records, batch):
        private = sanitizer.privatize(some, randomness)
        drawn = private.drawn.tolist()
        seen.extend(zip(private.words.ids.tolist(), drawn, strict=True))
        out += private.texts
    return out, seen


RECORDS = st.lists(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=2),
    max_size=5,
).map(lambda rows: [tuple(row) for row in rows])


@given(RECORDS)
@settings(max_examples=60, deadline=None)
def test_a_data_set_is_a_substitution(texts: list[tuple[str, ...]]) -> None:
    """Equal words become equal words in all positions and any batches."""
    sanitizer = built("data-set")
    out, seen = observed(sanitizer, texts, 4096)
    assert len(set(seen)) == len({word for word, _ in seen})
    assert observed(sanitizer, texts, 1) == (out, seen)
    # The order of records has no say in what a word becomes.
    _, turned = observed(sanitizer, texts[::-1], 2)
    assert set(turned) == set(seen)


@given(RECORDS)
@settings(max_examples=60, deadline=None)
def test_a_record_draws_each_word_once(texts: list[tuple[str, ...]]) -> None:
    """Equal words of a record become equal words; batches have no say."""
    sanitizer = built("record")
    out, seen = observed(sanitizer, texts, 4096)
    assert observed(sanitizer, texts, 2) == (out, seen)
    start = 0
    for record in texts:
        count = len(sanitizer.tokenizer.words(list(record)).ids)
        pairs = set(seen[start : start + count])
        assert len(pairs) == len({word for word, _ in pairs})
        start += count


def test_records_are_drawn_apart() -> None:
    """The same word becomes different words in different records, except by chance."""
    word = LEXICON.words[0]
    _, seen = observed(built("record"), [(f"{word} {word}",)] * 60, 7)
    assert len({drawn for _, drawn in seen}) > 10


def test_a_record_is_its_texts_together() -> None:
    """The fields of one record share their draws."""
    word = LEXICON.words[1]
    _, seen = observed(built("record"), [(word, f"{word} {word}")] * 20, 5)
    drawn = np.array([after for _, after in seen]).reshape(20, 3)
    assert (drawn == drawn[:, :1]).all()


@pytest.mark.parametrize("strategy", ["token", "record", "data-set"])
def test_each_draw_follows_the_law(strategy: str) -> None:
    """The first draw of a word has the mechanism's law under each strategy.

    4000 runs (keys) or records; chance of a false alarm below 1e-6 for each.
    """
    sanitizer = built(strategy)
    word = LEXICON.words[2]
    runs = 4000
    if strategy == "data-set":
        drawn = []
        for seed in range(runs):
            randomness = sanitizer.randomness(RunKey.from_seed(seed))
            words = sanitizer.tokenizer.words([word])
            records = np.zeros(1, np.int64)
            bits = randomness.bits([bytes(16)], records)
            eps = np.ones(1)
            (one,) = sanitizer.replace(words.ids, eps, bits, records, randomness)
            drawn.append(int(one))
    else:
        _, seen = observed(sanitizer, [(f"{word} {word}",)] * runs, 512)
        drawn = [after for _, after in seen[::2]]
    weights = sanitizer.mechanism.log_probs(np.array([2], np.int32), np.array([1.0]))[0]
    law = np.exp(weights) / np.exp(weights).sum()
    counts = np.bincount(drawn, minlength=len(law))
    # Bernstein: P(|count - n p| > t) <= 2 exp(-t^2 / (2 n p q + 2 t / 3)).
    spread = np.sqrt(2 * runs * law * 21) + 2 * 21 / 3
    assert (np.abs(counts - runs * law) <= spread).all()


def stated(ready: Pipeline) -> Statement:
    """Draw up the statement of a run with a key file."""
    return statement.run_statement(
        ready.profile,
        ready.mechanism,
        ready.budget.description,
        RunTerms(key="key-file"),
    )


@pytest.mark.parametrize("strategy", ["record", "data-set"])
def test_what_a_strategy_shows_is_said(strategy: str) -> None:
    """The statement compares equal patterns only and counts distinct words."""
    said = stated(built(strategy))
    assert said.scope.strategy == strategy
    assert any("pattern of equal words" in line for line in said.scope.adjacency)
    assert "pattern of equal words" in said.wording.sentence
    assert "distinct" in said.wording.sentence
    assert "distinct" in said.wording.text_level
    assert not any("drawn anew each time" in line for line in said.scope.not_covered)
    shared = "count as one data set"
    assert any(shared in line for line in said.scope.conditions) == (
        strategy == "data-set"
    )


@pytest.mark.parametrize("agreement", ["inflect", "articles", "none"])
@pytest.mark.parametrize("strategy", ["record", "data-set"])
def test_forms_are_spoken_of_where_they_may_change(
    strategy: str, agreement: str
) -> None:
    """One replacement may be written in several forms, but not without agreement."""
    said = stated(built(strategy, tokens={"agreement": agreement}))
    lines = (*said.scope.not_covered, *said.scope.conditions)
    shown = " ".join(lines)
    assert ("its form follows the words beside it" in shown) == (agreement == "inflect")
    assert ('"a" and "an" follow the word' in shown) == (agreement == "articles")
    assert not any("{" in line for line in lines)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"budget": {"name": "uniform", "risk": "20%"}}, "give --epsilon instead"),
        ({"budget": {"name": "per-text", "epsilon": 5}}, "use the budget uniform"),
        ({"strategy": "all"}, "strategy: unknown value 'all'"),
    ],
)
def test_what_does_not_go_together_is_refused(
    other: dict[str, Any], reason: str
) -> None:
    """One line says why."""
    with pytest.raises(UsageError, match=reason):
        built(**({"strategy": "record"} | other))
