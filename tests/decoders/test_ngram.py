from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import pipeline, profile
from dptext.attackers import ngrams, pairs, posterior
from dptext.attackers import ngrams as locations
from dptext.attackers.pairs import PairAttacker
from dptext.decoders import ngram
from dptext.errors import LexiconError, UsageError
from dptext.randomness import RunKey
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Record
from dptext.writing import joining
from tests import prepared, small
from tests.attackers import models
from tests.attackers.releases import (
    ENGLISH,
    POLICIES,
    SIZE,
    make_channel,
    release,
    sequence,
)

TEXTS = ["cat dog, the runs. of cat", "the 42 cat of!\nzq", "dog zq of the cat runs"]


def params(folder: Path, **given: Any) -> ngram.Params:
    """Return settings with a small model, which is written."""
    ngrams.save(models.model(ENGLISH), folder / "pairs")
    settings: dict[str, Any] = {
        "model": str(folder / "pairs"),
        "candidates": SIZE + 1,
        "weight": 1.0,
    }
    return ngram.Params(**(settings | given))


def test_mbr_writes_the_word_of_largest_expected_closeness(tmp_path: Path) -> None:
    """By hand: sum over x of p(x) cos(z, x), the largest over all words z."""
    channel, batch = make_channel(Policy()), release(Policy(), TEXTS)
    settings = params(tmp_path, fluency=0.0)
    written = settings.prepare(channel).decode(batch)
    attacker = PairAttacker(channel, ngrams.load(tmp_path / "pairs"), count=SIZE + 1)
    rows, likely = attacker.posterior(batch)
    table = ENGLISH.vectors.astype(np.float64)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    for column, word in enumerate(written):
        mean = likely[:, column] @ table[rows[:, column]]
        values = table[:SIZE] @ mean
        # Cosines are rounded to 1/127.
        assert values[word] > values.max() - 0.01


@pytest.mark.parametrize("fluency", [0.0, 0.02])
@pytest.mark.parametrize("name", ["rank", "santext"])
def test_more_candidates_than_words_are_all_of_them(
    name: str, fluency: float, tmp_path: Path
) -> None:
    """A small vocabulary has no more inputs than words and the unknown word."""
    policy = Policy(stop_word="keep")
    channel, batch = make_channel(policy, name), release(policy, TEXTS * 3, seed=2)
    batch.drawn[::2] = SIZE - 1  # the last row of every table
    few, many = (
        params(tmp_path, candidates=count, fluency=fluency).prepare(channel)
        for count in (SIZE + 1, 32)
    )
    np.testing.assert_array_equal(few.decode(batch), many.decode(batch))


@pytest.mark.parametrize("fluency", [0.03, 0.3])
@pytest.mark.parametrize("policy", POLICIES)
def test_mbr_writes_the_closest_fluent_text(
    policy: Policy, fluency: float, tmp_path: Path
) -> None:
    """By all texts: the largest sum of expected closeness and fluency * ln L."""
    channel = make_channel(policy)
    batch = release(policy, [*TEXTS, "", "the, of", "dog dog cat"], seed=6)
    written = params(tmp_path, fluency=fluency).prepare(channel).decode(batch)
    model = ngrams.load(tmp_path / "pairs")
    rows, likely = PairAttacker(channel, model, count=SIZE + 1).posterior(batch)
    table = ENGLISH.vectors.astype(np.float64)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    means = np.einsum("xn,xnd->nd", likely, table[rows])
    size = np.arange(SIZE + 2)
    logs = np.array(
        [models.log_probs(model, np.full(SIZE + 2, row), size) for row in size]
    )
    words = np.flatnonzero(channel.inputs[:SIZE] > 0)

    def score(row: int, words_of: dict[int, NDArray[np.int64]]) -> Any:
        chain = [
            words_of[i] if kind == "drawn" else i for kind, i in sequence(batch, row)
        ]
        fluent = sum(logs[one, two] for one, two in pairwise(chain))
        close = sum(table[word] @ means[n] for n, word in words_of.items())
        return close + fluency * fluent

    for row in range(len(batch.ends)):
        drawn = [n for kind, n in sequence(batch, row) if kind == "drawn"]
        # Every text at once: a row for each.
        texts = np.array([*product(words, repeat=len(drawn))], np.int64)
        best = np.max(score(row, dict(zip(drawn, texts.T, strict=True))))
        mine = score(row, {n: written[n] for n in drawn})
        # Cosines are rounded to 1/127.
        assert mine > best - 0.008 * (len(drawn) + 1)
    alone = params(tmp_path, fluency=0.0).prepare(channel).decode(batch)
    if fluency > 0.1:
        assert (alone != written).any()


def test_expected_closeness_has_the_same_bits_in_every_batch(tmp_path: Path) -> None:
    """Of 1,500 words each is weighed to the same last bit alone and beside others."""
    wide = small.english(*(f"w{n}" for n in range(40)))
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(len(wide.words) + 1, 6)).astype(np.float32)
    channel = replace(make_channel(Policy()), lexicon=replace(wide, vectors=vectors))
    channel = replace(
        channel,
        prior=np.array(wide.prior),
        mechanism=prepared.ready("rank", channel.lexicon),
    )
    ngrams.save(models.model(wide), tmp_path / "wide")
    decoder = ngram.Params(model=str(tmp_path / "wide"), topic=0.0).prepare(channel)
    texts = [" ".join(rng.choice(wide.words, 5)) for _ in range(300)]

    def bits(texts: list[str]) -> NDArray[np.int32]:
        words = Tokenizer(wide, Policy()).words(texts)
        eps = np.full(len(words.ids), 2.0)
        drawn = np.where(words.ids < 0, len(wide.words) - 1, words.ids)
        released = joining.release(Policy(), words, drawn.astype(np.int32), eps)
        weighed = decoder._attacker.weighed(released)
        expected = decoder._expected(released, weighed)
        return np.ascontiguousarray(expected.T).view(np.int32)

    together = bits(texts)
    assert len(together) == 1500
    alone = np.concatenate([bits([text]) for text in texts])
    np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("mode", ["mbr", "posterior", "viterbi"])
def test_parts_of_a_batch_are_decoded_as_the_whole(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few words are decoded at once, the same words are written."""
    decoder = params(tmp_path, mode=mode).prepare(make_channel(Policy()))
    batch = release(Policy(), [*TEXTS, "", "cat dog. " * 20, "dog the. of zq! " * 10])
    whole = decoder.decode(batch)
    assert len([*decoder._attacker.parts(batch)]) == 1
    monkeypatch.setattr(pairs, "_PART", 4)
    assert len([*decoder._attacker.parts(batch)]) > 10
    np.testing.assert_array_equal(decoder.decode(batch), whole)


def test_long_chains_are_divided_by_their_own_words_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text without marks is decoded in parts, which no other text moves."""
    monkeypatch.setattr(posterior, "LONGEST", 5)
    decoder = params(tmp_path).prepare(make_channel(Policy()))
    long = "cat dog runs " * 9
    one = release(Policy(), [long])
    assert posterior.find_chains(one, ENGLISH).longest == 5
    alone = decoder.decode(one)
    for others in ([], ["dog cat"], [long], TEXTS):
        batch = release(Policy(), [*others, long])
        batch.drawn[-27:] = one.drawn
        written = decoder.decode(batch)
        np.testing.assert_array_equal(written[-27:], alone)


def test_the_most_probable_word_is_written(tmp_path: Path) -> None:
    """Mode posterior writes argmax of the posterior over the words of the outputs."""
    channel, batch = make_channel(Policy()), release(Policy(), TEXTS)
    written = params(tmp_path, mode="posterior").prepare(channel).decode(batch)
    attacker = PairAttacker(channel, ngrams.load(tmp_path / "pairs"), count=SIZE + 1)
    rows, likely = attacker.posterior(batch)
    likely[rows == SIZE] = -1.0
    best = likely.argmax(axis=0)
    np.testing.assert_array_equal(written, rows[best, np.arange(len(written))])
    np.testing.assert_array_equal(attacker.guess(batch), written)


def test_a_weight_scales_the_language_model(tmp_path: Path) -> None:
    """Next to no weight leaves the likeliest input alone; modes differ."""
    channel, batch = make_channel(Policy()), release(Policy(), TEXTS)
    alone = params(tmp_path, mode="posterior", weight=1e-6).prepare(channel)
    ids = np.arange(SIZE, dtype=np.int32)
    best = channel.mechanism.probs(ids, 2.0).argmax(axis=0)
    np.testing.assert_array_equal(alone.decode(batch), best[batch.drawn])
    whole = params(tmp_path, mode="posterior").prepare(channel)
    assert (whole.decode(batch) != best[batch.drawn]).any()


RECIPE = {
    "mechanism": {"name": "rank", "weights": "power", "k": 4},
    "budget": {"name": "uniform", "epsilon": 3.0},
}
BUDGETS: list[dict[str, Any]] = [
    {"name": "uniform", "epsilon": 3.0},
    {"name": "per-text", "epsilon": 20.0},
    {"name": "position", "epsilons": [1.0, 5.0], "rest": 3.0},
    {"name": "declared", "epsilons": {"top-100": 2.0, "number": 5.0, "other": 4.0}},
    {"name": "class-first", "first": 0.5, "epsilons": {"top-100": 2.0, "other": 4.0}},
    {
        **{"name": "released-past", "epsilon": 30.0, "start": 3.0},
        "epsilons": {"top-100": 2.0, "other": 4.0},
    },
    {"name": "linguistic", "epsilon_per_word": 3.0},
]


def build(folder: Path, **over: object) -> pipeline.Pipeline:
    """Make a profile with the decoder ready."""
    ngrams.save(models.model(ENGLISH), folder / "pairs")
    decoder = {"name": "ngram", "model": str(folder / "pairs"), "candidates": 5}
    data = {**RECIPE, "decoder": decoder, **over}
    return pipeline.build(profile.parse(data, "test"), ENGLISH)


@pytest.mark.parametrize(
    ("budget", "strategy"),
    [
        *((budget, "token") for budget in BUDGETS),
        *((BUDGETS[0], strategy) for strategy in ("record", "data-set")),
    ],
    ids=lambda each: each if isinstance(each, str) else str(each["name"]),
)
def test_batches_change_nothing(
    budget: dict[str, Any], strategy: str, tmp_path: Path
) -> None:
    """With one key a text comes out the same in every batch, under any budget."""
    ready = build(tmp_path, budget=budget, strategy=strategy)
    records = [Record(n, (text, text), None) for n, text in enumerate(TEXTS * 5)]
    key = RunKey.from_seed(4)
    one, few, all_ = (
        [out for _, out in ready.run(records, key, batch_size=size)]
        for size in (1, 4, 100)
    )
    assert one == few == all_


def test_a_private_split_of_epsilon_is_not_used(tmp_path: Path) -> None:
    """Equal draws of texts with different secret epsilons are decoded alike."""
    ready = build(tmp_path, budget={"name": "linguistic", "epsilon_per_word": 3.0})
    one = ready.tokenizer.words(["the cat runs", "cat dog the"])
    drawn = np.array([1, 2, 3, 1, 2, 3], np.int32)
    eps = np.array([1.0, 3.0, 5.0, 5.0, 2.0, 2.0])
    written = ready.decode(one, drawn, eps)
    np.testing.assert_array_equal(written[:3], written[3:])
    released = ready.released(one, drawn, eps)
    assert (released.eps == released.eps[0]).all()


def test_epsilon_by_word_is_that_of_each_input(tmp_path: Path) -> None:
    """Where epsilon follows from the word, the channel has each input at its own."""
    epsilons = {"number": 6.0, "other": 2.0}
    ready = build(tmp_path, budget={"name": "declared", "epsilons": epsilons})
    eps = ready.channel.row_eps
    assert eps is not None
    expected = np.full(SIZE + 1, 2.0)
    expected[SIZE - 1] = 6.0
    np.testing.assert_array_equal(eps, expected)
    words = ready.tokenizer.words(["the 42 cat"])
    released = ready.released(words, words.ids, eps[words.ids])
    assert len(set(released.eps.tolist())) == 1


def test_another_model_draws_anew(tmp_path: Path) -> None:
    """The nonces follow the content of the model, not its path."""
    one = build(tmp_path / "one").identity
    assert build(tmp_path / "two").identity == one
    ngrams.save(models.model(ENGLISH, seed=5), tmp_path / "three" / "pairs")
    decoder = {"name": "ngram", "model": str(tmp_path / "three" / "pairs")}
    data = {**RECIPE, "decoder": {**decoder, "candidates": 5}}
    assert pipeline.build(profile.parse(data, "test"), ENGLISH).identity != one


@pytest.mark.parametrize("name", ["laplace", "vickrey"])
def test_what_has_no_output_distribution_is_refused(name: str, tmp_path: Path) -> None:
    """One line says what to do."""
    with pytest.raises(UsageError, match=r"decoder: .* use the decoder none"):
        build(tmp_path, mechanism=name)


def test_another_mechanism_writes_its_draws() -> None:
    """A decoder of a profile does not go over to a mechanism that takes its place."""
    over = {"mechanism": {"name": "laplace"}, "mapping": None}
    assert profile.load("balanced").decoder.name == "ngram"
    assert profile.load("balanced", over).decoder.name == "none"
    kept = profile.load("balanced", {"mechanism": {"name": "rank", "k": 300}})
    assert kept.decoder.name == "ngram"
    both = profile.load("balanced", {**over, "decoder": {"name": "ngram"}})
    assert both.decoder.name == "ngram"


def test_an_optional_model_is_the_one_that_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be of another language; a damaged or missing one is an error."""
    optional, channel = ngram.Params(optional=True), make_channel(Policy())
    assert optional.fits(channel)
    strange = replace(channel, lexicon=small.english("chien", "xqzz", "zyqv"))
    prior = np.array([0.0, 0.5, 0.5, 0.0])
    assert not optional.fits(replace(strange, prior=prior))
    with pytest.raises(LexiconError, match="covers only 0% of running text"):
        ngram.Params().prepare(replace(strange, prior=prior))
    monkeypatch.setattr(locations, "packaged_model", lambda: tmp_path / "english")
    with pytest.raises(LexiconError, match="no n-gram model named 'english'"):
        optional.fits(replace(channel))
    ngrams.save(models.model(ENGLISH), tmp_path / "english")
    (tmp_path / "english" / "gains.npy").write_bytes(b"")
    with pytest.raises(LexiconError, match="does not match its digest"):
        optional.fits(replace(channel))


def test_a_model_must_know_the_lexicon(tmp_path: Path) -> None:
    """One of other words, or none at all, is refused by name."""
    other = small.english("le", "chat", "chien")
    ngrams.save(models.model(other), tmp_path / "french")
    for model, said in (
        ("french", "covers only .* of running text"),
        ("none", "no n-gram"),
    ):
        with pytest.raises(LexiconError, match=said):
            ngram.Params(model=str(tmp_path / model)).prepare(make_channel(Policy()))
