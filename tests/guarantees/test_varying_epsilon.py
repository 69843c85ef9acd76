"""Claims for budgets that differ from word to word, against exact laws of whole texts.

Texts of two words over small vocabularies: every output's probability is computed for
every text, and no pair of texts may lose more than the statement says.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dptext import profile, registry
from dptext.guarantees import statement
from dptext.guarantees.claims import RunTerms, Terms
from dptext.guarantees.statement import Statement, run_statement
from dptext.mechanisms import Mechanism
from dptext.settings import convert
from dptext.types import (
    ONE,
    BudgetDescription,
    BudgetKind,
    Guarantee,
    Strategy,
    VaryingEpsilon,
)
from tests import prepared, small

# Words 0 and 1 are synonyms, and so are 2 and 3.
LEXICON = dataclasses.replace(
    small.cloud(5, 2),
    synonym_ends=np.array([1, 2, 3, 4, 4], np.int32),
    synonyms=np.array([1, 0, 3, 2], np.int32),
)
SPLITTING: tuple[dict[str, Any], ...] = (
    {"name": "rank", "k": 2},
    {"name": "rank", "weights": "staircase", "k": 1},
    {"name": "santext"},
    {"name": "tem", "gamma": 0.8},
    {"name": "tem", "beta": 0.05},
    {"name": "custext", "mapping": "one_set", "k": 4},
    {"name": "syntf"},
    {"name": "diffractor", "noise": "tem", "gamma": 2.0},
)
Law = Callable[[int, float], NDArray[np.float64]]


def ready_mechanism(given_: dict[str, Any]) -> Mechanism:
    """Make a mechanism ready for five words."""
    params = dict(given_)
    mechanism: Mechanism = prepared.ready(params.pop("name"), LEXICON, **params)
    return mechanism


def law(mechanism: Mechanism, word: int, epsilon: float) -> NDArray[np.float64]:
    """Return ln P(y | word) at an epsilon."""
    logs = mechanism.log_probs(np.array([word], np.int32), np.array([epsilon]))
    return np.asarray(logs[0])


def pair_law(one: NDArray[np.float64], two: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln P of each pair of outputs of two independent words."""
    return (one[:, None] + two[None, :]).ravel()


def statement_for(
    given_: dict[str, Any], budget_description: BudgetDescription
) -> Statement:
    """Return the statement of a mechanism with a way of spending."""
    mechanism = ready_mechanism(given_)
    recipe = profile.parse(
        {"mechanism": given_, "budget": {"name": "uniform", "epsilon": 1.0}}, "test"
    )
    return run_statement(recipe, mechanism, budget_description, RunTerms())


def loss(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    """Return the largest log-ratio, in either direction."""
    return float(np.abs(one - two).max())


@pytest.mark.parametrize("which", range(len(SPLITTING)))
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_budgets_that_follow_the_text(which: int, data: st.DataObject) -> None:
    """Any split of a total, any clamps: texts lose at most the stated loss."""
    mechanism = ready_mechanism(SPLITTING[which])
    total = data.draw(st.sampled_from([0.5, 2.0, 6.0]))
    share = st.floats(0.02, 0.98)
    one, two = (total * data.draw(share) for _ in range(2))
    eps = np.array([[one, total - one], [two, total - two]])
    low, high = float(eps.min()), float(eps.max())
    words = [data.draw(st.integers(-1, 4)) for _ in range(4)]
    first = pair_law(
        law(mechanism, words[0], eps[0, 0]), law(mechanism, words[1], eps[0, 1])
    )
    second = pair_law(
        law(mechanism, words[2], eps[1, 0]), law(mechanism, words[3], eps[1, 1])
    )
    said = statement_for(
        SPLITTING[which], BudgetDescription(BudgetKind.FREE, low, high, total=total)
    )
    assert said.bound.notion == "LDP"
    bound = said.bound.epsilon if said.bound.level == "text" else 2 * said.bound.epsilon
    assert loss(first, second) <= bound + 1e-9
    # One word of two changed, epsilons moved: hi * word + (hi - lo) * drift.
    left = mechanism.guarantee(high).varying_epsilon
    third = pair_law(
        law(mechanism, words[2], eps[1, 0]), law(mechanism, words[1], eps[1, 1])
    )
    if high > low:
        assert left is not None
        moved = high * left.word + (high - low) * left.drift
        assert loss(first, third) <= moved + 1e-9
    per_word = statement_for(
        SPLITTING[which], BudgetDescription(BudgetKind.FREE, low, high, rate=total / 2)
    )
    assert per_word.bound.level == "words"
    assert loss(first, second) <= 2 * per_word.bound.epsilon + 1e-9


@pytest.mark.parametrize("which", range(len(SPLITTING)))
@given(low=st.floats(0.01, 4.0), high=st.floats(0.01, 4.0))
@settings(max_examples=25, deadline=None)
def test_budgets_that_follow_the_word(which: int, low: float, high: float) -> None:
    """Words under two epsilons lose at most the loss stated for each word."""
    low, high = min(low, high), max(low, high)
    mechanism = ready_mechanism(SPLITTING[which])
    said = statement_for(
        SPLITTING[which], BudgetDescription(BudgetKind.TYPE, low, high)
    )
    assert said.bound.level == "word"
    assert said.bound.metric == ONE
    for x, other in itertools.product(range(-1, 5), repeat=2):
        for e, e_other in ((low, high), (high, high), (high, low)):
            lost = loss(law(mechanism, x, e), law(mechanism, other, e_other))
            assert lost <= said.bound.epsilon + 1e-9


@pytest.mark.parametrize("which", range(len(SPLITTING)))
@pytest.mark.parametrize("first", [0.1, 2.0])
def test_class_first(which: int, first: float) -> None:
    """The mixture over drawn classes loses at most first, plus the word's loss."""
    mechanism = ready_mechanism(SPLITTING[which])
    table = {"top-100": 1.5, "other": 0.5}
    module: Any = registry.find("budgets", "class-first")
    params = convert({"first": first, "epsilons": table}, module.Params, "test")
    budget = params.prepare(LEXICON)
    count = len(budget.classes.names)

    def mixed(word: int) -> NDArray[np.float64]:
        true_class = int(budget.classes.rows[word])
        weights = np.where(np.arange(count) == true_class, math.exp(first), 1.0)
        weights /= weights.sum()
        laws = [np.exp(law(mechanism, word, float(e))) for e in budget.epsilons]
        return np.asarray(np.log(weights @ np.array(laws)))

    said = statement_for(SPLITTING[which], budget.description)
    assert said.bound.worst_loss is not None
    for x, other in itertools.product(range(-1, 5), repeat=2):
        assert loss(mixed(x), mixed(other)) <= said.bound.worst_loss + 1e-9


def test_the_class_is_drawn_by_randomised_response() -> None:
    """Sampled classes against e^first / (e^first + c - 1); false alarm below 1e-6."""
    from dptext.tokens.policy import Policy
    from dptext.tokens.tokenizer import Tokenizer
    from tests import distributions

    module: Any = registry.find("budgets", "class-first")
    params = module.Params(first=1.0, epsilons={"other": 2.0})
    budget = params.prepare(LEXICON)
    count, runs = len(budget.classes.names), 30_000
    words = Tokenizer(LEXICON, Policy()).words([" ".join([LEXICON.words[0]] * runs)])
    drawn = budget.released(words, distributions.bits(runs, 3))
    true_class = int(budget.classes.rows[0])
    expected = np.where(np.arange(count) == true_class, math.e, 1.0)
    distributions.assert_follows(drawn, expected / expected.sum())


@pytest.mark.parametrize("which", range(len(SPLITTING)))
def test_a_budget_of_the_released_past(which: int) -> None:
    """Adaptive composition: no pair of texts loses more than the total's statement."""
    mechanism = ready_mechanism(SPLITTING[which])
    module: Any = registry.find("budgets", "released-past")
    given_ = {"epsilon": 3.0, "start": 1.0, "epsilons": {"top-100": 2.5, "other": 0.2}}
    params = convert(given_, module.Params, "test")
    budget = params.prepare(LEXICON)

    def text(words: tuple[int, int]) -> NDArray[np.float64]:
        start = law(mechanism, words[0], 1.0)
        out = []
        for released, chance in enumerate(start):
            wanted = min(max(budget.after[released], params.min), 2.0)
            out.append(chance + law(mechanism, words[1], float(wanted)))
        return np.array(out).ravel()

    said = statement_for(SPLITTING[which], budget.description)
    assert said.bound.worst_loss is not None
    texts = list(itertools.product(range(-1, 5), range(-1, 5)))
    laws_ = [text(each) for each in texts]
    worst = max(loss(a, b) for a, b in itertools.combinations(laws_, 2))
    assert worst <= said.bound.worst_loss + 1e-9


def test_the_counterexample_of_two_words() -> None:
    """Randomised response, E = 4: "aa" (2, 2) and "ba" (3.9604, .0396) lose 4.399."""

    def response(word: int, epsilon: float) -> NDArray[np.float64]:
        stays = -math.log1p(math.exp(-epsilon))
        moves = -math.log1p(math.exp(epsilon))
        return np.array([stays, moves] if word == 0 else [moves, stays])

    scores = {0: 10.0, 1: 0.1}

    def text(words: tuple[int, int]) -> NDArray[np.float64]:
        shares = np.array([1 / scores[word] for word in words])
        eps = 4.0 * shares / shares.sum()
        return pair_law(response(words[0], eps[0]), response(words[1], eps[1]))

    lost = loss(text((0, 0)), text((1, 0)))
    assert lost == pytest.approx(4.399, abs=5e-4)
    said = statement_for(
        {"name": "rank", "weights": "staircase", "k": 1}, _free(total=4.0)
    )
    assert lost > 4.0  # the plain sum is no bound
    assert said.bound.worst_loss is not None
    assert lost <= said.bound.worst_loss
    assert "computed from the whole text" in said.wording.text_level


def _free(total: float) -> BudgetDescription:
    return BudgetDescription(BudgetKind.FREE, 0.01, 100.0, total=total)


@pytest.mark.parametrize("kind", ["free", "type"])
@pytest.mark.parametrize("name", ["laplace", "mahalanobis"])
def test_noise_promises_nothing_when_epsilon_tells_words_apart(
    kind: str, name: str
) -> None:
    """Two scales of noise have an unbounded ratio of densities."""
    said = statement_for(
        {"name": name}, BudgetDescription(BudgetKind(kind), 0.5, 2.0, total=4.0)
    )
    assert said.bound.notion == "none"
    assert said.bound.worst_loss is None
    assert "No guarantee" in said.wording.sentence


@pytest.mark.parametrize("kind", ["position", "past", "class"])
def test_noise_keeps_its_metric_when_epsilon_is_public(kind: str) -> None:
    """A public epsilon, equal for both texts, adds no loss."""
    said = statement_for(
        {"name": "laplace"},
        BudgetDescription(BudgetKind(kind), 0.5, 2.0, total=4.0, first=0.3),
    )
    assert said.bound.notion == "metric-DP"
    assert said.bound.worst_loss is not None


@pytest.mark.parametrize("kind", ["word", "text", "position", "type", "class", "free"])
def test_a_law_that_looks_at_the_text_promises_nothing_better_for_one_word(
    kind: str,
) -> None:
    """One changed word counts for every word of the text."""
    left = VaryingEpsilon(1.0, 1.0, math.inf)
    promise = Guarantee.ldp("", context=True, varying_epsilon=left)
    total = 6.0 if kind in ("text", "free") else None
    high = 6.0 if kind == "text" else 2.0
    # As text, which other packages may write.
    budget_description = BudgetDescription(kind, 0.5, high, total=total)  # type: ignore[arg-type]
    recipe = profile.load("balanced", {"budget": {"epsilon": 1, "risk": None}})
    terms = Terms(
        budget=budget_description,
        strategy=Strategy.TOKEN,
        policy=recipe.tokens,
        run=RunTerms(),
        distances=(0.1, 0.5, 1.0),
        numerical_slack=1e-12,
    )
    said = statement.build(promise, terms)
    assert said.bound.level == ("text" if total else "words")
    assert said.bound.epsilon == (6.0 if total else 2.0)
    assert (
        "One changed word has no better bound than a change" in said.wording.text_level
    )
    assert "word" in said.wording.sentence
