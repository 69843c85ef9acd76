"""PP, LOW and CS against figures counted by hand, batch after batch."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pytest

from dptext.metrics import Batch, Meter, perturbation, rare_words, similarity
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import NUMBER, Ids, Words
from tests import small
from tests.metrics.batches import batch

pytestmark = pytest.mark.quick

WORDS = ("the", "cat", "dog", "runs", "well")
LEXICON = small.english(*WORDS)


def words_of(*texts: str) -> Words:
    """Divide texts into words."""
    return Tokenizer(LEXICON, Policy()).words(texts)


def drawn_as(*words: str) -> Ids:
    """Return the rows of words."""
    return np.array([LEXICON.words.index(word) for word in words], np.int32)


def figures(meter: Meter[Any], *batches: tuple[Words, Ids]) -> dict[str, Any]:
    """Return what a meter says of batches that come one after the other."""
    first, partials = 0, [meter.observe(Batch.empty())]
    for words, written in batches:
        each = batch(LEXICON, words, written, first_text=first)
        partials.append(meter.observe(each))
        first += len(words.ends)
    return dict(meter.result(reduce(meter.merge, partials)))


def test_changed_words_are_counted() -> None:
    """Two of five stay; an unknown word and a number are written otherwise."""
    meter = perturbation.Meter(LEXICON)
    first = (
        words_of("the cat 42", "zq dog"),
        drawn_as("the", "dog", NUMBER, "cat", "dog"),
    )
    assert figures(meter, first) == {
        "share_changed": pytest.approx(0.6),
        # Of 25 pairs "the" meets itself once, "cat" and "dog" once each.
        "by_chance": pytest.approx(1 - 4 / 25),
        "words": 5,
    }
    second = (words_of("cat"), drawn_as("cat"))
    shown = figures(meter, first, second)
    assert (shown["share_changed"], shown["words"]) == (pytest.approx(0.5), 6)


def test_what_has_no_row_of_its_own_is_compared_by_its_letters() -> None:
    """The same number is the same, another one of its element or a word is not."""
    number = LEXICON.words.index(NUMBER)
    written = np.array([number, number, -1, -1], np.int32)
    words = words_of("42 7 zq Qz")
    spelled = np.array([" 42", "8", "xy", " qz"], object)
    counted = perturbation.Meter(LEXICON).observe(
        Batch(words, written=written, spelled=spelled, eps=np.ones(4), first_text=0)
    )
    assert (counted.words, counted.same) == (4, 2)


def test_without_words_no_share_is_claimed() -> None:
    """Nothing counted is null, not zero."""
    pp = figures(perturbation.Meter(LEXICON))
    assert pp == {"share_changed": None, "by_chance": None, "words": 0}
    assert figures(rare_words.Meter(LEXICON))["share_present"] is None
    assert figures(similarity.Meter(LEXICON))["mean_cosine"] is None


def test_rare_words_that_remain_are_counted() -> None:
    """Of the distinct words of the input, the share written at least once."""
    meter = rare_words.Meter(LEXICON)
    first = (
        words_of("the cat dog zq the"),
        drawn_as("the", "dog", "runs", "dog", "the"),
    )
    shown = figures(meter, first)
    assert shown == {
        "share_present": pytest.approx(2 / 3),
        "by_chance": None,  # too few other words to compare with
        "words": 3,
    }
    shown = figures(meter, first, (words_of("runs"), drawn_as("cat")))
    assert (shown["share_present"], shown["words"]) == (1.0, 4)


def test_only_the_rarest_words_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """By frequency in the input; of equals the rarer in the lexicon first."""
    monkeypatch.setattr(rare_words, "_RARE", 2)
    # the 3, cat 1, dog 1, runs 1: the two rarest are runs and dog.
    batch = (words_of("the the the cat dog runs"), drawn_as(*["the"] * 5, "dog"))
    shown = figures(rare_words.Meter(LEXICON), batch)
    assert (shown["share_present"], shown["words"]) == (0.5, 2)


def test_similarity_is_the_cosine_of_weighted_means() -> None:
    """By hand: a / (a + p) weights, a = 0.001, mean over texts that have both sides."""
    words = words_of("the cat", "", "zq dog runs")
    drawn = drawn_as("dog", "cat", "well", "dog", "the")
    weights = 1e-3 / (1e-3 + LEXICON.counts / LEXICON.counts.sum())
    vectors = LEXICON.vectors.astype(np.float64)
    weighted = np.vstack([vectors[:-1] * weights[:, None], vectors[-1]])

    def cosine(before: list[int], after: list[int]) -> float:
        one, two = weighted[before].sum(axis=0), weighted[after].sum(axis=0)
        return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))

    ids, out = words.ids.tolist(), drawn.tolist()
    expected = (cosine(ids[:2], out[:2]) + cosine(ids[2:], out[2:])) / 2
    shown = figures(similarity.Meter(LEXICON), (words, drawn))
    assert shown["mean_cosine"] == pytest.approx(expected, abs=1e-5)
    assert shown["texts"] == 2


def test_the_same_words_are_perfectly_similar() -> None:
    """Nothing changed: cosine 1."""
    words = words_of("the cat runs", "dog")
    shown = figures(similarity.Meter(LEXICON), (words, words.ids))
    assert shown["mean_cosine"] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("sizes", [(7,), (3, 4), (1, 1, 1, 1, 1, 1, 1), (5, 2)])
def test_similarity_is_that_of_the_first_texts(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first texts of the run are measured, wherever a batch ends."""
    monkeypatch.setattr(similarity, "_TEXTS", 4)
    texts = ["cat", "", "cat dog", "dog", "cat", "runs", "dog"]
    batches, end = [], 0
    for size in sizes:
        words = words_of(*texts[end : end + size])
        # The first four are unchanged, and all others change.
        keep = np.arange(end, end + size)[words.texts] < 4
        changed = drawn_as("well").repeat(len(words.ids))
        batches.append((words, np.where(keep, words.ids, changed)))
        end += size
    shown = figures(similarity.Meter(LEXICON), *batches)
    assert shown["texts"] == 3  # one of the first four has no words
    assert shown["mean_cosine"] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("precision", [np.float32, np.float16])
def test_vectors_of_long_texts_are_sums_of_all_their_words(precision: type) -> None:
    """In any batches: short, empty and long texts."""
    rng = np.random.default_rng(3)
    lexicon = small.lexicon(rng.normal(size=(49, 4)))
    lexicon = replace(lexicon, vectors=lexicon.vectors.astype(precision))
    before = lexicon.vectors.copy()
    weights = np.append(1e-3 / (1e-3 + lexicon.prior), 1.0)
    table = np.asarray(lexicon.vectors, np.float64) * weights[:, None]
    sizes = [3, 0, 2500, 1024, 1, 0, 700, 700, 700, 0]
    texts = np.repeat(np.arange(len(sizes)), sizes)
    vectors = similarity.Weighted(lexicon)
    for highest in (10, 49):
        ids = rng.integers(-1, highest, len(texts)).astype(np.int32)
        sums = vectors.sums(texts, ids, len(sizes))
        for text in range(len(sizes)):
            expected = table[ids[texts == text]].sum(axis=0)
            np.testing.assert_allclose(sums[text], expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(lexicon.vectors, before)


def random_texts(count: int, seed: int = 11) -> list[str]:
    """Write texts of random words, some empty, some with numbers and unknown words."""
    rng = np.random.default_rng(seed)
    words = [*WORDS, "zq", "42"]
    return [" ".join(rng.choice(words, rng.integers(0, 6))) for _ in range(count)]


def test_unrelated_texts_are_all_pairs_of_two_rows() -> None:
    """Each original with the private text of every other row, one by one."""
    texts = random_texts(30)
    words = words_of(*texts)
    drawn = np.random.default_rng(2).permutation(words.ids)
    vectors = similarity.Weighted(LEXICON)
    sums = [vectors.sums(words.texts, ids, 30) for ids in (words.ids, drawn)]
    both = (np.linalg.norm(sums[0], axis=1) * np.linalg.norm(sums[1], axis=1)) > 0
    before, after = (
        rows[both] / np.linalg.norm(rows[both], axis=1)[:, None] for rows in sums
    )
    cosines = before @ after.T
    other = ~np.eye(len(cosines), dtype=bool)
    shown = figures(similarity.Meter(LEXICON), (words, drawn))
    unrelated = cosines[other].mean()
    assert shown["unrelated_cosine"] == pytest.approx(unrelated, abs=1e-8)
    way = (cosines.diagonal().mean() - unrelated) / (1 - unrelated)
    assert shown["share_kept"] == pytest.approx(way, abs=1e-7)


def test_equal_texts_keep_all_meaning_and_those_of_other_rows_none() -> None:
    """The ends of the scale: each text as it was, and each written for another row."""
    rng = np.random.default_rng(4)
    lexicon = small.lexicon(rng.normal(size=(400, 20)) + 1.0)
    ids = rng.integers(0, 400, 2000).astype(np.int32)
    texts = np.repeat(np.arange(200), 10)
    flags, positions = np.empty(0, np.uint8), np.empty(0, np.int64)
    words = Words(
        [], flags=flags, ends=np.arange(200), positions=positions, texts=texts, ids=ids
    )
    meter = similarity.Meter(lexicon)
    spelled, eps = np.empty(2000, object), np.ones(2000)

    def kept(written: Ids) -> float:
        batch = Batch(words, written=written, spelled=spelled, eps=eps, first_text=0)
        share = meter.result(meter.observe(batch))["share_kept"]
        assert isinstance(share, float)
        return share

    assert kept(ids) == pytest.approx(1.0, abs=1e-6)
    assert abs(kept(np.roll(ids, 10))) < 0.05


def test_one_text_has_no_unrelated_ones() -> None:
    """Its cosine is stated, but no share of the way."""
    words = words_of("the cat")
    shown = figures(similarity.Meter(LEXICON), (words, words.ids))
    assert shown["mean_cosine"] == pytest.approx(1.0, abs=1e-6)
    assert shown["unrelated_cosine"] is shown["share_kept"] is None


@pytest.mark.parametrize("module", [perturbation, rare_words, similarity])
def test_figures_do_not_depend_on_batches(module: Any) -> None:
    """To the last digit, however texts are grouped and groups are merged."""
    texts = random_texts(24)
    meter = module.Meter(LEXICON)

    def of(*ends: int) -> Any:
        begin, batches = 0, []
        for end in ends:
            words = words_of(*texts[begin:end])
            written = ((words.ids + 2) % 5).astype(np.int32)
            batches.append((words, written))
            begin = end
        return figures(meter, *batches)

    assert of(24) == of(1, 2, 7, 24) == of(*range(1, 25))
    assert None not in of(24).values() or module is rare_words


def test_words_in_random_order_change_as_often_as_chance_says() -> None:
    """PP of shuffled words is its figure by chance (40 shuffles, 5 sigma)."""
    words = words_of(*(text for text in random_texts(200) if text))
    rng = np.random.default_rng(8)
    meter = perturbation.Meter(LEXICON)
    shuffled = []
    for _ in range(40):
        written = rng.permutation(words.ids)
        each = batch(LEXICON, words, written, first_text=0)
        counted = meter.observe(each)
        known = meter._one_word[words.ids] & (written == words.ids)
        shuffled.append(1 - np.count_nonzero(known) / len(written))
    by_chance = meter.result(counted)["by_chance"]
    assert isinstance(by_chance, float)
    error = 5 * np.std(shuffled) / 40**0.5
    assert abs(np.mean(shuffled) - by_chance) < error


def test_rare_words_by_chance_are_others_as_rare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The words nearest in frequency that stand in no original, by hand."""
    monkeypatch.setattr(rare_words, "_RARE", 1)
    monkeypatch.setattr(rare_words, "_COMPARED", 2)
    # The only original word is dog; cat and runs are its neighbours by frequency.
    for written, chance in (("cat", 0.5), ("the", 0.0), ("dog", 0.0)):
        shown = figures(rare_words.Meter(LEXICON), (words_of("dog"), drawn_as(written)))
        assert shown["by_chance"] == chance
