"""Numbers become numbers: the default mechanism with the built-in lexicon."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from dptext import lexicons, pipeline, profile
from dptext.mechanisms import rank
from dptext.randomness import RunKey
from dptext.tokens import numbers
from dptext.types import Record
from tests import distributions

# The epsilon of the profile balanced, so that nothing is calibrated here.
EPSILON = 9.5
DRAWS = 400
FORMS = "47 1998 3.5 1,250 12:30 2nd 1/2 7 007 250 2024-03-01 90s 555-1234".split()


@pytest.fixture(scope="module")
def sanitizer() -> pipeline.Pipeline:
    """Return the default mechanism, ready."""
    data = {"mechanism": "rank", "budget": {"name": "uniform", "epsilon": EPSILON}}
    return pipeline.build(profile.parse(data, "test.yaml"), lexicons.find("builtin"))


def exact(sanitizer: pipeline.Pipeline, text: str) -> np.ndarray:
    """Return the probability of each output for a text of one number: (V,)."""
    ids = sanitizer.tokenizer.words([text]).ids
    row: np.ndarray = np.exp(sanitizer.mechanism.log_probs(ids, np.full(1, EPSILON)))[0]
    return row


def outputs_of(sanitizer: pipeline.Pipeline) -> int:
    """Return how many words can be written."""
    assert isinstance(sanitizer.mechanism, rank.Rank)
    return sanitizer.mechanism.outputs


def written(
    sanitizer: pipeline.Pipeline, text: str, draws: int = DRAWS
) -> Iterator[str]:
    """Replace a text `draws` times, each time as a separate record."""
    records = [Record(n, (text,), None) for n in range(draws)]
    for _, (text_out,) in sanitizer.run(records, RunKey.from_seed(7)):
        yield text_out


def is_number(text: str) -> bool:
    """Tell whether a text begins with a digit, as no word of the lexicon does."""
    return text[0].isdigit()


@pytest.mark.parametrize("text", FORMS)
def test_a_number_becomes_a_number_as_often_as_the_list_allows(
    sanitizer: pipeline.Pipeline, text: str
) -> None:
    """All listed outputs of a number are numbers, so that only the floor is words.

    Exactly by the output distribution, and in 400 draws (false alarms: one in 10^6).
    """
    exactly = exact(sanitizer, text)
    rows = numbers.rows(sanitizer.lexicon)
    outputs = outputs_of(sanitizer)
    floor = exactly[:outputs].min()
    likely = float(exactly[rows].sum())
    assert likely == pytest.approx(1.0 - floor * (outputs - len(rows)), abs=1e-12)
    assert likely > 0.89
    hits = sum(map(is_number, written(sanitizer, text)))
    low, high = distributions.limits(
        np.array([hits]), DRAWS, distributions.ALARM / len(FORMS)
    )
    assert low[0] <= likely <= high[0]


@pytest.mark.parametrize(
    ("text", "least", "alike"),
    [
        ("47", 0.5, lambda out: len(out) == 2 and out.isdigit() and out[0] != "0"),
        ("1998", 0.5, lambda out: re.fullmatch(r"1\d\d\d|20[0-2]\d", out)),
        ("3.5", 0.5, lambda out: re.fullmatch(r"\d+\.\d+", out)),
        ("1,250", 0.3, lambda out: "," in out),
        ("12:30", 0.3, lambda out: ":" in out),
        ("2nd", 0.3, lambda out: out[-2:] in ("st", "nd", "rd", "th")),
    ],
)
def test_it_is_of_similar_form_most_often(
    sanitizer: pipeline.Pipeline,
    text: str,
    least: float,
    alike: Callable[[str], object],
) -> None:
    """A form is the likelier the more elements it has; 47 has two digits again.

    In 400 draws with a fixed seed; the exact share is 4 points or more above `least`.
    """
    out = list(written(sanitizer, text))
    same = [each for each in out if is_number(each) and alike(each)]
    assert len(same) / DRAWS > least


def test_not_even_that_it_was_a_number_is_certain(sanitizer: pipeline.Pipeline) -> None:
    """The loss between a number and a word is at most epsilon, as between two words."""
    words = " ".join(("the doctor London zqxv", *FORMS))
    ids = np.unique(sanitizer.tokenizer.words([words]).ids)
    logs = sanitizer.mechanism.log_probs(ids, np.full(len(ids), EPSILON))
    rows = np.exp(logs[:, : outputs_of(sanitizer)])
    assert distributions.worst_losses(rows).max() == pytest.approx(EPSILON, abs=1e-9)
    assert (rows > 0).all()


def test_words_become_numbers_by_the_floor_alone(sanitizer: pipeline.Pipeline) -> None:
    """A common word is written as a number about as often as chance would have it."""
    rows = numbers.rows(sanitizer.lexicon)
    assert float(exact(sanitizer, "doctor")[rows].sum()) < 0.002
