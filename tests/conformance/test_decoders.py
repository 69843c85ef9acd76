"""Laws of all decoders: equal draws give equal words, and no text sees another."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import registry
from dptext.attackers.channel import Channel
from dptext.decoders import Decoder, Params
from dptext.tokens import joining
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import BudgetDescription, BudgetKind, Ids, Lexicon
from tests import prepared
from tests.decoders.models import settings as settings_of
from tests.tokens.texts import ENGLISH, ITEMS, POLICIES, mixed, seen_of_each

NAMES = registry.names("decoders")
TEXTS = mixed(ITEMS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the models are written, once for all settings."""
    return tmp_path_factory.mktemp("models")


def make_channel(policy: Policy, lexicon: Lexicon = ENGLISH) -> Channel:
    """Return the channel of rank at one epsilon."""
    mechanism = prepared.ready("rank", lexicon, k=5, outputs=9)
    budget = BudgetDescription(BudgetKind.WORD, 3.0, 3.0)
    return Channel(lexicon, policy, mechanism, budget, prior=lexicon.prior)


def decoded(
    decoder: Decoder, texts: list[str], policy: Policy, turn: int
) -> list[list[int]]:
    """Decode texts, the n-th word of each with the same draw."""
    words = Tokenizer(ENGLISH, policy).words(texts)
    starts = np.searchsorted(words.texts, words.texts, side="left")
    draws = np.random.default_rng(turn).integers(0, 9, 64)
    drawn: Ids = draws[np.arange(len(starts)) - starts].astype(np.int32)
    batch = joining.release(policy, words, drawn, np.full(len(drawn), 3.0))
    written = decoder.decode(batch)
    assert written.shape == drawn.shape
    assert ((written >= 0) & (written < 9)).all(), "only what may be drawn is written"
    return [written[words.texts == row].tolist() for row in range(len(texts))]


@pytest.mark.parametrize("name", NAMES)
def test_a_decoder_is_made_of_its_settings(name: str) -> None:
    """Settings extend those of the stage, and say whether the channel is read."""
    kind = registry.find("decoders", name).Params
    assert issubclass(kind, Params)
    assert isinstance(kind.reads, bool)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_equal_draws_give_equal_words(name: str, policy: Policy, folder: Path) -> None:
    """Texts that a statement compares are decoded alike once they are drawn alike."""
    # A causal model takes its time: a third as many texts, of every policy, in one mode
    # of each.
    slow = name == "causal-lm"
    texts = TEXTS[:: 24 if slow else 8]
    if policy.number == "digits":
        # Digits are random bits, which are no part of this.
        texts = [text for text in texts if not any(c.isdecimal() for c in text)]
    views = seen_of_each(texts, policy)
    shared = Counter(views)
    # Nothing is compared with a text that is seen as no other one is.
    pairs = zip(texts, views, strict=True)
    alike = [(text, view) for text, view in pairs if shared[view] > 1]
    assert alike
    each = settings_of(name, ENGLISH, folder)
    for params in each[POLICIES.index(policy) % 3 :: 3] if slow else each:
        decoder = params.prepare(make_channel(policy))
        first: dict[object, tuple[str, list[int]]] = {}
        written = decoded(decoder, [text for text, _ in alike], policy, turn=1)
        for (text, view), words in zip(alike, written, strict=True):
            other, others = first.setdefault(view, (text, words))
            assert words == others, f"{other!r} and {text!r} can be told apart"


@settings(
    max_examples=8,
    deadline=None,
)
@given(
    st.lists(
        st.lists(st.sampled_from([*ITEMS, ", ", ".", "\n"]), max_size=12).map(" ".join),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(POLICIES),
    st.integers(0, 99),
)
@pytest.mark.parametrize("name", NAMES)
def test_texts_are_decoded_by_themselves(
    name: str, folder: Path, texts: list[str], policy: Policy, turn: int
) -> None:
    """Alone, doubled or in another order, each text is decoded to the same words."""
    for params in settings_of(name, ENGLISH, folder):
        decoder = params.prepare(make_channel(policy))
        together = decoded(decoder, texts, policy, turn)
        assert decoded(decoder, texts[::-1] * 2, policy, turn) == together[::-1] * 2
        assert [decoded(decoder, [text], policy, turn)[0] for text in texts] == together


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_decoded_from_nothing(name: str, folder: Path) -> None:
    """Texts without words give no words."""
    for params in settings_of(name, ENGLISH, folder):
        decoder = params.prepare(make_channel(Policy()))
        assert decoded(decoder, ["", "...", "\n"], Policy(), 0) == [[], [], []]


@pytest.mark.parametrize("name", NAMES)
def test_the_files_of_a_model_are_named(name: str, folder: Path) -> None:
    """A decoder that reads a model says its digest, which changes with the model."""
    for params in settings_of(name, ENGLISH, folder):
        decoder = params.prepare(make_channel(Policy()))
        assert bool(decoder.content) == params.reads
        assert all(len(digest) == 64 for digest in decoder.content.values())
        assert not replace(params).reads or params.brings_model
