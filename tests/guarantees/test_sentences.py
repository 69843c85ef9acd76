"""The printed sentences: each is whole, and none contradicts another."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dptext import profile
from dptext.guarantees.claims import RunTerms, Strength
from dptext.guarantees.statement import Statement, run_statement
from dptext.report import protection
from dptext.tokens.policy import Form
from dptext.types import BudgetDescription, BudgetKind
from tests.guarantees import test_every_claim as claims

KINDS = {
    "word": BudgetDescription(BudgetKind.WORD, 0.0, 0.0),
    "text": BudgetDescription(BudgetKind.TEXT, 0.0, 0.0, total=0.0),
    "position": BudgetDescription(BudgetKind.POSITION, 0.5, 0.0),
    "type": BudgetDescription(BudgetKind.TYPE, 0.5, 0.0),
    "class": BudgetDescription(BudgetKind.CLASS, 0.5, 0.0, first=0.5),
    "past": BudgetDescription(BudgetKind.PAST, 0.1, 0.0, total=0.0),
    "free": BudgetDescription(BudgetKind.FREE, 0.1, 0.0, total=0.0),
    "rate": BudgetDescription(BudgetKind.FREE, 0.1, 0.0, rate=0.0),
}
POLICIES: tuple[dict[str, Any], ...] = (
    {},
    {"stop_word": "keep", "unknown": "keep", "number": "digits", "case": "copy"},
    {"stop_word": "drop", "unknown": "mask", "punctuation": "drop", "case": "lower"},
    {"number": "keep", "agreement": "articles"},
    {
        "keep": {"words": ["acme"], "patterns": ["x+", "y+"]},
        "mask": ["a", "b c"],
        "forms": list(Form),
    },
)
# Found by hand: faults of broken or untrue sentences.
WRONG = (
    r"protection times",
    r"protection\.? as likely",
    r"farthest words is above",
    r"has no better bound than that",
    r"gets the same replacement",
    r"\{|\}|  |\.\.|,,| \.|nan|inf\b|None",
)


def spent(kind: str, epsilon: float) -> BudgetDescription:
    """Return a way of spending, with an epsilon."""
    plain = KINDS[kind]
    return replace(
        plain,
        low=min(plain.low, epsilon),
        high=epsilon,
        total=None if plain.total is None else epsilon,
        rate=None if plain.rate is None else epsilon,
    )


def statement(
    mechanism: str,
    budget_description: BudgetDescription,
    *,
    strategy: str = "token",
    key: str = "system",
    tokens: dict[str, Any] | None = None,
) -> Statement:
    """Return the statement of a mechanism for a few words."""
    recipe = profile.parse(
        {
            "mechanism": {"name": "rank"},
            "budget": {"name": "uniform", "epsilon": 1.0},
            "strategy": strategy,
            "tokens": tokens or {},
        },
        "test",
    )
    return run_statement(
        recipe,
        claims.ready_mechanism(mechanism),
        budget_description,
        RunTerms(key=key, fields=("text",)),
    )


def every() -> Iterator[Statement]:
    """Give the statements of all mechanisms, budgets, strategies, keys and policies."""
    mechanisms = (*claims.EXACT, *claims.NOISE, "gaussian")
    for mechanism, kind, epsilon in itertools.product(
        mechanisms, KINDS, (0.3, 5.0, 30.0, 60.0)
    ):
        yield statement(mechanism, spent(kind, epsilon))
    for mechanism, strategy, key, tokens, epsilon in itertools.product(
        ("rank", "tem-beta", "laplace", "gaussian"),
        ("token", "record", "data-set"),
        ("system", "key-file", "seed"),
        POLICIES,
        (5.0, 40.0),
    ):
        yield statement(
            mechanism,
            spent("word", epsilon),
            strategy=strategy,
            key=key,
            tokens=tokens,
        )


def lines(said: Statement) -> tuple[str, ...]:
    """Return every line that people read."""
    return (
        said.wording.sentence,
        said.wording.text_level,
        *(said.scope.conditions + said.scope.not_covered),
    )


def test_every_line_is_a_whole_sentence() -> None:
    """No remark is spliced into a sentence, nothing is left out or said twice."""
    for said in every():
        for line in lines(said):
            assert line[0].isupper() or line.startswith("dptext"), line
            assert line.endswith("."), line
            for wrong in WRONG:
                assert not re.search(wrong, line), line
        assert len(set(lines(said))) == len(lines(said))


def test_no_statement_contradicts_itself() -> None:
    """For one changed word a statement gives a bound or says that it has none."""
    for said in every():
        sentence = f"{said.wording.sentence} {said.wording.text_level}"
        assert not ("(n - 1) times" in sentence and "has no better bound" in sentence)
        weak = said.wording.sentence.startswith("No meaningful protection.")
        assert weak == (said.strength.word is Strength.NOT_MEANINGFUL) or (
            said.bound.equal_parts or said.bound.notion == "metric-DP"
        )
        if said.bound.equal_parts:
            assert not weak
        verdict = protection.badge(said)
        tone, label = verdict.tone, verdict.text
        assert (tone == "good") == (label == "Whole texts: strong protection")
        if weak and said.bound.level != "text":
            assert label == "No meaningful protection"


@pytest.mark.parametrize("mechanism", ["rank", "custext", "gaussian"])
def test_no_distance_is_spoken_of_where_there_is_none(mechanism: str) -> None:
    """Without a metric no sentence tells near words from far ones."""
    for kind, epsilon in itertools.product(KINDS, (5.0, 90.0)):
        said = statement(mechanism, spent(kind, epsilon))
        for line in (
            said.wording.sentence,
            said.wording.text_level,
            protection.badge(said).text,
        ):
            assert "farthest" not in line
            assert "nearest" not in line
            assert "distance" not in line


@pytest.mark.parametrize("total", [5.0, 10.0, 10.001, 30.0, 60.0])
def test_a_total_for_a_text_is_judged_as_a_text(total: float) -> None:
    """Its limit is 10 nats, with the share of one word of n beside it."""
    said = statement("rank", spent("text", total))
    assert said.bound.notion == ("LDP" if total < 60 else "none")
    if total == 60.0:
        return  # one word may have all of it, and that cannot be drawn
    large = "no meaningful protection of a text as a whole"
    assert (large in said.wording.text_level) == (total > 10)
    assert (said.strength.text is Strength.NOT_MEANINGFUL) == (total > 10)
    assert not said.wording.sentence.startswith("No meaningful")
    assert f"{total:g} / n nats" in said.wording.text_level
    assert "above 30" not in said.wording.sentence + said.wording.text_level


def test_how_many_words_are_too_many_for_a_text() -> None:
    """Bounds for single words say from where on whole texts are not protected."""
    text_level = statement("rank", spent("word", 4.0)).wording.text_level
    assert "differ in 3 words or more may lose more than 10 nats" in text_level
    text_level = statement("rank", spent("word", 12.0)).wording.text_level
    assert "differ in a single word may lose more than 10 nats" in text_level
    text_level = statement("rank", spent("rate", 4.0)).wording.text_level
    assert "From n = 3 on that is above 10 nats" in text_level
    assert "from n = 8 on a change of one word may lose more than 30" in text_level


def test_a_total_that_is_shared_by_the_text_is_resolved_by_the_word() -> None:
    """A total of 30 is claimed, with what two texts lose of it."""
    said = statement("rank", BudgetDescription(BudgetKind.FREE, 0.1, 30.0, total=30.0))
    assert said.bound.notion == "LDP"
    assert said.bound.worst_loss == 60.0
    assert "in sum at most 30 for a text (two texts may lose 2 times that)" in (
        said.wording.text_level
    )


@pytest.mark.parametrize("key", ["system", "key-file"])
def test_a_data_set_says_what_its_files_share(key: str) -> None:
    """Outputs of one run can be linked, and numbers are written anew each time."""
    said = statement("rank", spent("word", 5.0), strategy="data-set", key=key)
    not_covered = " ".join(said.scope.not_covered)
    assert "in the outputs of all its input files" in not_covered
    assert "linked with each other" in not_covered
    assert ("this key file" in not_covered) == (key == "key-file")
    assert "a replacement that is a number gets other random digits" in not_covered
    assert (
        "all words outside the vocabulary and identifiers, and all numbers"
        in not_covered
    )


@pytest.mark.parametrize("strategy", ["record", "data-set"])
def test_what_is_told_of_numbers_is_so(strategy: str) -> None:
    """Equal words that become the number element are written as several numbers."""
    from dptext import pipeline
    from dptext.randomness import RunKey
    from dptext.types import Record
    from tests import small

    given: dict[str, Any] = {
        "mechanism": {"name": "rank", "k": 2},
        "budget": {"name": "uniform", "epsilon": 0.01},
        "strategy": strategy,
    }
    ready = pipeline.build(profile.parse(given, "test"), small.cloud(3, 2))
    seen = False
    for seed in range(20):
        record = Record(0, (" ".join(["a0x"] * 8),), None)
        ((_, (text,)),) = ready.run([record], RunKey.from_seed(seed))
        words = text.split()
        numbers = [word for word in words if word.isdigit()]
        assert numbers in ([], words)
        seen |= len(set(numbers)) > 1
    assert seen
