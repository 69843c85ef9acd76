"""The attackers of whole texts: exact on all texts, and by each kind of evidence."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import open_pipeline
from dptext.attackers import ngrams, reader
from dptext.attackers.contexts import Contexts, Passages
from dptext.attackers.pairs import POWER, Topic
from dptext.attackers.reader import Reader, SameKindAttacker
from dptext.attackers.training import KindCounts
from dptext.measures import context_risk
from dptext.pipeline import Pipeline
from dptext.tokens.policy import Policy
from dptext.types import Released
from tests.attackers import models
from tests.attackers import test_posterior as exact
from tests.attackers.releases import (
    ENGLISH,
    EPSILON,
    POLICIES,
    SIZE,
    TEXTS,
    make_channel,
    release,
)

# An output of `readable` that lists neither of the words below.
DRAWN = 4000
FILLERS = [f"they {verb} it there" for verb in ("made", "took", "left", "had")] * 30


def table_of(attacker: Reader, batch: Released) -> NDArray[np.float64]:
    """Return the posterior of each word: (n, V + 1)."""
    table = np.zeros((len(batch.drawn), SIZE + 1))
    rows, likely = attacker.posterior(batch)
    for column in range(len(batch.drawn)):
        np.add.at(table[column], rows[:, column], likely[:, column])
    return table


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["rank", "santext"])
def test_the_posterior_is_that_of_all_texts(
    policy: Policy, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draws and pairs on both sides weigh as in the sum over every possible text."""
    channel, model = make_channel(policy, name), models.model(ENGLISH)
    batch = release(policy, TEXTS)
    wanted, _ = exact.brute(batch, channel, model)
    attacker = Reader(channel, model)
    monkeypatch.setattr(
        attacker._topic, "factors_by", lambda rows, _: np.ones(rows.shape, np.float32)
    )
    np.testing.assert_allclose(table_of(attacker, batch), wanted, rtol=1e-5, atol=1e-9)


def test_a_context_raises_by_its_counts() -> None:
    """The count beyond the discount, over all that the context gives to other words."""
    contexts, words = np.array([7, 7, 7, 7, 9, 9, 9]), np.array([1, 1, 2, 2, 1, 3, 4])
    table = Contexts(contexts, words, 10)
    # Three pairs were seen once and two twice: the discount is 3 / 7.
    discount = 3 / 7
    asked = np.array([7, 7, 9, 9, 8, -1]), np.array([1, 3, 3, 2, 1, 1])
    before = np.array([0.5, 0.5, 0.1, 0.1, 0.5, 0.5])
    wanted = [
        1 + (2 - discount) / (2 * discount * 0.5),
        1.0,
        1 + (1 - discount) / (3 * discount * 0.1),
        1.0,
        1.0,
        1.0,
    ]
    np.testing.assert_allclose(table.raised(*asked, before), wanted)
    which, found = table.words(np.array([-1, 9, 8, 7]), 2)
    assert which.tolist() == [1, 1, 3, 3]
    assert found.tolist() == [1, 3, 1, 2]


def test_near_passages_give_their_replaced_words() -> None:
    """By the third power of the cosine; words of many passages count for nothing."""
    # Word 0 is in every passage; 1 and 2 are in one of twenty each, with 3 and 4.
    rows = np.array([0, 1, 3, 0, 2, 4, *[0] * 18])
    passages = np.array([0, 0, 0, 1, 1, 1, *range(2, 20)])
    replaced = (rows == 3) | (rows == 4)
    near = Passages(rows, passages, replaced, 5)
    found, shares = near.near(np.array([0, 1, 2, 1]), np.ones(4))
    assert found.tolist() == [3, 4]
    # The cosines are as ln(1 + 2) to ln(1 + 1).
    ratio = (np.log(3) / np.log(2)) ** 3
    np.testing.assert_allclose(shares, np.array([ratio, 1]) / (ratio + 1))
    assert not len(near.near(np.array([0]), np.ones(1))[0])


def test_all_evidence_weighs_as_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """The posterior of a word among copied ones, computed for every word."""
    # The second reading would take the guess of the first for a word of the text.
    monkeypatch.setattr(reader, "_READINGS", 1)
    policy = Policy(stop_word="keep")
    channel = make_channel(policy)
    counts = KindCounts(ENGLISH, policy)
    counts.add(
        ["the cat of the", "the dog of", "of the cat of", "runs the", *["of"] * 60]
    )
    kind = counts.kind(None)
    batch = release(policy, ["the cat of the"])
    rows = ENGLISH.row_of
    the, of, edge, width = rows["the"], rows["of"], SIZE + 1, SIZE + 2
    ids = np.append(np.arange(SIZE), -1).astype(np.int32)
    law = channel.mechanism.probs(ids, EPSILON)[:, batch.drawn[0]]
    attacker = SameKindAttacker(channel, kind)
    look = attacker._looks(next(iter(channel.groups(batch)))[0])
    # No capitals are shown.
    prior = look.prior
    np.testing.assert_array_equal(prior, look.frequency)
    every = np.arange(SIZE + 1)
    topic = Topic(ENGLISH, POWER).factors(every[None, :].astype(np.int32), batch)[0]
    copied = np.array([the, of, the])
    found, shares = kind.passages.near(copied, np.ones(3))
    near = np.zeros(SIZE + 1)
    near[found] = shares
    assert len(found)
    beside = np.array(
        [
            models.log_probs(kind.pairs, np.array([the, x]), np.array([x, of])).sum()
            - kind.pairs.alone[x]
            for x in every
        ]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(prior > 0, prior * (1 + near / (reader._FAR * prior)), 0.0)
    before = prior * np.exp(beside)
    before /= before.sum()
    wanted = own * law * topic * np.exp(beside)
    contexts = [edge * width + the, the * width + of, of * width + the]
    for power, table, context in zip(
        reader._TRIPLES, kind.triples, contexts, strict=True
    ):
        possible = before > 0
        raised = table.raised(
            np.full(possible.sum(), context), every[possible], before[possible]
        )
        assert raised.max() > 1.0
        wanted[possible] *= raised**power
    wanted /= wanted.sum()
    np.testing.assert_allclose(table_of(attacker, batch)[0], wanted, rtol=1e-4)


@cache
def readable() -> Pipeline:
    """Return the pipeline in which the evidence is copied words, forms, capitals."""
    return open_pipeline("readable")


def guess(corpus: list[str], text: str, *, drawn: int = DRAWN) -> list[str]:
    """Return the guesses of an attacker with a corpus, if one word is always drawn."""
    pipeline = readable()
    counts = KindCounts(pipeline.lexicon, pipeline.profile.tokens)
    counts.add([*corpus * 4, *FILLERS])
    kind = counts.kind(ngrams.shipped_model(pipeline.channel))
    words = pipeline.tokenizer.words([text])
    rows = np.full(len(words.ids), drawn, np.int32)
    batch = pipeline.released(words, rows, np.full(len(rows), 2.5))
    found = SameKindAttacker(pipeline.channel, kind).guess(batch)
    return [pipeline.lexicon.words[row] for row in found.tolist()]


# Two corpora each: with the words exchanged the guess must be the other one, so that
# nothing else decides.
ONE, OTHER = "walrus", "turnip"
EVIDENCE = {
    "right context": (
        "they saw the {one} of him there. they saw the {other} in him there.",
        "they saw the {hidden} of him there.",
    ),
    "left context": (
        "there with {one} it was. there by {other} it was.",
        "there with {hidden} it was.",
    ),
    "topic": (
        "the phone screen was late. they saw the {one} there.|"
        "the room door was late. they saw the {other} there.",
        "the phone screen was late. they saw the {hidden} there.",
    ),
    "capital": (
        "they saw the {One} there. they saw the {other} there.",
        "they saw the {Hidden} there.",
    ),
}


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("evidence", EVIDENCE)
def test_each_evidence_alone_decides(evidence: str, exchanged: bool) -> None:
    """Two words are alike in all but one respect, and the attacker finds the right one.

    Without this evidence the same word is guessed for both, so one of them is wrong.
    """
    one, other = (OTHER, ONE) if exchanged else (ONE, OTHER)
    corpus, text = EVIDENCE[evidence]
    filled = corpus.format(one=one, other=other, One=one.title())
    hidden = "muffin"
    shown = text.format(hidden=hidden, Hidden=hidden.title())
    assert guess(filled.split("|"), shown) == [one]


@pytest.mark.parametrize(
    ("hidden", "wanted"), [("muffins", "turnips"), ("muffin", "walrus")]
)
def test_the_form_alone_decides(hidden: str, wanted: str) -> None:
    """A plural is never taken for a singular, nor the other way round."""
    corpus = ["they saw the walrus there. they saw the turnips there."]
    assert guess(corpus, f"they saw the {hidden} there.") == [wanted]


def test_the_draw_alone_decides() -> None:
    """Of two words that are alike the attacker takes the one that explains the draw."""
    pipeline = readable()
    rows = [pipeline.lexicon.row_of[word] for word in (ONE, OTHER)]
    chances = pipeline.mechanism.probs(np.array(rows, np.int32), 2.5)
    corpus = [f"they saw the {ONE} there. they saw the {OTHER} there."]
    for word, sign in ((ONE, 1), (OTHER, -1)):
        drawn = int(np.argmax(sign * (chances[0] - chances[1])))
        assert guess(corpus, "they saw the muffin there.", drawn=drawn) == [word]


def test_a_reading_can_be_repeated_and_texts_are_read_by_themselves() -> None:
    """Anew, alone and in any batch a text is read to the same last bit."""
    pipeline = readable()
    corpus = [f"the {ONE} of him slept. the {OTHER} in him slept.", *FILLERS]
    texts = ["the walrus of a turnip slept", "the turnip in him", "", "Walrus turnip"]

    def read(batch: list[str]) -> list[NDArray[np.generic]]:
        counts = KindCounts(pipeline.lexicon, pipeline.profile.tokens)
        counts.add(corpus)
        attacker = SameKindAttacker(pipeline.channel, counts.kind(None))
        words = pipeline.tokenizer.words(batch)
        drawn = np.full(len(words.ids), DRAWN, np.int32)
        released = pipeline.released(words, drawn, np.full(len(drawn), 2.5))
        rows, likely = attacker.posterior(released)
        return [
            np.concatenate([rows[:, at], likely[:, at]]) for at in range(len(drawn))
        ]

    whole = read(texts)
    np.testing.assert_array_equal(whole, read(texts))
    alone = [each for text in texts for each in (read([text]) if text else [])]
    np.testing.assert_array_equal(whole, alone)


def test_the_attackers_of_a_pipeline_read_both_sides() -> None:
    """That of the decoder, and that of the pairs that ship where nothing decodes."""
    for settings in ({}, {"decoder": {"name": "none"}}):
        pipeline = open_pipeline("balanced", settings)
        attackers = context_risk.available(pipeline)
        assert [type(each) for each in attackers][1:] == [Reader]
