"""Vectors of records: what they are of, on which grid, the same in any batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dptext import models
from dptext.errors import UsageError
from dptext.lexicons import weighting
from dptext.randomness import RunKey
from dptext.vectors import release
from tests import distributions
from tests.vectors.releases import MECHANISMS, TEXTS, ready_release, records

KEY = RunKey.from_seed(1)
POOLS = ("word", "mean", "sif")


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("pool", POOLS)
def test_vectors_are_the_same_in_any_batch(
    mechanism: str, pool: str, tmp_path: Path
) -> None:
    """To the last bit; and they lie on the grid."""
    ready = ready_release(tmp_path, mechanism, pool)
    every = records(25)
    randomness = ready.randomness(KEY)
    whole = ready.rows(every, randomness)
    for size in (1, 7):
        parts = [
            ready.rows(every[begin : begin + size], randomness)
            for begin in range(0, 25, size)
        ]
        for name in ("vectors", "records", "texts"):
            joined = np.concatenate([getattr(part, name) for part in parts])
            np.testing.assert_array_equal(joined, getattr(whole, name))
    assert whole.vectors.dtype == np.float32
    step = ready.mechanism.step(ready.epsilon)
    if not step:  # public points
        assert mechanism == "privunit"
        return
    steps = whole.vectors.astype(np.float64) / step
    far = np.abs(steps) * 2.0**-23 + 1e-6
    assert (np.abs(steps - np.rint(steps)) <= far).all()


@pytest.mark.parametrize("pool", POOLS)
def test_a_vector_is_that_of_its_pool(pool: str, tmp_path: Path) -> None:
    """Without noise worth the name: words, means, and the unknown word for no word."""
    ready = ready_release(tmp_path, "laplace", pool, epsilon=1e6)
    every = records(6)
    rows = ready.rows(every, ready.randomness(KEY))
    table = ready.mechanism.inputs.astype(np.float64)
    index = {word.lower(): row for row, word in enumerate(ready.lexicon.words)}
    flat = [
        (r, t, text) for r, rec in enumerate(every) for t, text in enumerate(rec.texts)
    ]
    if pool == "word":
        assert rows.words is not None
        first = next((r, t) for r, t, text in flat if text == TEXTS[0])
        mine = (rows.records == first[0]) & (rows.texts == first[1])
        words = TEXTS[0].split()
        assert rows.words[mine].tolist() == list(range(len(words)))
        expected = table[[index[word] for word in words]]
        np.testing.assert_allclose(rows.vectors[mine], expected, atol=1e-3)
        return
    assert len(rows.vectors) == len(flat)
    for vector, (_, _, text) in zip(rows.vectors, flat, strict=True):
        if text == TEXTS[0]:
            expected = table[[index[word] for word in text.split()]].mean(axis=0)
        elif text == "music " * 700:
            expected = table[index["music"]]
        elif text == "":
            expected = table[-1]
        else:
            continue
        np.testing.assert_allclose(vector, expected, atol=1e-3)


def test_sif_weighs_by_frequency_and_takes_the_common_part_off(tmp_path: Path) -> None:
    """A / (a + p), less the first singular vector of the weighted table."""
    base = ready_release(tmp_path, "laplace", "mean").lexicon
    table = weighting.weigh(base, 1e-2)
    prior = np.append(base.prior, base.prior.min())
    rows = base.vectors.astype(np.float64) * (1e-2 / (1e-2 + prior))[:, None]
    _, _, axes = np.linalg.svd(rows * np.sqrt(prior)[:, None], full_matrices=False)
    expected = rows - np.outer(rows @ axes[0], axes[0])
    np.testing.assert_allclose(table.vectors, expected, atol=1e-6)
    assert table.digest != base.digest
    assert "geometry" not in table.meta


def test_means_lie_between_words_and_pairs_lose_no_more(tmp_path: Path) -> None:
    """No two means are farther apart than two words; privemb takes the worst case."""
    ready = ready_release(tmp_path, "privemb", "mean", parameters={"dimensions": 3})
    matrix = ready.mechanism.matrix  # type: ignore[attr-defined]
    assert ready.mechanism.stretch >= np.linalg.norm(matrix, 2)  # type: ignore[attr-defined]
    words = ready_release(tmp_path, "privemb", "word", parameters={"dimensions": 3})
    assert words.mechanism.stretch < ready.mechanism.stretch  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    gaussian = ready_release(tmp_path, "gaussian", "mean").mechanism
    weights = rng.dirichlet(np.full(len(gaussian.inputs), 0.1), size=200)
    means = gaussian.position(weights @ gaussian.inputs.astype(np.float64))
    far = np.linalg.norm(means[:, None] - means[None], axis=2).max()
    assert far <= gaussian.sensitivity  # type: ignore[attr-defined]


def test_epsilon_is_shared_by_the_vectors_of_a_subject(tmp_path: Path) -> None:
    """Mu / sqrt(n) for normal noise, epsilon / n for other noise."""
    one = ready_release(tmp_path, "gaussian")
    shared = ready_release(tmp_path, "gaussian", subject="who", most=16)
    sigma = [each.mechanism.spread(each.epsilon) for each in (one, shared)]
    assert sigma[1] == pytest.approx(4.0 * sigma[0], rel=1e-6)
    assert sigma[1] >= 4.0 * sigma[0] * (1 - 1e-9)
    assert ready_release(tmp_path, "laplace", subject="who", most=4).epsilon == 5.0 / 4
    with pytest.raises(UsageError, match="too many vectors"):
        ready_release(
            tmp_path,
            "gaussian",
            epsilon=0.1,
            parameters={"delta": 0.01},
            subject="who",
            most=10**6,
        )


def test_a_key_and_settings_decide_the_vectors(tmp_path: Path) -> None:
    """Other settings draw other noise under one key; a subject is no record's name."""
    every = records(4)

    def rows(ready: release.VectorRelease, which: Any = every) -> Any:
        return ready.rows(which, ready.randomness(KEY)).vectors

    one = ready_release(tmp_path, "gaussian")
    np.testing.assert_array_equal(rows(one), rows(ready_release(tmp_path, "gaussian")))
    assert one.identity != ready_release(tmp_path, "gaussian", epsilon=5.5).identity
    assert one.identity != ready_release(tmp_path, "gaussian", "sif").identity
    assert one.identity != ready_release(tmp_path, "discrete-gaussian").identity
    import dataclasses

    same = [dataclasses.replace(each, subject="me", texts=("bread",)) for each in every]
    vectors = rows(ready_release(tmp_path, "gaussian", subject="who"), same)
    assert len(np.unique(vectors, axis=0)) == 4


@pytest.mark.parametrize(
    ("over", "options", "said"),
    [
        ({"mechanism": {"name": "rank"}}, {}, "draws words, not vectors"),
        ({"budget": {"name": "per-text", "epsilon": 3}}, {}, "the same epsilon"),
        ({"strategy": "record"}, {}, "strategy: this does not apply to vectors"),
        ({"mapping": "nearest"}, {}, "mapping: this does not apply to vectors"),
        ({"tokens": {"stop_word": "keep"}}, {}, "vectors contain no copied text"),
        ({"tokens": {"number": "mask"}}, {}, "tokens.number: mask"),
        ({}, {"pool": "sentence"}, "--pool sentence and --model go together"),
        ({}, {"pool": "mean", "model": "x"}, "--pool sentence and --model go together"),
        ({}, {"most": 3}, "also give --subject"),
        (
            {"budget": {"name": "uniform", "epsilon": None, "risk": 0.1}},
            {},
            "a single word",
        ),
        (
            {"budget": {"name": "uniform", "epsilon": None, "attacker_risk": 0.1}},
            {},
            "attackers read words",
        ),
        ({"mechanism": {"name": "laplace", "delta": 0.1}}, {}, "mechanism.delta"),
    ],
)
def test_what_does_not_go_together(over: Any, options: Any, said: str) -> None:
    """One line that says what to do."""
    with pytest.raises(UsageError, match=said) as raised:
        release.parse(over, options)
    assert "\n" not in str(raised.value)


def test_mu_is_an_epsilon_at_delta() -> None:
    """Mu = 1 is (4.377, 1e-5), never more than was asked for."""
    chosen = release.parse({}, {}, mu=1.0)
    epsilon = chosen.recipe.budget.params.epsilon  # type: ignore[attr-defined]
    assert epsilon == pytest.approx(4.377, abs=5e-4)
    for over, said in (
        ({"mechanism": {"name": "laplace"}}, "for Gaussian noise"),
        ({"budget": {"name": "uniform", "epsilon": 3.0}}, "not both"),
    ):
        with pytest.raises(UsageError, match=said):
            release.parse(over, {}, mu=1.0)


def test_a_risk_is_met_by_one_word(tmp_path: Path) -> None:
    """The best guess of a word from its vector succeeds no more often than asked."""
    from tests.cli.running import lexicon

    over = {
        "lexicon": lexicon(tmp_path),
        "mechanism": {"name": "laplace"},
        "budget": {"name": "uniform", "epsilon": None, "risk": 0.3},
    }
    ready = release.prepare(release.parse(over, {"pool": "word"}))
    assert 0.05 < ready.epsilon < 10.0


@pytest.mark.skipif(
    models.default_sentence_model() is None, reason="no sentence model is installed"
)
def test_sentence_vectors(tmp_path: Path) -> None:
    """Shortened to C, hidden by 2 C, each text by itself."""
    public = tmp_path / "public.txt"
    public.write_text("the sea is calm\nprices rose again\nshe won the match\n")
    options = {"pool": "sentence", "model": models.PACKAGE, "public": str(public)}
    over = {
        "budget": {"name": "uniform", "epsilon": 8.0},
        "mechanism": "discrete-gaussian",
    }
    ready = release.prepare(release.parse(over, {**options, "longest": 0.5}))
    assert ready.dimensions == 384
    assert ready.lexicon.name == models.PACKAGE
    assert ready.mechanism.sensitivity == pytest.approx(1.0, rel=1e-6)  # type: ignore[attr-defined]
    texts = ["Prices rose.", "", "a much longer text of several words"]
    _, _, before = ready.encode(texts)
    positions = before(slice(None))
    assert np.linalg.norm(positions, axis=1) == pytest.approx(np.full(3, 0.5))
    alone = release.sentence_vectors(
        models.default_sentence_model() or "", "", texts[:1]
    )
    np.testing.assert_allclose(positions[0], alone[0] * 0.5, rtol=1e-6)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("pool", POOLS)
def test_no_two_vectors_share_random_bits(
    mechanism: str, pool: str, tmp_path: Path
) -> None:
    """Of words, texts and records, equal ones too: every block is asked for once."""
    ready = ready_release(tmp_path, mechanism, pool)
    asked: list[bytes] = []
    streams = ready.randomness(KEY).watched(asked.append)
    every = records(12)
    ready.rows(every, streams)
    again = [replace(record, ordinal=record.ordinal + 100) for record in every]
    ready.rows(again, streams)
    assert len(asked) == len(set(asked)) > len(every)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("pool", POOLS)
def test_vectors_have_the_noise_of_the_stated_epsilon(
    mechanism: str, pool: str, tmp_path: Path
) -> None:
    """Their noise is as long as that of the mechanism at this epsilon.

    By two samples; a false alarm in one of a million tests of a correct program.
    """
    ready = ready_release(tmp_path, mechanism, pool, epsilon=3.0)
    every = records(150)
    texts = [text for record in every for text in record.texts]
    _, _, before = ready.encode(texts)
    vectors = ready.rows(every, ready.randomness(KEY)).vectors.astype(np.float64)
    places = before(slice(None)).astype(np.float64)
    bits = distributions.bits(len(vectors), seed=8)
    due = ready.mechanism.release(places, 3.0, bits).astype(np.float64)
    lengths = (np.linalg.norm(each - places, axis=1) for each in (vectors, due))
    assert stats.ks_2samp(*lengths).pvalue > distributions.ALARM
