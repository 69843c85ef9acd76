"""Laws of all decoders: equal draws give equal words, and no text sees another.

A decoder that peeks at an original breaks the first law, whatever it sees there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import registry
from dptext.attackers.channel import Channel
from dptext.decoders import Decoder, Params
from dptext.decoders.context import Context
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import (
    BudgetDescription,
    BudgetKind,
    Eps,
    Ids,
    Lexicon,
    Mask,
    Released,
    Words,
)
from dptext.writing import joining
from tests import prepared
from tests.decoders.models import settings as settings_of
from tests.tokens.texts import ENGLISH, ITEMS, POLICIES, Seen, mixed, seen_of_each

NAMES = registry.names("decoders")
TEXTS = mixed(ITEMS)
#: Models, which decode fewer texts; a server is asked for each of them.
SLOW = ("causal-lm", "endpoint")


def step_for(name: str) -> int:
    """Return that every n-th text is decoded: a decoder that peeks is found in them."""
    return 24 if name in SLOW else 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the models are written, once for all settings."""
    return tmp_path_factory.mktemp("models")


def make_channel(policy: Policy, lexicon: Lexicon = ENGLISH) -> Channel:
    """Return the channel of rank at epsilons that the words of a text share."""
    mechanism = prepared.ready("rank", lexicon, k=5, outputs=9)
    budget = BudgetDescription(BudgetKind.FREE, 1.0, 5.0)
    return Channel(lexicon, policy, mechanism, budget, prior=lexicon.prior)


def secret_epsilons(words: Words) -> Eps:
    """Return an epsilon that follows from each word, as a free budget may give it."""
    spelled = [words.pieces[at].strip(" ") for at in words.positions.tolist()]
    return np.array([1.0 + sum(map(ord, each)) % 5 for each in spelled])


def decoded(
    decoder: Decoder, texts: list[str], policy: Policy, turn: int
) -> list[list[int]]:
    """Decode texts, the n-th word of each with the same draw."""
    words = Tokenizer(ENGLISH, policy).words(texts)
    starts = np.searchsorted(words.texts, words.texts, side="left")
    draws = np.random.default_rng(turn).integers(0, 9, 64)
    drawn: Ids = draws[np.arange(len(starts)) - starts].astype(np.int32)
    eps = secret_epsilons(words)
    public = make_channel(policy).public_epsilons(eps, words.texts)
    batch = joining.release(policy, words, drawn, public)
    if isinstance(decoder, Peeking):
        decoder.original = words, eps
    written = decoder.decode(batch)
    assert written.shape == drawn.shape
    # The decoder `context` writes words that may have been replaced.
    honest = decoder._honest if isinstance(decoder, Peeking) else decoder
    rows = len(ENGLISH.words) if isinstance(honest, Context) else 9
    assert ((written >= 0) & (written < rows)).all(), "only known words are written"
    return [written[words.texts == row].tolist() for row in range(len(texts))]


@pytest.mark.parametrize("name", NAMES)
def test_a_decoder_is_made_of_its_settings(name: str) -> None:
    """Settings extend those of the stage, and say whether the channel is read."""
    kind = registry.find("decoders", name).Params
    assert issubclass(kind, Params)
    assert isinstance(kind.reads, bool)


# What a decoder may peek at: which words it would write in another way.
PEEKS: dict[str, Callable[[Words, Eps], Mask]] = {
    "unknown words": lambda words, eps: words.ids < 0,
    "frequent words": lambda words, eps: (words.ids >= 0) & (words.ids < 4),
    "one word": lambda words, eps: words.ids == ENGLISH.words.index("dog"),
    "long words": lambda words, eps: _lengths(words) > 3,
    "capitals": lambda words, eps: np.array(
        [words.pieces[at].strip(" ")[:1].isupper() for at in words.positions], bool
    ),
    "secret epsilons": lambda words, eps: eps > 3.0,
    "its first word": lambda words, eps: (
        (_lengths(words) > 3) & (np.diff(words.texts, prepend=-1) > 0)
    ),
    "its last word": lambda words, eps: (
        (_lengths(words) > 3) & (np.diff(words.texts, append=-1) != 0)
    ),
}


def _lengths(words: Words) -> Ids:
    sizes = [len(words.pieces[at].strip(" ")) for at in words.positions]
    return np.array(sizes, np.int32)


class Peeking(Decoder):
    """A faulty decoder, which looks at the original words of one release."""

    def __init__(self, honest: Decoder) -> None:
        self._honest = honest
        self._written: Ids | None = None
        self.peek: Callable[[Words, Eps], Mask] = PEEKS["unknown words"]
        self.original: tuple[Words, Eps] | None = None

    def decode(self, released: Released) -> Ids:
        """Write another word where the original is of some kind."""
        assert self.original is not None
        if self._written is None:
            self._written = self._honest.decode(released)
        changed = self.peek(*self.original)
        written = self._written
        return np.where(changed, (written + 1) % 9, written).astype(np.int32)


@cache
def alike(policy: Policy, step: int) -> list[tuple[str, Seen]]:
    """Return every n-th text with what is seen of it, if that is seen of others, too.

    Nothing is compared with a text that is seen as no other one is.
    """
    texts = TEXTS[::step]
    if policy.number == "digits":
        # Digits are random bits, which are no part of this.
        texts = [text for text in texts if not any(c.isdecimal() for c in text)]
    views = seen_of_each(texts, policy)
    shared = Counter(views)
    found = [each for each in zip(texts, views, strict=True) if shared[each[1]] > 1]
    assert found
    return found


def told_apart(decoder: Decoder, policy: Policy, step: int) -> tuple[str, str] | None:
    """Return two texts that the statement compares but equal draws tell apart."""
    first: dict[object, tuple[str, list[int]]] = {}
    texts = alike(policy, step)
    written = decoded(decoder, [text for text, _ in texts], policy, turn=1)
    for (text, view), words in zip(texts, written, strict=True):
        other, others = first.setdefault(view, (text, words))
        if words != others:
            return other, text
    return None


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NAMES)
def test_equal_draws_give_equal_words(name: str, policy: Policy, folder: Path) -> None:
    """Texts that a statement compares are decoded alike once they are drawn alike."""
    # Models take their time: in one mode for each policy.
    each = settings_of(name, ENGLISH, folder)
    for params in each[POLICIES.index(policy) % 3 :: 3] if name in SLOW else each:
        decoder = params.prepare(make_channel(policy))
        assert told_apart(decoder, policy, step_for(name)) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_decoder_that_peeks_is_found(name: str, folder: Path) -> None:
    """Around each decoder, whatever it sees of the originals: the law above can fail.

    Of policies one is enough that shows nothing of the words.
    """
    params = settings_of(name, ENGLISH, folder)[0]
    decoder = Peeking(params.prepare(make_channel(Policy())))
    for peek, look in PEEKS.items():
        decoder.peek = look
        assert told_apart(decoder, Policy(), step_for(name)), peek


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
    """Alone, doubled or in another order, each text is decoded to the same words.

    A causal model takes its time: one mode for each example.
    """
    each = settings_of(name, ENGLISH, folder)
    for params in [each[turn % len(each)]] if name == "causal-lm" else each:
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
