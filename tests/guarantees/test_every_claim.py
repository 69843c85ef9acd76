"""Every printed number and every sentence, against exact losses of all short texts.

For each mechanism, budget and strategy the probability of each output of each text of
two words is computed, by the epsilons that the program draws them with; no pair of
texts may lose more than the statement says, in its fields or in its sentences, which
are read for the factor that they promise. Where the bound of a word can nearly be
reached, it may not be needlessly large either.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dptext import profile, registry
from dptext.guarantees import claims, statement
from dptext.guarantees.claims import RunTerms
from dptext.guarantees.statement import Statement
from dptext.mechanisms import Mechanism
from dptext.mechanisms.diffractor import Diffractor
from dptext.mechanisms.gaussian import Gaussian
from dptext.settings import convert
from dptext.tokens import kinds
from dptext.types import BudgetDescription, BudgetKind, Lexicon, Words
from tests import distributions, prepared, small
from tests.tokens import texts

# Words 0 and 1 are synonyms, and so are 2 and 3; some are frequent, some are not.
CLOUD = dataclasses.replace(
    small.cloud(5, 2),
    synonym_ends=np.array([1, 2, 3, 4, 4], np.int32),
    synonyms=np.array([1, 0, 3, 2], np.int32),
)
LINE = small.line(0.0, 0.75, 1.5, 2.75)
EXACT: dict[str, dict[str, Any]] = {
    "rank": {"name": "rank", "k": 2},
    "rank-staircase": {"name": "rank", "weights": "staircase", "k": 1},
    "santext": {"name": "santext"},
    "tem-gamma": {"name": "tem", "gamma": 0.8},
    "tem-beta": {"name": "tem", "beta": 0.05},
    "custext": {"name": "custext", "mapping": "one_set", "k": 4},
    "syntf": {"name": "syntf"},
    "diffractor": {"name": "diffractor"},
    "diffractor-chains": {"name": "diffractor", "chains": 3, "scale": 2.0},
    "diffractor-gamma": {"name": "diffractor", "noise": "tem", "gamma": 2.0},
    "diffractor-beta": {"name": "diffractor", "noise": "tem", "beta": 0.1, "chains": 2},
}
RAISED: dict[str, dict[str, Any]] = {
    "santext-raised": {"name": "santext", "recalibrate": True},
    "tem-gamma-raised": {"name": "tem", "gamma": 0.8, "recalibrate": True},
    "tem-beta-raised": {"name": "tem", "beta": 0.05, "recalibrate": True},
}
# On a line the nearest word has a closed law.
NOISE: dict[str, dict[str, Any]] = {
    "laplace": {"name": "laplace"},
    "mahalanobis": {"name": "mahalanobis"},
}
MECHANISMS = {**EXACT, **RAISED, **NOISE}
FREE = ("linguistic-total", "linguistic-clamped", "linguistic-rate")
BUDGETS: dict[str, dict[str, Any]] = {
    "uniform": {"name": "uniform", "epsilon": 5.0},
    "per-text": {"name": "per-text", "epsilon": 7.0},
    "position": {"name": "position", "epsilons": [5.0], "rest": 1.3},
    "declared": {"name": "declared", "epsilons": {"top-100": 4.5, "other": 1.2}},
    "class-first": {
        **{"name": "class-first", "first": 0.7},
        "epsilons": {"number": 1.1, "other": 5.0},
    },
    "released-past": {
        **{"name": "released-past", "epsilon": 8.0, "start": 5.0},
        "epsilons": {"number": 6.0, "other": 0.4},
    },
    "linguistic-total": {"name": "linguistic", "epsilon": 6.0},
    "linguistic-clamped": {
        **{"name": "linguistic", "epsilon": 6.0, "min": 2.5},
        **{"max": 3.5},
    },
    "linguistic-rate": {"name": "linguistic", "epsilon_per_word": 2.0},
}
# An exponential mechanism's worst pair loses from half of its claim to all of it
# (docs/guarantees.md, 3); few words, and a total that is not all spent, take a little.
_NEAR = 2.4
# Of a drawn class's two prices, and of any split of a total, two words pay a part.
NEEDLESS = {"class-first": 3.2, **dict.fromkeys(FREE, 5.0)}
SLACK = 1e-6
Text = tuple[int, int]


class Configured(NamedTuple):
    """A mechanism made ready, with a budget."""

    mechanism: Mechanism
    budget: Any
    said: Statement


@cache
def ready_mechanism(mechanism: str) -> Mechanism:
    """Make a mechanism ready for a few words."""
    given = dict(MECHANISMS.get(mechanism, {"name": "gaussian", "delta": 0.01}))
    name = given.pop("name")
    lexicon = CLOUD if mechanism in EXACT or mechanism in RAISED else LINE
    ready: Mechanism = prepared.ready(name, lexicon, **given)
    return ready


@cache
def configured(mechanism: str, budget: str, strategy: str = "token") -> Configured:
    """Make a mechanism and a budget ready and write their statement."""
    ready = ready_mechanism(mechanism)
    given = dict(BUDGETS[budget])
    module: Any = registry.find("budgets", given.pop("name"))
    params = convert(given, module.Params, "test")
    spending = params.prepare(ready.space.lexicon)
    recipe = profile.parse(
        {
            "mechanism": MECHANISMS.get(mechanism, {"name": "gaussian"}),
            "budget": BUDGETS[budget],
            "strategy": strategy,
        },
        "test",
    )
    said = statement.run_statement(recipe, ready, spending.description, RunTerms())
    return Configured(ready, spending, said)


@cache
def law(mechanism: str, word: int, epsilon: float) -> NDArray[np.float64]:
    """Return ln P(y | word) at an epsilon, (V,)."""
    ready = ready_mechanism(mechanism)
    if mechanism in NOISE:
        return np.log(_on_a_line(ready, word, stats.laplace(scale=1.0 / epsilon)))
    logs = ready.log_probs(np.array([word], np.int32), np.array([epsilon]))
    return np.asarray(logs[0])


def _on_a_line(ready: Mechanism, word: int, noise: Any) -> NDArray[np.float64]:
    """Return the chance that noise carries a word into each word's cell, (V,)."""
    points = ready.space.vectors[:-1, 0].astype(np.float64)
    order = np.argsort(points)
    borders = (points[order][1:] + points[order][:-1]) / 2.0
    at = float(ready.space.vectors[word, 0])
    edges = np.concatenate(([-np.inf], borders - at, [np.inf]))
    # On the side where the tail is small it is exact.
    below, beyond = noise.cdf(edges), noise.sf(edges)
    chance = np.where(edges[:-1] > 0, beyond[:-1] - beyond[1:], below[1:] - below[:-1])
    out = np.empty(len(points))
    out[order] = chance
    return out


def distances(mechanism: str) -> NDArray[np.float64]:
    """Return D of all pairs of inputs, the unknown word last: (V + 1, V + 1)."""
    ready = ready_mechanism(mechanism)
    if isinstance(ready, Diffractor):
        rows = np.arange(ready.space.size + 1)
        one, other = np.meshgrid(rows, rows, indexing="ij")
        apart = ready.chains.distances(one.ravel(), other.ravel())
        return apart.reshape(one.shape) / ready.params.scale
    wide = ready.space.vectors.astype(np.float64)
    return np.asarray(np.linalg.norm(wide[:, None] - wide[None, :], axis=2))


def words_of(text: tuple[int, ...]) -> Words:
    """Return a text of words as a budget is given it."""
    count = len(text)
    return Words(
        pieces=[""] * count,
        flags=np.full(count, kinds.WORD, np.uint8),
        ends=np.array([count]),
        positions=np.arange(count),
        texts=np.zeros(count, np.int64),
        ids=np.array(text, np.int32),
    )


def spent(each: Configured, text: Text) -> tuple[float, float]:
    """Return the epsilons that the program draws the words of a text with."""
    first, second = each.budget.spread(words_of(text), distributions.bits(len(text)))
    return float(first), float(second)


def text_law(
    mechanism: str, budget: str, text: Text, split: tuple[float, float] | None = None
) -> NDArray[np.float64]:
    """Return ln P of each pair of outputs, (V * V,); split, where epsilon is free."""
    each = configured(mechanism, budget)
    if budget == "class-first":
        return _sum(*(_of_class(each, mechanism, word) for word in text))
    if budget == "released-past":
        return _of_past(each, mechanism, text)
    if split is None:
        split = spent(each, text)
    return _sum(law(mechanism, text[0], split[0]), law(mechanism, text[1], split[1]))


def _sum(one: NDArray[np.float64], two: NDArray[np.float64]) -> NDArray[np.float64]:
    return (one[:, None] + two[None, :]).ravel()


def _of_class(each: Configured, mechanism: str, word: int) -> NDArray[np.float64]:
    """Mix over the classes that the program draws for a word, with its epsilons."""
    first, classes = each.budget.first, each.budget.classes
    # Of all that a word may be given; how often is tested with draws elsewhere
    # (tests/guarantees/test_varying_epsilon.py, tests/engine/test_release_audit.py).
    words = words_of((word,) * 400)
    given = each.budget.released(words, distributions.bits(400))
    eps = each.budget.spread(words, distributions.bits(400))
    of_class = {int(one): float(value) for one, value in zip(given, eps, strict=True)}
    assert set(of_class) == set(range(len(classes.names)))
    true_class = int(classes.rows[word])
    weights = {one: math.exp(first) if one == true_class else 1.0 for one in of_class}
    laws = [
        weights[one] * np.exp(law(mechanism, word, value))
        for one, value in of_class.items()
    ]
    mixed: NDArray[np.float64] = np.log(np.sum(laws, axis=0) / sum(weights.values()))
    return mixed


def _of_past(each: Configured, mechanism: str, text: Text) -> NDArray[np.float64]:
    """Let the second word's epsilon follow from the first word that was released."""
    words, bits = words_of(text), distributions.bits(len(text))
    out = []
    for released in range(ready_mechanism(mechanism).space.size):

        def draw(
            positions: NDArray[np.int64],
            eps: NDArray[np.float64],
            released: int = released,
        ) -> NDArray[np.int32]:
            return np.full(len(positions), released, np.int32)

        _, (first, second) = each.budget.release(words, bits, draw)
        chance = law(mechanism, text[0], float(first))[released]
        out.append(chance + law(mechanism, text[1], float(second)))
    return np.array(out).ravel()


def splits(budget: str) -> list[tuple[float, float] | None]:
    """Return the epsilons that a text may have, where anything in it may choose."""
    if budget not in FREE:
        return [None]
    params = BUDGETS[budget]
    total = params.get("epsilon") or 2 * params["epsilon_per_word"]
    # Two words have half each in the middle, and three equal parts at most.
    low = params.get("min", total / 6)
    shares = np.linspace(low, total - low, 5).tolist()
    # The last one is what the program itself gives the text.
    return [*((share, total - share) for share in shares), None]


class Pair(NamedTuple):
    """Two texts and what they lose; eps, where they have the same ones."""

    one: Text
    other: Text
    loss: float


def pairs(mechanism: str, budget: str) -> Iterator[Pair]:
    """Give every pair of texts of two words, with the worst of their epsilons."""
    words = range(-1, ready_mechanism(mechanism).space.size)
    texts = list(itertools.product(words, words))
    laws = np.array(
        [
            [text_law(mechanism, budget, text, split) for split in splits(budget)]
            for text in texts
        ]
    )
    for number, one in enumerate(texts):
        gaps = np.abs(laws[number][None, :, None] - laws[:, None, :, :])
        worst = gaps.max(axis=(1, 2, 3))
        for other, loss in zip(texts, worst.tolist(), strict=True):
            yield Pair(one, other, loss)


COMBINATIONS = [
    *itertools.product(EXACT, BUDGETS),
    *itertools.product(RAISED, ("uniform",)),
    *itertools.product(NOISE, ("uniform", "per-text", "position")),
    *itertools.product(NOISE, ("class-first", "released-past")),
]


def promises(mechanism: str, budget: str) -> bool:
    """Tell whether anything is promised, which `nothing` below says of the rest."""
    varying_epsilon = ready_mechanism(mechanism).guarantee(1.0).varying_epsilon
    return varying_epsilon is not None or budget not in (*FREE, "declared")


@pytest.mark.parametrize(("mechanism", "budget"), COMBINATIONS)
def test_no_text_loses_more_than_is_printed(mechanism: str, budget: str) -> None:
    """Worst loss, the losses by distance, the whole text's and the sentences hold."""
    said = configured(mechanism, budget).said
    if not promises(mechanism, budget):
        assert said.bound.notion == "none"
        assert said.bound.worst_loss is None
        return
    assert said.bound.notion in ("LDP", "metric-DP")
    hold(said, mechanism, budget)


def hold(said: Statement, mechanism: str, budget: str) -> None:
    """Hold every figure of a statement against all pairs of texts."""
    apart = distances(mechanism)
    one_word = one_word_bound(said)
    for pair in pairs(mechanism, budget):
        changed = [(a, b) for a, b in zip(pair.one, pair.other, strict=True) if a != b]
        assert pair.loss <= whole_text(said) + SLACK
        assert pair.loss <= in_the_sentence(said, mechanism, budget, pair) + SLACK
        if len(changed) != 1:
            continue
        assert pair.loss <= one_word + SLACK
        if said.bound.level == "words" or budget in FREE:
            continue
        gap = float(apart[changed[0]])
        for limit, bound in by_distance(said, apart).items():
            if gap <= limit:
                assert pair.loss <= bound + SLACK


def by_distance(said: Statement, apart: NDArray[np.float64]) -> dict[float, float]:
    """Return the printed loss of words that are at most so far apart."""
    size = len(apart) - 1
    among = apart[:size, :size] + np.where(np.eye(size, dtype=bool), np.inf, 0.0)
    upper = apart[:size, :size][np.triu_indices(size, 1)]
    return {
        float(np.median(among.min(axis=1))): said.bound.loss.nearest,
        float(np.median(upper)): said.bound.loss.median,
        math.inf: said.bound.loss.farthest,
    }


def whole_text(said: Statement) -> float:
    """Return what two words may lose together: the fields', and the sentence's."""
    total, each = said.bound.text_loss.total, said.bound.text_loss.each
    assert total is not None or each is not None
    if said.bound.level == "text":
        assert said.bound.worst_loss == total
        assert total is not None
        assert claims.format_up(total) in said.wording.text_level or (
            claims.number(total) in said.wording.text_level
        )
    return min(
        math.inf if total is None else total, math.inf if each is None else 2 * each
    )


def one_word_bound(said: Statement) -> float:
    """Return what a text of two words may lose when one of them is changed."""
    match = re.search(
        r"loses at most ([\d.e+-]+) \+ \(n - 1\) times ([\d.e+-]+) nats, which is less "
        r"for n = (\d+)(?: to (\d+)| and more|)\.",
        said.wording.text_level,
    )
    if match:
        assert not match[4] or int(match[3]) < int(match[4])
        changed, moved = float(match[1]), float(match[2])
        for n in (int(match[3]), int(match[4] or match[3])):
            total, each = said.bound.text_loss.total, said.bound.text_loss.each
            assert changed + (n - 1) * moved < min(
                total or math.inf, n * (each or math.inf)
            )
        return changed + moved
    if said.bound.level == "words":
        return 2 * said.bound.epsilon
    if said.bound.equal_parts:
        assert said.bound.worst_loss is not None
        nats = re.search(r"and ([\d.]+) nats(?: at|\.|: )", said.wording.text_level)
        return min(said.bound.worst_loss / 2, float(nats[1]) if nats else math.inf)
    return said.bound.loss.farthest


NUMBER = r"[\d.e+]+?"


def in_the_sentence(said: Statement, mechanism: str, budget: str, pair: Pair) -> float:
    """Return what the sentence allows these two texts, in nats, read from its words.

    A sentence about one word is taken for each word that differs.
    """
    at = [(a, b) for a, b in zip(pair.one, pair.other, strict=True)]
    apart = [float(distances(mechanism)[each]) for each in at]
    read = _factor(said.wording.sentence)
    if said.bound.level == "words":
        match = re.search(
            rf"more than e\^\(n times ({NUMBER})\) times", said.wording.sentence
        )
        assert match
        return 2 * float(match[1])
    if read is not None:
        return read if said.bound.level == "text" else read * sum(a != b for a, b in at)
    if budget == "position":
        first: float = BUDGETS[budget]["epsilons"][0]
        rest: float = BUDGETS[budget]["rest"]
        eps = (first, rest)
        if "e^epsilon times" in said.wording.sentence:
            return sum(e for e, (a, b) in zip(eps, at, strict=True) if a != b)
        assert "e^(epsilon d) times" in said.wording.sentence
        return sum(
            e * _cut(said.wording.sentence, d, e)
            for e, d in zip(eps, apart, strict=True)
        )
    match = re.search(rf"e\^\(\(({NUMBER}) / n\) S\) times", said.wording.sentence)
    if match:
        part = float(match[1]) / 2
        return part * sum(_cut(said.wording.sentence, d, part) for d in apart)
    match = re.search(rf"e\^\(({NUMBER}) d\) times", said.wording.sentence)
    assert match
    epsilon = float(match[1])
    if said.bound.level == "text":
        most = re.search(
            rf"nor more than e\^\(n times ({NUMBER})\) times", said.wording.sentence
        )
        assert ("min(D, " in said.wording.sentence) == ("gamma" in mechanism)
        bound = epsilon * max(_cut(said.wording.sentence, d, math.nan) for d in apart)
        return min(bound, 2 * float(most[1]) if most else math.inf)
    nats = [epsilon * _cut(said.wording.sentence, d, math.nan) for d in apart]
    other = re.search(
        rf"and e\^\({NUMBER} d \+ ({NUMBER})\) times if", said.wording.sentence
    )
    if other:
        classes = configured(mechanism, budget).budget.classes.rows
        nats = [
            each + float(other[1]) * (classes[a] != classes[b])
            for each, (a, b) in zip(nats, at, strict=True)
        ]
    return sum(nats)


def _factor(sentence: str) -> float | None:
    """Return the nats of a factor that is written as a number."""
    match = re.search(r"more than (e\^[\d.]+|[\d.,]+) times as likely", sentence)
    if not match:
        return None
    if match[1].startswith("e^"):
        return float(match[1][2:])
    return math.log(float(match[1].replace(",", "")))


def _cut(sentence: str, distance: float, epsilon: float) -> float:
    """Return d of a distance D as the sentence defines it."""
    match = re.search(
        rf"min\(D, ({NUMBER})(?: / (epsilon|\({NUMBER} / n\)|{NUMBER}))?\), D the",
        sentence,
    )
    if not match:
        assert "D the" not in sentence
        return distance
    cut = float(match[1])
    if match[2] == "epsilon":
        cut /= epsilon
    elif match[2] and match[2].startswith("("):
        cut /= float(match[2][1:].split(" ")[0]) / 2
    elif match[2]:
        cut /= float(match[2])
    return min(distance, cut)


# Of syntf's few words, not two are rated as differently as words may be.
TIGHT = [each for each in COMBINATIONS if each[0] != "syntf" and promises(*each)]


@pytest.mark.parametrize(("mechanism", "budget"), TIGHT)
def test_no_bound_is_needlessly_large(mechanism: str, budget: str) -> None:
    """The bounds of a word and of a text are near the exact losses."""
    said = configured(mechanism, budget).said
    worst = {1: 0.0, 2: 0.0}
    for pair in pairs(mechanism, budget):
        changed = sum(a != b for a, b in zip(pair.one, pair.other, strict=True))
        for least in range(1, changed + 1):
            worst[least] = max(worst[least], pair.loss)
    assert one_word_bound(said) <= NEEDLESS.get(budget, _NEAR) * worst[1]
    if said.bound.level == "text":
        assert whole_text(said) <= NEEDLESS.get(budget, _NEAR) * worst[2]


@pytest.mark.parametrize(
    ("mechanism", "budget"), [one for one in TIGHT if one[0] in EXACT]
)
@pytest.mark.parametrize("part", ["fields", "sentence"])
def test_a_claim_that_is_too_small_is_caught(
    mechanism: str, budget: str, part: str
) -> None:
    """With a quarter of the figures, in the fields or the sentence, no test holds."""
    said = configured(mechanism, budget).said
    if part == "sentence":
        wording = dataclasses.replace(said.wording, sentence=_shrunk(said, 0.25))
        false = dataclasses.replace(said, wording=wording)
    else:
        loss, text_level = said.bound.text_loss, said.wording.text_level
        quarter = loss.total and 0.25 * loss.total
        false = dataclasses.replace(
            said,
            bound=dataclasses.replace(
                said.bound,
                text_loss=dataclasses.replace(
                    loss, total=quarter, each=loss.each and 0.25 * loss.each
                ),
                worst_loss=quarter,
            ),
            wording=dataclasses.replace(
                said.wording, text_level=f"{quarter or 0.0:.6g} {text_level}"
            ),
        )
    with pytest.raises(AssertionError):
        hold(false, mechanism, budget)


def _shrunk(said: Statement, times: float) -> str:
    """Return the sentence with every bound in it smaller."""

    def smaller(match: re.Match[str]) -> str:
        return f"{match[1]}{times * float(match[2]):.6g}{match[3]}"

    nats = _factor(said.wording.sentence)
    if nats is not None:
        return re.sub(
            r"more than (e\^[\d.]+|[\d.,]+) times as likely",
            f"more than {claims.factor(times * nats)} times as likely",
            said.wording.sentence,
        )
    sentence = re.sub(
        rf"(e\^\(+)({NUMBER})( d| / n\) S)", smaller, said.wording.sentence
    )
    sentence = re.sub(rf"(e\^\(n times )({NUMBER})(\) times)", smaller, sentence)
    sentence = sentence.replace("e^epsilon times", "e^(0.25 d) times")
    return sentence.replace("e^(epsilon d) times", "e^(0.25 d) times")


@pytest.mark.parametrize("strategy", ["record", "data-set"])
@pytest.mark.parametrize("mechanism", EXACT)
def test_a_word_that_is_drawn_once_costs_its_loss_once(
    mechanism: str, strategy: str
) -> None:
    """Texts of one pattern of equal words have the loss stated for distinct words."""
    said = configured(mechanism, "uniform", strategy).said
    apart, size = distances(mechanism), ready_mechanism(mechanism).space.size
    epsilon = BUDGETS["uniform"]["epsilon"]
    assert said.bound.text_loss.each is not None
    for a, b in itertools.product(range(-1, size), repeat=2):
        # "aa" and "bb": the same draw stands in both places of each.
        gap = np.abs(law(mechanism, a, epsilon) - law(mechanism, b, epsilon)).max()
        assert gap <= said.bound.text_loss.each + SLACK
        allowed = in_the_sentence(said, mechanism, "uniform", Pair((a, 0), (b, 0), 0.0))
        assert gap <= allowed + SLACK
        assert gap <= said.bound.loss.farthest + SLACK
        if "times the sum of the distances" in said.wording.text_level:
            cut = _cut(said.wording.sentence, float(apart[a, b]), epsilon)
            assert gap <= epsilon * cut + SLACK


@pytest.mark.parametrize("budget", ["uniform", "per-text"])
def test_gaussian_noise_keeps_epsilon_and_delta(budget: str) -> None:
    """No set of outputs of one or two words is likelier than epsilon, delta allow."""
    each = configured("gaussian", budget)
    said, words = each.said, range(-1, LINE.vectors.shape[0] - 1)
    epsilon = BUDGETS[budget]["epsilon"] / (2 if budget == "per-text" else 1)
    assert isinstance(each.mechanism, Gaussian)
    sigma = each.mechanism.sigma(epsilon)
    # Clipped vectors lie on the same line.
    clipped = each.mechanism.output_vectors
    ready = dataclasses.replace(
        each.mechanism,
        space=dataclasses.replace(each.mechanism.space, transformed=lambda: clipped),
    )
    laws = {word: _on_a_line(ready, word, stats.norm(scale=sigma)) for word in words}
    assert said.bound.notion == "eps-delta"
    for a, b in itertools.permutations(words, 2):
        beyond = np.maximum(laws[a] - math.exp(epsilon) * laws[b], 0.0).sum()
        assert beyond <= said.bound.delta + 1e-9
        for c, d in itertools.product(words, repeat=2):
            one, two = np.outer(laws[a], laws[c]), np.outer(laws[b], laws[d])
            beyond = np.maximum(one - math.exp(2 * epsilon) * two, 0.0).sum()
            assert beyond <= 2 * said.bound.delta + 1e-9
    for name in ("position", "declared", "class-first", "released-past", *FREE):
        assert configured("gaussian", name).said.bound.notion == "none"


@pytest.mark.parametrize("mechanism", ["tem-beta", "diffractor-beta"])
def test_no_cut_that_follows_from_epsilon_is_claimed_of_a_total(mechanism: str) -> None:
    """Four words of epsilon 5 lose more than the cut of one word of epsilon 20."""
    ready = ready_mechanism(mechanism)
    most = ready.guarantee(20.0).max_loss
    words = range(-1, ready.space.size)
    lost, one, other = max(
        (float(np.abs(law(mechanism, a, 5.0) - law(mechanism, b, 5.0)).max()), a, b)
        for a, b in itertools.permutations(words, 2)
    )
    assert 4 * lost > most
    recipe = profile.load("balanced", {"budget": {"epsilon": 1.0, "risk": None}})
    said = statement.run_statement(
        recipe,
        ready,
        BudgetDescription(BudgetKind.PAST, 0.1, 5.0, total=20.0),
        RunTerms(),
    )
    gap = float(distances(mechanism)[one, other])
    assert 4 * lost <= 20.0 * _cut(said.wording.sentence, gap, 20.0) + SLACK
    assert said.bound.worst_loss is not None
    assert 4 * lost <= said.bound.worst_loss
    assert said.bound.loss.farthest == most


# Texts of two codes of one layout, and dates of one: equal, or in either order.
_PIECES = {
    "code": ("AB-1234", "XY-9876", "QZ-4711"),
    "date": ("2001-02-13", "2011-07-22", "2020-10-19"),
}


@pytest.mark.parametrize("form", _PIECES)
def test_equal_forms_lose_nothing_within_the_adjacency(form: str) -> None:
    """Texts with the same ones equal, and dates in one order, lose 0 nats; others more.

    The adjacency names both conditions, and "what is shown" what they tell.
    """
    recipe = profile.parse(
        {
            "mechanism": EXACT["rank"],
            "budget": BUDGETS["uniform"],
            "tokens": {"forms": [form], "repeat": "record", "years": [2024, 2025]},
        },
        "test",
    )
    ready, each = ready_mechanism("rank"), configured("rank", "uniform")
    said = statement.run_statement(recipe, ready, each.budget.description, RunTerms())
    conditions = " ".join(said.scope.adjacency)
    assert "the same pattern of equal ones" in conditions
    assert ("the same order of the dates" in conditions) == (form == "date")
    assert "are equal" in " ".join(said.scope.not_covered)
    outputs: dict[tuple[int, ...], set[tuple[str, ...]]] = {}
    for one, two in itertools.product(_PIECES[form], repeat=2):
        order = (one > two) - (one < two) if form == "date" else 0
        written = tuple(
            texts.written(
                f"{one} {two}", np.empty(0, np.int32), recipe.tokens, seed=seed
            )
            for seed in range(12)
        )
        outputs.setdefault((one == two, order), set()).add(written)
    assert all(len(same) == 1 for same in outputs.values())
    assert len({next(iter(same)) for same in outputs.values()}) == len(outputs)


def readable_outputs(lexicon: Lexicon, text: str, draws: int = 12) -> tuple[str, ...]:
    """Write a text of copied words and numbers by the profile for people."""
    tokens, none = profile.load("readable").tokens, np.empty(0, np.int32)
    return tuple(
        texts.written(text, none, tokens, lexicon, seed=seed) for seed in range(draws)
    )


def readable_statement(**changes: Any) -> tuple[str, str]:
    """Return the conditions on texts, and what is shown, by the profile for people."""
    recipe = profile.load("readable", {"tokens": changes})
    ready, each = ready_mechanism("rank"), configured("rank", "uniform")
    said = statement.run_statement(recipe, ready, each.budget.description, RunTerms())
    shown = *said.scope.not_covered, *said.wording.form_layouts
    return " ".join(said.scope.adjacency), " ".join(shown)


def test_unchanged_ratings_are_said(builtin: Lexicon) -> None:
    """The adjacency holds them and "what is shown" names them; others lose 0 nats."""
    conditions, shown = readable_statement()
    assert "unchanged ones the same" in conditions
    assert "ratings, which are unchanged and not protected" in shown
    for frame in ("rated {}/5", "{} stars", "{} out of 5, fine", "rated {}"):
        rated = [frame.format(number) for number in range(1, 6)]
        assert [{*readable_outputs(builtin, each)} for each in rated] == [
            {each} for each in rated
        ]
    for changes in ({"opinion": "perturb"}, {"marks": True}):
        conditions, shown = readable_statement(**changes)
        assert "unchanged ones the same" not in conditions
        assert "ratings, which are unchanged" not in shown
    for frame in ("on {}/5", "{} out of 5 people", "{} of it"):
        outs = {readable_outputs(builtin, frame.format(n)) for n in range(1, 6)}
        assert len(outs) == 1


def test_a_number_beside_its_words_loses_nothing(builtin: Lexicon) -> None:
    """All numbers in brackets have the same outputs, which the statement tells."""
    assert "becomes their value, whatever it was" in readable_statement()[1]
    for frame in ("fourteen ({}) days", "twenty-one ({}) days", "{} (thirty) days"):
        outs = {readable_outputs(builtin, frame.format(n)) for n in (10, 14, 30, 99)}
        assert len(outs) == 1


# Texts that differ in one hidden piece, and what the statement says of its place.
_HIDDEN_PIECES = {
    "becomes that of the written date": "on {}, 3 March 2025 and",
    "as in City of London": "the City of {} is",
    "names before the time or address of a line of a log": (
        "10.0.0.1 - {} [10/Oct/2024:13:55:36 +0200] it was"
    ),
    "behind a dash between spaces": "it was - A {} is",
}
_PIECES_OF = {"on": ("Monday", "Friday"), "10": ("frank", "zqxj", "order")}


@pytest.mark.parametrize("said", _HIDDEN_PIECES)
def test_places_that_show_more_show_no_hidden_piece(
    said: str, builtin: Lexicon
) -> None:
    """The statement names the place, and all pieces in it have the same outputs."""
    assert said in readable_statement()[1]
    frame = _HIDDEN_PIECES[said]
    pieces = _PIECES_OF.get(frame[:2], ("London", "Berlin", "Kenya"))
    outs = {readable_outputs(builtin, frame.format(piece)) for piece in pieces}
    assert len(outs) == 1
    hidden = "place" if pieces[0] == "London" else pieces[0]
    assert all(hidden not in out for out in next(iter(outs)))


def test_what_capitals_tell_is_said_where_they_are_shown() -> None:
    """Of words with a capital, and in capitals, only under `case: copy`."""
    phrases = ("as in City of London", "any word in capitals")
    assert all(each in readable_statement()[1] for each in phrases)
    hidden = readable_statement(case="restore")[1]
    assert not any(each in hidden for each in phrases)


def test_weekdays_that_fit_are_said_where_dates_are_written() -> None:
    """Not beside marks, nor without dates or weekdays."""
    said = "becomes that of the written date"
    for changes in (
        {"marks": True},
        {"forms": ["email"]},
        {"classes": ["person", "place"]},
    ):
        assert said not in readable_statement(**changes)[1]
    assert "equal weekdays may become" not in readable_statement(repeat="none")[1]
