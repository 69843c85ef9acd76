"""A claim holds for all that comes in: words, means of words, nothing of fewer."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from dptext import lexicons, noise, pipeline, profile, registry
from dptext.errors import ComponentError, LexiconError, UnprovenError, UsageError
from dptext.guarantees.statement import Statement
from dptext.mechanisms import NoiseMechanism, laplace
from dptext.noise import WIDTH, largest_mu
from dptext.randomness import RandomBits, RunKey
from dptext.settings import digest_of_data
from dptext.types import (
    Constant,
    Eps,
    Guarantee,
    Ids,
    Inputs,
    Lexicon,
    Notion,
    Points,
    Record,
)
from dptext.vectors import release, statement
from dptext.vectors.release import VectorRelease
from tests import distributions, prepared, small
from tests.cli.running import here
from tests.vectors.releases import said

Wide = NDArray[np.float64]
LINE = "zaru 0\nmivo 5\nteku 10\npolk 1\n"
SOLID = """zaru 0 3 1
mivo 5 0.5 2
teku 10 -1 0.2
polk 1 0.1 -4
"""
WORDS = ("zaru", "mivo", "teku", "polk", "qqq")
TEXTS = [
    " ".join(words)
    for count in (1, 2, 3, 4)
    for words in itertools.combinations_with_replacement(WORDS, count)
]
PARAMS: dict[str, dict[str, Any]] = {
    "clip": {"low": 0, "high": 2},
    "jl": {"dimensions": 2, "seed": 3},
}
VARIANTS: tuple[dict[str, Any], ...] = (
    {"name": "laplace"},
    {"name": "laplace", "metric": "lexicon"},
    {"name": "mahalanobis", "lam": 0.7},
    {"name": "privemb", "dimensions": 2},
    {"name": "privemb", "dimensions": 2, "constant": "worst"},
    {"name": "privemb", "dimensions": 2, "constant": "published", "beta": 0.1},
    {"name": "gaussian"},
    {"name": "gaussian", "sensitivity": "worst", "clip": 3.0},
    {"name": "discrete-gaussian"},
    {"name": "discrete-laplace", "clip": 4.0},
)


def ready_release(
    path: Path, pool: str, space: Any, mechanism: Any, lexicon: Lexicon | None = None
) -> VectorRelease:
    """Make a release ready."""
    over = {
        "lexicon": str(path),
        "space": space,
        "mechanism": mechanism,
        "budget": {"name": "uniform", "epsilon": 2.0},
    }
    return release.prepare(release.parse(over, {"pool": pool}), lexicon=lexicon)


def means(rows: NDArray[np.floating], lexicon: Any) -> Wide:
    """Return the mean of the rows of each text, one by one."""
    index = {word: row for row, word in enumerate(lexicon.words)}
    wide = rows.astype(np.float64)
    return np.array(
        [
            np.mean([wide[index.get(word, -1)] for word in text.split()], axis=0)
            for text in TEXTS
        ]
    )


def lost(ready: VectorRelease, positions: Wide) -> Wide:
    """Return the exact loss of pairs, of normal noise their mu: by its law alone."""
    mechanism, epsilon = ready.mechanism, ready.epsilon
    name, spread = mechanism.name, mechanism.spread(epsilon)
    width = positions.shape[1]
    if name.startswith("discrete"):
        positions = np.rint(positions / mechanism.step(epsilon))
    if name == "discrete-laplace":
        return np.asarray(pdist(positions, "cityblock") * math.log(2.0) / WIDTH)
    if name == "discrete-gaussian":
        return np.asarray(pdist(positions) / math.sqrt(WIDTH**2 - 1.0 / 12.0))
    if name == "gaussian":
        return np.asarray(pdist(positions) / spread)
    if name == "mahalanobis":
        root = mechanism.root  # type: ignore[attr-defined]
        return np.asarray(epsilon * pdist(np.linalg.solve(root, positions.T).T))
    # Density exp(-|z| sqrt(d + 1) / spread).
    return np.asarray(pdist(positions) * math.sqrt(width + 1) / spread)


def claimed(ready: VectorRelease, promise: Statement) -> Wide:
    """Return what the statement says of each pair of texts."""
    name = ready.mechanism.name
    metric = ready.settings.recipe.mechanism.params
    if promise.bound.notion is Notion.APPROXIMATE:
        delta = promise.bound.delta
        return np.full(
            math.comb(len(TEXTS), 2), largest_mu(promise.bound.epsilon, delta)
        )
    if promise.bound.notion is Notion.LDP:
        return np.full(math.comb(len(TEXTS), 2), promise.bound.epsilon)
    space = ready.mechanism.space
    rows: NDArray[np.floating] = space.vectors
    if name == "privemb":
        rows = ready.mechanism.measured.vectors  # type: ignore[attr-defined]
    elif getattr(metric, "metric", "") == "lexicon":
        rows = np.asarray(ready.lexicon.vectors, np.float32)
    centres = means(rows, ready.lexicon)
    times = re.search(r"([\d.]+) times the", promise.bound.metric.name)
    if name == "mahalanobis":
        assert times is not None
        lam = metric.lam  # type: ignore[attr-defined]
        words = rows[: space.size].astype(np.float64)
        spread = np.atleast_2d(np.cov(words.T, bias=True))
        trace = np.trace(spread) or 1.0
        width = len(spread)
        mixed = lam * spread * width / trace + (1.0 - lam) * np.eye(width)
        if not spread.any():
            mixed = np.eye(width)
        exact = pdist(centres, "mahalanobis", VI=np.linalg.inv(mixed))
        longest = promise.bound.epsilon * float(times[1]) * pdist(centres)
        return np.asarray(np.minimum(promise.bound.epsilon * exact, longest))
    factor = float(times[1]) if times else 1.0
    return np.asarray(promise.bound.epsilon * factor * pdist(centres))


@pytest.mark.parametrize("space", registry.names("spaces"))
@pytest.mark.parametrize("lexicon", [LINE, SOLID], ids=["line", "solid"])
def test_no_two_texts_lose_more_than_is_said(
    lexicon: str, space: str, tmp_path: Path
) -> None:
    """All pairs of 125 texts of up to four words, for all settings that are taken.

    Only the lexicon's own distance after another space is refused, and that of means.
    """
    path = tmp_path / "words.vec"
    path.write_text(lexicon)
    records = [Record(row, (text,), None) for row, text in enumerate(TEXTS)]
    opened = lexicons.find(str(path))
    refused, placed = [], {"name": space, **PARAMS.get(space, {})}
    for pool, mechanism in itertools.product(("word", "mean", "sif"), VARIANTS):
        if pool == "sif" and lexicon is LINE:
            continue
        try:
            ready = ready_release(path, pool, placed, mechanism, lexicon=opened)
        except UnprovenError:
            assert pool != "word"
            refused.append((pool, mechanism))
            continue
        except UsageError:
            # All vectors coincide: a loss of 0 nats is promised by no floating point.
            assert lexicon is LINE
            assert space in ("interval", "observed-range")
            continue
        promise = said(ready, lexicon_is_custom=True)
        randomness = ready.randomness(RunKey.from_seed(1))
        assert np.isfinite(ready.rows(records, randomness).vectors).all()
        if pool == "word":
            continue
        _, _, before = ready.encode(TEXTS)
        positions = np.asarray(before(slice(None)), np.float64)
        loss, bound = lost(ready, positions), claimed(ready, promise)
        slack = 1e-9 if mechanism["name"].startswith("discrete") else 1e-6
        case = (pool, mechanism, promise.wording.distance)
        assert (loss <= bound * (1.0 + slack) + 1e-12).all(), case
        if (
            promise.bound.worst_loss is not None
            and promise.bound.notion is Notion.METRIC
        ):
            assert loss.max() <= promise.bound.worst_loss * (1.0 + 1e-9), case
    pools = ("mean",) if lexicon is LINE else ("mean", "sif")
    wanted = [] if space == "identity" else [(pool, VARIANTS[1]) for pool in pools]
    assert refused == wanted


def test_a_constant_of_pairs_is_no_constant_of_means() -> None:
    """Each is given for the inputs that it holds for, and for fewer."""
    everything = list(Inputs)
    for position, inputs in enumerate(everything):
        constant = Constant(1.5, inputs)
        assert [constant.over(each) for each in everything[: position + 1]] == (
            [1.5] * (position + 1)
        )
        for more in everything[position + 1 :]:
            with pytest.raises(UnprovenError, match="not for"):
                constant.over(more)


@dataclasses.dataclass(frozen=True, eq=False)
class Bare(NoiseMechanism):
    """Noise that says nothing but what it promises of words, and is no number."""

    def guarantee(self, epsilon: float) -> Guarantee:
        """Promise something of words."""
        return Guarantee.ldp("a test")

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Points:
        """Move vectors nowhere."""
        return np.full((len(ids), self.space.vectors.shape[1]), np.nan, np.float32)

    def noise(self, eps: Eps, bits: RandomBits) -> Wide:
        """Return no numbers."""
        return np.full((len(eps), self.space.vectors.shape[1]), np.nan)

    def spread(self, epsilon: float) -> float:
        """Return any."""
        return 1.0


def test_a_promise_of_words_is_none_of_means() -> None:
    """A mechanism that says nothing of other inputs is taken for words alone."""
    mechanism = Bare(laplace.Params(), prepared.space_of(small.cloud(6, 3)))
    assert mechanism.guarantee_over(Inputs.WORDS, 1.0).notion is Notion.LDP
    for inputs in (Inputs.MEANS, Inputs.VECTORS):
        with pytest.raises(UnprovenError):
            mechanism.guarantee_over(inputs, 1.0)


def test_no_number_is_released_that_is_not_finite(tmp_path: Path) -> None:
    """Neither as a vector nor, by a mapping, as a word."""
    path = tmp_path / "words.vec"
    path.write_text(SOLID)
    ready = ready_release(path, "word", {"name": "identity"}, {"name": "laplace"})
    broken = Bare(laplace.Params(), ready.mechanism.space)
    ready = dataclasses.replace(ready, mechanism=broken)
    with pytest.raises(ComponentError, match="non-finite"):
        ready.rows([Record(0, ("zaru",), None)], ready.randomness(RunKey.from_seed(1)))
    recipe = profile.load("cmp", {"lexicon": str(path), "budget": {"epsilon": 3.0}})
    words = pipeline.build(recipe, lexicons.find(str(path)))
    words = dataclasses.replace(words, mechanism=broken)
    ids = np.zeros(3, np.int32)
    with pytest.raises(ComponentError, match="non-finite"):
        words.draw(ids, np.ones(3), distributions.bits(3))


@pytest.mark.parametrize("low", [0, 20])
def test_vectors_that_coincide_are_no_division_by_zero(
    low: int, tmp_path: Path
) -> None:
    """There is nothing to hide, and released vectors are finite; SIF releases none."""
    path = tmp_path / "words.vec"
    path.write_text(LINE)
    texts = [Record(0, ("zaru teku",), None), Record(1, ("mivo",), None)]
    space = {"name": "clip", "low": low, "high": low + 2}
    for mechanism in ("gaussian", "discrete-gaussian", "discrete-laplace"):
        for pool in ("word", "mean"):
            ready = ready_release(path, pool, space, {"name": mechanism})
            rows = ready.rows(texts, ready.randomness(RunKey.from_seed(1)))
            assert np.isfinite(rows.vectors).all()
            assert ready.mechanism.step(2.0) > 0.0
            measured = statement.measure(ready)
            assert np.isfinite(measured.noise_lengths).all()
    with pytest.raises(LexiconError, match="all point in one direction"):
        ready_release(path, "sif", {"name": "identity"}, {"name": "gaussian"})


def test_vectors_are_rounded_in_double_precision(tmp_path: Path) -> None:
    """As in the proof, within half a step and 1e-9, at any precision of the vectors.

    Where the noise is so small beside the vectors that this takes more, it is larger.
    """
    rng = np.random.default_rng(0)
    single = rng.uniform(0.9, 1.0, size=(4000, 3)).astype(np.float32)
    path = tmp_path / "words.vec"
    path.write_text(SOLID)
    for name in ("discrete-gaussian", "discrete-laplace"):
        ready = ready_release(path, "word", {"name": "identity"}, {"name": name})
        ready = dataclasses.replace(ready, epsilon=300.0)
        outputs = [
            ready.mechanism.release(rows, 300.0, distributions.bits(4000))
            for rows in (single, single.astype(np.float64))
        ]
        np.testing.assert_array_equal(outputs[0], outputs[1])
    step = 3e-7
    exact = [round(Fraction(float(each)) / Fraction(step)) for each in single.ravel()]
    steps = noise.round_to_steps(single, step).ravel()
    assert (np.abs(steps - np.array(exact, np.float64)) <= 0.0).all()


@pytest.mark.parametrize("epsilon", [0.5, 8.0, 1e5])
def test_a_grid_is_wide_enough_for_vectors_that_lie_close_together(
    epsilon: float,
) -> None:
    """The inequalities of the proof in exact arithmetic, lengths of many steps."""
    rows = (1.0 + 1e-6 * np.random.default_rng(1).normal(size=(9, 3))) / 2.0
    lexicon = small.lexicon(rows)
    normal = prepared.ready("discrete-gaussian", lexicon)
    rest = normal.params.delta - normal._table_delta(epsilon)
    mu = largest_mu(epsilon, rest if rest > 0.0 else normal.params.delta)
    root = Fraction(math.sqrt(3.0) * (1.0 - 1e-15))
    sigma = Fraction(normal.sigma(epsilon))
    far = Fraction(float(pdist(normal.clipped.astype(np.float64)).max()))
    step, longest = sigma / WIDTH, Fraction(normal.longest)
    rounded = far + root * (step + longest / 2**52)
    assert rounded <= Fraction(mu * math.sqrt(1 - 1 / (12 * WIDTH**2))) * sigma
    laplacian = prepared.ready("discrete-laplace", lexicon)
    step = Fraction(laplacian.step(epsilon))
    l1 = Fraction(float(pdist(laplacian.clipped.astype(np.float64), "cityblock").max()))
    most = Fraction(epsilon / math.log(2.0) * WIDTH) * step
    assert l1 + 3 * (step + longest / 2**52) <= most


@pytest.mark.parametrize("version", ["0.1.0", "0.0.9"])
def test_check_refuses_what_claims_too_much(version: str, tmp_path: Path) -> None:
    """Sidecars of other code or versions, with constants of word pairs."""
    path, texts, out = (tmp_path / name for name in ("w.vec", "t.jsonl", "o.npy"))
    path.write_text(SOLID)
    texts.write_text('{"text": "zaru teku"}\n{"text": "mivo"}\n')
    beside, policy = Path(f"{out}.dptext.json"), tmp_path / "policy.yaml"
    policy.write_text("check:\n  unverified: [version]\n")

    def embedded(*options: str) -> Any:
        common = ("--lexicon", str(path), "--epsilon", "2", "--pool", "mean", "-q")
        given = ("embed", str(texts), "-f", "text", "-o", str(out), *common, *options)
        ran = here(*given)
        assert ran.code == 0, ran.err
        return json.loads(beside.read_bytes())

    def checked(report: Any) -> tuple[int, str]:
        report["run"]["dptext"] = version
        report["run"]["settings_digest"] = digest_of_data(report["run"]["settings"])
        beside.write_text(json.dumps(report))
        ran = here("check", str(out), "--lexicon", str(path), "--policy", str(policy))
        return ran.code, ran.out.decode() + ran.err

    clipped = ("--set", "space.name=clip", "--set", "space.high=2")
    report = embedded("--mechanism", "laplace", *clipped)
    assert checked(report)[0] == 0
    report["run"]["settings"]["mechanism"]["metric"] = "lexicon"
    code, said = checked(report)
    assert code == 1
    assert "it claims too much" in said
    report = embedded("--mechanism", "mahalanobis", "--set", "mechanism.lam=0.7")
    assert checked(report)[0] == 0
    name = report["guarantee"]["bound"]["metric"]["name"]
    factor = re.search(r"at most ([\d.]+) times", name)
    assert factor is not None
    lower = name.replace(factor[1], f"{float(factor[1]) - 0.1:.4f}")
    stronger = json.loads(json.dumps(report).replace(name, lower))
    assert checked(stronger)[0] == 1
    for loss in ("nearest", "median", "farthest"):
        report["guarantee"]["bound"]["loss"][loss] *= 0.9
    assert checked(report)[0] == 1
