from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dptext.attackers import ngrams
from dptext.attackers.training import PairCounts
from dptext.errors import InputError, LexiconError
from dptext.tokens.policy import Policy
from tests import small
from tests.attackers import models
from tests.attackers.releases import make_channel

ENGLISH = small.english("the", "cat", "dog", "runs", "of")
SIZE = len(ENGLISH.words)


def test_a_model_comes_back_from_its_folder(tmp_path: Path) -> None:
    """A saved model is loaded, with its digest, which follows the content."""
    model = models.model(ENGLISH)
    digest = ngrams.save(model, tmp_path / "one")
    loaded = ngrams.load(tmp_path / "one")
    assert (loaded.words, loaded.digest) == (model.words, digest)
    for name in ("alone", "backoff", "ends", "following", "gains"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
    assert ngrams.save(models.model(ENGLISH, seed=4), tmp_path / "two") != digest


@pytest.mark.parametrize(
    "damage", ["gains", "meta", "format", "short", "empty", "gone"]
)
def test_a_damaged_model_is_refused(damage: str, tmp_path: Path) -> None:
    """A model with other content than its digest is not used."""
    ngrams.save(models.model(ENGLISH), tmp_path)
    meta = json.loads((tmp_path / "meta.json").read_text())
    if damage == "gains":
        gains = np.load(tmp_path / "gains.npy")
        gains[0] += 1
        np.save(tmp_path / "gains.npy", gains)
    elif damage == "short":
        np.save(tmp_path / "ends.npy", np.zeros(3, np.uint32))
    elif damage == "empty":
        (tmp_path / "ends.npy").write_bytes(b"")
    elif damage == "gone":
        (tmp_path / "alone.npy").unlink()
    else:
        changed = "{" if damage == "meta" else json.dumps({**meta, "format": 9})
        (tmp_path / "meta.json").write_text(changed)
    with pytest.raises(LexiconError):
        ngrams.load(tmp_path)


def test_codes_are_near_their_gains() -> None:
    """Ln g changes by 0.06 nats at most; 1.0 is a code, and no code is another's."""
    logs = np.linspace(-8.0, 10.0, 2001)
    back = np.log(ngrams.decode_gains(ngrams.encode_gains(logs)).astype(np.float64))
    assert np.abs(back - logs).max() < 0.06
    assert ngrams.decode_gains(np.zeros(1, np.int8))[0] == 1.0
    every = ngrams.decode_gains(np.arange(-127, 128, dtype=np.int8))
    assert (np.diff(every) > 0).all()
    codes = np.arange(-127, 128, dtype=np.int8)
    np.testing.assert_array_equal(ngrams.encode_gains(np.log(every)), codes)


def test_a_model_goes_over_to_another_lexicon() -> None:
    """Pairs of words that both know stay; absent words are as frequent as they say."""
    model = models.model(ENGLISH)
    other = small.english("dog", "bird", "The", "of")
    moved = model.for_lexicon(other)
    assert np.exp(moved.alone.astype(np.float64)).sum() == pytest.approx(1.0, rel=1e-6)
    rows = {"dog": 2, "the": 0, "of": 4}
    for one, two in ((0, 2), (2, 3), (3, 0)):
        before = [rows[other.words[row].lower()] for row in (one, two)]
        change = float(moved.alone[two] - model.alone[before[1]])
        old = models.log_probs(model, np.array([before[0]]), np.array([before[1]]))[0]
        new = models.log_probs(moved, np.array([one]), np.array([two]))[0]
        assert new == pytest.approx(old + change, abs=1e-5)
    ratio = np.exp(moved.alone[1] - moved.alone[0])
    said = other.prior[1] / np.exp(model.alone[2].astype(np.float64))
    assert ratio == pytest.approx(said, rel=1e-5)
    assert model.for_lexicon(ENGLISH) is model


def test_a_moved_model_is_kept_by_words_and_frequencies() -> None:
    """Equal lexicons have one moved model; one with other frequencies has its own."""
    model = models.model(ENGLISH)
    one, two = small.english("bird", "fish"), small.english("bird", "fish")
    assert model.for_lexicon(one) is model.for_lexicon(two)
    rare = replace(two, counts=two.counts[::-1].copy())
    ratio = np.subtract(*model.for_lexicon(rare).alone[:2])
    assert ratio == pytest.approx(np.log(rare.prior[0] / rare.prior[1]), rel=1e-5)


CORPUS = [
    "The cat runs. The dog runs of the cat!",
    "the cat the cat, the zq\nof",
    "",
    "dog of zq 42",
] * 3


@pytest.mark.parametrize("least", [1, 4])
def test_counted_probabilities_sum_to_one(least: int) -> None:
    """After each context probabilities sum to 1, up to rounding by codes."""
    counts = PairCounts(ENGLISH)
    counts.add(CORPUS)
    model = counts.model(least, {})
    every = np.arange(SIZE + 2)
    assert np.exp(model.alone.astype(np.float64)).sum() == pytest.approx(1.0, rel=1e-6)
    for context in range(SIZE + 2):
        total = np.exp(models.log_probs(model, np.full(SIZE + 2, context), every)).sum()
        assert total == pytest.approx(1.0, abs=0.06)


def test_pairs_are_counted_by_hand() -> None:
    """Sentences begin and end, marks are passed over, unknown words are one word."""
    counts = PairCounts(ENGLISH)
    counts.add(CORPUS[:1])
    counts.add(CORPUS[1:])
    assert counts.words == 3 * 20
    model = counts.model(1, {"source": "made up"})
    pairs = set(zip(model.contexts.tolist(), model.following.tolist(), strict=True))
    the, cat, dog, runs, of, number, other, edge = range(8)
    assert pairs == {
        (edge, the),
        (the, cat),
        (cat, runs),
        (runs, edge),
        (the, dog),
        (dog, runs),
        (runs, of),
        (of, the),
        (cat, edge),
        (cat, the),
        (the, other),
        (other, edge),
        (edge, of),
        (of, edge),
        (edge, dog),
        (dog, of),
        (of, other),
        (other, number),
        (number, edge),
    }
    after_the = models.log_probs(model, np.array([the, the]), np.array([cat, dog]))
    assert after_the[0] > after_the[1]
    assert model.meta["source"] == "made up"


def test_a_background_is_believed_where_the_corpus_is_silent() -> None:
    """Its pairs keep their gains, and pairs of the corpus gain on top of them."""
    general = PairCounts(ENGLISH)
    general.add(["the dog runs of the dog"] * 9)
    background = general.model(1, {})
    counts = PairCounts(ENGLISH)
    counts.add(["the cat runs", "the cat"])
    alone, both = counts.model(1, {}), counts.model(1, {}, background)
    the, cat, dog = 0, 1, 2
    pairs = np.array([the, the]), np.array([cat, dog])
    general_cat, general_dog = models.log_probs(background, *pairs)
    assert models.log_probs(both, *pairs)[0] > general_cat
    assert (
        models.log_probs(alone, *pairs)[1]
        < models.log_probs(both, *pairs)[1]
        < general_dog
    )
    total = np.exp(
        models.log_probs(both, np.zeros(SIZE + 2, int), np.arange(SIZE + 2))
    ).sum()
    assert total == pytest.approx(1.0, abs=0.2)


def test_batches_do_not_change_a_model() -> None:
    """Counted at once or text by text, a corpus gives one model."""
    one, many = PairCounts(ENGLISH), PairCounts(ENGLISH)
    one.add(CORPUS)
    for text in CORPUS:
        many.add([text])
    first, second = one.model(1, {}), many.model(1, {})
    for name in ("alone", "backoff", "ends", "following", "gains"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_no_words_give_no_model() -> None:
    """An empty corpus is refused in one line."""
    counts = PairCounts(ENGLISH)
    counts.add(["", "..."])
    with pytest.raises(InputError, match="no words"):
        counts.model(1, {})


def test_the_model_that_ships_reads_english_alone() -> None:
    """Words of another language are not read by English pairs, shared or not."""
    channel = make_channel(Policy())
    assert ngrams.shipped_model(channel) is not None
    german = replace(channel.lexicon, meta={**ENGLISH.meta, "language": "de"})
    assert ngrams.shipped_model(replace(channel, lexicon=german)) is None
