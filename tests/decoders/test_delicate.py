"""Delicate words are written where they were drawn, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import decoders, models, open_pipeline, profile
from dptext import pipeline as pipelines
from dptext.attackers import kernel, ngrams
from dptext.attackers.channel import Channel
from dptext.decoders import causal_lm, ngram
from dptext.decoders.endpoint import count_words
from dptext.lexicons import word_classes
from dptext.lexicons.word_classes import classes_of_lexicon
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens import language_data
from dptext.tokens.language_data import WordClass
from dptext.tokens.policy import Policy
from dptext.types import Lexicon, Record, Released
from dptext.writing.agreement import Inflector
from tests import inflection, language_models
from tests.attackers import models as pairs
from tests.attackers.releases import ENGLISH, SIZE, make_channel, release
from tests.model_server import serving

TEXTS = ["cat dog, the runs. of cat", "the 42 cat of!\nzq", "dog zq of the cat runs"]
MODES = ("mbr", "posterior", "viterbi")
# What the words around a delicate one give away.
SENTENCES = (
    "She was diagnosed with breast cancer and began chemotherapy last week.",
    "I am HIV positive.",
    "He committed suicide after a long depression.",
    "He was arrested for drunk driving and sent to prison.",
    "My sister is three months pregnant and needs a doctor.",
    "A Muslim family prayed at the mosque in Baghdad, soldiers were killed.",
    "Osama bin Laden and Saddam Hussein met President Bush.",
)


# Two words of the small lexicon: the second is never drawn in its releases.
PETS = frozenset([ENGLISH.words[1], ENGLISH.words[3]])


@pytest.fixture
def pets_are_delicate(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let two words of the small lexicon be delicate."""
    listed = (
        WordClass(name="pets", words=PETS, special="health", never=True, news=False),
    )
    monkeypatch.setattr(word_classes, "word_classes", lambda language: listed)
    word_classes._classes.cache_clear()
    word_classes.digest.cache_clear()
    yield
    word_classes._classes.cache_clear()
    word_classes.digest.cache_clear()


def make_decoder(name: str, mode: Any, folder: Path, channel: Channel) -> Any:
    """Return a decoder with small models."""
    saved = str(folder / "pairs")
    ngrams.save(pairs.model(ENGLISH), folder / "pairs")
    given: decoders.Params
    if name == "ngram":
        given = ngram.Params(mode=mode, model=saved, candidates=SIZE + 1)
    else:
        llama = language_models.llama(folder / "llama")
        given = causal_lm.Params(mode=mode, model=llama, candidates=4, beam=3)
    return given.prepare(channel)


def extra(batch: Released, written: Any, delicate: Any) -> int:
    """Count delicate words that were written where others were drawn."""
    return int((delicate[written] & (written != batch.drawn)).sum())


CASES = [
    *(("ngram", mode) for mode in MODES),
    *(("causal-lm", mode) for mode in ("mbr", "posterior", "beam")),
]


@pytest.mark.parametrize(("name", "mode"), CASES)
@pytest.mark.usefixtures("pets_are_delicate")
def test_each_mode_writes_one_only_where_it_was_drawn(
    name: str, mode: str, tmp_path: Path
) -> None:
    """Where it was drawn it may still be written, as another word may."""
    if name == "causal-lm":
        pytest.importorskip("torch")
    channel = make_channel(Policy())
    delicate = classes_of_lexicon(ENGLISH).delicate
    assert delicate.sum() == len(PETS)
    decoder = make_decoder(name, mode, tmp_path, channel)
    kept = 0
    for seed in range(4):
        batch = release(Policy(), TEXTS * 4, seed=seed)
        written = decoder.decode(batch)
        assert extra(batch, written, delicate) == 0
        kept += int(delicate[written].sum())
    assert kept


@pytest.mark.parametrize(("name", "mode"), [("ngram", "mbr"), ("causal-lm", "mbr")])
def test_without_the_rule_they_would_be_written(
    name: str, mode: str, tmp_path: Path
) -> None:
    """The same draws hold such words where the list is empty: the test can fail."""
    if name == "causal-lm":
        pytest.importorskip("torch")
    decoder = make_decoder(name, mode, tmp_path, make_channel(Policy()))
    batch = release(Policy(), TEXTS * 4)
    delicate = np.array([word in PETS for word in ENGLISH.words])
    assert extra(batch, decoder.decode(batch), delicate) > 0


@pytest.mark.parametrize("name", ["ngram", "causal-lm"])
def test_the_lists_are_part_of_what_a_key_draws_by(
    name: str, tmp_path: Path, pets_are_delicate: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other lists give other bytes, so that they never share a key's noise."""
    if name == "causal-lm":
        pytest.importorskip("torch")
    decoder = make_decoder(name, "mbr", tmp_path, make_channel(Policy()))
    before = dict(decoder.content)
    listed = (
        WordClass(
            name="pets",
            words=PETS - {ENGLISH.words[1]},
            special="health",
            never=True,
            news=False,
        ),
    )
    monkeypatch.setattr(word_classes, "word_classes", lambda language: listed)
    word_classes.digest.cache_clear()
    after = dict(decoder.content)
    assert before.keys() == after.keys()
    assert before.pop("word_classes") != after.pop("word_classes")
    assert before == after


@pytest.mark.usefixtures("pets_are_delicate")
def test_an_attacker_guesses_them_as_before(tmp_path: Path) -> None:
    """Limits on written words do not limit the guesses of an attacker."""
    channel = make_channel(Policy())
    attacker = make_decoder("ngram", "mbr", tmp_path, channel).attacker
    batch = release(Policy(), TEXTS * 4)
    delicate = classes_of_lexicon(ENGLISH).delicate
    assert extra(batch, attacker.guess(batch), delicate) > 0


@cache
def shipped(name: str) -> Pipeline:
    """Return the pipeline of a profile with the built-in lexicon."""
    return open_pipeline(profile=name)


@pytest.mark.parametrize("library", ["compiled", "numpy"])
@pytest.mark.parametrize("name", ["strict", "balanced", "readable"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_no_profile_writes_one_from_context(
    name: str, library: str, data: st.DataObject
) -> None:
    """Any mix of such sentences, any draws, by the compiled loops and by numpy's.

    No false alarms: the rule has no exception.
    """
    texts = data.draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4))
    seed = data.draw(st.integers(0, 2**32 - 1))
    with pytest.MonkeyPatch.context() as patch:
        if library == "numpy":
            patch.setattr(kernel, "library", None)
        pipeline = shipped(name)
        records = [Record(number, (text,), None) for number, text in enumerate(texts)]
        draws = pipeline.draws(records, pipeline.randomness(RunKey.from_seed(seed)))
        written = pipeline.decode(draws.words, draws.drawn, draws.eps)
    delicate = classes_of_lexicon(pipeline.lexicon).delicate
    assert not (delicate[written] & (written != draws.drawn)).any()


@pytest.mark.parametrize("library", ["compiled", "numpy"])
def test_a_word_of_news_that_stands_alone_becomes_a_neutral_one(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a text about a telephone, not in one about a war; each text by itself."""
    if library == "numpy":
        monkeypatch.setattr(kernel, "library", None)
    pipeline = shipped("balanced")
    war = "soldiers killed troops and police near the city after the bombing attack"
    phone = "the phone has a new screen and the {} works with my music software online"
    words = ("table", "bombing", "murder", "soldiers")
    texts = [war, *(phone.format(word) for word in words)]
    tokens = pipeline.tokenizer.words(texts)
    eps = np.full(len(tokens.ids), pipeline.budget.description.high)
    written = pipeline.decode(tokens, tokens.ids, eps)
    news = classes_of_lexicon(pipeline.lexicon).news
    drawn = news[tokens.ids]
    assert news[written][tokens.texts == 0].sum() >= 4
    assert drawn[tokens.texts > 0].sum() == len(words) - 1
    assert not news[written][tokens.texts > 0].any()
    # The written word is then a function of the word, among its own replacements.
    neutral = word_classes.neutral_for_news(pipeline.lexicon)
    strays = drawn & (tokens.texts > 0)
    assert (written[strays] == neutral[tokens.ids[strays]]).all()


def test_neutral_words_are_neutral(builtin: Lexicon) -> None:
    """Outputs of the same part of speech, delicate in no way; others stand for none."""
    rows = word_classes.neutral_for_news(builtin)
    classes = classes_of_lexicon(builtin)
    outputs = int(builtin.meta["outputs"])
    changed = np.flatnonzero(rows != np.arange(len(rows)))
    assert classes.news[changed].all()
    assert not classes.delicate[rows[changed]].any()
    assert not word_classes.written_as_drawn(builtin)[rows[changed]].any()
    assert (rows[changed] < outputs).all()
    assert classes.news[:outputs].sum() == (changed < outputs).sum() > 50
    parts = builtin.parts
    assert parts is not None
    assert (parts[rows[changed]] == parts[changed]).all()


def test_agreement_makes_no_delicate_word_of_a_plain_one(builtin: Lexicon) -> None:
    """Forms are put in order after decoding: "burn" does not become "polls"."""
    size = len(builtin.words) + 1
    delicate = np.append(classes_of_lexicon(builtin).delicate, False)
    inflector = Inflector(builtin)
    changed = 0
    for table in inflection.written(inflector, size):
        for row in table:
            assert not (delicate[row] & ~delicate).any()
            changed += int((delicate[row] & (row != np.arange(size))).sum())
    assert changed


def test_words_are_found_within_compounds_and_identifiers() -> None:
    """A hyphen, an apostrophe or an underscore hides no word."""
    text = "A Muslim-owned shop's #cancer_fund, HIV-positive; Muslim"
    found = count_words(text, language_data.delicate_words("en"))
    assert found == {"muslim": 2, "cancer": 1, "hiv": 1}
    assert language_data.delicate_words("en") > language_data.special_words("en")


def test_a_server_that_rewrites_adds_none(tmp_path: Path) -> None:
    """Its answer is refused where it holds a delicate word that was not drawn."""
    if not models.has("httpx"):
        pytest.skip("httpx is not installed")
    ngrams.save(pairs.model(ENGLISH), tmp_path / "pairs")

    def written(answer: str) -> str:
        with serving(lambda request: json.dumps({"text": answer})) as server:
            decoder = {
                "name": "endpoint",
                "url": server.url,
                "model": "tiny",
                "ngrams": str(tmp_path / "pairs"),
                "mode": "rewrite",
            }
            recipe = {
                "mechanism": {"name": "rank"},
                "budget": {"name": "uniform", "epsilon": 2.0},
                "decoder": decoder,
            }
            built = pipelines.build(profile.parse(recipe, "test"), ENGLISH)
            record = Record(0, ("the cat runs of the dog and the cat runs",), None)
            key = built.randomness(RunKey.from_seed(2))
            ((text,),) = built.privatize([record], key).texts
        return text

    plain = "the dog runs of the sea and so it goes on"
    assert written(plain) == plain
    assert written("the dog has cancer and so it goes on now") != plain
    assert "cancer" not in written("the dog has cancer and so it goes on now")
