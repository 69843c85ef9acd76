"""Every sentence of a statement is true for every setting that the CLI accepts."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from dptext import profile, registry
from dptext.budgets import Budget
from dptext.guarantees import sentences
from dptext.guarantees.claims import RunTerms, factor, format_up, number
from dptext.guarantees.statement import Statement, run_statement
from dptext.mechanisms import Mechanism
from dptext.tokens.policy import Policy
from dptext.types import BudgetDescription
from tests import prepared, small

MECHANISMS: tuple[dict[str, Any], ...] = (
    {"name": "rank", "k": 6},
    {"name": "rank", "weights": "staircase", "k": 4},
    {"name": "santext"},
    {"name": "tem", "beta": 0.01},
    {"name": "tem", "gamma": 0.7},
    {"name": "laplace"},
)
POLICIES = tuple(
    {"unknown": u, "number": n, "stop_word": s, "punctuation": p, "case": c}
    for u, n, s, p, c in itertools.product(
        ("perturb", "mask", "drop", "keep"),
        ("perturb", "digits", "mask", "keep"),
        ("perturb", "keep", "drop"),
        ("keep", "drop"),
        ("restore", "lower", "copy"),
    )
)
BUDGETS = {"word": "uniform", "text": "per-text"}
EPSILONS = (0.1, 7.1234567, 35.0, 900.0)


class Case(NamedTuple):
    """One choice of everything that a statement depends on."""

    mechanism: int
    policy: dict[str, str]
    level: str
    epsilon: float
    key: str
    identified: bool
    lexicon_is_custom: bool
    fields: tuple[str, ...] | None


@cache
def mechanism(which: int) -> Mechanism:
    """Make a mechanism ready for a cloud of 12 words."""
    given = dict(MECHANISMS[which])
    name = given.pop("name")
    ready: Mechanism = prepared.ready(name, small.cloud(12, 3), **given)
    return ready


@cache
def recipe(
    which: int, policy: tuple[tuple[str, str], ...], level: str, epsilon: float
) -> profile.Profile:
    """Read the profile of a case."""
    return profile.parse(
        {
            "mechanism": MECHANISMS[which],
            "budget": {"name": BUDGETS[level], "epsilon": epsilon},
            "tokens": dict(policy),
        },
        "test.yaml",
    )


@cache
def describe(level: str, epsilon: float) -> BudgetDescription:
    """Return how a budget spends epsilon."""
    module = registry.find("budgets", BUDGETS[level])
    budget: Budget = module.Params(epsilon=epsilon).prepare(small.cloud(2, 2))
    return budget.description


def statement(case: Case) -> Statement:
    """Return the statement of a case."""
    policy = tuple(case.policy.items())
    return run_statement(
        recipe(case.mechanism, policy, case.level, case.epsilon),
        mechanism(case.mechanism),
        describe(case.level, case.epsilon),
        RunTerms(
            key=case.key,
            lexicon_is_custom=case.lexicon_is_custom,
            identified=case.identified,
            fields=case.fields,
        ),
    )


def cases() -> Iterator[Case]:
    """Give every combination; the epsilons take turns."""
    epsilons = itertools.cycle(EPSILONS)
    product = itertools.product(
        range(len(MECHANISMS)),
        POLICIES,
        BUDGETS,
        ("system", "key-file", "seed"),
        (False, True),
        (False, True),
        (("text",), None),
    )
    for which, policy, level, key, identified, given, fields in product:
        usable = (e for e in epsilons if which > 1 or e <= 500)  # rank's largest
        yield Case(
            which,
            policy=policy,
            level=level,
            epsilon=next(usable),
            key=key,
            identified=identified,
            lexicon_is_custom=given,
            fields=fields,
        )


def _words(parts: tuple[str, ...]) -> str:
    return " | ".join(parts)


# Setting -> words that must stand in `adjacency`, and in `not_covered`.
SHOWN = {
    ("unknown", "mask"): ("outside the vocabulary and identifiers", "[unknown]"),
    ("unknown", "drop"): ("outside the vocabulary and identifiers", "left out"),
    ("unknown", "keep"): ("the same words outside", "identifiers (URLs"),
    ("number", "digits"): ("numbers of the same length", "become random ones"),
    ("number", "mask"): ("numbers in the same places", "[number]"),
    ("number", "keep"): ("the same numbers", "Numbers are unchanged"),
    ("stop_word", "keep"): ("the same stop words", "Stop words are unchanged"),
    ("stop_word", "drop"): ("stop words in the same places", "Stop words are left"),
    ("punctuation", "keep"): ("the same punctuation", "punctuation marks"),
    ("case", "copy"): ("capital", "capital"),
}
# Class of token -> how it is named in `covered`, and the setting that replaces it.
COVERED = {"unknown": "words outside it", "number": "numbers"}


def _check_tokens(case: Case, said: Statement) -> None:
    alike, not_covered = _words(said.scope.adjacency), _words(said.scope.not_covered)
    for (name, value), (in_alike, in_not_covered) in SHOWN.items():
        if case.policy[name] == value:
            assert in_alike in alike
            assert in_not_covered in not_covered
        elif name != "unknown":
            assert in_not_covered not in not_covered
    for name, words in COVERED.items():
        assert (words in said.scope.covered) == (case.policy[name] == "perturb")
    assert ("identifiers" in said.scope.covered) == (
        case.policy["unknown"] == "perturb"
    )
    without = "words of the vocabulary other than stop words"
    assert (without in said.scope.covered) == (case.policy["stop_word"] != "perturb")
    assert said.scope.not_covered[0].startswith(
        "Texts with different numbers of tokens may be told apart"
    ) or ("Texts with different numbers of tokens may be told apart" in not_covered)


def _check_notion(case: Case, said: Statement) -> None:
    if said.bound.notion == "none":
        assert said.wording.sentence.startswith("No guarantee")
        assert said.wording.text_level == "No guarantee for texts."
        assert said.scope.conditions == ()
        assert said.bound.worst_loss is None
        assert case.key == "seed" or "exact probability" in said.wording.sentence
        return
    assert case.key != "seed"
    assert said.bound.notion == ("LDP" if case.mechanism < 2 else "metric-DP")
    for shown in (*said.scope.covered, *said.scope.adjacency):
        assert shown in said.wording.sentence
    conditions = _words(said.scope.conditions)
    assert ("key file" in conditions) == (case.key == "key-file")
    assert ("lexicon is public" in conditions) == case.lexicon_is_custom
    assert "without looking at the private text" in conditions
    assert ("have the same id" in conditions) == case.identified


def _check_numbers(case: Case, said: Statement) -> None:
    assert said.bound.epsilon == case.epsilon
    if said.bound.notion == "none":
        return
    assert said.bound.worst_loss is not None
    assert said.bound.loss.nearest <= said.bound.loss.median <= said.bound.loss.farthest
    assert said.bound.loss.farthest <= said.bound.worst_loss * (1 + 1e-12)
    assert said.bound.equal_parts == (case.level == "text")
    poor = said.wording.sentence.startswith("No meaningful protection.")
    assert poor == (said.bound.loss.nearest > 30 and case.level == "word")
    if (
        case.level == "word"
        and said.bound.loss.nearest <= 30 < said.bound.loss.farthest
    ):
        assert "Factors beyond e^30 are no meaningful" in said.wording.sentence
    limits = r"(no meaningful protection of|too much to protect) a \w+ as a whole"
    large = re.search(limits, said.wording.text_level) is not None
    total = said.bound.text_loss.total
    assert large == (not said.bound.worst_loss > 30 if total is None else total > 10)
    if case.level == "text":
        assert (
            number(said.bound.epsilon) in said.wording.text_level
            or "epsilon" in said.wording.text_level
        )
        assert "whatever its length" in said.wording.text_level
    else:
        assert number(said.bound.epsilon) in said.wording.text_level


@pytest.mark.slow
def test_every_combination_of_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """For all settings of the CLI, each part of the statement follows them.

    Every 35th combination: 35 shares no divisor with a number of choices, and any three
    settings are met together.
    """
    monkeypatch.setattr(registry, "find", cache(registry.find))  # for speed
    count = 0
    for case in itertools.islice(cases(), 0, None, 35):
        said = statement(case)
        _check_tokens(case, said)
        _check_notion(case, said)
        _check_numbers(case, said)
        not_covered = _words(said.scope.not_covered)
        assert ('All fields other than "text"' in not_covered) == (
            case.fields is not None
        )
        assert ("far apart" in not_covered) == (case.mechanism > 1)
        count += 1
    assert count == math.ceil(6 * 288 * 2 * 3 * 2 * 2 * 2 / 35)


def _plain(which: int, level: str, epsilon: float) -> Statement:
    case = Case(
        which,
        policy=POLICIES[0],
        level=level,
        epsilon=epsilon,
        key="system",
        identified=False,
        lexicon_is_custom=False,
        fields=None,
    )
    return statement(case)


def _losses(which: int, epsilon: float) -> np.ndarray:
    """Return the exact largest loss of each pair of inputs, unknown included."""
    ready = mechanism(which)
    ids = np.arange(-1, ready.space.size, dtype=np.int32)
    law = ready.log_probs(ids, np.full(len(ids), epsilon))
    losses: np.ndarray = (law[:, None, :] - law[None, :, :]).max(axis=2)
    return losses


@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("epsilon", [0.3, 2.0, 5.0])
def test_exact_loss_is_within_the_claim(which: int, epsilon: float) -> None:
    """The exact law's largest loss over all inputs is at most the one claimed."""
    said = _plain(which, "word", epsilon)
    assert said.bound.worst_loss is not None
    assert _losses(which, epsilon).max() <= said.bound.worst_loss + 1e-9


@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("epsilon", [0.3, 2.0, 5.0])
def test_exact_loss_of_whole_texts_is_within_the_claim(
    which: int, epsilon: float
) -> None:
    """At level text no length of text loses more than the total that is claimed."""
    said = _plain(which, "text", epsilon)
    assert said.bound.worst_loss is not None
    for words in (1, 2, 3, 10, 100):
        assert (
            words * _losses(which, epsilon / words).max()
            <= said.bound.worst_loss + 1e-9
        )


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 5.0])
def test_tem_per_text_claims_the_diameter(epsilon: float) -> None:
    """With gamma from beta, a text's words have larger gammas than its total has."""
    said = _plain(3, "text", epsilon)
    diameter = mechanism(3).space.geometry.diameter
    assert said.bound.worst_loss == pytest.approx(epsilon * diameter)
    promise = mechanism(3).guarantee(epsilon)
    most = min(epsilon * diameter, promise.max_loss)
    assert said.bound.loss.farthest == pytest.approx(most)
    assert (
        f"{number(promise.max_loss)} / ({number(epsilon)} / n))"
        in said.wording.sentence
    )


def test_largest_distance_covers_unknown_words() -> None:
    """The diameter that is claimed is at least the distance to the unknown element."""
    space = mechanism(2).space
    wide = space.vectors.astype(float)
    gaps = np.linalg.norm(wide[:, None] - wide[None, : space.size], axis=2)
    assert gaps.max() <= space.geometry.diameter + 1e-6


def test_seeded_run_says_so_whatever_else_holds() -> None:
    """A seeded run has no guarantee, and its sentence says why."""
    for which in range(len(MECHANISMS)):
        case = Case(
            which,
            policy=POLICIES[0],
            level="word",
            epsilon=1.0,
            key="seed",
            identified=False,
            lexicon_is_custom=False,
            fields=("text",),
        )
        said = statement(case)
        assert said.bound.notion == "none"
        assert "seeded" in said.wording.sentence


def test_whole_texts_of_ldp_words_add_up() -> None:
    """Without a total, the words of a text add up to n times epsilon."""
    assert "n times 2.5 nats" in _plain(0, "word", 2.5).wording.text_level
    assert "2.5 / n" in _plain(0, "text", 2.5).wording.text_level


def test_tiny_differences_of_epsilon_are_not_rounded_away() -> None:
    """An epsilon that six digits would make smaller is printed in full."""
    assert "7.1234321" in _plain(0, "word", 7.1234321).wording.sentence


@pytest.mark.parametrize("digits", [2, 4, 6])
def test_above_never_rounds_down(digits: int) -> None:
    """A rounded number is at least the number, and within one step of it."""
    for exponent in range(-12, 12):
        for start in (1.0, 1.00049, 9.99951, 9.9996, 3.3333333, 5.0):
            value = start * 10.0**exponent
            shown = float(format_up(value, digits))
            assert value <= shown <= value * (1 + 10.0 ** (1 - digits) * 1.01)
    assert format_up(0.0) == "0"


def test_factor_never_rounds_down() -> None:
    """The factor that is printed is at least e to the loss."""
    for nats in np.linspace(0.001, 29.99, 3000).tolist():
        assert float(factor(nats).replace(",", "")) >= math.exp(nats)
    assert factor(31.23456) == "e^31.24"


def test_number_is_never_below() -> None:
    """An epsilon that is printed is never smaller than the one that is used."""
    for value in np.geomspace(1e-6, 1e6, 997).tolist():
        assert float(number(value)) >= value


@pytest.mark.parametrize("agreement", ["inflect", "articles", "none"])
def test_copied_articles_that_are_rewritten_are_said(agreement: str) -> None:
    """Only where the joiner may rewrite them."""
    policy = Policy(stop_word="keep", agreement=agreement)  # type: ignore[arg-type]
    shown = " ".join(sentences.shown(policy))
    assert ("suit what is written after them" in shown) == (agreement != "none")
